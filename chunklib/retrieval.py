# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/retrieval.py). Needs: numpy, and an encoder.
"""An exact index in memory: every chunk's vector is compared with the question's.

When to use it: up to some hundred thousand chunks, and wherever an approximate index would blur a comparison.

But: cost grows with the number of chunks; and it finds what sounds alike, which need not be what answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from chunklib.datasets import Question
from chunklib.embedding import Vectors, embed
from chunklib.span import Chunk, Span

Embed = Callable[[Sequence[str]], Vectors]


class Hit(NamedTuple):
    """A chunk that was found, and how near it is to the question (cosine, at most 1)."""

    chunk: Chunk
    score: float


class Index:
    """Chunks and their vectors.

    ``embed`` is any function from texts to an array of unit rows, shape (n, d). Cost: one encoder call a chunk; a
    search is one more and a product with an (n, d) matrix.

    >>> from chunklib.span import Document, chunk_document
    >>> chunks = chunk_document(Document("abc"), lambda text: [(0, 1), (1, 2), (2, 3)])
    >>> letters = lambda texts: np.array([[t == c for c in "abc"] for t in texts], dtype=np.float32)
    >>> Index(chunks, embed=letters).search("b", k=1)[0].chunk.text
    'b'
    """

    def __init__(self, chunks: Iterable[Chunk], embed: Embed = embed) -> None:
        self.chunks = tuple(chunks)
        self.embed = embed
        self.vectors = embed([chunk.embedding_text for chunk in self.chunks])

    def search(self, query: str, k: int = 5) -> list[Hit]:
        """The ``k`` nearest chunks, nearest first; ties keep the chunks' order."""
        if k < 1:
            raise ValueError(f"k={k} must be 1 or more")
        if not self.chunks:
            return []
        scores = self.vectors @ self.embed([query])[0]
        return [Hit(self.chunks[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:k]]


def answer_found(hits: Iterable[Hit], question: Question, *, budget: int = 4000) -> bool:
    """Whether the question's gold lies wholly in the first ``budget`` characters read, best chunk first.

    The last chunk that is read is cut off where the budget ends. A quote counts as read when the spans read together
    cover it, blanks aside.
    """
    read: dict[str, list[Span]] = {}
    for chunk, _ in hits:
        end = min(chunk.end, chunk.start + budget)
        if end <= chunk.start:
            break
        read.setdefault(chunk.document_id, []).append(Span(chunk.start, end))
        budget -= end - chunk.start
    return any(all(_covers(read.get(name, []), span) for name, span in parts) for parts in question.gold)


def _covers(spans: Iterable[Span], wanted: Span) -> bool:
    reached = wanted.start
    for start, end in sorted(spans):
        if start <= reached + 1:  # one blank between two chunks belongs to neither
            reached = max(reached, end)
    return reached >= wanted.end
