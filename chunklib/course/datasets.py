# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.documents.loaders.
"""The course's own documents and questions, from the folder ``data/``; what lies deeper in it is neither."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from chunklib.core.document import Document
from chunklib.core.span import Span
from chunklib.documents.loaders import document_paths, load_document
from chunklib.search.evaluation import Question

DATA = Path(__file__).resolve().parents[2] / "data"


def load_course_documents(*names: str) -> tuple[Document, ...]:
    """The documents named, or all, in order of their names; the id of each is its file name.

    Raises ``ValueError`` for a name that is no document of the course.

    >>> [document.id for document in load_course_documents("shipping.md", "returns-policy.md")]
    ['returns-policy.md', 'shipping.md']
    """
    documents = _documents()
    if unknown := set(names) - {document.id for document in documents}:
        known = ", ".join(document.id for document in documents)
        raise ValueError(f"{', '.join(sorted(unknown))}: no document of the course; there are {known}")
    return tuple(document for document in documents if not names or document.id in names)


def load_course_questions(*names: str) -> tuple[Question, ...]:
    """The questions in order of file and line; with names of documents, those that these documents answer.

    Of a question's alternatives, those that need another document are left out.

    >>> len(load_course_questions()) > len(load_course_questions("returns-policy.md")) > 20
    True
    """
    if not names:
        return _questions()
    load_course_documents(*names)
    answered = (
        replace(q, gold=tuple(parts for parts in q.gold if all(name in names for name, _ in parts)))
        for q in _questions()
    )
    return tuple(question for question in answered if question.gold)


def read_questions(path: str | Path, documents: Iterable[Document]) -> tuple[list[Question], list[str]]:
    """Questions of your own about documents of your own, and a line for each that cannot be used.

    Each line of the file is one question: ``{"question": "…", "document": "fees.md", "quote": "…"}``. The quote is the
    answer as it stands in the document; any run of blanks in it stands for any other, and case counts. Where it stands
    more than once, each place is an answer. Without a quote (``""``) the question is one that nothing answers. A
    ``"kind"`` may be given; the others are of kind ``"own"``.

    Raises ``FileNotFoundError``; nothing for what stands in the file. Cost: one search a question.
    """
    known = {document.id: document for document in documents}
    questions: list[Question] = []
    problems: list[str] = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8-sig", errors="replace").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            text, name, quote = (row.get(key) for key in ("question", "document", "quote"))
        except (ValueError, AttributeError, RecursionError):
            problems.append(f"line {number}: is no JSON object; each line is one question")
            continue
        if not isinstance(text, str) or not text.strip() or not isinstance(quote, str):
            problems.append(f'line {number}: wants texts as "question" and "quote"')
        elif quote.strip() and not (isinstance(name, str) and name in known):
            problems.append(f"line {number}: {name!r} is not among the documents")
        else:
            pattern = r"\s+".join(map(re.escape, quote.split()))
            places = [Span(*match.span()) for match in re.finditer(pattern, known[name].text)] if pattern else []
            if pattern and not places:
                problems.append(f"line {number}: {quote[:60]!r} does not stand in {name}")
                continue
            gold = tuple(((str(name), place),) for place in places)
            questions.append(Question(f"line {number}", text.strip(), str(row.get("kind", "own")), "tune", gold))
    return questions, problems


@cache
def _documents() -> tuple[Document, ...]:
    if not DATA.is_dir():
        raise FileNotFoundError(f"{DATA.name}/ is not beside the package; install from a clone with pip install -e")
    files = [path for path in document_paths(DATA) if path.parent == DATA]
    # The source is shown in the lessons, so it is the same on every machine.
    return tuple(replace(load_document(file), source=f"data/{file.name}") for file in files)


@cache
def _questions() -> tuple[Question, ...]:
    files = sorted(DATA.glob("questions-*.jsonl"))
    return tuple(question for file in files for question in load_questions(file, _documents()))


def load_questions(path: str | Path, documents: Iterable[Document]) -> tuple[Question, ...]:
    """The questions of one file in the course's own format, such as those of the capstone.

    Each line is one: ``{"id", "question", "kind", "split", "gold": [[{"document", "quote"}, …parts], …alternatives]}``.
    In a PDF, any run of blanks and line ends in a quote stands for any other, because its lines are broken anywhere.

    Raises ``ValueError`` where a quote does not stand exactly once, ``KeyError`` for a document that is not given.
    """
    known = {document.id: document for document in documents}
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return tuple(_question(json.loads(line), known) for line in lines)


def recorded_answer(prompt: str) -> str:
    """What the course has recorded in place of a language model: the answer to one prompt of lesson 06.

    Raises ``LookupError`` for any other prompt.
    """
    held = _answers()
    if (name := prompt_key(prompt)) not in held:
        raise LookupError(f"no answer to this prompt ({prompt[:40]!r}…) is recorded; ask a model, as ask_openai does")
    return str(held[name]["answer"])


def prompt_key(prompt: str) -> str:
    """The name under which an answer is kept: it changes with every character of the prompt.

    >>> prompt_key("Why?")
    '5d8a995a6fa7cf7c'
    """
    return hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:16]


@cache
def _answers() -> dict[str, dict[str, str]]:
    return dict(json.loads((DATA / "generated.json").read_text(encoding="utf-8"))["answers"])


def _question(row: dict[str, object], documents: Mapping[str, Document]) -> Question:
    def place(part: dict[str, str]) -> tuple[str, Span]:
        document, quote = documents[part["document"]], part["quote"]
        words = quote.split() if document.media_type == "application/pdf" else [quote]
        found = [match.span() for match in re.finditer(r"\s+".join(map(re.escape, words)), document.text)]
        if len(found) != 1:
            raise ValueError(f"question {row['id']}: {quote!r} stands {len(found)} times in {document.id}")
        return document.id, Span(*found[0])

    gold = row["gold"]
    assert isinstance(gold, list)
    return Question(
        str(row["id"]),
        str(row["question"]),
        str(row["kind"]),
        str(row["split"]),
        tuple(tuple(place(part) for part in parts) for parts in gold),
    )
