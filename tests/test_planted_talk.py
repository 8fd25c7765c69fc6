# SPDX-License-Identifier: MIT
"""What makes the documents of the calls, the essay and the other plain texts work as test cases for chunking."""

from __future__ import annotations

import itertools
import json
import re

from chunklib.course.datasets import DATA, load_course_documents

TEXTS = {document.id: document.text for document in load_course_documents()}

TURNS = DATA / "call-six-topics.turns.json"
CALLS = ("call-vacuum.txt", "call-six-topics.txt")


def sentence_ends(text: str) -> int:
    return len(re.findall(r"[.!?](?=\s|$)", text))


def is_cjk(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff"


def test_calls_have_no_blank_line_and_no_structure() -> None:
    for name in CALLS:
        text = TEXTS[name]
        assert not re.search(r"\n[ \t]*\n", text), name
        assert "\n" not in text.strip(), f"{name} is one single block"
        assert not re.search(r"(?m)^\s*(#|[-*] |\d+\. )", text), name
        # No speaker labels: no name, role or time followed by a colon.
        assert not re.search(r"\b[A-Z][a-z]+:\s", text), name
        assert len(text.split()) > 1500, name


def test_vacuum_call_answers_come_late() -> None:
    """Question and answer are separate sentences with at least one other sentence between them."""
    text = TEXTS["call-vacuum.txt"]
    for question, answer in (
        ("got them, and how long.", "About eight seconds,"),
        ("Which one do I want then.", "RB-84,"),
        ("And how often should I be doing that", "Then once a fortnight"),
    ):
        assert text.count(question) == 1 and text.count(answer) == 1
        between = text[text.index(question) + len(question) : text.index(answer)]
        assert sentence_ends(between) >= 1, question


def test_six_turns_stand_in_order() -> None:
    turns = json.loads(TURNS.read_text(encoding="utf-8"))
    text = TEXTS[turns["document"]]
    firsts = turns["first_sentences"]
    assert len(firsts) == len(set(firsts)) == 6
    assert all(text.count(sentence) == 1 for sentence in firsts)
    starts = [text.index(sentence) for sentence in firsts]
    assert starts == sorted(starts) and starts[0] == 0
    for start in starts[1:]:
        # A sentence ends before the turn, and a plain space is all that separates the topics.
        assert re.search(r"[.!?] $", text[:start])
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        assert 200 <= len(text[start:end].split()) <= 310


def test_six_topics_differ_in_vocabulary() -> None:
    """Words of six and more letters: two topics have at most one in ten of them in common."""
    turns = json.loads(TURNS.read_text(encoding="utf-8"))
    text = TEXTS[turns["document"]]
    starts = [text.index(sentence) for sentence in turns["first_sentences"]] + [len(text)]
    words = [set(re.findall(r"[a-z]{6,}", text[a:b].lower())) for a, b in itertools.pairwise(starts)]
    for i, one in enumerate(words):
        for other in words[i + 1 :]:
            assert len(one & other) / len(one | other) <= 0.1, one & other


def test_battery_care_has_forty_plain_sentences() -> None:
    text = TEXTS["battery-care.txt"]
    assert sentence_ends(text) == 40
    assert text.strip()[-1] in ".!?"
    assert not re.search(r"\d", text), "no decimals, no figures"
    assert not re.search(r"(?m)^\s*(#|[-*] |\d+\. )", text)


def test_battery_care_duplicate_is_identical() -> None:
    assert TEXTS["battery-care.txt"] == TEXTS["help-battery-care.txt"]


def test_essay_is_long_paragraphs_only() -> None:
    text = TEXTS["founders-essay.txt"]
    assert not re.search(r"(?m)^\s*(#|[-*] |\d+\. )", text)
    paragraphs = [p for p in re.split(r"\n\s*\n", text.strip()) if p.strip()]
    assert 6 <= len(paragraphs) <= 8
    assert min(len(p) for p in paragraphs) > 1500
    # No short line that could pass for a heading.
    assert all(len(line) > 1500 for line in text.splitlines() if line.strip())


def test_chinese_cases_are_chinese() -> None:
    text = TEXTS["zh-cases.md"]
    letters = [char for char in text if char.isalpha()]
    assert sum(map(is_cjk, letters)) >= 0.95 * len(letters)
    assert text.count("。") >= 60
    for mark in "！？；，、《》":
        assert mark in text, mark
    assert not re.search(r"[。？；，] ", text), "no blank after a full-width mark"


def test_chinese_cases_keep_their_headings() -> None:
    text = TEXTS["zh-cases.md"]
    assert len(re.findall(r"(?m)^# ", text)) == 1
    assert len(re.findall(r"(?m)^## 案例[一二三四五六]", text)) == 6
    for title in ("案情", "争议焦点", "裁判要旨", "评析"):
        assert len(re.findall(rf"(?m)^### {title}$", text)) == 6
    assert "| --- |" in text
