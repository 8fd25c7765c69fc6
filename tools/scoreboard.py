# SPDX-License-Identifier: MIT
"""Compute every row of the course's scoreboard anew and write data/scoreboard.json.

python -m tools.scoreboard
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

from chunklib.evaluation import Searcher
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.retrieval import Index
from chunklib.scoreboard import Row, Scoreboard, score_row, scored_documents, store
from chunklib.span import Chunk, Splitter, chunk_documents


def whole(text: str) -> list[tuple[int, int]]:
    """The document as one chunk: what comes of not cutting at all."""
    return [(0, len(text))]


#: name -> (lesson, splitter). A later lesson adds its own.
TECHNIQUES: dict[str, tuple[str, Splitter]] = {
    "whole document": ("00", whole),
    "fixed 400": ("01", partial(split_fixed_size, chunk_size=400)),
    "fixed 200": ("01", partial(split_fixed_size, chunk_size=200)),
    "fixed 200, overlap 20": ("01", partial(split_fixed_size, chunk_size=200, chunk_overlap=20)),
    "recursive 150": ("02", partial(split_recursive, chunk_size=150)),
    "fixed 100": ("08", partial(split_fixed_size, chunk_size=100)),
    "fixed 450": ("08", partial(split_fixed_size, chunk_size=450)),
    "fixed 500, overlap 50": ("08", partial(split_fixed_size, chunk_size=500, chunk_overlap=50)),
}


def under_headings(chunk: Chunk) -> Chunk:
    """The chunk with title and headings as its context."""
    path = [chunk.title, *chunk.section_path]
    return replace(chunk, context=" > ".join(path[1:] if path[:1] == path[1:2] else path))


def rough_sentences(text: str) -> list[tuple[int, int]]:
    """Lines and what ends with a mark before a blank; good enough to find the best one."""
    return [match.span() for match in re.finditer(r"\S(?:[^\n]*?[.?!](?=\s)|[^\n]*)", text) if len(match[0]) > 2]


@cache
def chunks() -> tuple[Chunk, ...]:
    """What lesson 09 adds to: recursive 150."""
    return tuple(chunk_documents(scored_documents(), partial(split_recursive, chunk_size=150)))


@cache
def headed() -> tuple[Chunk, ...]:
    """The same chunks under their headings."""
    return tuple(map(under_headings, chunks()))


#: name -> an index over these chunks. The weights were chosen on the tuning questions.
INDEXES: dict[str, Callable[[], Searcher]] = {
    "150, copies once": lambda: Index(chunks(), once=True),
    "150, headings": lambda: Index(headed()),
    "150, neighbours": lambda: Index(chunks(), neighbours=0.3),
    "150, best sentence": lambda: Index(chunks(), sentences=rough_sentences),
    "150, keywords alone": lambda: Index(chunks()).view(mode="keywords"),
    "150, keywords fused": lambda: Index(chunks()).view(mode="fused"),
    "150, all but sentence": lambda: Index(headed(), once=True, neighbours=0.3).view(mode="fused"),
    "150, all": lambda: Index(headed(), once=True, neighbours=0.3, sentences=rough_sentences).view(mode="fused"),
}


def rows() -> Iterator[Row]:
    """Each technique's row, in the order of the lessons."""
    for name, (lesson, splitter) in TECHNIQUES.items():
        yield score_row(name, chunk_documents(scored_documents(), splitter), lesson=lesson)
    for name, build in INDEXES.items():
        yield score_row(name, build(), lesson="09")


if __name__ == "__main__":
    found = tuple(rows())
    store(found)
    print(Scoreboard(found))
