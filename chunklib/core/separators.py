# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""Separators as kinds of boundaries: a text or an expression, after whose matches a cut may fall.

A search looks only into the window of one chunk, from its end backwards, because most often the last match is the one.

But: an expression sees `AHEAD` characters beyond its window and no more. One whose matches are longer than that misses
some of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chunklib.core.packing import Level
from chunklib.core.plain import AHEAD
from chunklib.core.span import Separator, check_separators

_STRETCH = 160


def boundary_levels(separators: Iterable[Separator]) -> list[Level]:
    """Separators as `pack` wants them, without empty strings: single units of the length are always the last level.

    >>> boundary_levels(["*"])[0].last("a*b*c", 0, 4)
    4
    """
    return [
        _Literal(separator) if isinstance(separator, str) else _Expression(separator)
        for separator in check_separators(separators)
    ]


@dataclass(frozen=True)
class _Literal:
    separator: str

    def last(self, text: str, low: int, high: int) -> int:
        at = text.rfind(self.separator, max(0, low + 1 - len(self.separator)), high)
        return at + len(self.separator) if at >= 0 else low

    def all(self, text: str, low: int, high: int) -> Sequence[int]:
        found, width = [], len(self.separator)
        at = text.find(self.separator, max(0, low + 1 - width), high)
        while at >= 0:
            found.append(at + width)
            at = text.find(self.separator, at + 1, high)
        return found


@dataclass(frozen=True)
class _Expression:
    pattern: re.Pattern[str]

    def last(self, text: str, low: int, high: int) -> int:
        # The last match is mostly near the end: look at the last stretch first, then at the rest.
        middle = max(low, high - _STRETCH)
        return self._last(text, middle, low, high, high) or self._last(text, _line(text, low), low, middle, high) or low

    def _last(self, text: str, begin: int, low: int, finish: int, high: int) -> int:
        """The last boundary in ``(low, high]`` whose match starts in ``[begin, finish]``, or 0."""
        found = 0
        for match in self.pattern.finditer(text, begin, high + AHEAD):
            if match.end() > high or match.start() > finish:
                break
            found = match.end()
        return found if found > low else 0

    def all(self, text: str, low: int, high: int) -> Sequence[int]:
        found = []
        for match in self.pattern.finditer(text, _line(text, low), high + AHEAD):
            if match.start() > high:
                break
            if low < match.end() <= high:
                found.append(match.end())
        return found


def _line(text: str, at: int) -> int:
    """Where to begin, so that a match is found that began before ``at``: at its line's start, if that is near."""
    start = text.rfind("\n", max(0, at - AHEAD), max(0, at))
    return start if start >= 0 else 0 if at < AHEAD else at - 1
