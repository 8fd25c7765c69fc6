# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, regex, tiktoken (for tokens), markdown-it-py.
"""Structure: cut where the author divided the text: paragraphs, labelled lines, pages, the sections of Markdown.

When to use it: for documents with headings, tables, lists or code. What a chunk stands under (headings, the header row
of its table) is not copied into it: `context_at` looks it up from its place, for the chunks of every technique.

But: it trusts the mark-up. Where headings are lines in bold, or every section has two lines, it is no better than
`recursive`; and a section of ten topics stays one section.

Cost: the Markdown parser takes 0.2 to 3.3 s for 1 MB (tables take longest), then two passes of the tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import regex

from chunklib.core.blocks import BlockCutter, Inner
from chunklib.core.checks import checked
from chunklib.core.measure import Length, measure
from chunklib.core.outline import Block, line_starts, markdown_blocks
from chunklib.core.plain import Ruler
from chunklib.core.separators import boundary_levels
from chunklib.core.span import Span, check_count, check_settings, next_ink, trim
from chunklib.recursive import PROSE, split_recursive

_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r(?!\n))[^\S\r\n]*[\r\n]\s*")
_LABEL = regex.compile(r"[^\S\r\n]*+(\w++(?:[-'’]\w++)*+(?:[^\S\r\n]++\w++(?:[-'’]\w++)*+){0,2}+)\s?:(?=\s|\Z)")
_QUESTION, _ANSWER = re.compile(r"q(uestion)?\s?\d*", re.IGNORECASE), re.compile(r"a(nswer)?\s?\d*", re.IGNORECASE)


def split_paragraphs(
    text: str,
    *,
    chunk_size: int | None = None,
    chunk_overlap: int = 0,
    inner: Inner = split_recursive,
    length: Length = "tokens",
) -> list[Span]:
    """One span for each paragraph, parted by blank lines; with ``chunk_size``, as many whole paragraphs as fit.

    Parameters
    ----------
    chunk_size: the most that a chunk may measure, in units of ``length``; ``None`` for one paragraph each.
    chunk_overlap: how much the end of a chunk is repeated at the start of the next, at most: whole paragraphs, lines or
        sentences.
    inner: what splits a paragraph that is too long.

    Raises ``ValueError`` or ``TypeError`` that names the bad setting. Cost: linear; with a size, about two passes of
    the tokenizer.

    >>> text = "One.\\n\\nTwo.\\n \\nThree is longer."
    >>> [span.of(text) for span in split_paragraphs(text)]
    ['One.', 'Two.', 'Three is longer.']
    >>> [span.of(text) for span in split_paragraphs(text, chunk_size=4, length="words")]
    ['One.\\n\\nTwo.', 'Three is longer.']
    """
    ruler = _ruler(text, chunk_size, chunk_overlap, inner, length)
    starts = [match.end() for match in _BLANK_LINE.finditer(text)]
    if chunk_size is None:
        return list(_parts(text, starts))
    cutter = _cutter(ruler, chunk_size, chunk_overlap, inner, length)
    blocks = [Block("paragraph", *part, 0) for part in _parts(text, starts)]
    return [span for part in _parts(text, ()) for span in cutter.cut(part, blocks)]


def split_labelled_lines(text: str) -> list[Span]:
    """One span for each line that starts with a label; lines without one join the label above.

    A label is one to three words, a colon and a blank. An answer (``A:``) stays with the question (``Q:``) above it.
    What stands before the first label is a span of its own. Cost: linear.

    >>> text = "Title: Cat\\nIntro: There was a cat.\\nIt sat.\\nQ: Where?\\nA: On a mat."
    >>> [span.of(text) for span in split_labelled_lines(text)]
    ['Title: Cat', 'Intro: There was a cat.\\nIt sat.', 'Q: Where?\\nA: On a mat.']
    """
    check_settings(text, None, 0, optional=True)
    starts, asked = [], False
    for start, end in pairwise(line_starts(text)):
        label = _LABEL.match(text, start, end)  # without an end, regex looks for a colon in all that follows
        if label and not (asked and _ANSWER.fullmatch(label[1])):
            asked = bool(_QUESTION.fullmatch(label[1]))
            starts.append(start)
    return list(_parts(text, starts))


def split_at(
    text: str,
    *,
    starts: Iterable[int],
    chunk_size: int | None = None,
    chunk_overlap: int = 0,
    inner: Inner = split_recursive,
    length: Length = "tokens",
) -> list[Span]:
    """Cut at places that are known: pages (``starts=document.pages``), the headings of a web page, topics.

    A part that is longer than ``chunk_size`` is split by ``inner``; parts are never joined, and nothing overlaps from
    one into the next. The text before the first start is a part, too.

    Raises ``ValueError`` for a start outside of the text, and as `split_paragraphs`. Cost: linear, and that of
    ``inner``.

    >>> split_at("one\\ftwo", starts=[0, 4])
    [Span(start=0, end=3), Span(start=4, end=7)]
    """
    ruler = _ruler(text, chunk_size, chunk_overlap, inner, length)
    if not isinstance(starts, Iterable):
        raise TypeError(f"starts={starts!r} must be a list of offsets, such as document.pages")
    starts = list(starts)
    for start in starts:
        if isinstance(start, bool) or not hasattr(start, "__index__"):
            raise TypeError(f"starts holds {start!r}; it must hold offsets of characters (int)")
        if not 0 <= start <= len(text):
            raise ValueError(f"starts holds {start}, outside of a text of {len(text)} characters")
    spans: list[Span] = []
    for part in _parts(text, sorted(set(starts))):
        if chunk_size is None or ruler.size(*part) <= chunk_size:
            spans.append(part)
        else:
            found = inner(part.of(text), chunk_size=chunk_size, chunk_overlap=chunk_overlap, length=length)
            spans += [Span(part.start + a, part.start + b) for a, b in checked(found, part.of(text), inner)]
    return spans


def split_markdown(
    text: str,
    *,
    chunk_size: int | None = None,
    chunk_overlap: int = 0,
    max_level: int = 6,
    inner: Inner = split_recursive,
    length: Length = "tokens",
) -> list[Span]:
    """One span for each section of a Markdown text; one that is longer than ``chunk_size`` is cut between its blocks.

    A section is a heading with the text below it, down to the next heading. A heading without text of its own joins its
    first subsection; the text before the first heading is a section. In a section that is too long, lists, quotes, code
    and HTML stay whole where they fit; else the cut falls between items, rows (in a longer row, cells), at blank lines
    of code, then at its lines. The line that leads in a list goes with its first item, a table's header with its first
    row, a heading with the first sentence, item, row or fence below it; it stands alone only where that does not fit
    beside it. A sentence that is too long for any chunk is cut right below its heading.

    Parameters
    ----------
    chunk_size: the most that a chunk may measure, in units of ``length``; ``None`` for whole sections.
    chunk_overlap: how much the end of a chunk is repeated at the start of the next of the same section, at most: whole
        items, rows, lines or sentences. Nothing overlaps from one section into another.
    max_level: headings deeper than this start no section.
    inner: what splits a paragraph, a line of code or a cell that is too long; it leaves room for the overlap.

    Raises ``ValueError`` or ``TypeError`` that names the bad setting. Cost: one pass of the parser; with a size, about
    two of the tokenizer, and another for what ``inner`` splits.

    >>> text = "Hi.\\n\\n# Fees\\n\\n## Post\\n\\nFree.\\n\\n## Customs\\n\\nYou pay them."
    >>> [span.of(text) for span in split_markdown(text)]
    ['Hi.', '# Fees\\n\\n## Post\\n\\nFree.', '## Customs\\n\\nYou pay them.']
    """
    ruler = _ruler(text, chunk_size, chunk_overlap, inner, length)
    check_count("max_level", max_level, 1)
    if max_level > 6:
        raise ValueError(f"max_level={max_level} must be 6 or less: Markdown has no deeper headings")
    blocks = markdown_blocks(text)
    parts = _parts(text, _section_starts(text, blocks, max_level))
    if chunk_size is None:
        return list(parts)
    cutter = _cutter(ruler, chunk_size, chunk_overlap, inner, length)
    return [span for part in parts for span in cutter.cut(part, blocks)]


def _ruler(text: str, chunk_size: int | None, chunk_overlap: int, inner: Inner, length: Length) -> Ruler:
    check_settings(text, chunk_size, chunk_overlap, optional=True)
    if not callable(inner):
        raise TypeError(f"inner={inner!r} must be a splitter, such as split_recursive")
    return measure("" if chunk_size is None else text, length)  # of "": only to refuse a length that is unknown


def _cutter(ruler: Ruler, chunk_size: int, chunk_overlap: int, inner: Inner, length: Length) -> BlockCutter:
    own = None if inner is split_recursive else inner  # ours would measure the text again
    return BlockCutter(ruler, chunk_size, chunk_overlap, own, length, boundary_levels(PROSE))


def _parts(text: str, starts: Iterable[int]) -> Iterator[Span]:
    """The text cut at ``starts``, without the blanks around each part, and without blank parts."""
    for start, end in pairwise([0, *starts, len(text)]):
        part = trim(text, start, end)
        if part.start < part.end:
            yield part


def _section_starts(text: str, blocks: Iterable[Block], max_level: int) -> Iterator[int]:
    above: Block | None = None
    for block in blocks:
        if block.depth == 0:
            empty = above and above.level and next_ink(text, above.end) >= block.start and above.level < block.level
            if block.level and block.level <= max_level and not empty:
                yield block.start
            above = block
