# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, regex, tiktoken (for tokens).
"""The walk that the splitters share: take as much as fits, go back to the strongest boundary in it, cut, repeat.

A technique says which boundaries there are (`Level`) and which is the strongest; how long a span may be, what it
repeats and what a cut must not tear is the same for all, and is decided here.

But: it looks at one chunk at a time. A cut is the best for the chunk before it, not for all chunks together.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import regex

from chunklib.core.measure import Length, Ruler, measure
from chunklib.core.span import Span, check_settings, next_ink, trim

_ASCII = bytes(range(128))
_JOINS = regex.compile(r"[^\p{GCB=Other}\p{GCB=Control}\p{GCB=CR}\p{GCB=LF}]")
# \X alone takes time in the square of a run of flags: it counts back to the run's start at each. Pairs first, then.
_CLUSTER = regex.compile(r"\p{RI}{2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*|\X")
_FEW = 3
_TRIES = 50  # boundaries of one level that may tear a character or turn out too far, before a weaker level is tried
_MIXED = re.compile(r"[\x00-\x7f]?(?:[^\x00-\x7f]+[\x00-\x7f]?)+")


class Level(Protocol):
    """One kind of boundary: where a cut may fall. All offsets are in characters."""

    def last(self, text: str, low: int, high: int) -> int:
        """The last boundary in ``(low, high]``, or something not above ``low`` if there is none."""

    def all(self, text: str, low: int, high: int) -> list[int]:
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

    def all(self, text: str, low: int, high: int) -> list[int]:
        """Every boundary in ``(low, high]``."""
        return list(self.offsets[bisect_right(self.offsets, low) : bisect_right(self.offsets, high)])


def pack(
    text: str,
    *,
    chunk_size: int,
    chunk_overlap: int = 0,
    length: Length = "tokens",
    levels: Sequence[Level] = (),
    overlap_levels: Sequence[Level] | None = None,
) -> list[Span]:
    """Spans of ``text`` that measure at most ``chunk_size`` each, cut at the strongest boundary that fits.

    ``levels`` are kinds of boundaries, strongest first. Where none of them fits, the cut falls at the furthest unit of
    the length (token, word, character); where not even one unit fits, between characters, and inside a character made
    of several code points only if that alone is too long. ``chunk_size`` and ``chunk_overlap`` count that length.

    The overlap is the longest run of whole pieces between boundaries (of any level) that fits ``chunk_overlap`` and
    leaves room for the next piece; where the cut fell at a unit, the longest run of whole units. ``overlap_levels``
    are the boundaries at which it may start, where these are not the ``levels``: fewer (then it is whole pieces of
    theirs, or nothing) or more.

    Raises ``ValueError`` or ``TypeError`` for a bad setting. Cost: linear, beyond `measure`.

    >>> pack("one two three", chunk_size=2, length="words")
    [Span(start=0, end=7), Span(start=8, end=13)]
    """
    check_settings(text, chunk_size, chunk_overlap)
    starts = levels if overlap_levels is None else overlap_levels
    walk = _Walk(text, measure(text, length), _clusters(text), levels, starts, chunk_size, chunk_overlap)
    start, stop = trim(text, 0, len(text))
    spans: list[Span] = []
    new = start  # the span starts at `start`; what no span holds yet, at `new`
    while new < stop:
        high = walk.ruler.reach(start, chunk_size)
        if high >= stop:
            if walk.fits(start, stop):
                spans.append(Span(start, stop))
                break
            high = stop
        elif text[high].isspace():
            high = next_ink(text, high)  # blanks after a cut are trimmed, so they cost nothing
        cut = walk.strongest(start, new, high)
        at_boundary = bool(cut) or not all(level in starts for level in levels)
        cut = cut or walk.furthest_unit(start, new, high)
        end = walk.end(start, cut)
        spans.append(Span(start, end))
        previous, new = start, next_ink(text, cut) if cut < stop and text[cut].isspace() else cut
        start = walk.overlap(at_boundary, previous, end, new) if chunk_overlap and new < stop else new
    return spans


class _Clusters(NamedTuple):
    """Characters made of several code points (a letter and its accent, a flag, a family): where each starts, ends."""

    starts: list[int]
    ends: list[int]

    def around(self, offset: int) -> tuple[int, int] | None:
        """The cluster that a cut at ``offset`` would tear, if any."""
        at = bisect_right(self.ends, offset)
        return (self.starts[at], self.ends[at]) if at < len(self.ends) and self.starts[at] < offset else None


def _clusters(text: str) -> _Clusters | None:
    if text.isascii():
        return None
    others = text.encode("utf-8", "replace").translate(None, _ASCII).decode()
    if not _JOINS.search("".join(set(others))):  # no character that joins: each stands alone
        return None
    found = [
        m.span()
        for run in _MIXED.finditer(text)
        for m in _CLUSTER.finditer(text, pos=run.start(), endpos=run.end())
        if m.end() - m.start() > 1
    ]
    return _Clusters([a for a, _ in found], [b for _, b in found])


@dataclass(frozen=True)
class _Walk:
    """One text on its way through `pack`. Cuts are offsets between characters; blanks before one are trimmed."""

    text: str
    ruler: Ruler
    clusters: _Clusters | None
    levels: Sequence[Level]
    starts: Sequence[Level]  # of an overlap
    chunk_size: int
    chunk_overlap: int

    def end(self, start: int, cut: int) -> int:
        """Where a span ends that is cut at ``cut``: after its last character that is not blank."""
        return start + len(self.text[start:cut].rstrip())

    def fits(self, start: int, cut: int) -> bool:
        return self.ruler.size(start, self.end(start, cut)) <= self.chunk_size

    def torn(self, cut: int) -> tuple[int, int] | None:
        """The cluster that a cut would tear."""
        return self.clusters.around(cut) if self.clusters else None

    def strongest(self, start: int, new: int, high: int) -> int:
        """The last boundary in ``(new, high]`` of the strongest level that has one which fits; 0 if none does."""
        text, size, limit = self.text, self.ruler.size, self.chunk_size  # `end`, `fits` and `torn` inline: the hot path
        too_long = -1
        for level in self.levels:
            cut = level.last(text, new, high)
            tries, rest = 0, []  # most often the first fits; after a few that do not, list the others once
            while cut > new:
                end = start + len(text[start:cut].rstrip())
                if end != too_long and not (self.clusters and self.clusters.around(cut)):
                    if size(start, end) <= limit:
                        return cut
                    too_long = end  # levels often share a boundary: do not measure it twice
                tries += 1
                if tries < _FEW:
                    cut = level.last(text, new, cut - 1)
                    continue
                if tries == _FEW:
                    rest = level.all(text, new, cut - 1)[-_TRIES:]
                cut = rest.pop() if rest else 0
        return 0

    def furthest_unit(self, start: int, new: int, high: int) -> int:
        """The furthest cut after ``new`` that tears no unit and no cluster, and fits; else one that tears little."""
        units = self.ruler.units
        at = bisect_right(units, high) - 1
        while at >= 0 and units[at] > new:
            torn = self.torn(units[at])
            cut = torn[0] if torn else units[at]  # where scripts and tokens never meet, between characters
            if cut > new and self.fits(start, cut):
                return cut
            at = bisect_left(units, cut) - 1
        # Not one whole unit fits: cut inside the first, between clusters; one by one, then in ever longer steps.
        at = bisect_right(units, new)
        cut = min(units[at] if at < len(units) else len(self.text), high) - 1
        tries = 0
        while cut > new:
            torn = self.torn(cut)
            if torn and torn[0] > new:
                cut = torn[0]
            elif not torn and self.fits(start, cut):
                return cut
            else:
                tries += 1
                cut = cut - 1 if tries < _TRIES else (new + cut) // 2
        # Not one whole cluster in this unit: take the first cluster if it fits, else as many of its code points as do.
        torn = self.torn(new + 1)
        if torn and torn[1] <= high and self.fits(start, torn[1]):
            return torn[1]
        more = range(new + 2, high + 1)
        return new + 1 + bisect_left(more, True, key=lambda cut: not self.fits(start, cut))

    def overlap(self, at_boundary: bool, previous: int, end: int, new: int) -> int:
        """Where the next span starts: as early as the overlap and the next piece allow, or at ``new``."""
        text, size, units = self.text, self.ruler.size, self.ruler.units
        low = max(previous, self.ruler.back(end, self.chunk_overlap) - 1)
        if at_boundary and self.levels:
            high = self.ruler.reach(new, self.chunk_size)
            cuts = sorted({cut for level in self.starts for cut in level.all(text, low, end)})
            if high < len(text) and text[high].isspace():
                high = next_ink(text, high)
            rest = len(text) if high == len(text) else new + 1  # without a boundary, it is the last piece or too long
            whole = [level for level in self.levels if level in self.starts]
            room = min((cut for level in whole for cut in level.all(text, new, high)[:1]), default=0)
            if not room or not self.fits(new, room):  # the next such piece is cut in any case
                room = min((cut for level in self.levels for cut in level.all(text, new, high)[:1]), default=rest)
        else:
            cuts = list(units[bisect_right(units, low) : bisect_left(units, end)])
            at = bisect_right(units, new)
            room = units[at] if at < len(units) else len(text)
        if torn := self.torn(room):
            room = torn[1]
            if room > self.ruler.reach(new, self.chunk_size):  # too long even alone; it may be the whole text
                return new
        room = self.end(new, room)
        for cut in cuts:
            start = next_ink(text, cut)
            if previous < start < end and not self.torn(cut):
                if size(start, end) <= self.chunk_overlap and size(start, room) <= self.chunk_size:
                    return start
        return new
