# SPDX-License-Identifier: MIT
"""Scores against a plain reference that counts characters in sets, and against values worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.document import Chunk, Document, Hit, chunk_document
from chunklib.core.measure import measure
from chunklib.core.span import Span
from chunklib.core.vectors import Vectors
from chunklib.fixed_size import split_fixed_size
from chunklib.search.embedding import PIECES_READ, embed
from chunklib.search.evaluation import (
    Abstention,
    Interval,
    Overlap,
    Part,
    Question,
    abstention,
    answer_found,
    boundary_stability,
    covered,
    evaluate,
    interval,
    overlap,
    paired_difference,
    reading,
    reciprocal_rank,
    score,
    size,
    unread_share,
)
from chunklib.search.retrieval import Index

Gold = tuple[tuple[Part, ...], ...]


def chunk(start: int, end: int, document: str = "a") -> Chunk:
    return Chunk(text="x" * (end - start), start=start, end=end, index=0, id="", document_id=document)


def hits(*chunks: Chunk) -> list[Hit]:
    return [Hit(one, 1 - rank / 100) for rank, one in enumerate(chunks)]


def question(*alternatives: Sequence[tuple[str, int, int]], kind: str = "fact", id: str = "q") -> Question:
    gold = tuple(tuple((name, Span(start, end)) for name, start, end in parts) for parts in alternatives)
    return Question(id, "?", kind, "tune", gold)


# --- Reported faults of published scorers: EVA-01, EVA-03 ------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "gold", "recall", "precision", "iou"),
    [
        ([(0, 15), (12, 30)], (10, 20), 1, 10 / 33, 10 / 33),  # what overlaps was read twice, and is found once
        ([(12, 30), (0, 15)], (10, 20), 1, 10 / 33, 10 / 33),
        ([(10, 20), (10, 20)], (10, 20), 1, 1 / 2, 1 / 2),
        ([(0, 100)], (0, 10), 1, 0.1, 0.1),  # dividing by the gold alone would make it 1
        ([(5, 15)], (0, 10), 0.5, 0.5, 1 / 3),
    ],
)
def test_text_read_twice_counts_twice_and_is_found_once(
    read: list[tuple[int, int]], gold: tuple[int, int], recall: float, precision: float, iou: float
) -> None:
    found = overlap([("a", Span(*span)) for span in read], [[("a", Span(*gold))]])
    assert found == pytest.approx((recall, precision, iou))


# --- A reference that shares nothing with the module -----------------------------------------------------------------


def characters(parts: Sequence[Part]) -> set[tuple[str, int]]:
    return {(name, at) for name, (start, end) in parts for at in range(start, end)}


def expected(ranked: list[Chunk], everything: list[Chunk], gold: Gold, k: int, budget: int) -> list[float]:
    """Recall, precision, IoU, recall at the budget, precision omega, as the data set's authors define them."""
    top = ranked[:k]
    n_read = sum(len(range(c.start, c.end)) for c in top)
    seen = characters([(c.document_id, c.span) for c in top])
    shares = [(len(seen & characters(parts)) / len(characters(parts)), len(seen & characters(parts))) for parts in gold]
    recall, hit = max(shares)
    wanted = hit / recall if hit else 1
    each = [(c.document_id, at) for c in ranked for at in range(c.start, c.end)]
    in_budget = max(len(set(each[:budget]) & characters(parts)) / len(characters(parts)) for parts in gold)
    omegas = []
    for parts in gold:
        touching = [
            (c.document_id, c.span)
            for c in everything
            if any(c.document_id == name and c.start <= end and start <= c.end for name, (start, end) in parts)
        ]
        omegas.append(len(characters(touching) & characters(parts)) / len(characters([*touching, *parts])))
    return [recall, hit / n_read if n_read else 0, hit / (n_read + wanted - hit), in_budget, max(omegas)]


spans = st.tuples(st.integers(0, 40), st.integers(1, 15)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))
parts = st.lists(st.tuples(st.sampled_from("ab"), spans), min_size=1, max_size=4).map(tuple)
golds = st.lists(parts, min_size=1, max_size=3).map(tuple)
chunks = st.lists(st.tuples(st.sampled_from("abc"), spans).map(lambda part: chunk(*part[1], part[0])), max_size=12)


@given(chunks, golds, st.integers(1, 6), st.integers(1, 60), st.randoms(use_true_random=False))
def test_scores_agree_with_sets_of_characters(
    everything: list[Chunk], gold: Gold, k: int, budget: int, random: object
) -> None:
    ranked = everything.copy()
    random.shuffle(ranked)  # type: ignore[attr-defined]
    scores = score([hits(*ranked)], [Question("q", "?", "fact", "tune", gold)], everything, k=k, budget=budget)
    names = ("recall", "precision", "iou", "recall_at_budget", "precision_omega")
    assert [getattr(scores, name)[0] for name in names] == pytest.approx(expected(ranked, everything, gold, k, budget))


@given(parts, parts)
def test_size_and_covered_count_each_character_once(some: tuple[Part, ...], others: tuple[Part, ...]) -> None:
    assert size(some) == len(characters(some))
    assert covered(some, others) == len(characters(some) & characters(others)) == covered(others, some)


# --- Worked by hand --------------------------------------------------------------------------------------------------


def test_one_question_worked_by_hand() -> None:
    """Gold a[10:30). Read a[0:20), b[0:20), a[15:25): 15 of 20 gold characters in 50 read."""
    found = [hits(chunk(0, 20), chunk(0, 20, "b"), chunk(15, 25), chunk(25, 40))]
    everything = [hit.chunk for hit in found[0]]
    scores = score(found, [question([("a", 10, 30)])], everything, k=3, budget=45)
    assert scores.recall.tolist() == [15 / 20]
    assert scores.precision.tolist() == [15 / 50]
    assert scores.iou.tolist() == [15 / (50 + 20 - 15)]
    assert scores.recall_at_budget.tolist() == [10 / 20], "the budget ends at 20, before the gold's second half"
    assert scores.precision_omega.tolist() == [20 / 40], "a[0:20), a[15:25) and a[25:40) touch the gold"
    assert scores.hit.tolist() == [0]
    assert scores.found.tolist() == [0]
    assert scores.reciprocal_rank.tolist() == [1]
    assert score(found, [question([("a", 10, 30)])], everything, k=4, budget=60).hit.tolist() == [1]
    assert score(found, [question([("a", 10, 30)])], everything, k=1, budget=60).found.tolist() == [1]


def test_plain_pairs_serve_as_gold() -> None:
    gold = [("a", 10, 30)], [("a", 50, 60), ("b", 0, 5)]
    found = [hits(chunk(0, 20), chunk(20, 40), chunk(0, 20, "b"))]
    everything = [hit.chunk for hit in found[0]]
    plain: Any = tuple(tuple((name, (start, end)) for name, start, end in parts) for parts in gold)
    told = [
        score(found, [Question("q", "?", "fact", "tune", its)], everything, k=2, budget=25)
        for its in (plain, question(*gold).gold)
    ]
    assert [getattr(told[0], name).tolist() for name in ("recall", "hit", "found", "precision_omega")] == [
        [1], [1], [0], [0.5],
    ]  # fmt: skip
    assert [str(vars(scores)) for scores in told[:1]] == [str(vars(scores)) for scores in told[1:]]
    assert answer_found(found[0], Question("q", "?", "fact", "tune", plain))


def test_the_best_alternative_counts_and_all_its_parts_are_needed() -> None:
    gold = [("a", 0, 10), ("b", 0, 10)], [("a", 50, 60)]
    read = [("a", Span(0, 20)), ("a", Span(55, 65))]
    assert overlap(read, question(*gold).gold) == Overlap(0.5, 10 / 30, 10 / (30 + 20 - 10))
    assert not answer_found(hits(chunk(0, 20)), question(*gold))
    assert answer_found(hits(chunk(0, 20), chunk(0, 20, "b")), question(*gold))
    assert answer_found(hits(chunk(45, 65)), question(*gold))


def test_nothing_read_scores_nothing() -> None:
    assert overlap([], question([("a", 0, 10)]).gold) == Overlap(0, 0, 0)
    scores = score([[]], [question([("a", 0, 10)])], [], k=5, budget=10)
    assert scores.recall[0] == scores.precision_omega[0] == scores.reciprocal_rank[0] == 0


def test_a_chunk_that_ends_where_the_gold_starts_touches_it() -> None:
    omega = partial(score, [[]], [question([("a", 10, 20)])], k=5, budget=10)
    assert omega([chunk(0, 10), chunk(10, 20)]).precision_omega[0] == 0.5
    assert omega([chunk(0, 9), chunk(10, 20)]).precision_omega[0] == 1
    assert omega([chunk(0, 9), chunk(5, 30, "b")]).precision_omega[0] == 0


def test_reading_counts_chunks_or_characters() -> None:
    found = hits(chunk(0, 20), chunk(0, 20, "b"), chunk(15, 25))
    assert reading(found, k=2) == [("a", Span(0, 20)), ("b", Span(0, 20))]
    assert reading(found, budget=25) == [("a", Span(0, 20)), ("b", Span(0, 5))]
    assert reading(found, budget=20) == [("a", Span(0, 20))]
    assert reading(found, budget=0) == []
    assert len(reading(found)) == 3


def test_the_first_chunk_that_overlaps_sets_the_rank() -> None:
    asked = question([("a", 10, 20), ("a", 40, 50)], [("b", 0, 5)])
    assert reciprocal_rank(hits(chunk(0, 10), chunk(20, 40), chunk(49, 60)), asked) == 1 / 3
    assert reciprocal_rank(hits(chunk(0, 10), chunk(4, 9, "b")), asked) == 1 / 2
    assert reciprocal_rank(hits(chunk(0, 10), chunk(5, 9, "b")), asked) == 0


def test_answer_found_as_lesson_00_has_it() -> None:
    asked = question([("a", 10, 30)])
    assert answer_found(hits(chunk(0, 40)), asked)
    assert not answer_found(hits(chunk(0, 40)), asked, budget=29)
    assert answer_found(hits(chunk(0, 40)), asked, budget=30)
    assert answer_found(hits(chunk(20, 40), chunk(0, 19)), asked), "one blank between two chunks belongs to neither"
    assert not answer_found(hits(chunk(21, 40), chunk(0, 19)), asked)
    assert not answer_found(hits(chunk(0, 40, "b")), asked)
    assert not answer_found(hits(chunk(0, 40)), question())
    assert not answer_found([], asked)


# --- evaluate --------------------------------------------------------------------------------------------------------

TEXT = "aaaa bbbb cccc dddd"
LETTERS = "abcd"


def letters(texts: Sequence[str]) -> Vectors:
    return np.array([[text[0] == letter for letter in LETTERS] for text in texts], dtype=np.float32)


def words(text: str) -> list[tuple[int, int]]:
    return [(at, at + 4) for at in range(0, len(text), 5)]


def asked(letter: str, kind: str, *gold: tuple[str, int, int]) -> Question:
    return (
        replace(question(gold, kind=kind, id=letter), text=letter) if gold else Question(letter, letter, kind, "", ())
    )


QUESTIONS = [
    asked("b", "easy", ("a", 5, 9)),
    asked("c", "hard", ("a", 0, 4)),
    asked("d", "none"),
    asked("a", "hard", ("a", 0, 4)),
]


def test_evaluate_asks_in_one_call_and_leaves_out_what_has_no_answer() -> None:
    calls: list[list[str]] = []

    def counting(texts: Sequence[str]) -> Vectors:
        calls.append(list(texts))
        return letters(texts)

    index = Index(chunk_document(Document(TEXT, id="a"), words), embed=counting)
    calls.clear()
    scores = evaluate(index, QUESTIONS, k=1, budget=8)
    assert calls == [["b", "c", "a"]]
    assert (scores.k, scores.budget) == (1, 8)
    assert scores.ids == ("b", "c", "a")
    assert scores.kinds == ("easy", "hard", "hard")
    assert scores.recall.tolist() == scores.hit.tolist() == scores.reciprocal_rank.tolist() == [1, 0, 1]
    assert scores.found.tolist() == [1, 1, 1], "c comes first, then, of equals, the first chunk"
    assert list(scores.by_kind("recall")) == ["easy", "hard"]
    assert scores.mean("recall").mean == pytest.approx(2 / 3)
    assert scores.by_kind("recall")["hard"].mean == scores.mean("recall", "hard").mean == 0.5
    assert scores.by_kind("recall")["easy"] == Interval(1, 1, 1)


def test_evaluate_ranks_as_deep_as_the_budget_may_need() -> None:
    document = Document("a" * 50, id="a")
    index = Index(chunk_document(document, lambda text: [(i, i + 1) for i in range(50)]), embed=letters)
    assert evaluate(index, [asked("a", "", ("a", 40, 50))], k=1, budget=49).recall_at_budget[0] == 0.9
    assert evaluate(index, [asked("a", "", ("a", 40, 50))], k=1, budget=1000).found[0] == 1


def test_evaluate_on_an_empty_index() -> None:
    assert evaluate(Index([], embed=letters), QUESTIONS).recall.tolist() == [0, 0, 0]


def test_errors_name_the_value_and_the_mend() -> None:
    index = Index(chunk_document(Document(TEXT, id="a"), words), embed=letters)
    scores = evaluate(index, QUESTIONS)
    with pytest.raises(ValueError, match="name='recal' is unknown; use one of recall, precision, iou"):
        scores.mean("recal")
    with pytest.raises(ValueError, match="kind='none' is unknown; use one of easy, hard"):
        scores.mean("recall", "none")
    with pytest.raises(ValueError, match="k=0 must be 1 or more"):
        evaluate(index, QUESTIONS, k=0)
    with pytest.raises(ValueError, match="no question has gold"):
        evaluate(index, [QUESTIONS[2]])
    with pytest.raises(ValueError, match="question q: an alternative of its gold names no character"):
        evaluate(index, [question([("a", 0, 4)], [])])


# --- Intervals -------------------------------------------------------------------------------------------------------


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert interval([0.25] * 7) == Interval(0.25, 0.25, 0.25)
    assert interval([0.5]) == Interval(0.5, 0.5, 0.5)


def test_the_interval_is_that_of_a_plain_loop() -> None:
    values = np.array([0.0, 0.1, 0.5, 0.5, 1.0, 1.0])
    draws = np.random.default_rng(3)
    means = sorted(values[draws.integers(0, 6, 6)].mean() for _ in range(501))
    assert interval(values, level=0.8, resamples=501, seed=3) == pytest.approx((values.mean(), means[50], means[450]))


def test_the_same_values_give_the_same_interval_and_more_certainty_a_wider_one() -> None:
    values = np.random.default_rng(1).random(40)
    assert interval(values) == interval(values.tolist())
    wide, narrow = interval(values, level=0.99), interval(values, level=0.5)
    assert wide.low < narrow.low < values.mean() < narrow.high < wide.high


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    draws = np.random.default_rng(0)
    inside = [
        low <= 0.7 <= high for _, low, high in (interval(draws.random(80) < 0.7, resamples=500) for _ in range(400))
    ]
    assert 0.92 <= np.mean(inside) <= 0.97


@pytest.mark.parametrize("values", [[], [[0.5, 1.0]], [0.5, float("nan")], [float("inf")]])
def test_no_interval_of(values: list[float]) -> None:
    with pytest.raises(ValueError, match="must be a row of one or more finite numbers"):
        interval(values)


@pytest.mark.parametrize("level", [95, 1, 0, -0.5])
def test_the_level_is_a_share(level: float) -> None:
    with pytest.raises(ValueError, match=rf"level={level} must lie between 0 and 1, such as 0\.95"):
        interval([1.0], level=level)


def test_pairs_show_what_means_hide() -> None:
    base = np.random.default_rng(0).random(100)
    better = paired_difference(base + 0.01, base)
    assert better == pytest.approx((0.01, 0.01, 0.01))
    assert interval(base + 0.01).low < interval(base).high, "unpaired, the two overlap"
    tie = paired_difference(base, base[::-1], level=0.9)
    assert tie.low < 0 < tie.high
    assert paired_difference([True, False], [True, True]).mean == -0.5
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\) values do not pair; score the same questions"):
        paired_difference([1, 2], [1, 2, 3])


# --- Without an answer; unread; stable -------------------------------------------------------------------------------


def test_a_threshold_rejects_and_keeps() -> None:
    with_gold, without = question([("a", 0, 4)]), question()
    found = [[Hit(chunk(0, 4), best)] for best in (0.9, 0.4, 0.5, 0.2)] + [[]]
    both = [with_gold, with_gold, with_gold, without, without]
    assert abstention(found, both, threshold=0.5) == Abstention(rejected=1.0, kept=2 / 3)
    assert abstention(found, both, threshold=0.1) == Abstention(rejected=0.5, kept=1.0)
    for some in ([with_gold] * 5, [without] * 5, both[:4]):
        with pytest.raises(ValueError, match="questions both with and without gold"):
            abstention(found, some, threshold=0.5)


def test_the_encoder_reads_as_much_as_unread_share_says() -> None:
    """What lies beyond may be anything: the vector stays. One piece earlier it does not."""
    text = " ".join(f"The {n}th cat sat on a mat of its own." for n in range(100))
    end = measure(text, "wordpieces").units[PIECES_READ - 1]
    before = measure(text, "wordpieces").units[PIECES_READ - 2]
    whole, read, less, other = embed([text, text[:end], text[:before], text[:end] + " Dogs bark at night."])
    assert (whole == read).all()
    assert (whole == other).all()
    assert not np.allclose(whole, less, atol=1e-4)
    assert unread_share([replace(chunk(0, len(text)), text=text)]) == 1 - end / len(text)
    assert unread_share([replace(chunk(0, end), text=text[:end])]) == 0


def test_a_context_pushes_text_out_of_sight() -> None:
    text = "cat " * 254
    plain = replace(chunk(0, len(text) - 1), text=text.strip())
    assert unread_share([plain]) == 0
    pushed = replace(plain, context="A title of six words, see")  # 7 pieces, of which one is the comma
    assert unread_share([pushed, plain]) == pytest.approx(7 * 4 / (2 * len(plain.text)))
    hidden = replace(plain, text="one two three", context=text)
    assert unread_share([hidden]) == 1
    assert unread_share([]) == 0


def test_a_fixed_cut_moves_and_a_sentence_stays() -> None:
    text = "The cat sat. The dog ran. The cat sat. The bird flew."

    def sentences(of: str) -> list[tuple[int, int]]:
        ends = [at + 1 for at, character in enumerate(of) if character == "."]
        return [(start and start + 1, end) for start, end in zip([0, *ends], ends, strict=False)]

    edit = "A new one. {}".format
    assert boundary_stability(sentences, text, edit) == 1
    assert boundary_stability(partial(split_fixed_size, chunk_size=5), text, edit) < 0.5
    assert boundary_stability(sentences, text, lambda text: text.replace("The cat sat. ", "", 1)) == 3 / 4
    assert boundary_stability(sentences, "", edit) == 1
