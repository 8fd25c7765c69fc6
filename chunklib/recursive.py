# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/recursive.py). Needs: numpy, regex, tiktoken (for tokens).
"""Recursive: cut at the strongest boundary that fits. Paragraphs first, then lines, sentences, clauses, words.

When to use it: as the default for prose of every kind. It knows nothing of a document's structure but what
separators show, and that is often enough.

But: a blank line is not always a boundary of meaning, and a text without any (a transcript, say) falls back to
sentences and words. It does not know headings, tables or code; `structure` does.

Cost: one pass of the tokenizer, then for each chunk a search within its window and a short recount. On 1.4 MB of
mixed prose the whole takes about 1.2 times as long as tokenizing alone (see benchmarks/).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chunklib.measure import Length
from chunklib.packing import Level, pack
from chunklib.span import Span

Separator = str | re.Pattern[str]

_CLOSING = "[\"')\\]}*_”’»]*"
#: Boundaries of prose, strongest first. Kinds that could share a level stand apart, so that most are plain strings and
#: each pattern starts with one set: that is what makes the search fast.
PROSE: tuple[Separator, ...] = (
    "\n\n",
    "\r\n\r\n",
    "\r\r",
    re.compile(r"\n[ \t]+\r?\n"),  # a blank line that is not quite empty
    "\u2029",
    "\f",
    "\n",
    "\r",
    "\u2028",
    re.compile(rf"[.!?…]{_CLOSING}(?=\s)"),
    re.compile(r"[。！？｡．][」』”’）】]*"),
    re.compile(rf"[;:,–—]{_CLOSING}(?=\s)"),
    re.compile(r"[，、；：]"),
    " ",
    re.compile(r"\s"),
)

#: How far behind the window a pattern may look for the rest of its match.
_AHEAD = 200
_BLOCK = 160


def split_recursive(
    text: str,
    *,
    chunk_size: int = 200,
    chunk_overlap: int = 0,
    separators: Sequence[Separator] = PROSE,
    length: Length = "tokens",
) -> list[Span]:
    """Cut ``text`` at the strongest boundary, and of those the last, that keeps each chunk within ``chunk_size``.

    Parameters
    ----------
    chunk_size: the most that a chunk may measure, in units of ``length``; exact, each slice counted on its own.
    chunk_overlap: how much the end of a chunk is repeated at the start of the next, at most. It starts at a boundary,
        so it may be shorter, or nothing.
    separators: strongest first. A ``str`` is taken literally, a compiled pattern as an expression. The cut falls at
        the end of the match, so a separator closes its chunk; a lookahead such as ``re.compile(r"(?=^def )", re.M)``
        cuts before what follows. Single characters are always the last level.
    length: ``"tokens"``, ``"words"``, ``"characters"``, ``"wordpieces"``, a tiktoken encoding, or a function to int.

    Raises ``ValueError`` or ``TypeError`` that names the bad setting and the mend.

    >>> text = "There was a cat.\\nThe cat sat.\\nThe cat sat on a mat."
    >>> [span.of(text) for span in split_recursive(text, chunk_size=25, length="characters")]
    ['There was a cat.', 'The cat sat.', 'The cat sat on a mat.']
    """
    return pack(
        text, chunk_size=chunk_size, chunk_overlap=chunk_overlap, length=length, levels=boundary_levels(separators)
    )


def boundary_levels(separators: Sequence[Separator]) -> list[Level]:
    """Separators as `pack` wants them; an empty string (single characters) is dropped, since that level is built in.

    >>> boundary_levels(["*"])[0].last("a*b*c", 0, 4)
    4
    """
    if isinstance(separators, (str, re.Pattern)):
        raise TypeError(f"separators={separators!r} must be a list; put it in brackets")
    levels: list[Level] = []
    for separator in separators:
        if isinstance(separator, str):
            if separator:
                levels.append(_Literal(separator))
        elif isinstance(separator, re.Pattern) and isinstance(separator.pattern, str):
            levels.append(_Expression(separator))
        else:
            raise TypeError(f"separator {separator!r} must be a str or a compiled pattern of str")
    return levels


@dataclass(frozen=True)
class _Literal:
    separator: str

    def last(self, text: str, low: int, high: int) -> int:
        at = text.rfind(self.separator, low, high)
        return at + len(self.separator) if at >= 0 else low

    def all(self, text: str, low: int, high: int) -> list[int]:
        found, width = [], len(self.separator)
        at = text.find(self.separator, max(0, low - width), high)
        while at >= 0:
            if at + width > low:
                found.append(at + width)
            at = text.find(self.separator, at + width, high)
        return found


@dataclass(frozen=True)
class _Expression:
    pattern: re.Pattern[str]

    def last(self, text: str, low: int, high: int) -> int:
        # The last match is mostly near the end: look at the last stretch first, then at the rest.
        middle = max(low, high - _BLOCK)
        for begin, finish in ((middle, high), (low, middle)):
            found = low
            for match in self.pattern.finditer(text, begin, high + _AHEAD):
                if match.end() > high or match.start() > finish:
                    break
                found = match.end()
            if found > low:
                return found
        return low

    def all(self, text: str, low: int, high: int) -> list[int]:
        ends = (m.end() for m in self.pattern.finditer(text, max(0, low - 1), high + _AHEAD) if m.start() <= high)
        return [end for end in ends if low < end <= high]
