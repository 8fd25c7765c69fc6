# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: regex, and what the length needs.
"""The walk that the splitters share: take as much as fits, go back to the strongest boundary in it, cut, repeat.

Read `chunklib.core.plain` first: it says the same in the simplest way, and a test compares the two. Here boundaries are
searched in the window of one chunk only, from its end backwards, and sizes come from the table of `measure`.

A technique says which boundaries there are (`Level`) and which is the strongest; how long a span may be, what it
repeats and what a cut must not tear is the same for all, and is decided here.

But: it looks at one chunk at a time. A cut is the best for the chunk before it, not for all chunks together.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Protocol

from chunklib.core.plain import CLUSTER, JOINS, Ruler
from chunklib.core.span import Span, next_ink, trim

_ASCII = bytes(range(128))
_NEAR = 50  # characters, in which the next boundary is looked for first
_MIXED = re.compile(r"[\x00-\x7f]?(?:[^\x00-\x7f]+[\x00-\x7f]?)+")


class Level(Protocol):
    """One kind of boundary: where a cut may fall. All offsets are in characters."""

    def last(self, text: str, low: int, high: int) -> int:
        """The last boundary in ``(low, high]``, or something not above ``low`` if there is none."""

    def all(self, text: str, low: int, high: int) -> Sequence[int]:
        """Every boundary in ``(low, high]``, in order."""


@dataclass(frozen=True)
class Places:
    """A `Level` of boundaries that are known beforehand: their offsets, in order.

    >>> Places([4, 8]).last("one two three", 0, 7), Places([4, 8]).all("one two three", 0, 9)
    (4, [4, 8])
    """

    offsets: Sequence[int]

    def last(self, text: str, low: int, high: int) -> int:
        """The last boundary in ``(low, high]``, or ``low``."""
        at = bisect_right(self.offsets, high)
        return max(low, self.offsets[at - 1]) if at else low

    def all(self, text: str, low: int, high: int) -> Sequence[int]:
        """Every boundary in ``(low, high]``."""
        return self.offsets[bisect_right(self.offsets, low) : bisect_right(self.offsets, high)]


def pack(
    ruler: Ruler,
    *,
    chunk_size: int,
    chunk_overlap: int = 0,
    levels: Sequence[Level] = (),
    overlap_levels: Sequence[Level] | None = None,
    part: tuple[int, int] | None = None,
) -> list[Span]:
    """Spans of ``ruler.text`` that measure at most ``chunk_size`` each, cut at the strongest boundary that fits.

    ``levels`` are kinds of boundaries, strongest first. Where none of them fits, the cut falls at the furthest unit of
    the length (token, word, character); where not even one unit fits, between characters, and inside a character made
    of several code points only if that alone is too long.

    The overlap is the longest run of whole pieces between boundaries (of any level) that fits ``chunk_overlap`` and
    leaves room for the next piece; where the cut fell at a unit, the longest run of whole units. ``overlap_levels``
    are the boundaries at which it may start, where these are not the ``levels``: fewer (then it is whole pieces of
    theirs, or nothing) or more.

    ``part``: the stretch of the text that is packed, without whitespace at its ends; all of it by default. Sizes count
    the units of the ruler, and are checked before. Cost: linear, beyond `measure`.

    >>> from chunklib.core.measure import measure
    >>> pack(measure("one two three", "words"), chunk_size=2)
    [Span(start=0, end=7), Span(start=8, end=13)]
    """
    start, stop = part or trim(ruler.text, 0, len(ruler.text))
    if start < stop and ruler.size(start, stop) <= chunk_size:
        return [Span(start, stop)]
    starts = levels if overlap_levels is None else overlap_levels
    clusters = _clusters(ruler.text, start, stop)
    partly = starts is not levels and bool(chunk_overlap) and not all(level in starts for level in levels)
    walk = _Walk(ruler.text, ruler, clusters, levels, starts, partly, chunk_size, chunk_overlap, stop)
    spans: list[Span] = []
    new = start  # the span starts at `start`; what no span holds yet, at `new`
    while new < stop:
        cut, at_boundary = walk.cut(start, new)
        if start < new and not walk.fits(start, cut):  # a length that does not grow with the text
            cut, at_boundary = walk.cut(start := new, new)
        end = walk.end(start, cut)
        spans.append(Span(start, end))
        previous, new = start, next_ink(ruler.text, cut) if cut < stop else stop
        start = walk.overlap(previous, end, new, at_boundary) if chunk_overlap and new < stop else new
    return spans


class _Clusters(NamedTuple):
    """Characters made of several code points (a letter and its accent, a flag, a family): where each starts, ends."""

    starts: list[int]
    ends: list[int]

    def around(self, offset: int) -> tuple[int, int] | None:
        """The cluster that a cut at ``offset`` would tear, if any."""
        at = bisect_right(self.ends, offset)
        return (self.starts[at], self.ends[at]) if at < len(self.ends) and self.starts[at] < offset else None


def _clusters(text: str, start: int, stop: int) -> _Clusters | None:
    if text.isascii():
        return None
    others = text[start:stop].encode("utf-8", "replace").translate(None, _ASCII).decode()
    if not JOINS.search("".join(set(others))):  # no character that joins: each stands alone
        return None
    found = [
        m.span()
        for run in _MIXED.finditer(text, start, stop)
        for m in CLUSTER.finditer(text, pos=run.start(), endpos=run.end())
        if m.end() - m.start() > 1
    ]
    return _Clusters([a for a, _ in found], [b for _, b in found])


@dataclass(frozen=True)
class _Walk:
    """One stretch of text on its way through `pack`. Cuts are offsets between characters."""

    text: str
    ruler: Ruler
    clusters: _Clusters | None
    levels: Sequence[Level]
    starts: Sequence[Level]  # of an overlap
    partly: bool  # whether some of the levels are no such starts
    chunk_size: int
    chunk_overlap: int
    stop: int

    def end(self, start: int, cut: int) -> int:
        """Where a span ends that is cut at ``cut``: after its last character that is not blank."""
        return start + len(self.text[start:cut].rstrip())

    def fits(self, start: int, cut: int) -> bool:
        return self.ruler.size(start, self.end(start, cut)) <= self.chunk_size

    def torn(self, cut: int) -> tuple[int, int] | None:
        """The cluster that a cut would tear."""
        return self.clusters.around(cut) if self.clusters else None

    def window(self, start: int) -> int:
        """About where a chunk that starts there ends at the latest, with the blanks after it: they are trimmed."""
        high = self.ruler.reach(start, self.chunk_size)
        return min(next_ink(self.text, high) if high < self.stop else high, self.stop)

    def cut(self, start: int, new: int) -> tuple[int, bool]:
        """Where the span from ``start`` is cut, after ``new``; and whether that is at a boundary."""
        high = self.window(start)
        if high == self.stop and self.fits(start, self.stop):
            return self.stop, True
        cut = self.strongest(start, new, high)
        return cut or self.furthest_unit(start, new, high), bool(cut)

    def strongest(self, start: int, new: int, high: int) -> int:
        """The last boundary in ``(new, high]`` of the strongest level that has one which fits; 0 if none does."""
        text, size, limit = self.text, self.ruler.size, self.chunk_size  # `end`, `fits` and `torn` inline: the hot path
        too_long = -1
        for level in self.levels:
            cut = level.last(text, new, high)
            if cut <= new:
                continue
            end = start + len(text[start:cut].rstrip())
            if end != too_long and not (self.clusters and self.clusters.around(cut)):
                if size(start, end) <= limit:
                    return cut
                too_long = end  # levels often share a boundary: do not measure it twice
            if cut := self.last_that_fits(start, level.all(text, new, cut - 1)):
                return cut
        return 0

    def last_that_fits(self, start: int, cuts: Sequence[int]) -> int:
        """The last of some cuts, in order, that fits and tears nothing; 0 if none does.

        In ever longer steps back from the last one, then by halves: sizes are taken to grow with the text.
        """
        if self.clusters:
            cuts = [cut for cut in cuts if not self.clusters.around(cut)]
        low, high, step = len(cuts) - 1, len(cuts), 1
        while low >= 0 and not self.fits(start, cuts[low]):
            low, high, step = low - step, low, step * 2
        low = max(low, -1)  # cuts[low] fits, if there is one, and cuts[high] does not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.fits(start, cuts[middle]) else (low, middle)
        return cuts[low] if low >= 0 else 0

    def furthest_unit(self, start: int, new: int, high: int) -> int:
        """The furthest cut after ``new`` that tears no unit and no cluster, and fits; else one that tears little."""
        units = self.ruler.units
        first = bisect_right(units, new)
        inside = units[first] if first < len(units) else len(self.text)
        for cuts in (units[first : bisect_right(units, high)], range(new + 1, min(inside, high))):
            if self.clusters:  # where scripts and tokens never meet, between characters
                moved = {(self.clusters.around(cut) or (cut,))[0] for cut in cuts}
                cuts = sorted(cut for cut in moved if cut > new)
            if cut := self.last_that_fits(start, cuts):
                return cut
        # Not one whole cluster in this unit: take the first cluster if it fits, else as many of its code points as do.
        torn = self.torn(new + 1)
        if torn and torn[1] <= high and self.fits(start, torn[1]):
            return torn[1]
        more = range(new + 2, high + 1)
        return new + 1 + bisect_left(more, True, key=lambda cut: not self.fits(start, cut))

    def overlap(self, previous: int, end: int, new: int, at_boundary: bool) -> int:
        """Where the next span starts: as early as the overlap and the next piece allow, or at ``new``."""
        if self.levels and (at_boundary or self.partly):
            starts, room = self.starts, self.next_piece(end, new)
        else:  # whole units are repeated, and one of them comes next
            starts, at = [Places(self.ruler.units)], bisect_right(self.ruler.units, new)
            room = self.ruler.units[at] if at < len(self.ruler.units) else self.stop
        if room > new and (torn := self.torn(room)):
            room = torn[1]
            if room > self.ruler.reach(new, self.chunk_size):  # too long even alone; it may be the whole text
                return new
        room = self.end(new, room)
        low = max(previous, self.end(previous, self.ruler.back(end, self.chunk_overlap)) - 1)
        near = min(low + _NEAR, end)  # most often it is there
        windows = ((low, near), (near, end))
        for cut in chain.from_iterable(self.boundaries(starts, *window) for window in windows):
            start = next_ink(self.text, cut)
            if previous < start < end and not self.torn(cut):
                if self.ruler.size(start, end) <= self.chunk_overlap:
                    if room == new or self.ruler.size(start, room) <= self.chunk_size:
                        return start
        return new

    def next_piece(self, end: int, new: int) -> int:
        """Where the piece ends that comes next, at a boundary where an overlap may start, or else at any.

        ``new`` itself, where the piece is so small that it leaves room for the longest overlap, which ends at ``end``.
        """
        whole = [level for level in self.levels if level in self.starts] if self.partly else self.levels
        near = whole[-1].all(self.text, new, min(new + _NEAR, self.stop))  # the weakest boundary is mostly the nearest
        if near and 2 * self.ruler.size(end, near[0]) < self.chunk_size - self.chunk_overlap:
            return new
        for levels in (whole, self.levels) if self.partly else (whole,):
            cuts = self.boundaries(levels, new, self.window(new))
            room = next(iter(cuts), self.stop)
            if self.fits(new, room):
                return room
        return new + 1  # it is cut in any case

    def boundaries(self, levels: Sequence[Level], low: int, high: int) -> Sequence[int]:
        """The boundaries in ``(low, high]`` of any of the levels, in order."""
        return sorted({cut for level in levels for cut in level.all(self.text, low, high)})
