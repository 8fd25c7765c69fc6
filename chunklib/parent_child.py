# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, an encoder, and what the splitters need.
"""Parent-child: small chunks are searched, the larger ones around them are read.

When to use it: where the sentence that is near to the question cannot be understood alone, and its paragraph can.

`families` cuts a document twice, `search_families` searches some in memory. For more documents than fit in memory, and
for documents that change, `chunklib.search.parents` keeps both in stores that agree whatever is killed meanwhile.

But: parents cost room in the prompt; where short answers explain themselves, they only cost.

Cost: two passes of a splitter, and each child is encoded; a search compares every child.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from chunklib.core.checks import checked
from chunklib.core.document import Chunk, ChunkId, Document, Hit, chunk_document, content_id
from chunklib.core.span import Span, Splitter, check_count
from chunklib.core.vectors import Encoder, Vectors, encoder, unit_vectors
from chunklib.recursive import split_recursive

K = TypeVar("K")
V = TypeVar("V")
PARENTS: Splitter = partial(split_recursive, chunk_size=400)
CHILDREN: Splitter = partial(split_recursive, chunk_size=100)


class Family(NamedTuple):
    """A parent, and the children that it was cut into."""

    parent: Chunk
    children: tuple[Chunk, ...]


@dataclass(frozen=True)
class ParentHit:
    """A parent that was found, its score, and which of its children led there, best first; it has ``of`` children."""

    chunk: Chunk
    score: float
    children: tuple[Hit, ...]
    of: int

    def __iter__(self) -> Iterator[Any]:
        """Chunk and score, as those of a `Hit`: so a parent can be evaluated like any chunk."""
        return iter((self.chunk, self.score))


def families(
    document: Document, parent_splitter: Splitter, child_splitter: Splitter, *, chunk_id: ChunkId | None = None
) -> list[Family]:
    """Cut a document into parents, and each parent into children. All offsets are those of the document.

    A parent of which nothing would be left is its own child. Parents may overlap; then so do their children.

    >>> halves = lambda text: [(0, len(text) // 2), (len(text) // 2, len(text))]
    >>> [(f.parent.text, [c.text for c in f.children]) for f in families(Document("abcdefgh"), halves, halves)]
    [('abcd', ['ab', 'cd']), ('efgh', ['ef', 'gh'])]
    """
    found: list[Family] = []
    seen: Counter[str] = Counter()  # equal texts of one document, over all parents
    make_id = chunk_id or content_id

    def child_id(document: Document, level: str, text: str, _: int) -> str:
        seen[text] += 1
        return make_id(document, level, text, seen[text] - 1)

    count = 0
    for parent in chunk_document(document, parent_splitter, level="parent", chunk_id=chunk_id):
        inside = checked(child_splitter(parent.text), parent.text, child_splitter) or [Span(0, len(parent.text))]
        spans = [(parent.start + start, parent.start + end) for start, end in inside]
        children = chunk_document(document, lambda _, spans=spans: spans, level="child", chunk_id=child_id)  # type: ignore[misc]
        found.append(Family(parent, tuple(replace(child, index=count + i) for i, child in enumerate(children))))
        count += len(children)
    return found


def search_families(
    families: Sequence[Family],
    query: str,
    *,
    embed: Encoder | None = None,
    vectors: Vectors | None = None,
    k_children: int = 20,
    k_parents: int = 5,
) -> list[ParentHit]:
    """The best parents, each once, in the order of their best child.

    Parameters
    ----------
    embed: any function from texts to vectors; without one, that of the course.
    vectors: those of all children in their order, shape (n, d), where they are at hand. Otherwise they are made here.
    k_children: so many of the nearest children are read; more, where these have fewer parents than ``k_parents``.

    Raises ``ValueError`` for a number below 1. Cost: a product with an (n, d) matrix, and a sort.

    >>> pairs = lambda text: [(at, at + 2) for at in range(0, len(text), 2)]
    >>> single = lambda text: [(at, at + 1) for at in range(len(text))]
    >>> letters = lambda texts: [[text.count(letter) for letter in "abcd"] for text in texts]
    >>> hits = search_families(families(Document("abcd"), pairs, single), "c", embed=letters, k_children=1, k_parents=1)
    >>> [(hit.chunk.text, hit.children[0].chunk.text) for hit in hits]
    [('cd', 'c')]
    """
    check_count("k_children", k_children, 1)
    check_count("k_parents", k_parents, 1)
    embed = encoder(embed)
    pairs = [(number, child) for number, family in enumerate(families) for child in family.children]
    if not pairs:
        return []
    if vectors is None:
        vectors = unit_vectors(embed, [child.embedding_text for _, child in pairs])
    scores = np.round(vectors @ unit_vectors(embed, [query])[0], 5)  # beyond five decimals they depend on the machine
    ranked = [(*pairs[at], float(scores[at])) for at in np.argsort(-scores, kind="stable")]
    groups = best_groups(((number, Hit(child, score)) for number, child, score in ranked), k_children, k_parents)
    best = list(groups.items())[:k_parents]
    return [
        ParentHit(families[number].parent, hits[0].score, tuple(hits), len(families[number].children))
        for number, hits in best
    ]


def best_groups(ranked: Iterable[tuple[K, V]], k_children: int, k_parents: int) -> dict[K, list[V]]:
    """Children, best first, each after what names its parent, gathered by that name; the best parent first.

    So many children are read, or more, until there are so many parents.

    >>> best_groups([("A", 1), ("A", 2), ("B", 3), ("C", 4)], k_children=1, k_parents=2)
    {'A': [1, 2], 'B': [3]}
    """
    groups: dict[K, list[V]] = {}
    for rank, (parent, child) in enumerate(ranked):
        if rank >= k_children and len(groups) >= k_parents:
            break
        groups.setdefault(parent, []).append(child)
    return groups
