# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, regex, tiktoken (for tokens).
"""Recursive: cut at the strongest boundary that fits. Paragraphs first, then lines, sentences, clauses, words.

When to use it: as the default for prose of every kind. It knows nothing of a document's structure but what
separators show, and that is often enough. `MARKDOWN` and `PYTHON` are separators for such source.

But: a blank line is not always a boundary of meaning, and a text without any (a transcript, say) falls back to
sentences and words. Where the text below a heading does not fit, the heading stands alone. It does not know tables or
code blocks; `structure` does.

Cost: one pass of the tokenizer, then for each chunk a search within its window and a short recount. On 1.5 MB of
mixed prose the whole takes about 1.2 times as long as tokenizing alone, with `MARKDOWN` or `PYTHON` about 1.8 times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chunklib.core.measure import Length
from chunklib.core.packing import Level, pack
from chunklib.core.span import Span

Separator = str | re.Pattern[str]

_CLOSING = "[\"')\\]}*_”’»]*"
_PARAGRAPHS: tuple[Separator, ...] = (
    "\n\n",
    "\r\n\r\n",
    "\r\r",
    re.compile(r"\n[ \t]+\r?\n"),  # a blank line that is not quite empty
    "\u2029",
    "\f",
)
_LINES: tuple[Separator, ...] = (
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
#: Boundaries of prose, strongest first. Kinds that could share a level stand apart, so that most are plain strings and
#: each pattern starts with one set: that is what makes the search fast.
PROSE: tuple[Separator, ...] = (*_PARAGRAPHS, *_LINES)

_BLANK = r"(?:(?<=\n\n)|(?<=\n\r\n))"  # after a blank line
#: Markdown source: before headings by their level, after rules, before fences, paragraphs, before list items and table
#: rows, then as prose. It sees lines, not blocks: a comment ``## so`` in code is taken for a heading.
MARKDOWN: tuple[Separator, ...] = (
    # Level 1 only with a blank line below: a comment in code mostly has none.
    re.compile(r"\n(?= {0,3}(?:##\s|#[ \t][^\n]*\n[ \t\r]*\n))"),
    re.compile(rf"\n{_BLANK}(?=[^\n]+\n {{0,3}}(?:=+|--+)[ \t\r]*\n)"),  # underlined
    re.compile(r"\n(?= {0,3}###\s)"),
    re.compile(r"\n(?= {0,3}#{4,6}\s)"),
    re.compile(rf"\n{_BLANK} {{0,3}}([-*_])[ \t]*(?:\1[ \t]*){{2,}}(?=\r?\n)"),
    re.compile(r"\n(?= {0,3}(?:```+|~~~+)[^\s`~])"),  # with a language: one without may be a closing fence
    *_PARAGRAPHS,
    re.compile(r"\n(?=(?:[-*+]|\d{1,9}[.)])[ \t])"),
    re.compile(r"\n(?=[ \t]+(?:[-*+]|\d{1,9}[.)])[ \t])"),  # of an inner list
    re.compile(r"\n(?=[ \t]*\|(?![-:| \t\r]*\n))"),  # not between a table's header and the line under it
    *_LINES,
)

_DEFINITION = r"(?:class|def|async[ \t]+def)[ \t]+\w"
# Comments and decorators (which may go over several lines) above it; as many as it may have, or time were quadratic.
_ABOVE = r"(?:#[^\n]*\n|@[^\n]*\n(?:[ \t)\]}][^\n]*\n){0,9}){0,20}"
#: Python source: before classes and functions at the left margin, with what belongs to them above; before other things
#: there after a blank line; before inner classes and functions; blank lines; statements at the margin; then as prose.
#: The blanks before a chunk's first line are in no chunk, so mind the indentation.
PYTHON: tuple[Separator, ...] = (
    re.compile(rf"^(?![@#)\]}}])[^\n]*\n(?={_ABOVE}{_DEFINITION})", re.MULTILINE),
    re.compile(r"\n\r?\n(?=[^\s)\]}])"),
    re.compile(
        rf"^(?![ \t]*(?:[@#)\]}}]|class\b))[^\n]*\n(?=(?:[ \t]+[@#][^\n]*\n){{0,20}}[ \t]+{_DEFINITION})",
        re.MULTILINE,
    ),
    *_PARAGRAPHS,
    re.compile(r"\n(?=[^\s)\]}@#])(?!(?:class|def|async|elif|else|except|finally)\b)"),
    *_LINES,
)

#: How far beyond the window, on either side, a pattern may look for the rest of its match.
_AHEAD = 200
_STRETCH = 160


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
    separators: strongest first, such as `MARKDOWN`. A ``str`` is literal, a compiled pattern an expression. The cut
        falls at the end of the match, so a separator closes its chunk; a lookahead such as
        ``re.compile(r"(?=^def )", re.M)`` cuts before what follows. Single units of ``length`` are always the last
        level.
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
    """Separators as `pack` wants them, without empty strings: single units of ``length`` are always the last level.

    >>> boundary_levels(["*"])[0].last("a*b*c", 0, 4)
    4
    """
    if isinstance(separators, (str, re.Pattern)):
        raise TypeError(f"separators={separators!r} must be a list; put it in brackets")
    if not isinstance(separators, Iterable):
        raise TypeError(f"separators={separators!r} must be a list, such as PROSE")
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
        middle = max(low, high - _STRETCH)
        return self._last(text, middle, low, high, high) or self._last(text, _line(text, low), low, middle, high) or low

    def _last(self, text: str, begin: int, low: int, finish: int, high: int) -> int:
        """The last boundary in ``(low, high]`` whose match starts in ``[begin, finish]``, or 0."""
        found = 0
        for match in self.pattern.finditer(text, begin, high + _AHEAD):
            if match.end() > high or match.start() > finish:
                break
            found = match.end()
        return found if found > low else 0

    def all(self, text: str, low: int, high: int) -> list[int]:
        matches = self.pattern.finditer(text, _line(text, low), high + _AHEAD)
        ends = (match.end() for match in matches if match.start() <= high)
        return [end for end in ends if low < end <= high]


def _line(text: str, at: int) -> int:
    """Where to begin, so that a match is found that began before ``at``: at its line's start, if that is near."""
    start = text.rfind("\n", max(0, at - _AHEAD), max(0, at))
    return start if start >= 0 else 0 if at < _AHEAD else at - 1
