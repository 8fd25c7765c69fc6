# SPDX-License-Identifier: MIT
"""The course's documents and questions are there and do what they are for."""

from __future__ import annotations

from collections import Counter

from chunklib.datasets import load_course_documents, load_course_questions
from chunklib.measure import count

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
