# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/datasets.py). Needs: nothing outside the standard library for its own part.
"""The course's own documents and questions, from the folder ``data/``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from chunklib.span import Document, Span

DATA = Path(__file__).resolve().parent.parent / "data"


@dataclass(frozen=True)
class Question:
    """A question as a customer asks it, and where its answer stands.

    ``gold`` holds alternatives, any of which answers; each is a list of parts, all of them needed: pairs of document id
    and span. ``kind`` is the kind of difficulty, ``split`` is ``"tune"`` or ``"held_out"``.
    """

    id: str
    text: str
    kind: str
    split: str
    gold: tuple[tuple[tuple[str, Span], ...], ...]


@cache
def load_course_documents() -> tuple[Document, ...]:
    """The documents in order of their names; the id of each is its file name.

    >>> [document.id for document in load_course_documents()][:2]
    ['ax310-headphones-manual.md', 'homehub-manual.md']
    """
    if not DATA.is_dir():
        raise FileNotFoundError(f"{DATA.name}/ is not beside the package; install from a clone with pip install -e")
    return tuple(
        Document.from_markdown(file.read_bytes().decode(), id=file.name, source=f"data/{file.name}")
        for file in sorted(DATA.glob("*.md"))
    )


@cache
def load_course_questions() -> tuple[Question, ...]:
    """The questions in order of file and line. Raises ``ValueError`` where a quote does not stand exactly once."""
    texts = {document.id: document.text for document in load_course_documents()}
    rows = (line for file in sorted(DATA.glob("questions-*.jsonl")) for line in file.read_bytes().decode().splitlines())
    return tuple(_question(json.loads(row), texts) for row in rows)


def _question(row: dict[str, object], texts: dict[str, str]) -> Question:
    def place(part: dict[str, str]) -> tuple[str, Span]:
        text, quote = texts[part["document"]], part["quote"]
        if text.count(quote) != 1:
            raise ValueError(f"question {row['id']}: {quote!r} stands {text.count(quote)} times in {part['document']}")
        return part["document"], Span(text.index(quote), text.index(quote) + len(quote))

    gold = row["gold"]
    assert isinstance(gold, list)
    return Question(
        str(row["id"]),
        str(row["question"]),
        str(row["kind"]),
        str(row["split"]),
        tuple(tuple(place(part) for part in parts) for parts in gold),
    )
