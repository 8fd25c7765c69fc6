# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, regex, tiktoken (for tokens).
"""Where may a run of blocks be cut? Their boundaries, each with its strength, from which `pack` then chooses.

Between two boundaries lies what is not to be parted, and it fits the size: a list, a row, a fence with all its lines,
a heading with the first sentence below it. Only what is longer gets boundaries inside.

But: where a table or a list is too long for one chunk, so are both its neighbours often too short for what is left of
it. Chunks of structured text are less even than those of prose.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from chunklib.core.checks import checked
from chunklib.core.measure import Length
from chunklib.core.outline import VERBATIM, Block, line_starts
from chunklib.core.packing import Level, Places, pack
from chunklib.core.plain import Ruler
from chunklib.core.span import Span, next_ink, trim

#: Called as ``inner(text, chunk_size=…, chunk_overlap=…, length=…)``.
Inner = Callable[..., Sequence[tuple[int, int]]]

_SENTENCE_END = re.compile(r"[.!?…][\"')\]}*_”’»]*(?=\s|\Z)|[。！？｡．][」』”’）】]*")
_CELL_BORDER = re.compile(r"(?<!\\)\|")

#: How strong a boundary is, from 1: headings by level, then blocks by how deep they lie, last the cuts of ``inner``.
_BLOCK, _INNER = 10, 1000
#: Kinds of blocks: what stays whole where it fits, in that order also before what leads it in; what holds others.
_UNITS = VERBATIM | {"list_item", "heading", "hr"}
_LISTS = frozenset({"bullet_list", "ordered_list"})
#: How many of the boundaries of prose, from the strongest to sentences, may begin an overlap as well.
SOFT = 11
_SEVERAL = _LISTS | {"blockquote", "footnote_reference", "table"}


@dataclass(frozen=True)
class BlockCutter:
    """Cuts parts of one text, each into what fits ``chunk_size``; the settings are those of a splitter.

    ``prose``: boundaries of prose, strongest first. They cut what is too long, unless ``inner`` does; the first `SOFT`
    of them, down to sentences, are also places where an overlap may start.
    """

    ruler: Ruler
    chunk_size: int
    chunk_overlap: int
    inner: Inner | None
    length: Length
    prose: Sequence[Level]

    def cut(self, part: Span, blocks: Sequence[Block]) -> list[Span]:
        """The spans of a part of the text: one if it fits, else what `pack` makes of the boundaries of its blocks.

        ``blocks``: those of the whole text, in order, outer before inner.
        """
        if self.fits(*part):
            return [part]
        first, last = (bisect_left(blocks, offset, key=lambda block: block.start) for offset in part)
        boundaries = _Boundaries(self, part.start)
        for block, sibling in _with_siblings(blocks[first:last]):
            boundaries.take(block, sibling)
        levels = boundaries.levels()
        return pack(
            self.ruler,
            chunk_size=self.chunk_size,
            chunk_overlap=self.chunk_overlap,
            levels=levels,
            overlap_levels=[*levels, *self.prose[:SOFT]],
            part=part,
        )

    def fits(self, start: int, end: int) -> bool:
        """Whether a stretch of the text fits, blanks at its ends aside."""
        start, end = trim(self.ruler.text, start, end)
        return start == end or self.ruler.size(start, end) <= self.chunk_size

    def split(self, start: int, end: int, size: int) -> list[Span]:
        """A stretch of the text cut by ``inner``, or else at the boundaries of prose."""
        if not self.inner:
            return pack(self.ruler, chunk_size=size, levels=self.prose, part=trim(self.ruler.text, start, end))
        part = self.ruler.text[start:end]
        found = self.inner(part, chunk_size=size, chunk_overlap=0, length=self.length)
        return [Span(start + a, start + b) for a, b in checked(found, part, self.inner)]

    @cached_property
    def lines(self) -> list[int]:
        """Where the lines of the text start."""
        return line_starts(self.ruler.text)


class _Boundaries:
    """Takes the blocks of a part one after the other and notes where it may be cut, and where rather than elsewhere.

    There is no boundary after a heading or what else leads in the next block, unless the first unit of that block fits,
    but not together with it. Of headings on top of each other, as many stay with that unit as fit.
    """

    def __init__(self, cutter: BlockCutter, start: int) -> None:
        self.cutter, self.text, self.fits = cutter, cutter.ruler.text, cutter.fits
        self.strengths: dict[int, int] = {}  # offset of a boundary: how strong it is
        self.head = start  # the last boundary so far
        self.stacked: list[tuple[int, int]] = []  # the headings right above that have no boundary before them
        self.at = -1  # where the last block starts; the first block inside it starts there, too
        self.whole = start  # up to here nothing needs a boundary

    def levels(self) -> list[Places]:
        """For `pack`: the strongest first."""
        places: dict[int, list[int]] = {}
        for offset, strength in self.strengths.items():
            places.setdefault(strength, []).append(offset)
        return [Places(places[strength]) for strength in sorted(places)]

    def add(self, offset: int, strength: int) -> None:
        self.strengths[offset], self.head = strength, offset
        self.stacked = [heading for heading in self.stacked if heading[0] > offset]

    def part(self, start: int, end: int, strength: int) -> None:
        """Part a unit from what leads it in, where both do not fit: from all of it, unless some of the headings fit."""
        heading = next(((at, its) for at, its in self.stacked if self.fits(at, end)), None)
        self.add(*(heading or (start, strength)))

    def take(self, block: Block, sibling: Block | None) -> None:
        """Note the boundary before a block, then what it needs inside. ``sibling``: the block above, at its depth."""
        if block.start < self.whole:
            return
        under_heading = sibling is not None and sibling.kind == "heading"
        if block.start != self.at:
            self.begin(block, sibling, under_heading)
        self.at = block.start
        kind, start, end, *_ = block
        if self.fits(self.head, end):
            self.whole = end
        elif self.fits(start, end) and (kind in _UNITS or (kind in _SEVERAL and not under_heading)):
            self.part(start, end, _strength(block))
            self.whole = end
        elif kind == "table":
            self.take_table(start, end, _strength(block))
        elif kind in VERBATIM:
            self.take_verbatim(start, end, _strength(block))
        elif kind not in _SEVERAL and kind != "list_item":
            self.take_prose(start, end, _strength(block))

    def begin(self, block: Block, sibling: Block | None, under_heading: bool) -> None:
        """A boundary before a block, unless its sibling leads it in."""
        if not under_heading:
            self.stacked = []
        if not (sibling and _leads_in(sibling, block, self.text)):
            self.add(block.start, _strength(block))
        elif block.level:
            self.stacked.append((block.start, _strength(block)))

    def take_table(self, start: int, end: int, strength: int) -> None:
        """Between rows, header, dashes and first row together where they fit; what is too long, between cells."""
        lines = self.lines(start, end)
        kept = next((n for n in (2, 1) if self.fits(start, lines[n] if n < len(lines) else end)), 0)
        self.take_pieces(start, end, strength, [(line, strength + 1) for line in lines[kept:]], cells=True)

    def take_verbatim(self, start: int, end: int, strength: int) -> None:
        """After blank lines, then between lines, but not after the first and before the last: the marks of a fence."""
        blank, places = False, []
        for line, after in pairwise(self.lines(start, end)[1:]):
            if said := self.text[line:after].strip(" \t\r\n>"):
                places.append((line, strength + 1 + (not blank)))
            blank = not said
        self.take_pieces(start, end, strength, places)

    def take_prose(self, start: int, end: int, strength: int) -> None:
        """Where ``inner`` cuts. The first cut leaves room for what leads in, if the first sentence fits there, too."""
        if self.head < start:
            found = _SENTENCE_END.search(self.text, start + 4, end)  # not the stop of "1. "
            sentence = found.end() if found else end
            if self.stacked and not self.fits(self.head, sentence):
                self.part(start, sentence, strength)
        if self.head < start:
            room = self.cutter.chunk_size - self.cutter.ruler.size(self.head, start)
            cut = start
            if room > 0 and (self.fits(self.head, sentence) or not self.fits(start, sentence)):
                window = min(end, self.cutter.ruler.reach(start, self.cutter.chunk_size))
                cut = next_ink(self.text, self.cutter.split(start, window, room)[0].end)
                cut = cut if self.fits(self.head, cut) else start
            self.add(cut, strength if cut == start else _INNER)
            start = cut
        self.take_pieces(start, end, strength, [])

    def take_pieces(
        self, start: int, end: int, strength: int, places: list[tuple[int, int]], *, cells: bool = False
    ) -> None:
        """Add boundaries, and where a piece between them is too long, those of its cells or where ``inner`` cuts."""
        first = places[0][0] if places else end
        if self.head < start and not self.fits(self.head, first):
            self.part(start, first, strength)
        for (a, its_strength), (b, _) in pairwise([(start, 0), *places, (end, 0)]):
            if a > start:
                self.add(a, its_strength)
            if self.fits(a, b):
                continue
            if cells:
                borders = [border.end() for border in _CELL_BORDER.finditer(self.text, a + 1, b - 1)]
                self.take_pieces(a, b, strength, [(border, strength + 2) for border in borders])
            else:
                for piece in self.cutter.split(a, b, self.cutter.chunk_size - self.cutter.chunk_overlap)[1:]:
                    self.add(piece.start, _INNER)

    def lines(self, start: int, end: int) -> list[int]:
        """The starts of the lines of a block, but for its first."""
        lines = self.cutter.lines
        return lines[bisect_right(lines, start) : bisect_left(lines, end)]


def _with_siblings(blocks: Iterable[Block]) -> Iterator[tuple[Block, Block | None]]:
    """Each block with the one above it that stands in the same block."""
    above: list[Block] = []  # the last block of each depth
    for block in blocks:
        while above and above[-1].depth > block.depth:
            above.pop()
        yield block, above.pop() if above and above[-1].depth == block.depth else None
        above.append(block)


def _strength(block: Block) -> int:
    return block.level if block.level and not block.depth else _BLOCK + block.depth


def _leads_in(above: Block, block: Block, text: str) -> bool:
    """Whether a block belongs to the one below it: a heading, a paragraph before a list or with a colon at its end."""
    if above.kind == "heading":
        return block.kind != "heading" or above.level < block.level
    if above.kind != "paragraph" or block.kind == "paragraph":
        return False
    return block.kind in _LISTS or text[above.end - 1] in ":："
