# SPDX-License-Identifier: MIT
"""The planted situations of faq.txt, loyalty-program.md and returns-policy-2023.md."""

from __future__ import annotations

import re

from chunklib.course.datasets import load_course_documents
from chunklib.fixed_size import split_fixed_size

TEXTS = {document.id: document.text for document in load_course_documents()}


def _section(text: str, heading: str) -> str:
    """From a heading to the next one of any level."""
    start = text.index(heading + "\n") + len(heading)
    end = re.compile(r"^#", re.M).search(text, start)
    return text[start : end.start() if end else len(text)]


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?!])\s+|\n+", text)


def test_the_loyalty_program_says_60_days_only_of_points() -> None:
    text = TEXTS["loyalty-program.md"]
    hits = [s for s in _sentences(text) if "60 days" in s]
    assert len(hits) == text.count("60") - text.count("600 points") == 2
    assert hits[0].startswith("They stay pending for 60 days after delivery")
    assert "points" in hits[1]
    assert "24 months" in text
    assert not any(re.search(r"return|defective|faulty|electronics", s, re.I) for s in hits)


def test_the_loyalty_program_tempts_who_asks_about_faulty_electronics() -> None:
    text = TEXTS["loyalty-program.md"]
    waiting = _section(text, "### When points become yours")
    assert "60 days" in waiting and "Electronics" in waiting
    faulty = _section(text, "### Defective and faulty items").lower()
    assert all(word in faulty for word in ("defective", "faulty", "electronics", "return", "points"))
    assert "60" not in faulty


def test_45_days_stand_in_the_archived_policy_only() -> None:
    archived = TEXTS["returns-policy-2023.md"]
    assert len([s for s in _sentences(archived) if re.search(r"\b45 days\b", s)]) >= 5
    assert "Electronics, defective or not, may be returned within 45 days of delivery." in archived
    assert not re.search(r"\b(30|60)[ -]days?\b", archived)
    assert "45" not in TEXTS["returns-policy.md"]


def test_today_and_then_differ_in_every_amount_that_is_asked_for() -> None:
    now, then = TEXTS["returns-policy.md"], TEXTS["returns-policy-2023.md"]
    pairs = [
        ("€3.90 per parcel", "€2.90"),
        ("restocking fee of 15%", "restocking fee of 10%"),
        ("issued within 5 business days", "made within 10 business days"),
        ("return number expires after 14 days", "return slip is valid for 21 days"),
        ("€29.00 per collection", "€19.00"),
        ("7 days to object", "object within 14 days"),
    ]
    for today, before in pairs:
        assert today in now and today not in then
        assert before in then and before not in now


def test_the_front_matter_says_archived_and_nothing_else_does() -> None:
    text = TEXTS["returns-policy-2023.md"]
    head = "---\nstatus: archived\nvalid_from: 2023-06-01\nvalid_until: 2025-02-28\n---\n"
    assert text.startswith(head)
    body = text[len(head) :]
    assert body.lstrip("\n").startswith("# TechGadgets Return Policy (2023)\n")
    assert not re.search(r"archived|replaced by|no longer valid|superseded", body, re.I)
    assert not TEXTS["returns-policy.md"].startswith("---")


def _pairs(text: str) -> list[tuple[int, int, int]]:
    """Start of each question, end of its line, end of its answer."""
    return [(m.start(), m.end(1), m.end()) for m in re.finditer(r"^(Q: .+)\nA: .+$", text, re.M)]


def test_the_faq_is_made_of_pairs() -> None:
    text = TEXTS["faq.txt"]
    assert 55 <= len(_pairs(text)) == text.count("\nQ: ") == text.count("\nA: ") <= 65
    assert len({text[start:end] for start, end, _ in _pairs(text)}) == len(_pairs(text))
    assert not re.search(r"^#|^[-*] |\*\*|`", text, re.M)


def test_a_fixed_cut_parts_a_question_from_its_answer() -> None:
    text = TEXTS["faq.txt"]
    cuts = [end for _, end in split_fixed_size(text, chunk_size=200)]
    assert any(asked <= cut < answered for cut in cuts for _, asked, answered in _pairs(text))


def test_the_seven_years_lose_their_question() -> None:
    text = TEXTS["faq.txt"]
    chunks = [text[slice(*span)] for span in split_fixed_size(text, chunk_size=200)]
    question, answer = "Q: For how long can I download old invoices?", "A: Seven years."
    assert f"{question}\n{answer}" in text
    assert sum(question in chunk for chunk in chunks) == sum(answer in chunk for chunk in chunks) == 1
    assert not any(question in chunk and answer in chunk for chunk in chunks)
    (orphan,) = (chunk for chunk in chunks if answer in chunk)
    assert not re.search(r"invoice|download", orphan.split("\n\n")[0])


def test_the_faq_sends_readers_elsewhere_for_the_key_facts() -> None:
    text = TEXTS["faq.txt"]
    assert not re.search(r"\b(30|45|60)[ -]days?\b|5 to 7|2 to 3|€4\.90|€12\.90|€39\b", text)
