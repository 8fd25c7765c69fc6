# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: markdown-it-py, mdit-py-plugins, PyYAML.
"""The outline of a text: headings, tables, blocks, front matter, by a real Markdown parser: a ``#`` in code is none.

The outline never changes a span. It is looked up from the span's offset, for every technique alike.

But: it trusts the mark-up. A line in bold that merely looks like a heading is not one.
"""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

from chunklib.core.span import Span, trim

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

#: Most characters and most brackets of front matter that are read: 20,000 brackets would keep its parser for a minute.
FRONT_MATTER, BRACKETS = 20_000, 1000

#: Kinds of blocks whose text is no prose and stands as it was typed.
VERBATIM = frozenset({"fence", "code_block", "html_block", "front_matter"})

# What stands inside a block, and the parts of a table.
_INSIDE = frozenset({"inline", "thead_open", "tbody_open", "tr_open", "th_open", "td_open"})
# A line ends at \r\n, \r or \n only; str.splitlines() breaks at more.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


class Heading(NamedTuple):
    """A heading: where its line starts, where it ends, its level (1 to 6) and its words."""

    start: int
    end: int
    level: int
    title: str


class Block(NamedTuple):
    """A block of Markdown, the blanks around it left out; ``kind`` as markdown-it says (heading, bullet_list, fence …).

    ``depth`` counts what it stands in, from 0 for a block in none; ``level`` is that of a heading, else 0.
    """

    kind: str
    start: int
    end: int
    depth: int
    level: int = 0


class Outline(NamedTuple):
    """What the mark-up of a text tells: its headings, its tables (header row, whole table), its front matter."""

    headings: tuple[Heading, ...]
    tables: tuple[tuple[Span, Span], ...]
    metadata: dict[str, Any]

    @property
    def title(self) -> str:
        """The title that the front matter gives, else the first heading of level 1, else nothing."""
        given = self.metadata.get("title")
        top = next((heading.title for heading in self.headings if heading.level == 1), "")
        return (given.strip() if isinstance(given, str) else "") or top


def markdown_outline(text: str) -> Outline:
    """Headings, tables and front matter of a Markdown text, by one pass of the parser.

    Front matter is YAML between two lines ``---`` at the very start; it stays part of the text. Its values become plain
    JSON values, dates ISO strings. What is no mapping, is broken, uses aliases or is longer than 20,000 characters is
    left unread. Cost: one pass of the parser over the blocks; of what stands inside them, only headings are parsed.

    >>> markdown_outline("---\\ntitle: Returns\\nsince: 2025-03-01\\n---\\n\\nThirty days.").metadata
    {'title': 'Returns', 'since': '2025-03-01'}
    """
    starts = line_starts(text)

    def lines(first: int, last: int) -> Span:
        return trim(text, starts[first], starts[min(last, len(starts) - 1)])

    headings: list[Heading] = []
    tables: list[tuple[Span, Span]] = []
    metadata: dict[str, Any] = {}
    parser = _parser()
    references: dict[str, Any] = {}  # link targets that a heading may name
    tokens = parser.parse(text, references)  # it takes the same three line ends, so its line numbers are ours
    if tokens and tokens[0].type == "front_matter":
        metadata = _front_matter(tokens[0].content)
    for token, after in pairwise(tokens):
        if token.type == "heading_open" and token.map:
            pieces: list[Token] = []
            parser.inline.parse(after.content, parser, references, pieces)
            title = "".join(" " if "break" in piece.type else piece.content for piece in pieces)
            headings.append(Heading(*lines(*token.map), int(token.tag[1]), " ".join(title.split())))
        elif token.type == "table_open" and token.map and after.map:
            tables.append((lines(*after.map), lines(*token.map)))
    return Outline(tuple(headings), tuple(tables), metadata)


def markdown_headings(text: str) -> tuple[Heading, ...]:
    """The headings of a Markdown text, ATX (``# …``) and setext (underlined), with their character offsets.

    Front matter, footnotes, fenced and indented code, HTML blocks and tables are not searched for headings. Headings
    inside block quotes and lists count. Cost: one pass of the parser.

    >>> markdown_headings("Intro\\n\\n# Returns\\n\\n```\\n# a comment\\n```\\n")
    (Heading(start=7, end=16, level=1, title='Returns'),)
    """
    return markdown_outline(text).headings


def markdown_blocks(text: str) -> list[Block]:
    """The blocks of a Markdown text as a flat list, in order of their starts, outer before inner.

    A block consists of whole lines, so an item and its first paragraph start together, at the item's mark. Rows of a
    table are no blocks. Lines that make no block (targets of links) are of kind ``"other"``.
    Cost: one pass of the parser, without what stands inside the blocks.

    >>> [(block.kind, block.depth) for block in markdown_blocks("# Fees\\n\\n- none")]
    [('heading', 0), ('bullet_list', 0), ('list_item', 1), ('paragraph', 2)]
    """
    starts = line_starts(text)
    blocks: list[Block] = []

    def add(kind: str, first: int, last: int, depth: int, level: int = 0) -> None:
        start, end = trim(text, starts[first], starts[min(last, len(starts) - 1)])
        if start < end:
            blocks.append(Block(kind, start, end, depth, level))

    line = 0  # up to which every line is in a block
    for token in _parser().parse(text, {}):
        if not token.map or token.nesting < 0 or token.type in _INSIDE:
            continue
        first, last = token.map
        if not token.level:
            add("other", line, first, 0)
            line = last
        heading = int(token.tag[1]) if token.type == "heading_open" else 0
        add(token.type.removesuffix("_open"), first, last, token.level, heading)
    add("other", line, len(starts) - 1, 0)
    return blocks


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
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
    # Without the pass over what stands inside the blocks: it takes half of the time, and we only need it for headings.
    return parser.use(footnote_plugin, inline=False, move_to_end=False).disable("inline")


def _front_matter(block: str) -> dict[str, Any]:
    import yaml

    if len(block) > FRONT_MATTER or block.count("[") + block.count("{") > BRACKETS:
        return {}
    try:
        # Ten lines of aliases to aliases can stand for a gigabyte.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(block, yaml.SafeLoader)):
            return {}
        read = json.loads(json.dumps(yaml.safe_load(block), default=methodcaller("isoformat")))
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}
