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

from chunklib.embedding import Vectors, embed
from chunklib.span import Chunk

Embed = Callable[[Sequence[str]], Vectors]


class Hit(NamedTuple):
    """A chunk that was found, and how near it is to the question (cosine, at most 1, five decimals)."""

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
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int = 5) -> list[list[Hit]]:
        """What `search` finds for each of the queries. All are encoded in one call, so many take less time."""
        if k < 1:
            raise ValueError(f"k={k} must be 1 or more")
        if not self.chunks:
            return [[] for _ in queries]
        found = []
        for query in self.embed(queries):
            # Five decimals: beyond them a score depends on the machine, and equal texts would not stay ties.
            scores = (self.vectors @ query).astype(np.float64).round(5)
            nearest = np.argsort(-scores, kind="stable")[:k]
            found.append([Hit(self.chunks[i], float(scores[i])) for i in nearest])
        return found
