# SPDX-License-Identifier: MIT
"""What the two PDF documents are for: pages, running lines, cut sentences and tables, outlines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pypdf import PdfReader

from chunklib.course.datasets import DATA, load_course_documents

TEXTS = {document.id: document.text for document in load_course_documents()}

MANUAL, CARDS = "ps600-power-station-manual.pdf", "service-desk-cards.pdf"


def pages_of(name: str) -> list[list[str]]:
    """Return the lines of each page as they are extracted, running lines and all."""
    return [page.extract_text().splitlines() for page in PdfReader(DATA / name).pages]


def outline_of(name: str) -> list[tuple[int, str, int]]:
    """Return (level, title, page index) of every bookmark, in order."""
    reader = PdfReader(DATA / name)

    def walk(entries: list[Any], level: int) -> Iterator[tuple[int, str, int]]:
        for entry in entries:
            if isinstance(entry, list):
                yield from walk(entry, level + 1)
            else:
                page = reader.get_destination_page_number(entry)
                assert page is not None
                yield level, entry.title, page

    return list(walk(reader.outline, 0))


def test_manual_is_long_and_has_a_running_header_and_footer_on_every_page() -> None:
    pages = pages_of(MANUAL)
    assert len(pages) >= 12
    chapters = {title for level, title, _ in outline_of(MANUAL) if level == 0}
    for number, lines in enumerate(pages, start=1):
        start, chapter = lines[0].split("  ")
        assert start == "PS-600 user manual"
        assert chapter in chapters
        assert lines[-1] == f"Edition 2, October 2025  {number} / {len(pages)}"


def test_the_eco_exception_is_cut_by_the_page_break_in_the_middle_of_its_sentence() -> None:
    pages = pages_of(MANUAL)
    number = next(n for n, lines in enumerate(pages) if "Eco switch-off" in lines)
    before, after = pages[number][1:-1], pages[number + 1][1:-1]
    assert before[-1].endswith("no matter how little")
    assert after[0].startswith("is drawn. Only the main switch")
    titles = {title for _, title, page in outline_of(MANUAL) if page == number}
    assert titles.isdisjoint(before[before.index("Eco switch-off") + 1 :]), "the cut is inside the section"


def test_the_table_of_error_codes_is_cut_by_the_page_and_its_head_not_repeated() -> None:
    rows = [[line for line in lines if re.match(r"P-\d\d  ", line)] for lines in pages_of(MANUAL)]
    counts = [len(found) for found in rows if found]
    assert len(counts) == 2
    assert min(counts) >= 8
    assert sum(counts) >= 20
    assert all(len(row.split("  ")) == 3 for found in rows for row in found), "two blanks between cells"
    assert TEXTS[MANUAL].count("Code  What is wrong  What to do") == 1
    second = pages_of(MANUAL)[max(n for n, found in enumerate(rows) if found)]
    assert second[1].startswith("P-"), "nothing but the running header stands above the rest of the table"


def test_no_word_is_hyphenated_at_the_end_of_a_line() -> None:
    for name in (MANUAL, CARDS):
        assert not re.search(r"[-\xad]$", TEXTS[name], re.MULTILINE)


def test_every_bookmark_is_a_line_of_its_page() -> None:
    outline = outline_of(MANUAL)
    assert {level for level, _, _ in outline} == {0, 1}
    for name in (MANUAL, CARDS):
        pages = pages_of(name)
        for _, title, page in outline_of(name):
            assert pages[page].count(title) == 1, title


def test_cards_are_one_topic_a_page_without_running_lines() -> None:
    pages, outline = pages_of(CARDS), outline_of(CARDS)
    assert len(pages) == 8
    assert [page for _, _, page in outline] == list(range(8))
    assert [lines[0] for lines in pages] == [title for _, title, _ in outline]
    assert all(90 <= len(" ".join(lines).split()) <= 165 for lines in pages)
    assert len({lines[-1] for lines in pages}) == 8


def test_general_safety_is_the_same_paragraph_as_in_the_other_manuals() -> None:
    other = TEXTS["ax310-headphones-manual.md"]
    start = other.index("Never open, crush or pierce")
    paragraph = other[start : other.index("\n", start)]
    assert " ".join(TEXTS[MANUAL].split()).count(paragraph) == 1
    assert paragraph not in TEXTS[MANUAL], "its lines are broken, so only text without line ends matches"
