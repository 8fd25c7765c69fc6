# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, an encoder; tokenizers for `unread_share`.
"""How good is a chunking? Questions whose answers' places are known, and the characters that were read for them.

When to use it: before a chunk size or a technique is chosen, on questions of your own, and once more on held-out ones.
A question's gold is any of several alternatives, each all of several parts, and a part is a span of a document. Nothing
here looks at a technique: all that counts is which characters came back.

But: at a fixed ``k``, long chunks read more and so find more. Compare techniques at an equal ``budget`` of characters.
And most differences are smaller than their interval: then it is a tie, whichever row is higher.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from chunklib.core.document import Chunk, Hit
from chunklib.core.measure import measure
from chunklib.core.span import Span, Splitter, check_count
from chunklib.search.embedding import PIECES_READ

Part = tuple[str, Span]
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A question as a customer asks it, and where its answer stands.

    ``gold`` holds alternatives, any of which answers; each is a list of parts, all of them needed: pairs of document id
    and span. ``kind`` is the kind of difficulty, ``split`` is ``"tune"`` or ``"held_out"``.
    """

    id: str
    text: str
    kind: str
    split: str
    gold: tuple[tuple[tuple[str, Span], ...], ...]


class Overlap(NamedTuple):
    """How what was read and the gold overlap, in characters; each from 0 to 1."""

    recall: float
    precision: float
    iou: float


class Interval(NamedTuple):
    """A mean, and the bounds within which it mostly falls when questions are drawn anew."""

    mean: float
    low: float
    high: float


class Abstention(NamedTuple):
    """Shares of questions: without an answer and rightly rejected, with one and rightly kept."""

    rejected: float
    kept: float


class Searcher(Protocol):
    """What `evaluate` asks of an index: `chunklib.search.retrieval.Index` is one."""

    @property
    def chunks(self) -> Sequence[Chunk]:
        """All that can be found."""

    def search_many(self, queries: Sequence[str], k: int = 5) -> Sequence[Sequence[Hit]]:
        """For each query its ``k`` best, best first."""


@dataclass(frozen=True, eq=False)
class Scores:
    """One row for each question that has an answer; arrays of shape (n,), values from 0 to 1.

    ``recall``, ``precision``, ``iou``: see `overlap`, for the first ``k`` chunks; ``recall_at_budget`` for the first
    ``budget`` characters. ``hit``: the first ``k`` hold the gold wholly; ``found``: the first ``budget`` characters do.
    ``reciprocal_rank``: see the function, for the first ``k``. ``precision_omega``: the precision of a perfect search,
    which reads every chunk that touches the gold and no other, whatever it came back with.
    """

    k: int
    budget: int
    ids: tuple[str, ...]
    kinds: tuple[str, ...]
    recall: Values
    precision: Values
    iou: Values
    recall_at_budget: Values
    hit: Values
    found: Values
    reciprocal_rank: Values
    precision_omega: Values

    def mean(self, name: str, kind: str | None = None) -> Interval:
        """Mean of one measure, such as ``"recall"``, over all questions or those of a kind, with its interval."""
        values = getattr(self, name, None)
        if not isinstance(values, np.ndarray):
            measures = [key for key, value in vars(self).items() if isinstance(value, np.ndarray)]
            raise ValueError(f"name={name!r} is unknown; use one of {', '.join(measures)}")
        if kind is not None and kind not in self.kinds:
            raise ValueError(f"kind={kind!r} is unknown; use one of {', '.join(dict.fromkeys(self.kinds))}")
        return interval(values[[kind in (None, other) for other in self.kinds]])

    def by_kind(self, name: str) -> dict[str, Interval]:
        """The same for each kind of question, in the order in which the kinds first appear."""
        return {kind: self.mean(name, kind) for kind in dict.fromkeys(self.kinds)}


def evaluate(index: Searcher, questions: Sequence[Question], *, k: int = 5, budget: int = 4000) -> Scores:
    """Ask all questions and score what comes back. Those without gold are left out: see `abstention`.

    ``k`` counts chunks, ``budget`` characters; for the budget, as many chunks are ranked as it may take to use it up.
    Cost: the questions are encoded in one call; then one search and a few sorts of some hundred spans each.
    """
    asked = [question for question in questions if question.gold]
    lengths = np.sort([chunk.end - chunk.start for chunk in index.chunks])
    enough = int(np.searchsorted(np.cumsum(lengths), budget)) + 1  # even if the shortest chunks come first
    return score(index.search_many([q.text for q in asked], max(k, enough)), asked, index.chunks, k=k, budget=budget)


def score(
    found: Sequence[Sequence[Hit]], questions: Sequence[Question], chunks: Iterable[Chunk], *, k: int, budget: int
) -> Scores:
    """`evaluate` without the search: ``found`` holds the hits of each question, best first; ``chunks`` the whole index.

    Raises ``ValueError`` where no question has gold, or where an alternative of it names no character.
    """
    check_count("k", k, 1)
    check_count("budget", budget, 1)
    asked = [(hits, question) for hits, question in zip(found, questions, strict=True) if question.gold]
    if not asked:
        raise ValueError("no question has gold: there is nothing to score; use `abstention` for such questions")
    places = _places(chunks)
    rows = []
    for hits, question in asked:
        if not all(size(parts) for parts in question.gold):
            raise ValueError(f"question {question.id}: an alternative of its gold names no character; leave it out")
        row = [
            *overlap(reading(hits, k=k), question.gold),
            overlap(reading(hits, budget=budget), question.gold).recall,
            answer_found(hits[:k], question, budget=sys.maxsize),
            answer_found(hits, question, budget=budget),
            reciprocal_rank(hits[:k], question),
            max(_omega(places, parts) for parts in question.gold),
        ]
        rows.append(row)
    ids, kinds = (tuple(getattr(question, name) for _, question in asked) for name in ("id", "kind"))
    return Scores(k, budget, ids, kinds, *np.array(rows, dtype=np.float64).T.copy())


def size(parts: Iterable[Part]) -> int:
    """How many characters the parts name, each counted once.

    >>> size([("a", Span(0, 10)), ("a", Span(5, 12)), ("b", Span(0, 3))])
    15
    """
    total, reached, current = 0, 0, None
    for document, (start, end) in sorted(parts):
        if document != current:
            current, reached = document, start
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def covered(parts: Sequence[Part], wanted: Sequence[Part]) -> int:
    """How many characters of ``wanted`` lie in at least one of ``parts``.

    >>> covered([("a", Span(0, 10)), ("b", Span(0, 10))], [("a", Span(8, 20))])
    2
    """
    return size(parts) + size(wanted) - size([*parts, *wanted])


def reading(hits: Iterable[Hit], *, k: int | None = None, budget: int = sys.maxsize) -> list[Part]:
    """What is read: the first ``k`` chunks, or whole chunks up to ``budget`` characters, the last one cut there."""
    parts: list[Part] = []
    for chunk, _ in islice(hits, k):
        end = min(chunk.end, chunk.start + budget)
        if end <= chunk.start:
            break
        parts.append((chunk.document_id, Span(chunk.start, end)))
        budget -= end - chunk.start
    return parts


def overlap(read: Sequence[Part], gold: Sequence[Sequence[Part]]) -> Overlap:
    """Recall, precision and intersection over union of what was read, for the alternative that it covers best.

    Recall is the share of the gold's characters that were read. Precision divides the same characters by all that were
    read, with text that came twice counted twice; IoU by all that were read and the gold that was missed.

    >>> overlap([("a", Span(0, 10)), ("b", Span(0, 10))], [[("a", Span(8, 20)), ("b", Span(0, 4))]])
    Overlap(recall=0.375, precision=0.3, iou=0.2)
    """
    total = sum(end - start for _, (start, end) in read)
    counts = [(covered(read, parts), size(parts)) for parts in gold]
    hit, wanted = max(counts, key=lambda count: (count[0] / count[1], count[0]))
    return Overlap(hit / wanted, hit / total if total else 0.0, hit / (total + wanted - hit))


def answer_found(hits: Iterable[Hit], question: Question, *, budget: int = 4000) -> bool:
    """Whether the question's gold lies wholly in the first ``budget`` characters read, best chunk first.

    The last chunk that is read is cut off where the budget ends. A quote counts as read when the spans read together
    cover it; one blank between two of them does not count.
    """
    spans: dict[str, list[Span]] = {}
    for name, span in reading(hits, budget=budget):
        spans.setdefault(name, []).append(span)
    return any(all(_covers(spans.get(name, []), span) for name, span in parts) for parts in question.gold)


def _covers(spans: Iterable[Span], wanted: tuple[int, int]) -> bool:
    reached, stop = wanted
    for start, end in sorted(spans):
        if start <= reached + 1:  # one blank between two chunks belongs to neither
            reached = max(reached, end)
    return reached >= stop


def reciprocal_rank(hits: Iterable[Hit], question: Question) -> float:
    """1 / the rank of the first chunk that overlaps the gold, be it by one character of one part; 0 if none does."""
    gold = [part for parts in question.gold for part in parts]
    for rank, (chunk, _) in enumerate(hits, start=1):
        if any(chunk.document_id == name and chunk.start < end and start < chunk.end for name, (start, end) in gold):
            return 1 / rank
    return 0.0


def _places(chunks: Iterable[Chunk]) -> dict[str, npt.NDArray[np.int64]]:
    """For each document id the starts and ends of its chunks, shape (n, 2)."""
    found: dict[str, list[Span]] = {}
    for chunk in chunks:
        found.setdefault(chunk.document_id, []).append(chunk.span)
    return {name: np.array(spans, dtype=np.int64) for name, spans in found.items()}


def _omega(places: Mapping[str, npt.NDArray[np.int64]], parts: Sequence[Part]) -> float:
    """Gold in the chunks that touch it (or end where it starts), divided by these chunks and the gold together."""
    touching: list[Part] = []
    for name, (start, end) in parts:
        spans = places.get(name, np.zeros((0, 2), dtype=np.int64))
        near = spans[(spans[:, 0] <= end) & (start <= spans[:, 1])]
        touching += [(name, Span(a, b)) for a, b in near.tolist()]
    return covered(touching, parts) / size([*touching, *parts])


def interval(values: npt.ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
    """The mean and its percentile bootstrap interval: where the mean of as many questions, drawn anew, mostly falls.

    But: of few values it is too narrow, and of equal ones it has no width. Trust it from about 20 values on.
    Cost: time and memory for ``resamples`` × n numbers. The same input gives the same interval.

    >>> interval([1, 1, 0, 1, 0, 1, 1, 1])
    Interval(mean=0.75, low=0.375, high=1.0)
    """
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1 or not len(data) or not np.isfinite(data).all():
        raise ValueError(f"values of shape {data.shape} must be a row of one or more finite numbers")
    if not 0 < level < 1:
        raise ValueError(f"level={level} must lie between 0 and 1, such as 0.95")
    means = data[np.random.default_rng(seed).integers(0, len(data), (resamples, len(data)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(data.mean()), float(low), float(high))


def paired_difference(a: npt.ArrayLike, b: npt.ArrayLike, **settings: Any) -> Interval:
    """The mean of a - b over the same questions, with its interval. Only where that leaves out 0 is it not a tie.

    ``settings``: those of `interval`.

    >>> paired_difference([0.5, 1.0, 0.75], [0.25, 0.75, 0.5])
    Interval(mean=0.25, low=0.25, high=0.25)
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(f"{first.shape} and {second.shape} values do not pair; score the same questions")
    return interval(first - second, **settings)


def abstention(found: Sequence[Sequence[Hit]], questions: Sequence[Question], *, threshold: float) -> Abstention:
    """What a threshold does: a question is rejected where its best hit scores less than that.

    ``found``: the hits of each question; one each will do. Raises ``ValueError`` unless there are questions of both
    sorts.
    """
    kept = np.array([bool(hits) and hits[0].score >= threshold for hits in found])
    answerable = np.array([bool(question.gold) for question in questions])
    if len(kept) != len(answerable) or answerable.all() or not answerable.any():
        raise ValueError(
            f"{len(kept)} results, {answerable.sum()} of {len(answerable)} questions with gold: "
            "give one result a question, and questions both with and without gold"
        )
    return Abstention(float(1 - kept[~answerable].mean()), float(kept[answerable].mean()))


def unread_share(chunks: Iterable[Chunk]) -> float:
    """Share of the chunks' characters, from 0 to 1, that all-MiniLM-L6-v2 never reads: it stops after 254 word pieces.

    A context is read first, so it pushes text out. Cost: one pass of the word-piece tokenizer.
    """
    unread = total = 0
    for chunk in chunks:
        text = chunk.embedding_text
        ends = measure(text, "wordpieces").units
        total += len(chunk.text)
        unread += min(len(chunk.text), len(text) - ends[PIECES_READ - 1]) if len(ends) > PIECES_READ else 0
    return unread / total if total else 0.0


def boundary_stability(splitter: Splitter, text: str, edit: Callable[[str], str]) -> float:
    """Share of the spans of ``text`` whose words are those of a span again after an edit; each counts once.

    The others are encoded and stored anew, though nobody touched most of them.

    >>> pairs = lambda text: [(at, at + 2) for at in range(0, len(text) - 1, 2)]
    >>> boundary_stability(pairs, "abcdef", lambda text: text + "gh"), boundary_stability(pairs, "abcdef", "x{}".format)
    (1.0, 0.0)
    """

    def said(of: str) -> Counter[str]:
        return Counter(of[start:end] for start, end in splitter(of))

    before = said(text)
    return (before & said(edit(text))).total() / before.total() if before else 1.0
