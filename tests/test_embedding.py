# SPDX-License-Identifier: MIT
"""Vectors are the same whether kept or not, whatever company a text is encoded in."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from chunklib.core.measure import count
from chunklib.core.vectors import Vectors, unit_vectors
from chunklib.search import cache, embedding
from chunklib.search.embedding import DIMENSIONS, embed

TEXTS = ["a cat", "The cat sat on a mat.", "", "a dog", "a cat", "The dog sat on a mat.", "lone \ud800", "x " * 400]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKLIB_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the encoder was given, with an encoder that only counts letters."""
    given: list[list[str]] = []

    def encode(texts: Sequence[str]) -> Vectors:
        given.append(list(texts))
        rows = [[text.count(letter) + 1 for letter in "abcdefgh"] + [0] * (DIMENSIONS - 8) for text in texts]
        return np.array(rows, dtype=np.float32)

    monkeypatch.setattr(embedding, "_encode", encode)
    return given


def test_kept_vectors_have_the_bits_of_fresh_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = embed(TEXTS)
    assert fresh.shape == (len(TEXTS), DIMENSIONS)
    assert fresh.dtype == np.float32
    assert np.linalg.norm(fresh, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)
    assert (fresh[0] == fresh[4]).all()
    assert (embed(TEXTS) == fresh).all()
    assert (embed(TEXTS[::-1])[::-1] == fresh).all()
    monkeypatch.setenv("CHUNKLIB_CACHE", "off")
    assert (embed(TEXTS) == fresh).all()
    alone = np.vstack([embed([text]) for text in TEXTS])
    assert alone == pytest.approx(fresh, abs=5e-7)  # the very bits, too, where it was measured: the kernels decide


def test_only_texts_of_equally_many_word_pieces_share_a_batch(batches: list[list[str]]) -> None:
    embed([*TEXTS, *(f"{n} cats" for n in range(20)), "y " * 254, "z " * 253])
    assert all(len({min(count(text, "wordpieces"), 254) for text in batch}) == 1 for batch in batches)
    assert max(map(len, batches)) == 8
    assert ["x " * 400, "y " * 254] in batches, "beyond what is read, the length does not matter"
    assert sum(batch.count("a cat") for batch in batches) == 1


def test_the_encoder_is_asked_for_unit_vectors_and_draws_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    class Model:
        def encode(self, texts: Sequence[str], **settings: object) -> Vectors:
            asked.append(settings)
            return np.ones((len(texts), DIMENSIONS), dtype=np.float32)

    monkeypatch.setattr(embedding, "_model", Model)
    embed(["a cat"])
    assert asked == [
        {"batch_size": 8, "show_progress_bar": False, "convert_to_numpy": True, "normalize_embeddings": True}
    ]


def test_only_what_is_not_kept_is_encoded(batches: list[list[str]]) -> None:
    first = embed(["a cat", "a dog"])
    batches.clear()
    vectors = embed(["a dog", "a cow", "a cat"])
    assert batches == [["a cow"]]
    assert (vectors[[2, 0]] == first).all()
    vectors[0] = 0  # the caller's own copy
    assert (embed(["a dog"])[0] == first[1]).all()


def test_a_run_that_is_broken_off_was_not_for_nothing(
    batches: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = embedding._encode

    def interrupted(texts: Sequence[str]) -> Vectors:
        if len(batches) == 10:
            raise KeyboardInterrupt
        return encode(texts)

    texts = [f"cat number {n:03}" for n in range(200)]
    with monkeypatch.context() as patch:
        patch.setattr(embedding, "_encode", interrupted)
        with pytest.raises(KeyboardInterrupt):
            embed(texts)
    assert len(cache.load(cache.key(embedding.MODEL, text) for text in texts)) == 64
    batches.clear()
    assert embed(texts).shape == (200, DIMENSIONS)
    assert sum(map(len, batches)) == 136


def test_a_kept_result_of_another_size_is_encoded_anew(batches: list[list[str]]) -> None:
    cache.save({cache.key(embedding.MODEL, "a cat"): b"short"})
    assert embed(["a cat"]).shape == (1, DIMENSIONS)
    assert batches == [["a cat"]]


def test_a_broken_cache_is_no_fault(batches: list[list[str]], folder: Path) -> None:
    file = cache.location()
    assert file
    file.write_bytes(b"nonsense" * 1000)
    assert (embed(["a cat"]) == embed(["a cat"])).all()
    assert batches == [["a cat"], ["a cat"]]


def test_no_texts_and_one_str() -> None:
    assert embed([]).shape == (0, DIMENSIONS)
    with pytest.raises(TypeError, match="texts is one str; put it in a list"):
        embed("a cat")


def test_vectors_of_any_encoder_are_made_as_long_as_1() -> None:
    given: list[list[float]] = [[3, 4], [1e200, 0], [0, 0], [0, -1]]
    found = unit_vectors(lambda texts: given, list("abcd"))
    assert found.dtype == np.float32
    assert found.round(6).tolist() == np.array([[0.6, 0.8], [1, 0], [0, 0], [0, -1]], dtype=np.float32).tolist()
    assert unit_vectors(lambda texts: [], []).shape == (0, 0)


def test_vectors_as_long_as_1_keep_their_bits() -> None:
    rows = np.random.default_rng(0).normal(size=(2500, 5)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert (unit_vectors(lambda texts: rows, ["x"] * 2500) == rows).all()


@pytest.mark.parametrize("given", [[1.0, 0.0], [[1.0]], [[], []], [[[1.0]], [[1.0]]]])
def test_what_is_not_one_vector_for_each_text_is_refused(given: list[object]) -> None:
    with pytest.raises(ValueError, match=r"embed returned shape .* for 2 texts; it must be one vector for each"):
        unit_vectors(lambda texts: given, ["a", "b"])  # type: ignore[arg-type,return-value]


def test_without_its_library_the_encoder_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedding._model.cache_clear()
    with pytest.raises(ImportError, match="is not installed: pip install sentence-transformers"):
        embedding._model()
