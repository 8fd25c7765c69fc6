# SPDX-License-Identifier: MIT
"""The course's documents and questions are there and do what they are for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from chunklib.core.document import Document
from chunklib.core.measure import count
from chunklib.core.span import Span
from chunklib.course.datasets import DATA, _question, load_course_documents, load_course_questions, read_questions

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


def test_questions_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    lines = [
        '\ufeff{"question": " How long? ", "document": "fees.md", "quote": "sixty days", "kind": "fact"}',
        "",
        '{"question": "Twice?", "document": "fees.md", "quote": "Yes."}',
        '{"question": "Who wins?", "document": "", "quote": ""}',
        '{"question": "Where?", "document": "gone.md", "quote": "here"}',
        '{"question": "Where?", "document": ["fees.md"], "quote": "here"}',
        '{"question": "Where?", "document": "fees.md", "quote": "nowhere"}',
        '{"question": "Where?", "document": "fees.md"}',
        '{"question": 3, "document": "fees.md", "quote": "Yes."}',
        "not JSON",
        "[1]",
        "[" * 100_000,
    ]
    file.write_text("\r\n".join(lines), encoding="utf-8", newline="")
    document = Document("Yes. It has sixty\n  days. Yes.", id="fees.md")
    questions, problems = read_questions(file, [document])
    assert [(q.id, q.text, q.kind) for q in questions] == [
        ("line 1", "How long?", "fact"),
        ("line 3", "Twice?", "own"),
        ("line 4", "Who wins?", "own"),
    ]
    assert [q.gold for q in questions] == [
        ((("fees.md", Span(12, 24)),),),
        ((("fees.md", Span(0, 4)),), (("fees.md", Span(26, 30)),)),
        (),
    ]
    assert problems == [
        "line 5: 'gone.md' is not among the documents",
        "line 6: ['fees.md'] is not among the documents",
        "line 7: 'nowhere' does not stand in fees.md",
        'line 8: wants texts as "question" and "quote"',
        'line 9: wants texts as "question" and "quote"',
        "line 10: is no JSON object; each line is one question",
        "line 11: is no JSON object; each line is one question",
        "line 12: is no JSON object; each line is one question",
    ]
    with pytest.raises(FileNotFoundError):
        read_questions(tmp_path / "gone.jsonl", [])
