# SPDX-License-Identifier: MIT
"""Compute every row of the course's scoreboard anew and write data/scoreboard.json.

python -m tools.scoreboard
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from chunklib.enrichment import add_context
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.scoreboard import Row, Scoreboard, score_row, scored_documents, store
from chunklib.span import Chunk, Document, Splitter, chunk_documents


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
    "150 with context": ("06", partial(split_recursive, chunk_size=150)),
    "fixed 100": ("08", partial(split_fixed_size, chunk_size=100)),
    "fixed 450": ("08", partial(split_fixed_size, chunk_size=450)),
    "fixed 500, overlap 50": ("08", partial(split_fixed_size, chunk_size=500, chunk_overlap=50)),
}


#: name -> what is done with each chunk and its document before the chunks are indexed.
ENRICHED: dict[str, Callable[[Chunk, Document], Chunk]] = {"150 with context": add_context}


def rows() -> Iterator[Row]:
    """Each technique's row, in the order of the lessons."""
    documents = {document.id: document for document in scored_documents()}
    for name, (lesson, splitter) in TECHNIQUES.items():
        chunks = chunk_documents(documents.values(), splitter)
        if enrich := ENRICHED.get(name):
            chunks = (enrich(chunk, documents[chunk.document_id]) for chunk in chunks)
        yield score_row(name, chunks, lesson=lesson)


if __name__ == "__main__":
    found = tuple(rows())
    store(found)
    print(Scoreboard(found))
