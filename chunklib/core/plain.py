# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: regex; tiktoken for tokens.
"""The plain core: measuring and packing in their simplest right form. Read this before `measure` and `packing`.

It takes what they take and gives what they give: where nothing overlaps and the length grows with the text, the very
same spans, as a test says. And it is what a copied technique carries (``python -m chunklib.copy recursive``).

But: it counts a slice again for each question, so it takes several times as long. It knows no word pieces and no
tokenizer's object; a function serves for both.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import regex

from chunklib.core.span import Separator, Span, check_separators, next_ink, trim

Length = str | Callable[[str], int]
#: A word is a run of letters and digits, or one other character; regex's \s leaves out four of isspace()'s.
WORD = regex.compile(r"\w+|[^\w\s\x1c-\x1f]")
#: What a reader takes for one character. \X alone takes time in the square of a run of flags, so pairs of these first.
CLUSTER = regex.compile(r"\p{RI}{2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*|\X")
#: What joins the character before it; a text without any has no such clusters.
JOINS = regex.compile(r"[^\p{GCB=Other}\p{GCB=Control}\p{GCB=CR}\p{GCB=LF}]")
#: How far beyond its place an expression may look for the rest of its match, in characters.
AHEAD = 200
#: A cut can make the tokens near it fewer by about this many, so so many more are tried.
SLACK = 4


# --- How long is a span? ---------------------------------------------------------------------------------------------


class Ruler(NamedTuple):
    """A text and a way to measure it, in characters: ``size(start, end)`` is exact; ``reach(start, length)`` about
    where a span of that length ends, never too near; ``back(end, length)`` about where it starts; ``units`` the ends
    of its tokens, words or characters."""

    text: str
    size: Callable[[int, int], int]
    reach: Callable[[int, int], int]
    back: Callable[[int, int], int]
    units: Sequence[int]


def measure(text: str, length: Length = "tokens") -> Ruler:
    """Prepare to measure slices of ``text`` in tokens, words, characters, or by a function, whose units are words.

    >>> ruler = measure("The cat sat. The cat sat on a mat.", "words")
    >>> ruler.size(0, 12), ruler.units[:3]
    (4, [3, 7, 11])
    """
    size = lru_cache(1000)(lambda start, end: count(text[start:end], length))
    ends = _ends(text, length)

    def reach(start: int, limit: int) -> int:
        at = bisect_right(ends, start) + limit - 1 + SLACK
        return ends[at] if at < len(ends) else len(text)

    def back(end: int, limit: int) -> int:
        at = bisect_left(ends, end) - limit - SLACK
        return ends[at] if at >= 0 else 0

    def further(limit: int, most: int, size: Callable[[int], int]) -> int:  # in characters, until it is too long
        step = 4 * limit + 1
        while step < most and size(step) <= limit:
            step *= 2
        return min(step, most)

    if callable(length):
        return Ruler(
            text,
            size,
            lambda start, limit: start + further(limit, len(text) - start, lambda step: size(start, start + step)),
            lambda end, limit: end - further(limit, end, lambda step: size(end - step, end)),
            ends,
        )
    return Ruler(text, size, reach, back, ends)


def count(text: str, length: Length = "tokens") -> int:
    """The length of a text. Special tokens such as ``<|endoftext|>`` are plain text here.

    >>> count("The cat sat."), count("The cat sat.", "words"), count("The cat sat.", "characters")
    (4, 4, 12)
    """
    if not isinstance(length, str) and not callable(length):
        raise TypeError(f"length={length!r} must be a name, a tokenizer, or a function from text to int")
    if callable(length):
        found = length(text)
        if isinstance(found, bool) or not hasattr(found, "__index__"):
            raise TypeError(f"length returned {found!r} for {text[:20]!r}: it must return an int")
        return int(found)
    if length in ("words", "characters"):
        return len(WORD.findall(text) if length == "words" else text)
    return len(_encoding(length).encode(text, disallowed_special=()))


def _ends(text: str, length: Length) -> Sequence[int]:
    if callable(length) or length == "words":
        return [match.end() for match in WORD.finditer(text)]
    if length == "characters":
        return range(1, len(text) + 1)
    encoding = _encoding(length) if isinstance(length, str) else count(text, length)

    @lru_cache(None)
    def begun(token: int) -> int:  # the characters that begin in a token; one that ends inside a character has it whole
        return sum(byte & 0xC0 != 0x80 for byte in encoding.decode_single_token_bytes(token))

    clean = text.encode("utf-8", "replace").decode()
    return list(accumulate(map(begun, encoding.encode(clean, disallowed_special=()))))


@lru_cache
def _encoding(name: str) -> Any:
    import tiktoken

    if name not in ("tokens", *tiktoken.list_encoding_names()):
        raise ValueError(f"length={name!r} is unknown; use tokens, words, characters, an encoding, or a function")
    return tiktoken.get_encoding("cl100k_base" if name == "tokens" else name)


# --- Where may it be cut? --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Places:
    """A kind of boundary: the offsets at which a cut may fall, in order."""

    offsets: Sequence[int]

    def all(self, text: str, low: int, high: int) -> Sequence[int]:
        """Every boundary in ``(low, high]``."""
        return self.offsets[bisect_right(self.offsets, low) : bisect_right(self.offsets, high)]


@dataclass(frozen=True)
class Ends:
    """A kind of boundary: the end of each match of an expression."""

    pattern: re.Pattern[str]

    def all(self, text: str, low: int, high: int) -> Sequence[int]:
        """Every boundary in ``(low, high]``."""
        line = max(text.rfind("\n", 0, low), 0)  # where a match may begin that ends after `low`
        ends = (match.end() for match in self.pattern.finditer(text, line, high + AHEAD))
        return [end for end in ends if low < end <= high]


Level = Places | Ends


def boundary_levels(separators: Iterable[Separator]) -> list[Level]:
    """Separators as kinds of boundaries, strongest first."""
    known = check_separators(separators)
    return [Ends(re.compile(f"(?<={re.escape(own)})") if isinstance(own, str) else own) for own in known]


# --- Take as much as fits, go back to the strongest boundary in it, cut, repeat --------------------------------------


def pack(
    ruler: Ruler,
    *,
    chunk_size: int,
    chunk_overlap: int = 0,
    levels: Sequence[Level] = (),
    overlap_levels: Sequence[Level] | None = None,
    part: tuple[int, int] | None = None,
) -> list[Span]:
    """Spans of a text, or of a part of it, of at most ``chunk_size``, cut at the strongest boundary that fits.

    ``levels`` are kinds of boundaries, strongest first. The overlap starts at the earliest boundary of any of the
    ``overlap_levels`` (by default the ``levels``) at which it fits and leaves room for the next piece; where the cut
    fell at no boundary, at the earliest unit.

    >>> pack(measure("one two three", "words"), chunk_size=2)
    [Span(start=0, end=7), Span(start=8, end=13)]
    """
    start, stop = part or trim(ruler.text, 0, len(ruler.text))
    if start < stop and ruler.size(start, stop) <= chunk_size:
        return [Span(start, stop)]

    def listed(some: Sequence[Level]) -> list[Places]:
        return [Places(level.all(ruler.text, start, stop)) for level in some]

    clusters: list[tuple[int, int]] = []  # characters of several code points
    if JOINS.search(ruler.text, start, stop):
        found = CLUSTER.finditer(ruler.text, start, stop)
        clusters = [match.span() for match in found if match.end() - match.start() > 1]
    own = listed(levels)
    starts = whole = own
    if overlap_levels is not None and chunk_overlap:
        starts = listed(overlap_levels)
        whole = [places for places, level in zip(own, levels, strict=True) if level in overlap_levels]
    walk = _Walk(ruler, clusters, own, whole, starts, chunk_size, chunk_overlap, stop)
    spans: list[Span] = []
    new = start  # the span starts at `start`; what no span holds yet, at `new`
    while new < stop:
        cut, at_boundary = walk.cut(start, new)
        if start < new and not walk.fits(start, cut):  # a length that does not grow with the text
            cut, at_boundary = walk.cut(start := new, new)
        spans.append(Span(start, walk.end(start, cut)))
        new = next_ink(ruler.text, cut)
        start = walk.overlap(spans[-1], new, at_boundary) if chunk_overlap and new < stop else new
    return spans


@dataclass(frozen=True)
class _Walk:
    ruler: Ruler
    clusters: Sequence[tuple[int, int]]
    levels: Sequence[Places]
    whole: Sequence[Places]  # those of the levels at which an overlap may start
    starts: Sequence[Places]  # all at which it may
    chunk_size: int
    chunk_overlap: int
    stop: int

    @property
    def text(self) -> str:
        return self.ruler.text

    def end(self, start: int, cut: int) -> int:
        """Where a span ends that is cut at ``cut``: blanks before it are trimmed."""
        return start + len(self.text[start:cut].rstrip())

    def fits(self, start: int, cut: int) -> bool:
        return self.ruler.size(start, self.end(start, cut)) <= self.chunk_size

    def torn(self, cut: int) -> tuple[int, int] | None:
        """The cluster that a cut would tear."""
        at = bisect_right(self.clusters, cut, key=lambda cluster: cluster[1])
        return self.clusters[at] if at < len(self.clusters) and self.clusters[at][0] < cut else None

    def last(self, start: int, cuts: Iterable[int]) -> int:
        """The last of some cuts, in order, that fits and tears nothing, or 0; by halves, as lengths grow with texts."""
        whole = [cut for cut in cuts if not self.torn(cut)]
        if whole and self.fits(start, whole[-1]):
            return whole[-1]
        at = bisect_left(whole, True, key=lambda cut: not self.fits(start, cut))
        return whole[at - 1] if at else 0

    def cut(self, start: int, new: int) -> tuple[int, bool]:
        """Where the span from ``start`` is cut, after ``new``; and whether that is at a boundary."""
        high = min(next_ink(self.text, self.ruler.reach(start, self.chunk_size)), self.stop)
        if high == self.stop and self.fits(start, self.stop):
            return self.stop, True
        for level in self.levels:
            if cut := self.last(start, level.all(self.text, new, high)):
                return cut, True
        units = Places(self.ruler.units)
        first = next(iter(units.all(self.text, new, high)), high)
        for cuts in (units.all(self.text, new, high), range(new + 1, first)):
            moved = sorted({(self.torn(cut) or (cut,))[0] for cut in cuts})
            if cut := self.last(start, (cut for cut in moved if cut > new)):
                return cut, False
        # Not one whole cluster in this unit: take the first cluster if it fits, else as many of its code points as do.
        torn = self.torn(new + 1)
        if torn and torn[1] <= high and self.fits(start, torn[1]):
            return torn[1], False
        more = range(new + 2, high + 1)
        return new + 1 + bisect_left(more, True, key=lambda cut: not self.fits(start, cut)), False

    def overlap(self, span: Span, new: int, at_boundary: bool) -> int:
        """Where the next span starts: as early as the overlap and the next piece allow, or at ``new``."""
        if self.levels and (at_boundary or len(self.whole) < len(self.levels)):
            starts, room = self.starts, self.next_piece(new)
        else:
            starts = [Places(self.ruler.units)]
            room = next(iter(starts[0].all(self.text, new, self.stop)), self.stop)
        room = (self.torn(room) or (0, room))[1]
        low = max(span.start, self.end(span.start, self.ruler.back(span.end, self.chunk_overlap)) - 1)
        cuts = {cut for level in starts for cut in level.all(self.text, low, span.end) if not self.torn(cut)}
        early = sorted(start for start in {next_ink(self.text, cut) for cut in cuts} if span.start < start < span.end)
        fitting = (start for start in early if self.ruler.size(start, span.end) <= self.chunk_overlap)
        return next((start for start in fitting if self.fits(start, room)), new)

    def next_piece(self, new: int) -> int:
        """Where the piece ends that comes next, at a boundary where an overlap may start, or else at any."""
        high = min(next_ink(self.text, self.ruler.reach(new, self.chunk_size)), self.stop)
        for levels in (self.whole, self.levels):
            cuts = [cut for level in levels for cut in level.all(self.text, new, high)]
            if self.fits(new, room := min(cuts, default=self.stop)):
                return room
        return new + 1  # it is cut in any case
