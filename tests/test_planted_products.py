# SPDX-License-Identifier: MIT
"""The planted situations of the release notes, the product comparison and the manuals of TW-5 and VR-80."""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from chunklib.course.datasets import DATA, load_course_documents

TEXTS = {document.id: document.text for document in load_course_documents()}

QUESTIONS = "questions-products.jsonl"
NOTES, COMPARISON = "homehub-release-notes.md", "product-comparison.md"
WATCH, VACUUM = "tw5-watch-manual.md", "vr80-vacuum-manual.md"
VERSIONS = ["3.2.1", "3.2.0", *(f"3.1.{n}" for n in range(5, -1, -1)), *(f"3.0.{n}" for n in range(5, -1, -1))]


def _questions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / QUESTIONS).read_text(encoding="utf-8").splitlines()]


def _quotes(kind: str, document: str) -> list[str]:
    """All gold quotes of a kind that stand in a document."""
    rows = (q for q in _questions() if q["kind"] == kind)
    return [p["quote"] for q in rows for parts in q["gold"] for p in parts if p["document"] == document]


def _under(text: str, heading: str) -> str:
    """From a heading to the next one of the same or a higher level."""
    start = text.index(heading + "\n") + len(heading)
    end = re.compile(rf"^#{{1,{len(heading.split()[0])}}} ", re.M).search(text, start)
    return text[start : end.start() if end else len(text)]


def _tables(text: str) -> list[list[str]]:
    """Each table as its lines: header, rule, rows."""
    return [m[0].splitlines() for m in re.finditer(r"(?:^\|.*\|$\n?)+", text, re.M)]


def _cells(row: str) -> list[str]:
    return [c.strip() for c in re.split(r"(?<!\\)\|", row)[1:-1]]


def _versions() -> dict[str, str]:
    parts = re.split(r"^## Version (.+)$", TEXTS[NOTES], flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_fourteen_versions_newest_first_with_the_same_headings() -> None:
    assert list(_versions()) == VERSIONS
    for section in _versions().values():
        assert re.findall(r"^#+ .+", section, re.M) == [
            "### New",
            "### Fixed",
            "### Known issues",
            "### Requirements",
        ]


def test_neighbouring_versions_are_nearly_the_same() -> None:
    for (a, one), (b, other) in pairwise(_versions().items()):
        assert SequenceMatcher(None, one, other, autojunk=False).ratio() > 0.55, (a, b)
    needs = [_under(section, "### Requirements") for section in _versions().values()]
    for one, other in pairwise(needs[:-1]):  # 3.0.0 has no version before it
        assert SequenceMatcher(None, one, other, autojunk=False).ratio() > 0.9


def test_what_differs_between_versions_differs_in_all_of_them() -> None:
    for pattern in (
        r"Released on (.+\d{4})",
        r"Home app must be version ([\d.]+) or later",
        r"At least (\d+) MB",
        r"Installing takes (\d+) minutes",
        r"come back by themselves again: (.+)\.",
    ):
        found = [re.findall(pattern, section) for section in _versions().values()]
        assert [len(f) for f in found] == [1] * 14, pattern
        assert len({f[0] for f in found}) == 14, pattern


def test_no_answer_of_a_version_names_its_version() -> None:
    quotes = _quotes("version", NOTES)
    assert len(quotes) >= 24
    for quote in quotes:
        (home,) = [name for name, section in _versions().items() if quote in section]
        assert home not in quote


def test_devices_appear_no_earlier_than_the_manual_of_the_hub_allows() -> None:
    table = next(t for t in _tables(TEXTS["homehub-manual.md"]) if "From firmware" in t[0])
    for row in table[2:]:
        model, first = _cells(row)[1].split()[0], _cells(row)[3]
        named = [name for name, section in _versions().items() if model in section]
        assert not named or min(named) >= first, model
    assert [name for name, section in _versions().items() if "VR-80" in section] == ["3.2.1"]


def test_the_table_of_forty_rows() -> None:
    (table,) = [t for t in _tables(TEXTS[COMPARISON]) if len(t) == 42]
    assert {len(_cells(row)) for row in table} == {10}
    assert len({_cells(row)[0] for row in table[2:]}) == 40
    row = table[2 + 30]
    golds = [quote for quote in _quotes("table", COMPARISON) if quote in table]
    assert golds.count(row) == 2
    assert len(golds) >= 6
    # Without the header nobody knows what the figures of the row mean, and a piece of 512 tokens cannot hold both.
    assert not re.search(r"bright|weight|kg|usb|size", row, re.I)
    assert len("\n".join(table[:33]).split()) > 600


def test_the_table_of_twelve_columns() -> None:
    wide = [t for t in _tables(TEXTS[COMPARISON]) if len(_cells(t[0])) == 12]
    assert [len(t) for t in wide] == [12]
    assert all(len(_cells(row)) == 12 for row in wide[0])
    assert any(quote in wide[0] for quote in _quotes("table", COMPARISON))


def test_escaped_pipes_and_a_footnoted_cell() -> None:
    (table,) = [t for t in _tables(TEXTS[COMPARISON]) if any(r"\|" in row for row in t)]
    assert {len(_cells(row)) for row in table} == {7}
    naive = {row.count("|") - 1 for row in table[2:]}
    assert len(naive) > 1, "whoever splits at every bar gets rows of different lengths"
    assert any(r"\|" in quote for quote in _quotes("table", COMPARISON))
    (noted,) = [row for row in table if "¹" in row]
    assert noted.startswith("| Model D4 ")
    assert [line for line in TEXTS[COMPARISON].splitlines() if line.startswith("¹ ")], "the note stands below the table"


def test_the_safety_paragraph_is_the_same_in_four_manuals() -> None:
    paragraphs = set()
    for name in ("ax310-headphones-manual.md", "homehub-manual.md", WATCH, VACUUM):
        paragraphs.add(_under(TEXTS[name], "### General safety").strip().split("\n\n")[0])
    (paragraph,) = paragraphs
    assert len(paragraph.split()) > 80


def test_nine_steps_with_a_warning_inside_the_sixth() -> None:
    steps = re.findall(r"^\d+\. .+", _under(TEXTS[VACUUM], "## Replacing the battery"), re.M)
    assert [int(step.split(".")[0]) for step in steps] == list(range(1, 10))
    assert ["**Warning:**" in step for step in steps] == [n == 6 for n in range(1, 10)]
    assert not steps[5].split(". ", 1)[1].startswith("**"), "the warning stands inside the step, not before it"
    assert sum(quote in steps[5] for quote in _quotes("list", VACUUM)) == 2


def test_the_exception_stands_two_paragraphs_after_its_rule() -> None:
    for heading, rule, exception, document in (
        ("### Swimming", "You may swim", "Hot tubs", WATCH),
        ("### Do not disturb", "neither messages nor calls", "Alarms and timers", WATCH),
        ("### Wiping", "lifts the cloth", "longer than 10 mm", VACUUM),
        ("### Rooms and barriers", "does not set a wheel", "wherever you send it", VACUUM),
    ):
        paragraphs = _under(TEXTS[document], heading).strip().split("\n\n")
        (first,) = [n for n, p in enumerate(paragraphs) if rule in p]
        (second,) = [n for n, p in enumerate(paragraphs) if exception in p]
        assert second - first >= 2, heading
        assert any(exception in quote for quote in _quotes("exception", document)), heading


def test_sentences_that_say_nothing_alone() -> None:
    quotes = _quotes("context", WATCH) + _quotes("context", VACUUM)
    assert "Keep it pressed until the second beep." in quotes
    assert not any(re.search(r"vacuum|TW-5|hub|emergency|headphones", quote, re.I) for quote in quotes)


def test_some_answers_need_two_documents() -> None:
    pairs = [
        frozenset(p["document"] for p in parts) for q in _questions() if q["kind"] == "parts" for parts in q["gold"]
    ]
    assert all(len(pair) == 2 for pair in pairs)
    assert {VACUUM, "homehub-manual.md"} in pairs
    assert {WATCH, "ax310-headphones-manual.md"} in pairs
