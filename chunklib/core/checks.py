# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""What a splitter returned, checked: a broken law is told with the splitter's name, before it does harm."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable
from typing import Any

from chunklib.core.span import Span, Splitter


def as_span(pair: Any, blame: str, want: str = "pairs of whole numbers (start, end)") -> Span:
    """A pair as a span of Python's own whole numbers, or a ``ValueError``: ``blame``, the pair, what was wanted.

    >>> as_span("The cat sat.", "my_splitter returned")
    Traceback (most recent call last):
    ValueError: my_splitter returned 'The cat sat.': want pairs of whole numbers (start, end)
    """
    try:
        start, end = map(operator.index, pair)
    except (TypeError, ValueError):
        raise ValueError(f"{blame} {reprlib.repr(pair)}: want {want}") from None
    return Span(start, end)


def checked(spans: Iterable[tuple[int, int]], text: str, splitter: Splitter) -> list[Span]:
    """The spans, or a ``ValueError`` that names the splitter and the law it broke."""
    name = getattr(getattr(splitter, "func", splitter), "__name__", repr(splitter))
    if not isinstance(spans, Iterable):
        raise ValueError(f"{name} returned {reprlib.repr(spans)}: want pairs of whole numbers (start, end)")
    result: list[Span] = []
    for pair in spans:
        start, end = as_span(pair, f"{name} returned")
        if not 0 <= start < end <= len(text):
            raise ValueError(f"{name} returned ({start}, {end}): want 0 <= start < end <= {len(text)}")
        if result and (start <= result[-1].start or end <= result[-1].end):
            raise ValueError(
                f"{name} returned ({start}, {end}) after {tuple(result[-1])}: starts and ends must increase"
            )
        result.append(Span(start, end))
    return result
