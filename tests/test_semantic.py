# SPDX-License-Identifier: MIT
"""Semantic: worked examples with exact values, the bounds, the optimum, and encoders that misbehave."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.measure import count
from chunklib.core.span import Span
from chunklib.course.datasets import DATA, load_course_documents
from chunklib.semantic import THRESHOLDS, gap_distances, split_optimal, split_semantic, thresholds
from chunklib.sentence import split_sentences

CAT = "There was a cat. The cat sat. The cat sat on a mat."
TOPICS = "The pump runs. The pump stops. A poem is read. The poem ends."


def pumps_or_poems(texts: Sequence[str]) -> list[list[int]]:
    return [[text.count("pump"), text.count("poem")] for text in texts]


def numbered(vectors: Sequence[Sequence[float]]) -> tuple[str, Callable[[Sequence[str]], Any]]:
    """A text of one sentence for each vector, and the encoder that knows them."""
    names = [f"S{i}." for i in range(len(vectors))]
    return " ".join(names), lambda texts: [vectors[names.index(text)] for text in texts]


def angles(*degrees: float) -> list[list[float]]:
    return [[np.cos(np.radians(d)), np.sin(np.radians(d))] for d in degrees]


def counts(text: str, spans: Sequence[Span]) -> list[int]:
    return [span.of(text).count("S") for span in spans]


# --- Worked examples -------------------------------------------------------------------------------------------------


def test_the_cat_at_the_75th_percentile() -> None:
    """A threshold that takes the truncated place in the sorted distances gives three chunks."""
    distances = gap_distances(CAT, split_sentences(CAT))
    assert [f"{d:.2f}" for d in distances] == ["0.22", "0.21"]
    spans = split_semantic(CAT, threshold="percentile", amount=75)
    assert [s.of(CAT) for s in spans] == ["There was a cat.", "The cat sat. The cat sat on a mat."]


@pytest.mark.parametrize(
    ("threshold", "amount"), [("percentile", 95), ("standard_deviation", 1), ("interquartile", 1), ("gradient", 95)]
)
def test_two_topics(threshold: str, amount: float) -> None:
    """Distances of 0, 1 and 0."""
    spans = split_semantic(TOPICS, embed=pumps_or_poems, threshold=threshold, amount=amount)
    assert [s.of(TOPICS) for s in spans] == ["The pump runs. The pump stops.", "A poem is read. The poem ends."]


def test_thresholds_are_those_of_numpy() -> None:
    known = [0.1, 0.4, 0.2, 0.9, 0.3, 0.8, 0.35]
    a = np.array(known)
    q1, q3 = np.percentile(a, 25), np.percentile(a, 75)
    assert thresholds(known, "percentile", 90) == pytest.approx(np.full(7, np.percentile(a, 90)))
    assert thresholds(known, "percentile") == pytest.approx(np.full(7, 0.87))
    assert thresholds(known, "standard_deviation", 1.5) == pytest.approx(np.full(7, np.mean(a) + 1.5 * np.std(a)))
    assert thresholds(known, "interquartile", 1) == pytest.approx(np.full(7, np.mean(a) + (q3 - q1)))
    rises = np.array([0, 0.3, -0.2, 0.7, -0.6, 0.5, -0.45])
    line = np.array([0.1, 0.1, 0.4, 0.2, 0.9, 0.3, 0.8]) + np.percentile(rises, 80)
    assert thresholds(known, "gradient", 80) == pytest.approx(line)
    assert [len(thresholds([], kind)) for kind in THRESHOLDS] == [0, 0, 0, 0]


def test_a_gradient_cuts_at_the_peak_and_not_before_it() -> None:
    """The central difference that is often taken for the slope is largest one gap too early."""
    distances = np.array([0.2, 0.2, 0.2, 0.8, 0.2, 0.2])
    assert int(np.argmax(np.gradient(distances))) == 2
    assert np.flatnonzero(distances > thresholds(distances, "gradient", 90)).tolist() == [3]


def test_the_percentile_of_a_place_that_exists_is_no_cut_at_that_place() -> None:
    """0.95 * 20 is an inexact 19, so without room for rounding the threshold may lie a hair below its distance."""
    for n in range(2, 80):
        distances = np.linspace(0.1, 0.9, n + 1).round(5)
        for amount in range(0, 101, 5):
            place = amount * n / 100
            if place == int(place):
                text, encode = numbered(angles(*np.cumsum([0, *np.degrees(np.arccos(1 - distances))])))
                assert len(split_semantic(text, embed=encode, amount=amount)) - 1 == n - int(place)
                break


# --- Windows ---------------------------------------------------------------------------------------------------------


def test_one_stray_sentence_is_calmed_by_a_window() -> None:
    text = " ".join(["The pump runs."] * 3 + ["Yes."] + ["The pump stops."] * 2 + ["A poem is read."] * 4)
    alone = gap_distances(text, split_sentences(text), embed=pumps_or_poems)
    assert np.flatnonzero(alone == alone.max()).tolist() == [2, 3, 5]
    wide = gap_distances(text, split_sentences(text), embed=pumps_or_poems, window=2)
    assert np.flatnonzero(wide == wide.max()).tolist() == [5]


@pytest.mark.parametrize("window", [0, 1, 2, 5, 50])
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_the_two_sides_of_a_gap_share_nothing(n: int, window: int) -> None:
    text = " ".join(f"S{i}." for i in range(n))
    spans = split_sentences(text)
    calls: list[list[str]] = []

    def embed(texts: Sequence[str]) -> Any:
        calls.append(list(texts))
        return np.random.default_rng(0).standard_normal((len(texts), 5))

    distances = gap_distances(text, spans, embed=embed, window=window)
    (texts,) = calls
    assert len(texts) <= n + window
    vectors = np.asarray(np.random.default_rng(0).standard_normal((len(texts), 5)))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    of = dict(zip(reversed(texts), reversed(vectors), strict=True))  # of equal texts any would do; here the first
    for gap in range(n - 1):
        before = text[spans[max(0, gap - window)].start : spans[gap].end]
        after = text[spans[gap + 1].start : spans[min(n - 1, gap + 1 + window)].end]
        if texts.count(before) == texts.count(after) == 1:
            assert distances[gap] == pytest.approx(1 - of[before] @ of[after], abs=1e-5)
        else:
            assert {before, after} <= set(texts)


def test_a_bad_window_is_named() -> None:
    with pytest.raises(ValueError, match="window=-1 must be 0 or more"):
        gap_distances(TOPICS, split_sentences(TOPICS), embed=pumps_or_poems, window=-1)


# --- Sizes -----------------------------------------------------------------------------------------------------------


def test_too_large_is_cut_at_the_largest_distance_inside() -> None:
    text, encode = numbered(angles(0, 10, 40, 45, 65, 70, 71))  # gaps of 10, 30, 5, 20, 5, 1 degrees

    def sizes(limit: int) -> list[int]:
        spans = split_semantic(text, embed=encode, amount=100, max_chunk_size=limit, length="sentences")
        return counts(text, spans)

    assert [sizes(n) for n in (7, 6, 5, 4, 3, 2)] == [[7], [2, 5], [2, 5], [2, 2, 3], [2, 2, 3], [2, 2, 1, 2]]


def test_equal_distances_are_halved_and_not_peeled_off() -> None:
    text, encode = numbered([[1.0, 0.0]] * 32)
    spans = split_semantic(text, embed=encode, max_chunk_size=10, length="sentences")
    assert counts(text, spans) == [8, 8, 8, 8]


def test_too_small_joins_the_more_similar_side() -> None:
    text, encode = numbered(angles(0, 1, 40, 70, 71))  # gaps of 1, 39, 30, 1 degrees
    cut = split_semantic(text, embed=encode, amount=40)
    assert counts(text, cut) == [2, 1, 2]
    joined = split_semantic(text, embed=encode, amount=40, min_chunk_size=2, length="sentences")
    assert counts(text, joined) == [2, 3]
    other = split_semantic(text, embed=encode, amount=40, min_chunk_size=3, max_chunk_size=3, length="sentences")
    assert counts(text, other) == [2, 3], "two stay alone: with the other three they were too many"


def test_a_sentence_over_the_limit_is_cut_as_recursive_does() -> None:
    text = "The pump runs, and it runs, and it runs. A poem."
    spans = split_semantic(text, embed=pumps_or_poems, max_chunk_size=28, length="characters")
    assert [s.of(text) for s in spans] == ["The pump runs, and it runs,", "and it runs.", "A poem."]


sized = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 30)), min_size=1, max_size=30)


@given(
    rows=sized,
    window=st.integers(0, 3),
    limits=st.tuples(st.integers(0, 60), st.integers(1, 60)),
    amount=st.integers(0, 100),
    length=st.sampled_from(["tokens", "characters", "words", "sentences"]),
)
def test_between_the_bounds(
    rows: list[tuple[int, int, int]], window: int, limits: tuple[int, int], amount: int, length: str
) -> None:
    """No chunk above the maximum; below the minimum only where no join fits; every sentence in one chunk."""
    text = " ".join("pump " * a + "poem " * b + "x" * c + "." for a, b, c in rows)
    low, high = min(limits[0], limits[1]), limits[1]
    spans = split_semantic(
        text,
        embed=pumps_or_poems,
        amount=amount,
        window=window,
        min_chunk_size=low,
        max_chunk_size=high,
        length=length,
    )

    def size(start: int, end: int) -> int:
        return text[start:end].count(".") if length == "sentences" else count(text[start:end], length)

    assert all(size(*span) <= high for span in spans)
    assert "".join(s.of(text) for s in spans).split() == "".join(text).split() or re.sub(r"\s", "", text) == re.sub(
        r"\s", "", "".join(s.of(text) for s in spans)
    )
    for (a, b), (c, d) in itertools.pairwise(spans):
        assert min(size(a, b), size(c, d)) >= low or size(a, d) > high


# --- The optimum -----------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=9),
    st.integers(1, 5),
    st.sets(st.integers(1, 8)),
)
def test_no_other_way_to_cut_is_better(vectors: list[tuple[int, int]], limit: int, paragraphs: set[int]) -> None:
    text, encode = numbered(vectors)
    n = len(vectors)
    breaks = {i for i in paragraphs if i < n}
    for i in breaks:
        text = text.replace(f" S{i}.", f"\n\nS{i}.")
    spans = split_optimal(text, embed=encode, chunk_size=limit, length="sentences")
    found = counts(text, spans)
    if n <= limit:
        assert found == [n]
        return
    units = np.array(vectors, dtype=float)
    units /= np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1e-9)
    cosines = units @ units.T
    pairs = [(i, j) for i in range(n) for j in range(i)]
    mean = np.mean([cosines[pair] for pair in pairs])

    def worth(sizes: Sequence[int]) -> float:
        ends = np.cumsum(sizes).tolist()
        chunks = [range(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        return float(sum(cosines[i, j] - mean for chunk in chunks for i in chunk for j in chunk if j < i))

    ways = []
    for cuts in itertools.product([False, True], repeat=n - 1):
        at = [0, *(i for i, cut in enumerate(cuts, 1) if cut), n]
        sizes = [b - a for a, b in itertools.pairwise(at)]
        if max(sizes) <= limit and breaks <= set(at):
            ways.append(sizes)
    best = max(map(worth, ways))
    assert worth(found) == pytest.approx(best, abs=1e-3)
    assert len(found) == min(len(way) for way in ways if worth(way) > best - 1e-4), "of equals the fewest chunks"


def test_no_chunk_of_the_best_crosses_a_blank_line() -> None:
    text = "The pump runs. The pump stops.\n\nThe pump starts. A poem is read. The poem ends."
    spans = split_optimal(text, embed=pumps_or_poems, chunk_size=4, length="sentences")
    assert [s.of(text).replace("The ", "") for s in spans] == [
        "pump runs. pump stops.", "pump starts.", "A poem is read. poem ends.",
    ]  # fmt: skip


def test_short_sentences_are_read_with_the_next() -> None:
    text = "Yes. No. The pump is running at the speed that it was set to. Good. The end."
    seen: list[str] = []

    def embed(texts: Sequence[str]) -> Any:
        seen.extend(texts)
        return pumps_or_poems(texts)

    split_optimal(text, embed=embed, chunk_size=60, length="characters")
    assert seen == ["Yes. No.", "The pump is running at the speed that it was set to.", "Good. The end."]


# --- Edges -----------------------------------------------------------------------------------------------------------


def never(texts: Sequence[str]) -> Any:
    raise AssertionError("the encoder is not needed")


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_no_sentence_one_and_two(threshold: str) -> None:
    for text, spans in {"": [], " \n\n ": [], " Only one here ": [(1, 14)], "One. ": [(0, 4)]}.items():
        assert split_semantic(text, embed=never, threshold=threshold) == spans
        assert split_optimal(text, embed=never) == spans
    two = "The pump. A poem."
    assert split_semantic(two, embed=pumps_or_poems, threshold=threshold) == [(0, 17)], "one distance is its own limit"
    assert split_optimal(two, embed=pumps_or_poems, chunk_size=9, length="characters") == [(0, 9), (10, 17)]


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("vector", [(1.0, 0.0), (0.1, 0.7), (0.0, 0.0), (1e-300, 1e-300), (1e300, -1e300)])
def test_all_alike_is_one_chunk(threshold: str, vector: tuple[float, float]) -> None:
    text, encode = numbered([vector] * 9)
    assert split_semantic(text, embed=encode, threshold=threshold) == [(0, len(text))]
    spans = split_optimal(text, embed=encode, chunk_size=4, length="sentences")
    assert counts(text, spans) == [4, 4, 1] or len(spans) == 3


def test_a_vector_of_zeros_is_far_from_all() -> None:
    text, encode = numbered([[1, 0], [1, 0], [0, 0], [1, 0], [1, 0]])
    assert gap_distances(text, split_sentences(text), embed=encode).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("splitter", [split_semantic, split_optimal])
def test_what_is_not_finite_is_refused_and_its_sentence_named(splitter: Callable[..., object], bad: float) -> None:
    text, encode = numbered([[1, 0], [0, 1], [bad, 1], [1, 1]])
    limit = {"chunk_size": 3, "length": "characters"} if splitter is split_optimal else {}
    with pytest.raises(ValueError, match=r"not finite \(NaN or infinite\) for 'S2\.'"):
        splitter(text, embed=encode, **limit)


@pytest.mark.parametrize("answer", [[[1.0]], [1.0, 2.0, 3.0, 4.0], [[], [], [], []], np.ones((5, 3))])
def test_an_encoder_must_return_one_vector_a_text(answer: object) -> None:
    with pytest.raises(ValueError, match=r"embed returned shape \(.*\) for 4 texts; it must be one vector for each"):
        split_semantic(TOPICS, embed=lambda texts: answer)  # type: ignore[arg-type,return-value]


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12), st.floats(1e-30, 1e30))
def test_the_length_of_a_vector_does_not_count(vectors: list[tuple[int, int]], factor: float) -> None:
    text, encode = numbered(vectors)
    scaled = lambda texts: [[factor * (i + 1) * x for x in row] for i, row in enumerate(encode(texts))]  # noqa: E731
    for splitter in (split_semantic, lambda text, embed: split_optimal(text, embed=embed, chunk_size=8)):
        assert splitter(text, embed=scaled) == splitter(text, embed=encode)


@pytest.mark.parametrize("splitter", [split_semantic, split_optimal])
def test_the_encoder_is_called_once_with_the_sentences_as_they_stand(splitter: Callable[..., list[Span]]) -> None:
    text = "The pump starts\nat six.\n\nThe pump fills   the tank.\tThe valve closes."
    calls: list[list[str]] = []

    def embed(texts: Sequence[str]) -> Any:
        calls.append(list(texts))
        return np.ones((len(texts), 2), dtype=np.float16)

    limit = {"chunk_size": 6} if splitter is split_optimal else {"max_chunk_size": 9}
    spans = splitter(text, embed=embed, length="words", **limit)
    assert calls == [["The pump starts\nat six.", "The pump fills   the tank.", "The valve closes."]]
    assert len(spans) >= 2


def test_sentences_that_leave_text_out_or_overlap_lose_nothing() -> None:
    text = " Intro: The pump runs. (A poem.) The end "

    def odd(text: str) -> list[tuple[int, int]]:
        return [(8, 12), (23, 30), (24, 32), (33, 35)]

    one = {"max_chunk_size": 1, "length": "sentences"}
    found = split_semantic(text, embed=pumps_or_poems, sentences=odd, amount=100, **one)  # type: ignore[arg-type]
    assert [span.of(text) for span in found] == ["Intro: The pump runs.", "(", "A poem.)", "The end"]
    with pytest.raises(ValueError, match="backwards returned"):
        split_semantic(text, embed=pumps_or_poems, sentences=backwards)


def backwards(text: str) -> list[tuple[int, int]]:
    return [(5, 9), (1, 3)]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"threshold": "median"}, ValueError, "threshold='median' is unknown; use one of percentile, standard_dev"),
        ({"amount": 101}, ValueError, "amount=101 must be between 0 and 100 for threshold='percentile'"),
        ({"amount": -1, "threshold": "gradient"}, ValueError, "amount=-1 must be between 0 and 100"),
        ({"amount": -1, "threshold": "interquartile"}, ValueError, "amount=-1 must be 0 or more"),
        ({"amount": float("nan")}, ValueError, "amount=nan must be"),
        ({"amount": float("inf"), "threshold": "interquartile"}, ValueError, "amount=inf must be 0 or more"),
        ({"amount": "95"}, TypeError, "amount='95' must be a number"),
        ({"amount": True}, TypeError, "amount=True must be a number"),
        ({"window": -1}, ValueError, "window=-1 must be 0 or more"),
        ({"window": 1.0}, TypeError, r"window=1\.0 must be an int"),
        ({"min_chunk_size": -1}, ValueError, "min_chunk_size=-1 must be 0 or more"),
        ({"max_chunk_size": 0}, ValueError, "max_chunk_size=0 must be 1 or more"),
        ({"max_chunk_size": True}, TypeError, "max_chunk_size=True must be an int"),
        (
            {"min_chunk_size": 9, "max_chunk_size": 5},
            ValueError,
            "min_chunk_size=9 must not exceed max_chunk_size=5",
        ),
        ({"length": "pages"}, ValueError, "length='pages' is unknown"),
    ],
)
@pytest.mark.parametrize("text", ["The pump. A poem.", ""])
def test_bad_settings(text: str, settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        split_semantic(text, embed=pumps_or_poems, **settings)


@pytest.mark.parametrize("splitter", [split_semantic, split_optimal])
@pytest.mark.parametrize("text", [None, b"bytes", 7])
def test_text_must_be_str(splitter: Callable[..., object], text: object) -> None:
    with pytest.raises(TypeError, match="must be str"):
        splitter(text)


# --- Large, and on the course's own call -----------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["Aa b. ", "A.\n\n", "x", "猫。", "one two three four five six seven. "])
def test_a_hundred_kilobytes_of_anything_end(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    for other in (0, 1):  # all alike; no two neighbours alike

        def embed(texts: Sequence[str], other: int = other) -> Any:
            return np.eye(2, dtype=np.float32)[[other * (i % 2) for i in range(len(texts))]]

        for spans in (
            split_semantic(text, embed=embed, min_chunk_size=20, max_chunk_size=200, window=1),
            split_optimal(text, embed=embed),
        ):
            assert (spans[0].start, spans[-1].end) == (0, len(text.rstrip()))


def test_windows_find_the_turns_of_the_call() -> None:
    (call,) = load_course_documents("call-six-topics.txt")
    firsts = json.loads((DATA / "call-six-topics.turns.json").read_text(encoding="utf-8"))["first_sentences"]
    turns = {call.text.index(first) for first in firsts[1:]}

    def found(window: int) -> int:
        return len(turns & {span.start for span in split_semantic(call.text, window=window, amount=90)})

    assert found(2) >= 4 > 1 >= found(0)
