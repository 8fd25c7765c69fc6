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
from collections.abc import Sequence

from chunklib.core.measure import Length, measure
from chunklib.core.packing import pack
from chunklib.core.separators import boundary_levels
from chunklib.core.span import Separator, Span, check_settings

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
    length: ``"tokens"``, ``"words"``, ``"characters"``, ``"wordpieces"``, the name of a tiktoken encoding, a tokenizer,
        or a function to int.

    Raises ``ValueError`` or ``TypeError`` that names the bad setting and the mend.

    >>> text = "There was a cat.\\nThe cat sat.\\nThe cat sat on a mat."
    >>> [span.of(text) for span in split_recursive(text, chunk_size=25, length="characters")]
    ['There was a cat.', 'The cat sat.', 'The cat sat on a mat.']
    """
    check_settings(text, chunk_size, chunk_overlap)
    levels = boundary_levels(separators)
    return pack(measure(text, length), chunk_size=chunk_size, chunk_overlap=chunk_overlap, levels=levels)
