# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""A chunk is a *span* of its source: a half-open range of characters. The ground floor, which knows nothing else.

What a chunk says, where it stands, which section it belongs to and how to cite it are all looked up from the span and
the document, never copied along by the technique that made it. So a fixed-size chunk knows its section as well as a
structural one does.

But: offsets belong to one exact text. Change the text (clean it, re-decode it) and old spans no longer fit it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

#: Any function from a text to the places of its chunks.
Splitter = Callable[[str], Sequence[tuple[int, int]]]
#: A literal text, or an expression; a cut may fall at the end of each of its matches.
Separator = str | re.Pattern[str]

_INK = re.compile(r"\S")  # re's \s is str.isspace()


class Span(NamedTuple):
    """A half-open range of characters, ``text[start:end]``. Any ``(start, end)`` pair serves as one.

    >>> Span(4, 7).of("The cat sat.")
    'cat'
    """

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters of ``text`` that the span names, to the letter."""
        return text[self.start : self.end]


def trim(text: str, start: int, end: int) -> Span:
    """The part of ``text[start:end]`` without the whitespace at its ends; an empty span where there is nothing else.

    >>> trim("one  two ", 3, 9)
    Span(start=5, end=8)
    """
    part = text[start:end]
    last = start + len(part.rstrip())
    return Span(min(start + len(part) - len(part.lstrip()), last), last)


def next_ink(text: str, offset: int) -> int:
    """Where the first non-blank character at or after ``offset`` stands, or the text's end.

    >>> next_ink("a  b", 1)
    3
    """
    found = _INK.search(text, offset)
    return found.start() if found else len(text)


def check_settings(text: str, chunk_size: int | None, chunk_overlap: int, *, optional: bool = False) -> None:
    """Raise ``TypeError`` or ``ValueError``, naming the value and the mend, unless the settings make sense.

    ``optional``: ``chunk_size`` may be ``None``, for "no limit".

    >>> check_settings("", 50, 60)
    Traceback (most recent call last):
    ValueError: chunk_overlap=60 must be smaller than chunk_size=50
    """
    if not isinstance(text, str):
        raise TypeError(f"text is {type(text).__name__}; it must be str (decode bytes, or pass document.text)")
    check_count("chunk_overlap", chunk_overlap, 0)
    if chunk_size is None and optional:
        if chunk_overlap:
            raise ValueError(f"chunk_overlap={chunk_overlap} needs a chunk_size; give one, or leave the overlap out")
        return
    check_count("chunk_size", chunk_size, 1)
    if chunk_size is not None and chunk_overlap >= chunk_size:
        raise ValueError(f"chunk_overlap={chunk_overlap} must be smaller than chunk_size={chunk_size}")


def check_count(name: str, value: object, least: int) -> None:
    """Raise ``TypeError`` for what is no whole number (NumPy's are), ``ValueError`` for one below ``least``.

    >>> check_count("k", 0, 1)
    Traceback (most recent call last):
    ValueError: k=0 must be 1 or more
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}={value!r} must be an int")
    if value.__index__() < least:
        raise ValueError(f"{name}={value} must be {least} or more")


def check_separators(separators: Any) -> list[Separator]:
    """The separators without empty strings, or a ``TypeError`` for what is none."""
    if isinstance(separators, (str, re.Pattern)):
        raise TypeError(f"separators={separators!r} must be a list; put it in brackets")
    if not isinstance(separators, Iterable):
        raise TypeError(f"separators={separators!r} must be a list, such as PROSE")
    found = list(separators)
    for separator in found:
        if not isinstance(separator, str) and not (
            isinstance(separator, re.Pattern) and isinstance(separator.pattern, str)
        ):
            raise TypeError(f"separator {separator!r} must be a str or a compiled pattern of str")
    return [separator for separator in found if separator != ""]
