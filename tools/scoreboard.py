# SPDX-License-Identifier: MIT
"""Compute every row of the course's scoreboard anew and write data/scoreboard.json.

python -m tools.scoreboard
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

from chunklib.core.document import Chunk, chunk_documents
from chunklib.core.span import Splitter
from chunklib.course import peers
from chunklib.course.comparing import as_splitter
from chunklib.course.scoreboard import Row, Scoreboard, score_row, scored_documents, store
from chunklib.enrichment import add_context
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.search.evaluation import Searcher
from chunklib.search.parents import ParentChildIndex
from chunklib.search.retrieval import Index
from chunklib.semantic import split_optimal, split_semantic
from chunklib.sentence import split_sentences
from chunklib.structure import split_markdown
from tools.notebooks import command

Build = Callable[[], Iterable[Chunk] | Searcher]
PerType = Mapping[str, Splitter]

#: Lesson 04: Markdown by its structure, everything else as in lesson 02.
MARKDOWN_150: PerType = {"text/markdown": partial(split_markdown, chunk_size=150)}


def whole(text: str) -> list[tuple[int, int]]:
    """The document as one chunk: what comes of not cutting at all."""
    return [(0, len(text))]


def cut(splitter: Splitter, per_type: PerType | None = None) -> Build:
    """All documents cut by one splitter, or by that of their type, and searched by their vectors."""
    return lambda: chunk_documents(scored_documents(), splitter, per_type=per_type)


def with_context(splitter: Splitter, per_type: PerType | None = None) -> Iterator[Chunk]:
    """The same, with title, headings and a table's header row in front of what the encoder reads."""
    for document in scored_documents():
        for chunk in chunk_documents([document], splitter, per_type=per_type):
            yield add_context(chunk, document)


def under_headings(chunk: Chunk) -> Chunk:
    """The chunk with title and headings as its context."""
    path = [chunk.title, *chunk.section_path]
    return replace(chunk, context=" > ".join(path[1:] if path[:1] == path[1:2] else path))


@cache
def chunks() -> tuple[Chunk, ...]:
    """What lesson 09 adds to: recursive 150."""
    return tuple(chunk_documents(scored_documents(), partial(split_recursive, chunk_size=150)))


@cache
def headed() -> tuple[Chunk, ...]:
    """The same chunks under their headings."""
    return tuple(map(under_headings, chunks()))


def families(parent_size: int, child_size: int, own_weight: float = 0) -> Build:
    """An index of small chunks that hands out large ones; sizes in tokens."""

    def build() -> Searcher:
        parents, children = (partial(split_recursive, chunk_size=size) for size in (parent_size, child_size))
        index = ParentChildIndex(parent_splitter=parents, child_splitter=children, own_weight=own_weight)
        for document in scored_documents():
            index.add(document)
        return index

    return build


#: lesson -> its rows: name -> what is searched. Weights and settings were chosen on the tuning questions.
ROWS: dict[str, dict[str, Build]] = {
    "00": {"whole document": cut(whole)},
    "01": {
        "fixed 400": cut(partial(split_fixed_size, chunk_size=400)),
        "fixed 200": cut(partial(split_fixed_size, chunk_size=200)),
        "fixed 200, overlap 20": cut(partial(split_fixed_size, chunk_size=200, chunk_overlap=20)),
    },
    "02": {
        "recursive 150": cut(partial(split_recursive, chunk_size=150)),
        "recursive 100": cut(partial(split_recursive, chunk_size=100)),
    },
    "03": {"sentences 150": cut(partial(split_sentences, chunk_size=150))},
    "04": {
        "markdown 150": cut(partial(split_recursive, chunk_size=150), MARKDOWN_150),
        "markdown 150 with context": lambda: with_context(partial(split_recursive, chunk_size=150), MARKDOWN_150),
    },
    "05": {
        "semantic, no limit": cut(split_semantic),
        "semantic 150": cut(partial(split_semantic, window=1, min_chunk_size=75, max_chunk_size=150)),
        "optimal 150": cut(partial(split_optimal, chunk_size=150)),
        "recursive 50": cut(partial(split_recursive, chunk_size=50)),  # as many chunks as the optimal ones
    },
    "06": {"150 with context": lambda: with_context(partial(split_recursive, chunk_size=150))},
    "07": {
        "parent-child 400/100": families(400, 100),
        "parent-child 200/50, half own": families(200, 50, own_weight=0.5),
    },
    "08": {
        "fixed 100": cut(partial(split_fixed_size, chunk_size=100)),
        "fixed 450": cut(partial(split_fixed_size, chunk_size=450)),
        "fixed 500, overlap 50": cut(partial(split_fixed_size, chunk_size=500, chunk_overlap=50)),
    },
    "09": {
        "150, copies once": lambda: Index(chunks(), once=True),
        "150, headings": lambda: Index(headed()),
        "150, neighbours": lambda: Index(chunks(), neighbours=0.3),
        "150, best sentence": lambda: Index(chunks(), sentences=split_sentences),
        "150, keywords alone": lambda: Index(chunks()).view(mode="keywords"),
        "150, keywords fused": lambda: Index(chunks()).view(mode="fused"),
        "150, all but sentence": lambda: Index(headed(), once=True, neighbours=0.3).view(mode="fused"),
        "150, all": lambda: Index(headed(), once=True, neighbours=0.3, sentences=split_sentences).view(mode="fused"),
        # the best cuts of the course, and the additions that gained on held-out questions
        "markdown 150 with context, words": lambda: Index(
            with_context(partial(split_recursive, chunk_size=150), MARKDOWN_150)
        ).view(mode="fused"),
    },
    "12": {
        "recursive 200": cut(partial(split_recursive, chunk_size=200)),
        "LangChain recursive 200": cut(as_splitter(peers.langchain_recursive, chunk_size=200)),
        "LlamaIndex sentences 200": cut(as_splitter(peers.llamaindex_sentences, chunk_size=200)),
        "Chonkie recursive 200": cut(as_splitter(peers.chonkie_recursive, chunk_size=200)),
        "semchunk 200": cut(as_splitter(peers.semchunk_recursive, chunk_size=200)),
        "semantic-text-splitter 200": cut(as_splitter(peers.semantic_text_splitter_recursive, chunk_size=200)),
    },
}


def rows() -> Iterator[Row]:
    """Each row, in the order of the lessons."""
    for lesson, builds in ROWS.items():
        for name, build in builds.items():
            yield score_row(name, build(), lesson=lesson)


if __name__ == "__main__":
    command(__doc__).parse_args()
    found = tuple(rows())
    store(found)
    print(Scoreboard(found))
