# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, regex, tiktoken (for tokens), an encoder.
"""Semantic: cut where the meaning turns, as the vectors of the sentences tell it.

`split_semantic` looks at one gap between two sentences at a time and cuts where the distance is unusually large.
`split_optimal` looks at all of them together and finds the best chunks that keep to a size.

When to use it: for long texts without structure whose topics change without a sign, such as transcripts.

But: "unusually large" is relative, so a text on one topic is cut as well. Without ``max_chunk_size`` a chunk may be far
longer than the encoder reads. Short bullets and headings are far from everything. Measure it against `split_recursive`.

Cost: the encoder reads the whole text, once for the cuts and, when the chunks are indexed, once more. All else is
little: 100,000 sentences take some seconds and 200 MB.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from chunklib.core.checks import checked
from chunklib.core.measure import Length, measure
from chunklib.core.plain import Ruler
from chunklib.core.span import Span, Splitter, check_count, check_settings, next_ink, trim
from chunklib.core.vectors import Encoder, encoder, unit_vectors
from chunklib.recursive import split_recursive
from chunklib.sentence import split_sentences

Values = npt.NDArray[np.float64]

#: Kinds of threshold, and the amount of each that is used where none is given.
THRESHOLDS = {"percentile": 95.0, "standard_deviation": 1.5, "interquartile": 1.0, "gradient": 95.0}

_DECIMALS = 5  # of a distance: beyond them it depends on the machine, and equal texts would not stay ties
_ROOM = 1e-6  # by which a distance must exceed a threshold that was computed with rounding
_ROWS = 1000  # gaps that are compared at a time
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n|\r[^\S\r\n]*\r|[\f\u2029]")


def split_semantic(
    text: str,
    *,
    embed: Encoder | None = None,
    threshold: str = "percentile",
    amount: float | None = None,
    window: int = 0,
    min_chunk_size: int = 0,
    max_chunk_size: int | None = None,
    sentences: Splitter = split_sentences,
    length: Length = "tokens",
) -> list[Span]:
    """Cut ``text`` at each gap between sentences whose distance exceeds the threshold.

    Parameters
    ----------
    embed: a function from texts to one vector each, of any length; called once, for the whole text. Without one, that
        of the course, all-MiniLM-L6-v2.
    threshold, amount: what counts as unusually large, see `thresholds`.
    window: how many more sentences on either side of a gap are compared, see `gap_distances`.
    min_chunk_size: a smaller chunk is joined to its neighbour across the smaller distance. It stays small only where
        either join would exceed ``max_chunk_size``.
    max_chunk_size: a larger chunk is cut at the largest distance in it, again and again; a sentence that is larger by
        itself is cut as `split_recursive` does.
    sentences: any splitter; only where its spans start is used, so nothing is lost between them.
    length: the unit of both sizes: ``"sentences"``, or what `chunklib.core.measure.measure` takes.

    Raises ``ValueError`` or ``TypeError`` that names the bad setting, or the sentence whose vector is not finite. Cost:
    see the module. A text of one sentence is not encoded.

    >>> text = "The cat sat. The cat ran. Rain fell. Rain stopped."
    >>> cats_or_rain = lambda texts: [[t.count("cat"), t.count("Rain")] for t in texts]
    >>> [span.of(text) for span in split_semantic(text, embed=cats_or_rain)]
    ['The cat sat. The cat ran.', 'Rain fell. Rain stopped.']
    """
    check_settings(text, None, 0, optional=True)
    _amount(threshold, amount)
    check_count("window", window, 0)
    check_count("min_chunk_size", min_chunk_size, 0)
    if max_chunk_size is not None:
        check_count("max_chunk_size", max_chunk_size, 1)
        if min_chunk_size > max_chunk_size:
            raise ValueError(f"min_chunk_size={min_chunk_size} must not exceed max_chunk_size={max_chunk_size}")
    spans, ruler = _read(text, sentences, max_chunk_size, length, max_chunk_size is not None or min_chunk_size > 0)
    if len(spans) < 2:
        return spans
    distances = gap_distances(text, spans, embed=embed, window=window)
    turns = np.flatnonzero(distances > thresholds(distances, threshold, amount) + _ROOM) + 1
    cuts = [0, *turns.tolist(), len(spans)]  # chunk i holds the sentences cuts[i] to cuts[i + 1]

    def fits(first: int, last: int, limit: int | None) -> bool:
        return limit is None or _fits(ruler, spans[first].start, spans[last - 1].end, limit)

    if max_chunk_size is not None:
        cuts = _cut_large(cuts, distances, lambda first, last: fits(first, last, max_chunk_size))
    if min_chunk_size:
        cuts = _join_small(
            cuts,
            distances,
            lambda first, last: fits(first, last, min_chunk_size - 1),
            lambda first, last: fits(first, last, max_chunk_size),
        )
    return [Span(spans[first].start, spans[last - 1].end) for first, last in pairwise(cuts)]


def gap_distances(
    text: str, spans: Sequence[tuple[int, int]], *, embed: Encoder | None = None, window: int = 0
) -> Values:
    """How far apart in meaning the two sides of each gap between ``spans`` are: shape (n - 1,), each from 0 to 2.

    A distance is 1 minus the cosine, rounded to five decimals. One side is the span before the gap with up to
    ``window`` more before it, read as one text; the other is the span after it with as many more. They share nothing: a
    window that lies on both sides of a gap hides what happens at it. A vector of zeros is at distance 1 from all.

    Cost: one call of ``embed`` with n + ``window`` texts, each of up to ``window`` + 1 spans.

    >>> text, spans = "cat. cat. rain.", [(0, 4), (5, 9), (10, 15)]
    >>> gap_distances(text, spans, embed=lambda texts: [[t.count("cat"), t.count("rain")] for t in texts]).tolist()
    [0.0, 1.0]
    """
    check_count("window", window, 0)
    n = len(spans)
    if n < 2:
        return np.zeros(0)
    before = [(max(0, i - window), i) for i in range(n)]  # a window that ends at i; its right-hand twins come for free
    after = [(i, n - 1) for i in range(max(1, n - window), n)]  # but for those that the end of the text cuts short
    units = unit_vectors(encoder(embed), [text[spans[a][0] : spans[b][1]] for a, b in before + after])
    left = np.arange(n - 1)
    right = left + 1 + window
    right[right >= n] = np.arange(n, n + len(after))
    cosines = np.empty(n - 1)
    for at in range(0, n - 1, _ROWS):
        here = slice(at, at + _ROWS)
        cosines[here] = np.einsum("ij,ij->i", units[left[here]], units[right[here]], dtype=np.float64)
    return np.round(1 - cosines, _DECIMALS)


def thresholds(distances: npt.ArrayLike, threshold: str = "percentile", amount: float | None = None) -> Values:
    """What each distance must exceed to be a cut, shape (n,).

    - ``"percentile"``: ``amount`` per cent of the distances lie below it; between two of them it is interpolated.
    - ``"standard_deviation"``: the mean plus ``amount`` standard deviations.
    - ``"interquartile"``: the mean plus ``amount`` times the range of the middle half.
    - ``"gradient"``: the distance before, plus the ``amount`` percentile of all rises from one distance to the next.

    >>> [round(float(thresholds([0.1, 0.2, 0.9], kind)[0]), 2) for kind in THRESHOLDS]
    [0.83, 0.93, 0.8, 0.74]
    """
    value = _amount(threshold, amount)
    given = np.asarray(distances, dtype=np.float64)
    if not len(given):
        return given
    if threshold == "gradient":
        rises = np.diff(given, prepend=given[:1])
        return given - rises + np.percentile(rises, value)
    if threshold == "percentile":
        limit = np.percentile(given, value)
    elif threshold == "standard_deviation":
        limit = given.mean() + value * given.std()
    else:
        low, high = np.percentile(given, [25, 75])
        limit = given.mean() + value * (high - low)
    return np.full(len(given), limit)


def split_optimal(
    text: str,
    *,
    embed: Encoder | None = None,
    chunk_size: int = 200,
    sentences: Splitter = split_sentences,
    length: Length = "tokens",
) -> list[Span]:
    """Of all ways to cut ``text`` between sentences into chunks that fit, the one whose chunks hold together best.

    A pair of sentences in one chunk counts their cosine minus the mean cosine of all pairs in the text. The sum over
    all pairs in all chunks is the greatest there is; of equal ways, the one with the fewest chunks is taken. No chunk
    goes across a blank line, unless the whole text fits. Sentences shorter than a tenth of ``chunk_size`` are first put
    together with the next of their paragraph, because alone they say too little.

    Parameters: ``chunk_size`` is the most that a chunk may measure; the others are those of `split_semantic`.

    Raises what `split_semantic` raises. Cost: one call of ``embed``; then time linear in the text and in the number of
    sentences that fit a chunk, and memory for one vector a sentence. A text that fits is not encoded.

    >>> text = "The cat sat. The cat ran. Rain fell. Rain stopped."
    >>> cats_or_rain = lambda texts: [[t.count("cat"), t.count("Rain")] for t in texts]
    >>> [s.of(text) for s in split_optimal(text, embed=cats_or_rain, chunk_size=3, length="sentences")]
    ['The cat sat. The cat ran.', 'Rain fell. Rain stopped.']
    """
    check_settings(text, chunk_size, 0)
    spans, ruler = _read(text, sentences, chunk_size, length)
    if not spans or ruler.size(spans[0].start, spans[-1].end) <= chunk_size:
        return [Span(span.start, spans[-1].end) for span in spans[:1]]
    spans, stops = _put_together(spans, ruler, chunk_size)
    units = unit_vectors(encoder(embed), [text[start:end] for start, end in spans])
    n, total = len(units), units.sum(axis=0, dtype=np.float64)
    mean = (total @ total - np.count_nonzero(units.any(axis=1))) / max(1, n * (n - 1))
    starts, ends = [span.start for span in spans], [span.end for span in spans]
    best = [(0, 0)] * (n + 1)  # of the sentences from i on: the greatest sum, and minus the number of chunks
    after = [n] * (n + 1)  # where the first of these chunks ends
    for i in reversed(range(n)):
        last = min(max(i + 1, bisect_right(ends, ruler.reach(starts[i], chunk_size))), stops[i])
        rows = units[i:last].astype(np.float64)
        bonds = np.einsum("ij,ij->i", np.cumsum(rows[:-1], axis=0), rows[1:]) - mean * np.arange(1, last - i)
        sums = [0, *np.rint(10**_DECIMALS * np.cumsum(bonds)).astype(np.int64).tolist()]  # integers: ties are exact
        found = (-(10**30), 0)
        for j in range(last, i, -1):
            way = (sums[j - i - 1] + best[j][0], best[j][1] - 1)
            if way > found and (j == i + 1 or ruler.size(starts[i], ends[j - 1]) <= chunk_size):
                found, after[i] = way, j
        best[i] = found
    cuts = [0]
    while cuts[-1] < n:
        cuts.append(after[cuts[-1]])
    return [Span(starts[first], ends[last - 1]) for first, last in pairwise(cuts)]


def _read(
    text: str, sentences: Splitter, limit: int | None, length: Length, measured: bool = True
) -> tuple[list[Span], Ruler]:
    """The sentences, each up to the next one's start so that nothing is lost, one over the limit cut; and a ruler."""
    starts = [next_ink(text, start) for start, _ in checked(sentences(text), text, sentences)[1:]]
    bounds = sorted({next_ink(text, 0), *starts} - {len(text)})
    spans = [trim(text, a, b) for a, b in pairwise([*bounds, len(text)])]
    if length == "sentences":
        ends = [span.end for span in spans]
        return spans, Ruler(
            text,
            size=lambda a, b: bisect_left(bounds, b) - bisect_left(bounds, a),
            reach=lambda a, n: ends[min(bisect_left(bounds, a) + n, len(ends)) - 1],
            back=lambda b, n: bounds[max(bisect_left(bounds, b) - n, 0)],
            units=ends,
        )
    ruler = measure(text if measured else "", length)  # without a size nothing is counted
    pieces: list[Span] = []
    for start, end in spans:
        if limit is None or _fits(ruler, start, end, limit):
            pieces.append(Span(start, end))
        else:
            inner = split_recursive(text[start:end], chunk_size=limit, length=length)
            pieces += [Span(start + a, start + b) for a, b in inner]
    return pieces, ruler


def _fits(ruler: Ruler, start: int, end: int, limit: int) -> bool:
    """Whether a range measures at most ``limit``. A range that is far too long is not measured: that may take long."""
    return (end - start <= 8 * limit or end <= ruler.reach(start, limit)) and ruler.size(start, end) <= limit


def _cut_large(cuts: Sequence[int], distances: Values, fits: Callable[[int, int], bool]) -> list[int]:
    """Cut each chunk at the largest distance in it until all fit.

    Gaps are tried in order of their distance: those that come later are smaller, so the first one in a chunk is its
    largest. Among equal ones the roundest number comes first, so that a chunk is halved and not peeled.
    """
    result: list[int] = [0]
    for first, last in pairwise(cuts):
        found = [first, last]
        if not fits(first, last):
            gaps = np.arange(first + 1, last)
            for gap in gaps[np.lexsort((-(gaps & -gaps), -distances[gaps - 1]))].tolist():
                at = bisect_left(found, gap)
                if not fits(found[at - 1], found[at]):
                    insort(found, gap)
        result += found[1:]
    return result


def _join_small(
    cuts: Sequence[int], distances: Values, small: Callable[[int, int], bool], fits: Callable[[int, int], bool]
) -> list[int]:
    """Join each small chunk to its nearer neighbour, if that fits, else to the other.

    Cuts are tried in order of their distance. Chunks only grow, so a cut that has to stay once has to stay for good.
    """
    start = {last: first for first, last in pairwise(cuts)}  # of the chunk that ends there
    end = dict(pairwise(cuts))
    for cut in sorted(cuts[1:-1], key=lambda cut: (distances[cut - 1], cut)):
        first, last = start[cut], end[cut]
        if (small(first, cut) or small(cut, last)) and fits(first, last):
            del start[cut], end[cut]
            start[last], end[first] = first, last
    return sorted({0, *start})


def _put_together(spans: Sequence[Span], ruler: Ruler, chunk_size: int) -> tuple[list[Span], list[int]]:
    """Sentences, the short ones joined to the next of their paragraph; and, for each, where its paragraph ends."""
    result: list[Span] = []
    first = 0  # of the paragraph
    stops: list[int] = []
    for start, end in spans:
        if result and _PARAGRAPH.search(ruler.text, result[-1].end, start):
            stops += [len(result)] * (len(result) - first)
            first = len(result)
        short = len(result) > first and 10 * ruler.size(*result[-1]) < chunk_size
        if short and ruler.size(result[-1].start, end) <= chunk_size:
            result[-1] = Span(result[-1].start, end)
        else:
            result.append(Span(start, end))
    return result, stops + [len(result)] * (len(result) - first)


def _amount(threshold: str, amount: float | None) -> float:
    if threshold not in THRESHOLDS:
        raise ValueError(f"threshold={threshold!r} is unknown; use one of {', '.join(THRESHOLDS)}")
    if amount is None:
        return THRESHOLDS[threshold]
    if isinstance(amount, bool) or not isinstance(amount, (int, float, np.number)):
        raise TypeError(f"amount={amount!r} must be a number")
    most = 100 if threshold in ("percentile", "gradient") else float("inf")
    if not 0 <= amount <= most or amount == float("inf"):
        bounds = "between 0 and 100" if most == 100 else "0 or more"
        raise ValueError(f"amount={amount!r} must be {bounds} for threshold={threshold!r}")
    return float(amount)
