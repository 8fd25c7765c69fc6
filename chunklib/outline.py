# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/outline.py). Needs: markdown-it-py, mdit-py-plugins.
"""The outline of a text: its headings. Found by a real Markdown parser, so ``#`` inside code is not a heading.

A heading never changes a span. It is looked up from the span's offset, for every technique alike.

But: it trusts the mark-up. A line in bold that merely looks like a heading is not one.
"""

from __future__ import annotations

import itertools
import re
from functools import cache
from typing import TYPE_CHECKING

from chunklib.span import Heading

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# A line ends at \r\n, \r or \n only; str.splitlines() breaks at more.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def markdown_headings(text: str) -> tuple[Heading, ...]:
    """The headings of a Markdown text, ATX (``# …``) and setext (underlined), with their character offsets.

    Front matter, fenced and indented code, HTML blocks and tables are not searched for headings. Headings inside
    block quotes and lists count. Cost: one pass of the parser.

    >>> markdown_headings("Intro\\n\\n# Returns\\n\\n```\\n# a comment\\n```\\n")
    (Heading(start=7, end=16, level=1, title='Returns'),)
    """
    starts = line_starts(text)
    headings = []
    tokens = _parser().parse(text)  # it takes the same three line ends, so its line numbers are ours
    for opening, content in itertools.pairwise(tokens):
        if opening.type == "heading_open" and opening.map:
            first, last = opening.map
            start, end = starts[first], starts[min(last, len(starts) - 1)]
            block = text[start:end]
            title = "".join(" " if "break" in t.type else t.content for t in content.children or ())
            headings.append(
                Heading(
                    start + len(block) - len(block.lstrip()),
                    start + len(block.rstrip()),
                    int(opening.tag[1]),
                    " ".join(title.split()),
                )
            )
    return tuple(headings)


def line_starts(text: str) -> list[int]:
    """Offset of the start of each line, and of the text's end.

    >>> line_starts("a\\r\\nb\\rc")
    [0, 3, 5, 6]
    """
    starts = [m.start() for m in _LINE.finditer(text)]
    return starts if starts[-1] == len(text) else [*starts, len(text)]


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.front_matter import front_matter_plugin

    return MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
