# SPDX-License-Identifier: MIT
"""The exact index: one question or many, ties, words, fusion, filters, what is added, and what it must not know."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from chunklib.core.document import Chunk, Document, Hit, chunk_document
from chunklib.core.span import Span
from chunklib.core.vectors import Vectors
from chunklib.search.evaluation import Question, evaluate
from chunklib.search.retrieval import Index, Mode, Values, fuse_ranks, fuse_scores


def noisy(texts: Sequence[str]) -> Vectors:
    """Vectors by first letter, with noise in the last bits that depends on the place in the batch."""
    rows = np.array([[text[0] == letter for letter in "abc"] for text in texts])
    noise = np.arange(len(texts))[:, None] * 1e-8 * rows.any(axis=1, keepdims=True)
    return np.asarray(rows + noise, dtype=np.float32)


CHUNKS = chunk_document(Document("abcabc"), lambda text: [(at, at + 1) for at in range(6)])


def test_many_questions_find_what_each_finds_alone() -> None:
    index = Index(CHUNKS, embed=noisy)
    together = index.search_many(["b", "c", "a"], k=4)
    assert together == [index.search(query, k=4) for query in "bca"]
    assert [[hit.chunk.start for hit in hits] for hits in together] == [[1, 4, 0, 2], [2, 5, 0, 1], [0, 3, 1, 2]]


def test_noise_does_not_part_ties_nor_put_a_better_score_second() -> None:
    hits = Index(CHUNKS, embed=noisy).search("b", k=6)
    assert [hit.chunk.start for hit in hits] == [1, 4, 0, 2, 3, 5]
    assert [hit.score for hit in hits] == [1, 1, 0, 0, 0, 0]


def test_scores_have_five_decimals() -> None:
    def embed(texts: Sequence[str]) -> Vectors:
        return np.array([[2, 1] if "chunk" in text else [1, 0] for text in texts], dtype=np.float32)

    hits = Index(said("chunk"), embed=embed).search("question")
    assert [hit.score for hit in hits] == [0.89443]  # 2 / sqrt(5) = 0.894427…


def test_an_empty_index_finds_nothing() -> None:
    assert Index([], embed=noisy).search("b") == []
    assert Index([], embed=noisy).search_many(["b", "c"]) == [[], []]
    assert Index(CHUNKS, embed=noisy).search_many([]) == []


@pytest.mark.parametrize(
    ("wrong", "told"),
    [("a", "'a'"), (None, "None"), (Hit(CHUNKS[0], 1.0), r"Hit\(chunk=.*"), ("word " * 99, "'word.*'")],
)
def test_what_is_no_chunk_is_named(wrong: Any, told: str) -> None:
    with pytest.raises(
        TypeError, match=rf"^chunks holds {told}; it must hold a Chunk each, see chunk_document$"
    ) as error:
        Index([CHUNKS[0], wrong], embed=noisy)
    assert len(str(error.value)) < 200


def test_k_is_checked() -> None:
    with pytest.raises(ValueError, match="k=0 must be 1 or more"):
        Index(CHUNKS, embed=noisy).search("b", k=0)


def test_retrieval_knows_nothing_of_the_courses_data() -> None:
    code = "import sys, chunklib.search.retrieval; print('chunklib.course.datasets' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


# --- Keywords, fusion, filters ----------------------------------------------------------------------------------------


def said(*texts: str, ids: Sequence[str] = (), **metadata: object) -> list[Chunk]:
    """Chunks, each the whole of a document; ``metadata``: for each name, one value for each chunk."""
    names = ids or [str(i) for i in range(len(texts))]
    known = [{name: values[i] for name, values in metadata.items()} for i in range(len(texts))]  # type: ignore[index]
    return [Chunk(t, 0, len(t), 0, f"c{i}", names[i], metadata=known[i]) for i, t in enumerate(texts)]


CODES = said("a code: E-12", "b code: E-47, E-47", "a and no code", "c code: E-47 and more words than that")


def found(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.id for hit in hits]


def test_keywords_find_the_code_and_nothing_without_it() -> None:
    index = Index(CODES, embed=noisy)
    assert found(index.search("What is E47?", mode="keywords")) == ["c1", "c3"]
    assert index.search("what is it", mode="keywords") == []
    assert found(index.search("a E-47", k=2)) == ["c0", "c2"], "dense goes by the first letter"


def test_keywords_ask_no_encoder_for_a_question() -> None:
    asked: list[str] = []

    def counting(texts: Sequence[str]) -> Vectors:
        asked.extend(texts)
        return noisy(texts)

    index = Index(CODES, embed=counting)
    index.search_many(["E-47", "E-12"], mode="keywords")
    assert asked == [chunk.text for chunk in CODES]


@pytest.mark.parametrize("fuse", [fuse_ranks, fuse_scores])
def test_fused_has_what_is_good_by_both_first(fuse: Callable[[Values, Values], Values]) -> None:
    index = Index(CODES, embed=noisy, fuse=fuse)
    assert found(index.search("c: E-47", k=1, mode="fused")) == ["c3"]
    assert len(index.search("c: E-47", k=9, mode="fused")) == 4


def test_reciprocal_ranks_by_hand() -> None:
    dense, keywords = np.array([0.9, 0.5, 0.5, 0.1]), np.array([0.0, 2.0, 0.0, 3.0])
    expected = [1 / 61, 1 / 62 + 1 / 62, 1 / 62, 1 / 64 + 1 / 61]
    assert fuse_ranks(dense, keywords).tolist() == pytest.approx(expected)


def test_standardised_scores_by_hand() -> None:
    dense, keywords = np.array([0.2, 0.4, 0.6]), np.array([6.0, 0.0, 0.0])
    step = 0.2 / np.std([0.2, 0.4, 0.6])
    kept = np.array([4, -2, -2]) / np.std([6, 0, 0])
    for weight in (0, 0.5, 1):
        expected = (1 - weight) * np.array([-step, 0, step]) + weight * kept
        assert fuse_scores(dense, keywords, weight=weight) == pytest.approx(expected)
    assert fuse_scores(dense, np.zeros(3), weight=0.5) == pytest.approx([-step / 2, 0, step / 2])
    assert fuse_scores(np.ones(1), np.ones(1)).tolist() == [0]


def test_a_filter_is_applied_before_the_search() -> None:
    chunks = said("b one", "b two", "b three", "c four", status=["old", "new", "new", "new"], language=[*"edee"])
    index = Index(chunks, embed=noisy)
    assert found(index.search("b", k=2, filter={"status": "new"})) == ["c1", "c2"]
    assert found(index.search("b", k=1, filter={"status": "new", "language": "e"})) == ["c2"]
    assert found(index.search("b", filter=lambda chunk: chunk.text.endswith("r"))) == ["c3"]
    assert found(index.search("b", filter={"document_id": "3"})) == ["c3"], "a field serves as well"
    assert index.search("b", filter={"status": "none"}) == []
    assert found(index.search("two", filter={"status": "old"}, mode="keywords")) == []
    assert found(index.search("b two", k=9, filter={"status": "old"}, mode="fused")) == ["c0"]
    assert found(index.search("b", k=9, filter={})) == found(index.search("b", k=9))


def test_a_filter_that_names_what_no_chunk_has_is_told() -> None:
    index = Index(said("a", "b", status=["old", "new"]), embed=noisy)
    with pytest.raises(ValueError, match=r"filter=\{'state': 'old'\}: no chunk has 'state'"):
        index.search("a", filter={"state": "old"})
    assert Index([], embed=noisy).search("a", filter={"state": "old"}) == []


def test_a_chunk_without_the_metadata_is_filtered_out() -> None:
    chunks = [*said("a one", status=["old"]), *said("a two")]
    assert [hit.chunk.text for hit in Index(chunks, embed=noisy).search("a", filter={"status": "old"})] == ["a one"]


def test_bad_settings_are_told() -> None:
    with pytest.raises(ValueError, match="mode='words' is unknown; use one of dense, keywords, fused"):
        Index(CODES, embed=noisy).search("a", mode="words")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"neighbours=-0\.1 must be 0 or more"):
        Index(CODES, embed=noisy, neighbours=-0.1)
    with pytest.raises(ValueError, match="best_sentence=2 from 0 to 1"):
        Index(CODES, embed=noisy, best_sentence=2)


@pytest.mark.parametrize("mode", ["dense", "keywords", "fused"])
def test_many_questions_find_what_each_finds_alone_in_every_mode(mode: Mode) -> None:
    index = Index(CODES, embed=noisy)
    queries = ["E-47", "b code", "nothing"]
    assert index.search_many(queries, 3, mode=mode) == [index.search(query, 3, mode=mode) for query in queries]


def test_evaluate_takes_a_view_of_every_mode() -> None:
    index = Index(CODES, embed=noisy)
    question = Question("q", "E-47", "code", "tune", ((("1", Span(8, 12)),),))
    for mode, rank in (("keywords", 1), ("fused", 1), ("dense", 0)):
        view = index.view(mode=mode, filter=lambda chunk: chunk.document_id != "3")  # type: ignore[arg-type]
        assert evaluate(view, [question], k=1, budget=1).reciprocal_rank.tolist() == [rank]


# --- What is added to the index ---------------------------------------------------------------------------------------


def test_a_copy_comes_back_once_and_keeps_its_places() -> None:
    chunks = said("b same", "b other", "b same", "a", "b same")
    assert found(Index(chunks, embed=noisy).search("b", k=3)) == ["c0", "c1", "c2"]
    index = Index(chunks, embed=noisy, once=True)
    for mode in get_args(Mode):
        hits = index.search("b same", k=9, mode=mode)
        assert found(hits)[:2] == ["c0", "c1"], mode
        assert len({hit.chunk.text for hit in hits}) == len(hits)
    assert found(index.search("b", k=2)) == ["c0", "c1"], "what a copy leaves free goes to the next"
    assert [chunk.id for chunk in index.places(chunks[4])] == ["c0", "c2", "c4"]
    with pytest.raises(KeyError):
        index.places(said("never")[0])


def test_a_filter_may_leave_only_the_second_place() -> None:
    chunks = said("b same", "b same", "b other", status=["old", "new", "new"])
    index = Index(chunks, embed=noisy, once=True)
    assert found(index.search("b", filter={"status": "new"})) == ["c1", "c2"]
    assert [chunk.id for chunk in index.places(chunks[0])] == ["c0", "c1"]
    assert [chunk.id for chunk in index.places(chunks[0], filter={"status": "new"})] == ["c1"], "nor is it cited"


def test_of_copies_under_different_headings_the_best_comes_back() -> None:
    chunks = [replace(chunk, context=context) for chunk, context in zip(said("x", "x"), "ab", strict=True)]
    index = Index(chunks, embed=noisy, once=True)
    assert [found(index.search(query)) for query in "ab"] == [["c0"], ["c1"]]


def test_neighbours_by_hand() -> None:
    chunks = said("a", "b", "c", "a", ids=["one", "one", "one", "two"])
    index = Index(chunks, embed=lambda texts: noisy(texts).round(), neighbours=0.3)
    side = 0.3 / np.sqrt(2)
    expected = np.array([[1, 0.3, 0], [side, 1, side], [0, 0.3, 1], [1, 0, 0]])
    assert index.vectors == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert index.vectors.dtype == np.float32
    hits = index.search("a", k=4)
    assert found(hits) == ["c3", "c0", "c1", "c2"], "b stands beside a"


def test_neighbours_of_too_few() -> None:
    assert Index([], embed=noisy, neighbours=0.3).search("a") == []
    assert found(Index(said("b"), embed=noisy, neighbours=0.3).search("b")) == ["c0"]


def test_the_best_sentence_by_hand() -> None:
    chunks = said("a. b.", "a. c.", "b. c.")
    index = Index(chunks, embed=noisy, sentences=lambda text: [(0, 2), (3, 5)], best_sentence=0.25)
    assert [(hit.chunk.id, hit.score) for hit in index.search("b", k=3)] == [("c2", 1), ("c0", 0.25), ("c1", 0)]


def test_a_chunk_without_a_sentence_keeps_its_score() -> None:
    index = Index(said("a", "b. x."), embed=noisy, sentences=lambda text: [(0, 2)] if len(text) > 1 else [])
    assert [(hit.chunk.id, hit.score) for hit in index.search("a", k=2)] == [("c0", 1), ("c1", 0)]
    assert Index(said("a"), embed=noisy, sentences=lambda text: []).search("a")[0].score == 1


def test_further_texts_point_to_one_span() -> None:
    chunks = said("a text", "b text", "c text", questions=[["b asked", "c asked"], [], ["E-47?"]])
    index = Index(chunks, embed=noisy, also=lambda chunk: chunk.metadata["questions"])
    hits = index.search("c", k=3)
    assert [(hit.chunk.id, hit.score) for hit in hits] == [("c0", 1), ("c2", 1), ("c1", 0)], "each once"
    assert hits[0].chunk is chunks[0], "what is quoted is the chunk's own text"
    assert found(index.search("E47", mode="keywords")) == ["c2"]


def test_spans_and_texts_are_those_that_came_in() -> None:
    chunks = [replace(chunk, context="b") for chunk in CODES]
    index = Index(chunks, embed=noisy, once=True, neighbours=0.5, sentences=lambda t: [(0, 1)], also=lambda c: ["c"])
    assert index.chunks == tuple(chunks)
    for mode in get_args(Mode):
        assert all(hit.chunk in chunks for hit in index.search("code b", k=9, mode=mode))


def test_an_encoder_may_return_lists_and_vectors_of_any_length() -> None:
    """What counts is the direction: the longer vector is not nearer."""
    vectors: dict[str, list[float]] = {"about cats": [3, 0], "cats and dogs": [30, 40], "cats": [0.5, 0]}
    index = Index(said("about cats", "cats and dogs"), embed=lambda texts: [vectors[text] for text in texts])
    assert [(chunk.text, score) for chunk, score in index.search("cats")] == [("about cats", 1), ("cats and dogs", 0.6)]


def test_a_list_in_a_filter_allows_any_of_its_values() -> None:
    index = Index(said("a one", "a two", "a six", status=["old", "new", ["old", "new"]]), embed=noisy)

    def kept(**wanted: object) -> list[str]:
        return [hit.chunk.text for hit in index.search("a", filter=wanted)]

    assert kept(status=["old", "gone"]) == ["a one"]
    assert kept(status=["old", "new"]) == ["a one", "a two", "a six"]
    assert kept(document_id=["0", "2"], status="old") == ["a one"]


def test_further_texts_are_a_list() -> None:
    with pytest.raises(TypeError, match="also returned one str, 'who'; put it in a list"):
        Index(said("a"), embed=noisy, also=lambda chunk: "who")


def test_how_many_is_a_whole_number() -> None:
    index = Index(CHUNKS, embed=noisy)
    assert len(index.search("b", k=np.int64(2))) == 2  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"k=2\.5 must be an int"):
        index.search("b", k=2.5)  # type: ignore[arg-type]


def test_a_list_instead_of_a_question_is_told() -> None:
    index = Index(chunk_document(Document("ab"), lambda text: [(0, 2)]), embed=lambda texts: [[1.0]] * len(texts))
    with pytest.raises(TypeError, match=r"query=\[\['a'\]\] must be str, for search_many a list of them"):
        index.search(["a"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="query='a' must be str, for search_many a list"):
        index.search_many("a")
