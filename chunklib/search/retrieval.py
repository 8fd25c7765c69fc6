# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, and an encoder; bm25s for keywords.
"""An exact index in memory: every chunk is compared with the question, by meaning, by words, or by both.

When to use it: up to some hundred thousand chunks, and wherever an approximate index would blur a comparison.

What is added to the index never touches a span: a second copy of a text that is not returned again, a little of the
neighbours' vectors, the best sentence of each chunk, further texts for which a chunk is found.

But: cost grows with the number of chunks; and it finds what sounds alike, which need not be what answers.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from chunklib.core.document import Chunk, Hit
from chunklib.core.span import Splitter, check_count
from chunklib.core.vectors import Encoder, Vectors, unit_vectors
from chunklib.search.embedding import embed
from chunklib.search.keywords import Keywords

Values = npt.NDArray[np.float64]
Mode = Literal["dense", "keywords", "fused"]
Filter = Callable[[Chunk], bool] | Mapping[str, Any]
_FIELDS = {field.name for field in fields(Chunk)} - {"metadata"}


def fuse_ranks(dense: Values, keywords: Values, *, constant: int = 60) -> Values:
    """Reciprocal rank: 1 / (constant + rank) from each list, added up. A text without any of the words gets no rank.

    Shapes (n,). Source: Cormack, Clarke and Büttcher, *Reciprocal Rank Fusion outperforms Condorcet*, 2009.

    >>> (1000 * fuse_ranks(np.array([0.9, 0.5, 0.1]), np.array([0.0, 0.0, 7.0]))).round(2).tolist()
    [16.39, 16.13, 32.27]
    """
    ranks = [1 + len(scores) - np.searchsorted(np.sort(scores), scores, side="right") for scores in (dense, keywords)]
    return np.asarray(1 / (constant + ranks[0]) + np.where(keywords > 0, 1 / (constant + ranks[1]), 0))


def fuse_scores(dense: Values, keywords: Values, *, weight: float = 0.15) -> Values:
    """Both scores standardised (mean 0, standard deviation 1 over all chunks), ``weight`` of it from the keywords.

    Shapes (n,). Unlike a rank, a score says by how much a chunk is ahead. Equal scores tell nothing and count 0.

    >>> fuse_scores(np.array([0.5, 0.3]), np.array([0.0, 8.0]), weight=0.25).round(2).tolist()
    [0.5, -0.5]
    """
    z = [(scores - scores.mean()) / (scores.std() or 1) for scores in (dense, keywords)]
    return np.asarray((1 - weight) * z[0] + weight * z[1])


class Index:
    """Chunks, their vectors, and their words.

    Parameters
    ----------
    embed: any function from texts to vectors, one a text; they are made as long as 1.
    once: of chunks with the very same text only the best comes back; `places` has them all.
    neighbours: how much of the unit mean of the vectors before and after it, in its document, each vector gets.
    sentences: a splitter; ``best_sentence`` (0 to 1) of a chunk's dense score is then that of its best sentence.
    also: further texts for which a chunk is found (questions it answers, a summary): its best text counts.
    fuse: from dense and keyword scores, each of shape (n,), to those of the mode ``"fused"``.

    An index cannot be added to, since copies, neighbours and the rarity of words depend on all chunks: make it anew
    from ``[*index.chunks, *more]``. Nor is it saved: what the course's encoder has read is kept on disk, so a new one
    takes seconds. For an index that lives on, see `chunklib.search.parents.ParentChildIndex`.

    Cost: one encoder call a text; a search is one more and a product with an (n, d) matrix. The words are counted at
    the first search that asks for them.

    >>> from chunklib import Document, chunk_document
    >>> chunks = chunk_document(Document("abc"), lambda text: [(0, 1), (1, 2), (2, 3)])
    >>> letters = lambda texts: np.array([[t == c for c in "abc"] for t in texts], dtype=np.float32)
    >>> Index(chunks, embed=letters).search("b", k=1)[0].chunk.text
    'b'
    """

    def __init__(
        self,
        chunks: Iterable[Chunk],
        embed: Encoder = embed,
        *,
        once: bool = False,
        neighbours: float = 0.0,
        sentences: Splitter | None = None,
        best_sentence: float = 0.3,
        also: Callable[[Chunk], Sequence[str]] | None = None,
        fuse: Callable[[Values, Values], Values] = fuse_scores,
    ) -> None:
        if neighbours < 0 or not 0 <= best_sentence <= 1:
            raise ValueError(f"neighbours={neighbours} must be 0 or more, best_sentence={best_sentence} from 0 to 1")
        self.chunks = tuple(chunks)
        if wrong := [chunk for chunk in self.chunks if not isinstance(chunk, Chunk)]:
            raise TypeError(f"chunks holds {reprlib.repr(wrong[0])}; it must hold a Chunk each, see chunk_document")
        self.embed, self.once, self.fuse, self.also = embed, once, fuse, also
        vectors = unit_vectors(embed, [chunk.embedding_text for chunk in self.chunks])
        self.vectors = mixed(vectors, self.chunks, neighbours) if neighbours else vectors
        self._also = self._rows(also) if also else None
        self._sentences = self._rows(lambda chunk: _texts(chunk, sentences)) if sentences else None
        self._best_sentence = best_sentence
        copies: dict[str, list[int]] = {}
        for i, chunk in enumerate(self.chunks):
            copies.setdefault(chunk.text, []).append(i)
        self._copies = copies

    def search(self, query: str, k: int = 5, *, mode: Mode = "dense", filter: Filter | None = None) -> list[Hit]:
        """The ``k`` best chunks, best first; ties keep the chunks' order.

        ``filter``: only chunks for which a function is true are searched, or whose metadata (or else field, such as
        ``document_id``) has each of a mapping's values; a list allows any of its values.

        By ``"keywords"``, a chunk without any word of the query is not found. Raises ``ValueError`` for a name in a
        mapping that no chunk has, or another mode.
        """
        return self.search_many([query], k, mode=mode, filter=filter)[0]

    def search_many(
        self, queries: Sequence[str], k: int = 5, *, mode: Mode = "dense", filter: Filter | None = None
    ) -> list[list[Hit]]:
        """What `search` finds for each of the queries. All are encoded in one call, so many take less time."""
        check_count("k", k, 1)
        if isinstance(queries, str) or not all(isinstance(query, str) for query in queries):
            raise TypeError(f"query={reprlib.repr(queries)} must be str, for search_many a list of them")
        if mode not in get_args(Mode):
            raise ValueError(f"mode={mode!r} is unknown; use one of {', '.join(get_args(Mode))}")
        allowed = self._allowed(filter)
        if not len(allowed):
            return [[] for _ in queries]
        vectors = unit_vectors(self.embed, queries) if mode != "keywords" else [None] * len(queries)
        return [self._best(query, vector, k, mode, allowed) for query, vector in zip(queries, vectors, strict=True)]

    def view(self, *, mode: Mode = "dense", filter: Filter | None = None) -> View:
        """The same index with mode and filter settled, for `chunklib.search.evaluation.evaluate`."""
        return View(self, mode, filter)

    def places(self, chunk: Chunk, *, filter: Filter | None = None) -> tuple[Chunk, ...]:
        """All chunks with the very text of this one, in order: each of them may be cited, where the filter allows it.

        Raises ``KeyError`` for a text that no chunk has.
        """
        allowed = set(self._allowed(filter).tolist())
        return tuple(self.chunks[i] for i in self._copies[chunk.text] if i in allowed)

    def _best(self, query: str, vector: Any, k: int, mode: Mode, allowed: npt.NDArray[np.intp]) -> list[Hit]:
        # Five decimals: beyond them a score depends on the machine, and equal texts would not stay ties.
        if mode == "keywords":
            scores = self._keywords.scores(query)[allowed].round(5)
        else:
            scores = self._dense(vector)[allowed].round(5)
            if mode == "fused":
                scores = self.fuse(scores, self._keywords.scores(query)[allowed].round(5)).round(5)
        hits: list[Hit] = []
        seen: set[str] = set()
        for at in np.argsort(-scores, kind="stable"):
            chunk = self.chunks[allowed[at]]
            if len(hits) == k or (mode == "keywords" and scores[at] == 0):
                break
            if self.once and chunk.text in seen:
                continue
            seen.add(chunk.text)
            hits.append(Hit(chunk, float(scores[at])))
        return hits

    def _dense(self, query: Vectors) -> Values:
        scores = self.vectors @ query
        if self._also:
            scores = np.maximum(scores, self._also.best(query))
        if self._sentences:
            best = np.where(self._sentences.counts, self._sentences.best(query), scores)
            scores = (1 - self._best_sentence) * scores + self._best_sentence * best
        return np.asarray(scores, dtype=np.float64)

    @cached_property
    def _keywords(self) -> Keywords:
        more = self.also or (lambda chunk: ())
        return Keywords("\n".join([chunk.embedding_text, *more(chunk)]) for chunk in self.chunks)

    def _rows(self, texts: Callable[[Chunk], Sequence[str]]) -> _Rows:
        each = [_listed(texts(chunk)) for chunk in self.chunks]
        vectors = unit_vectors(self.embed, [text for some in each for text in some])
        return _Rows(vectors, np.array([len(some) for some in each], int))

    def _allowed(self, filter: Filter | None) -> npt.NDArray[np.intp]:
        chunks = self.chunks
        if isinstance(filter, Mapping):
            for name in filter:
                if chunks and name not in _FIELDS and not any(name in chunk.metadata for chunk in chunks):
                    raise ValueError(f"filter={dict(filter)!r}: no chunk has {name!r}, be it as metadata or as a field")
            return np.flatnonzero([_meets(chunk, filter) for chunk in chunks])
        return np.flatnonzero([filter is None or filter(chunk) for chunk in chunks])


@dataclass(frozen=True)
class View:
    """An `Index` with mode and filter settled: what `chunklib.search.evaluation` calls a searcher."""

    index: Index
    mode: Mode
    filter: Filter | None

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """All chunks of the index, also those that the filter leaves out."""
        return self.index.chunks

    def search_many(self, queries: Sequence[str], k: int = 5) -> list[list[Hit]]:
        """See `Index.search_many`."""
        return self.index.search_many(queries, k, mode=self.mode, filter=self.filter)


def mixed(vectors: Vectors, chunks: Sequence[Chunk], weight: float) -> Vectors:
    """Each chunk's vector plus ``weight`` × the unit mean of those before and after it, as unit rows, shape (n, d).

    Neighbours are chunks of the same document that stand side by side in ``chunks``.
    """
    if len(chunks) < 2:
        return vectors
    same = np.array([a.document_id == b.document_id for a, b in pairwise(chunks)])[:, None]
    around = np.zeros_like(vectors)
    around[:-1] += vectors[1:] * same
    around[1:] += vectors[:-1] * same
    return _unit(vectors + weight * _unit(around))


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths, lengths, 1), dtype=np.float32)


def _texts(chunk: Chunk, splitter: Splitter) -> list[str]:
    return [chunk.text[start:end] for start, end in splitter(chunk.text)]


def _listed(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str):  # or each of its letters would be a text
        raise TypeError(f"also returned one str, {texts[:40]!r}; put it in a list")
    return list(texts)


def _known(chunk: Chunk, name: str) -> Any:
    return chunk.metadata[name] if name in chunk.metadata else getattr(chunk, name, None)


def _meets(chunk: Chunk, filter: Mapping[str, Any]) -> bool:
    known = ((_known(chunk, name), wanted) for name, wanted in filter.items())
    return all(has == wanted or (isinstance(wanted, list) and has in wanted) for has, wanted in known)


class _Rows(NamedTuple):
    """Further vectors, those of the first chunk first, and how many each chunk has, shape (n,)."""

    vectors: Vectors
    counts: npt.NDArray[np.int64]

    def best(self, query: Vectors) -> Values:
        """For each chunk the score of its best row; minus infinity where it has none."""
        found = np.full(len(self.counts), -np.inf)
        some = self.counts > 0
        if some.any():
            starts = np.cumsum(self.counts) - self.counts
            found[some] = np.maximum.reduceat(self.vectors @ query, starts[some])
        return found
