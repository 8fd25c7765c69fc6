# SPDX-License-Identifier: MIT
"""The exact index: one question or many, ties, and what it must not know."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest

from chunklib.embedding import Vectors
from chunklib.retrieval import Index
from chunklib.span import Document, chunk_document


def noisy(texts: Sequence[str]) -> Vectors:
    """Vectors by first letter, with noise in the last bits that depends on the place in the batch."""
    rows = [[text[0] == letter for letter in "abc"] for text in texts]
    noise = np.arange(len(texts))[:, None] * 1e-8
    return np.asarray(np.array(rows) + noise, dtype=np.float32)


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


def test_an_empty_index_finds_nothing() -> None:
    assert Index([], embed=noisy).search("b") == []
    assert Index([], embed=noisy).search_many(["b", "c"]) == [[], []]
    assert Index(CHUNKS, embed=noisy).search_many([]) == []


def test_k_is_checked() -> None:
    with pytest.raises(ValueError, match="k=0 must be 1 or more"):
        Index(CHUNKS, embed=noisy).search("b", k=0)


def test_retrieval_knows_nothing_of_the_courses_data() -> None:
    code = "import sys, chunklib.retrieval; print('chunklib.datasets' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
