# SPDX-License-Identifier: MIT
"""Measure what lesson 13 reckons with: how fast this machine splits, encodes and stores, and how large it gets.

    python benchmarks/rates.py [FILE]

FILE is data/rates.json unless named. Takes one to three minutes, most of it in the encoder, whose cache is off.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from chunklib.core.document import Document, chunk_documents
from chunklib.core.measure import count
from chunklib.course.datasets import DATA
from chunklib.course.scoreboard import scored_documents
from chunklib.production.scaling import add_encoded, chunk_in_processes, encode_document, spread
from chunklib.recursive import split_recursive
from chunklib.search.embedding import DIMENSIONS
from chunklib.search.mappings import SQLiteMapping
from chunklib.search.parents import ParentChildIndex

SPLITTER = partial(split_recursive, chunk_size=100)
SETTINGS: dict[str, Any] = {"parent_splitter": partial(split_recursive, chunk_size=400), "child_splitter": SPLITTER}
COPIES = 60  # of each document, for what is fast


def copies(n: int) -> Iterator[Document]:
    """The course's documents n times, under other ids."""
    for i in range(n):
        for document in scored_documents():
            yield replace(document, id=f"{i}/{document.id}")


def timed(document: Document) -> tuple[float, float, int]:
    """When the encoder began and ended with a document, and how many texts it read; loading it comes first."""
    encode_document(Document("Ready."))
    began = time.time()
    n = len(encode_document(document, **SETTINGS).texts)
    return began, time.time(), n


def encoding(workers: int, documents: list[Document]) -> float:
    """Texts a second of so many workers together, once they are all running."""
    marks = list(spread(timed, documents, workers=workers, batch=1))
    marks = marks[2 * workers :]  # by then each has loaded its encoder
    return sum(n for _, _, n in marks) / (max(end for _, end, _ in marks) - min(began for began, _, _ in marks))


def rate(n: int, began: float) -> float:
    """Documents a second."""
    return n / (time.perf_counter() - began)


def measured() -> dict[str, Any]:
    """All figures."""
    os.environ["CHUNKLIB_CACHE"] = "off"
    documents = list(scored_documents())
    chunks = list(chunk_documents(documents, SPLITTER))
    found: dict[str, Any] = {
        "date": date.today().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores shared with other work",
        "versions": {
            "python": platform.python_version(),
            **{n: version(n) for n in ("torch", "sentence-transformers")},
        },
        "characters per document": round(sum(len(d.text) for d in documents) / len(documents)),
        "tokens per document": round(sum(count(d.text) for d in documents) / len(documents)),
        "chunks per document": round(len(chunks) / len(documents), 1),
        "bytes per vector": 4 * DIMENSIONS,
    }
    n = COPIES * len(documents)
    began = time.perf_counter()
    assert sum(1 for _ in chunk_documents(copies(COPIES), SPLITTER)) == COPIES * len(chunks)
    found["split, documents a second"] = {"1": round(rate(n, began), 1)}
    for workers in (1, 2):
        results = chunk_in_processes(copies(COPIES), SPLITTER, workers=workers)
        next(results)  # by then a worker runs
        began = time.perf_counter()
        assert 1 + sum(1 for _ in results) == COPIES * len(chunks)
        found["split, documents a second"][f"{workers} sent"] = round(rate(n, began), 1)
    for workers in (1, 2):
        speed = encoding(workers, documents)
        found.setdefault("encode, texts a second", {})[str(workers)] = round(speed, 1)
    # A stand-in for the vectors: storing does not look at them.
    encoded = [encode_document(document, embed=_rows, **SETTINGS) for document in documents]
    with tempfile.TemporaryDirectory() as folder:
        texts = SQLiteMapping(Path(folder, "texts"))
        index = ParentChildIndex(parents=texts, embed=_rows, **SETTINGS)
        began = time.perf_counter()
        for one in encoded:
            add_encoded(index, one)
        found["store, documents a second"] = round(rate(len(documents), began), 1)
        texts.close()
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    points = index.vectors.get(list(index.vectors.ids())).values()
    found["bytes of texts per document"] = round(size / len(documents))
    found["bytes of a vector's record"] = round(sum(len(json.dumps(p.payload)) for p in points) / len(points))
    return found


def _rows(texts: list[str]) -> Any:
    import numpy as np

    rows = np.random.default_rng(0).normal(size=(len(texts), DIMENSIONS)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def main() -> None:
    """Measure and write the file."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "rates.json"
    found = measured()
    file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8", newline="\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
