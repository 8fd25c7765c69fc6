# SPDX-License-Identifier: MIT
"""Faults reported of published libraries, each with the setting it was reported for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chunklib.core.document import Chunk, Document, chunk_document, chunk_documents
from chunklib.core.measure import count
from chunklib.core.span import Splitter
from chunklib.enrichment import add_context, context_at
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.semantic import THRESHOLDS, split_optimal, split_semantic
from chunklib.sentence import split_sentences, widen
from chunklib.structure import split_markdown, split_paragraphs

ROWS = [json.loads(row) for row in Path(__file__).with_name("reported_faults.jsonl").read_bytes().decode().splitlines()]
CASES = {row["id"]: row for row in ROWS}
fixed, recursive = partial(partial, split_fixed_size), partial(partial, split_recursive)
sentences = partial(partial, split_sentences)
markdown = partial(partial, split_markdown)
chars = {"length": "characters"}


def pumps_or_poems(texts: Sequence[str]) -> list[list[float]]:
    """The encoder of the cases of semantic chunking; the last two words are those of the Japanese one."""
    pump, poem = ("pump", "valve", "ポンプ", "弁"), ("poem", "verse", "詩", "韻")
    return [[sum(text.lower().count(word) for word in words) for words in (pump, poem)] + [1e-9] for text in texts]


semantic = partial(partial, split_semantic, embed=pumps_or_poems)
thresholds = [semantic(threshold=threshold) for threshold in THRESHOLDS]
optimal = partial(partial, split_optimal, embed=pumps_or_poems)
TRY: dict[str, list[Splitter]] = {
    "FIX-01": [fixed(chunk_size=2, chunk_overlap=1, length="words")],
    "FIX-03": [fixed(chunk_size=size) for size in (1, 2, 3)],
    "FIX-05": [fixed(chunk_size=8), recursive(chunk_size=8), sentences(chunk_size=8)],
    "FIX-06": [fixed(chunk_size=10, chunk_overlap=2, **chars)],
    "FIX-10": [fixed(chunk_size=20), recursive(chunk_size=20), sentences(chunk_size=20)],
    "FIX-11": [fixed(), recursive(), sentences(), sentences(chunk_size=20)],
    "FIX-13": [fixed(chunk_size=50), recursive(chunk_size=50), sentences(), sentences(chunk_size=50)],
    "REC-01": [recursive(chunk_size=30, chunk_overlap=10, **chars)],
    "REC-03": [recursive(chunk_size=14, separators=[re.compile(r"\d+")], **chars)],
    "REC-05": [recursive(chunk_size=5, separators=["*", "."], **chars)],
    "REC-06": [recursive(chunk_size=1000, **chars)],
    "REC-08": [recursive(chunk_size=24, **chars)],
    "REC-10": [recursive(chunk_size=10, separators=[r"\n", " ", ""], **chars)],
    "REC-12": [recursive(chunk_size=4, chunk_overlap=2, **chars)],
    "REC-14": [recursive(chunk_size=50, **chars)],
    "REC-16": [recursive(chunk_size=80, **chars)],
    **{f"SEN-{number:02}": [sentences()] for number in (1, 3, 5, 7, 9, 15, 17)},
    "SEN-11": [sentences(chunk_size=10)],
    "SEN-13": [sentences(chunk_size=16, chunk_overlap=5)],
    "PC-09": [lambda text: widen(split_sentences(text))],
    **{f"STR-{n:02}": [markdown(), markdown(chunk_size=400)] for n in (1, 3, 5, 6, 9, 11, 13, 15)},
    "STR-17": [markdown(chunk_size=120, **chars)],
    "STR-19": [markdown(chunk_size=200, **chars)],
    "STR-21": [markdown(chunk_size=60, **chars)],
    "STR-31": [fixed(chunk_size=4, chunk_overlap=2, length="words")],
    "STR-33": [markdown(chunk_size=10_000, **chars)],
    "SEM-01": [*thresholds, optimal()],
    "SEM-03": [*thresholds, optimal()],
    "SEM-05": [semantic(), optimal(chunk_size=20, **chars)],
    "SEM-07": [semantic()],
    "SEM-09": [semantic(min_chunk_size=12, **chars), semantic(amount=0, min_chunk_size=12, **chars)],
}
#: Tried in tests/test_parent_child.py and tests/test_identity.py.
PARENT_CHILD = ("PC-01", "PC-03", "PC-05", "PC-07", "IDS-03")
IDENTITY = ("IDS-01", "IDS-05")


def text_of(row: dict[str, Any]) -> str:
    return str(row["input"]) if "input" in row else str(eval(row["make"]))


def cover(text: str, spans: list[tuple[int, int]]) -> bool:
    return all(c.isspace() or any(a <= i < b for a, b in spans) for i, c in enumerate(text))


def tried() -> Iterator[Any]:
    for name, splitters in TRY.items():
        for number, splitter in enumerate(splitters):
            yield pytest.param(CASES[name], splitter, id=f"{name}-{number}")


@pytest.mark.parametrize(("row", "splitter"), list(tried()))
def test_reported_fault(row: dict[str, Any], splitter: Splitter) -> None:
    text = text_of(row)
    spans = [tuple(span) for span in splitter(text)]
    document = Document.from_markdown(text)
    if row["id"] == "STR-31":
        document = Document(text, pages=[0, *(match.end() for match in re.finditer("\f", text))])

    def enriched(budget: int) -> list[Chunk]:
        chunks = chunk_document(document, splitter)
        return [add_context(chunk, document, budget=budget, length="characters") for chunk in chunks]

    known = {"text": text, "spans": spans, "S": [text[a:b] for a, b in spans], "ntok": count, "cover": cover, "re": re}
    known |= {"document": document, "context_at": context_at, "enriched": enriched}
    assert eval(row["check"], known), row["expect"]


def test_every_case_is_tried() -> None:
    cleaning = {name for name in CASES if name.startswith("ENR-")}  # test_cleaning.py and test_enrichment.py
    assert set(TRY) | {"FIX-15", "SEM-11", *PARENT_CHILD, *IDENTITY} | cleaning == set(CASES)


def test_windows_line_ends_in_paragraphs_too() -> None:
    """STR-13 asks for all three: Windows, paragraphs, and lone carriage returns."""
    text = text_of(CASES["STR-13"])
    assert [span.start for span in split_paragraphs(text)] == [0, 9, 24, 34]
    assert [span.start for span in split_markdown(text.replace("\r\n", "\r"))] == [0, 20]


def test_alone_and_among_others() -> None:
    document = Document(text_of(CASES["FIX-15"]), id="d")
    splitter = fixed(chunk_size=6, chunk_overlap=2)
    alone = chunk_document(document, splitter)
    among = [c for c in chunk_documents([Document("Other.", id="o"), document], splitter) if c.document_id == "d"]
    assert alone == among


def test_the_encoder_gets_whole_sentences() -> None:
    seen: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        seen.extend(texts)
        return pumps_or_poems(texts)

    split_semantic(text_of(CASES["SEM-11"]), embed=embed)
    assert seen == ["Dr. Lund set the pump to 5.3 bar.", "The valve held.", "The poem was read by J. D. Moss."]
