# SPDX-License-Identifier: MIT
"""The course's documents and questions are there and do what they are for."""

from __future__ import annotations

from collections import Counter

import pytest

from chunklib.datasets import DATA, _question, load_course_documents, load_course_questions
from chunklib.measure import count
from chunklib.span import Document, Span

TEXTS = {document.id: document.text for document in load_course_documents()}


def test_size() -> None:
    assert len(TEXTS) >= 4
    assert sum(map(count, TEXTS.values())) > 15_000
    assert len(load_course_questions()) >= 40
    assert len({q.id for q in load_course_questions()}) == len(load_course_questions())


def test_each_kind_is_tuned_on_half_and_held_out_on_half() -> None:
    split = Counter((q.kind, q.split) for q in load_course_questions())
    for kind in {kind for kind, _ in split}:
        assert abs(split[kind, "tune"] - split[kind, "held_out"]) <= 2


def test_the_trap_of_the_story_is_planted() -> None:
    text = TEXTS["returns-policy.md"]
    assert "30-day return window on everything we sell, electronics and accessories included" in text
    section = text[text.index("## Electronics Returns") :]
    paragraphs = section.split("\n\n")
    assert paragraphs[3].startswith("If the item turns out to be faulty, the window is 60 days instead.")
    assert not any(word in paragraphs[3].lower() for word in ("return", "electronic", "defective"))
    assert text.count("60") == 1


def test_the_three_questions_that_everybody_asks() -> None:
    answers = {TEXTS[name][slice(*span)] for q in load_course_questions() for parts in q.gold for name, span in parts}
    for needed in ("the window is 60 days instead", "5 to 7 business days", "2 to 3 business days"):
        assert any(needed in answer for answer in answers)


def test_documents_are_the_files_of_the_folder_itself() -> None:
    assert {document.id for document in load_course_documents()} == {
        path.name for path in DATA.iterdir() if path.suffix in (".md", ".html", ".pdf", ".txt")
    }
    assert all(document.source == f"data/{document.id}" for document in load_course_documents())


def test_a_quote_of_a_pdf_may_be_broken_elsewhere() -> None:
    text = "Hold it for\nten seconds.\fHold it\n for ten days. [Ten]"
    row = {"id": "q", "question": "?", "kind": "k", "split": "tune"}

    def place(quote: str, media_type: str = "application/pdf") -> Span:
        documents = {"d": Document(text, id="d", media_type=media_type)}
        return _question({**row, "gold": [[{"document": "d", "quote": quote}]]}, documents).gold[0][0][1]

    assert place("it for ten seconds.").of(text) == "it for\nten seconds."
    assert place("seconds. Hold").of(text) == "seconds.\fHold"
    assert place("[Ten]", "text/plain").of(text) == "[Ten]"
    with pytest.raises(ValueError, match="question q: 'Hold it for ten' stands 2 times in d"):
        place("Hold it for ten")
    with pytest.raises(ValueError, match="stands 0 times in d"):
        place("it for ten", "text/markdown")
