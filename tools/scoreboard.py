# SPDX-License-Identifier: MIT
"""Compute every row of the course's scoreboard anew and write data/scoreboard.json.

python -m tools.scoreboard
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from chunklib.fixed_size import split_fixed_size
from chunklib.parent_child import ParentChildIndex
from chunklib.recursive import split_recursive
from chunklib.scoreboard import Row, Scoreboard, score_row, scored_documents, store
from chunklib.span import Splitter, chunk_documents


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


#: The same for what is more than a splitter: name -> (lesson, parents, children, weight of a parent's own vector).
FAMILIES: dict[str, tuple[str, Splitter, Splitter, float]] = {
    "parent-child 400/100": (
        "07", partial(split_recursive, chunk_size=400), partial(split_recursive, chunk_size=100), 0
    ),
    "parent-child 200/50, half own": (
        "07", partial(split_recursive, chunk_size=200), partial(split_recursive, chunk_size=50), 0.5
    ),
}  # fmt: skip


def names() -> list[str]:
    """All rows, in the order of the lessons."""
    lessons = {name: row[0] for name, row in TECHNIQUES.items()} | {name: row[0] for name, row in FAMILIES.items()}
    return sorted(lessons, key=lessons.__getitem__)


def rows() -> Iterator[Row]:
    """Each technique's row, in the order of the lessons."""
    for name in names():
        if name in TECHNIQUES:
            lesson, splitter = TECHNIQUES[name]
            yield score_row(name, chunk_documents(scored_documents(), splitter), lesson=lesson)
        else:
            lesson, parents, children, weight = FAMILIES[name]
            index = ParentChildIndex(parent_splitter=parents, child_splitter=children, own_weight=weight)
            for document in scored_documents():
                index.add(document)
            yield score_row(name, index.chunks, lesson=lesson, build=lambda _, index=index: index)  # type: ignore[misc]


if __name__ == "__main__":
    found = tuple(rows())
    store(found)
    print(Scoreboard(found))
