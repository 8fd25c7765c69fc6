# SPDX-License-Identifier: MIT
"""The situations planted in the course's documents, which make them test cases for chunking."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import combinations, pairwise
from typing import Any

import pytest
from pypdf import PdfReader

from chunklib.course.datasets import DATA, load_course_documents
from chunklib.fixed_size import split_fixed_size

GUIDE, HANDBOOK, PAGES = "homehub-automation-guide.md", "support-handbook.md", ("api-orders.html", "api-webhooks.html")
HUB, HEADPHONES = "homehub-manual.md", "ax310-headphones-manual.md"
WATCH, VACUUM = "tw5-watch-manual.md", "vr80-vacuum-manual.md"
NOTES, COMPARISON = "homehub-release-notes.md", "product-comparison.md"
POLICY, ARCHIVED, LOYALTY, FAQ = "returns-policy.md", "returns-policy-2023.md", "loyalty-program.md", "faq.txt"
MANUAL, CARDS = "ps600-power-station-manual.pdf", "service-desk-cards.pdf"
CALL, TOPICS, CARE, ESSAY, CASES = (
    "call-vacuum.txt", "call-six-topics.txt", "battery-care.txt", "founders-essay.txt", "zh-cases.md",
)  # fmt: skip

#: Of web pages the source, of all others the text.
TEXTS = {document.id: document.text for document in load_course_documents()}
TEXTS |= {page: (DATA / page).read_text(encoding="utf-8") for page in PAGES}

MARKS = r"^\s*(#|[-*] |\d+\. )"  # of headings and lists
SENTENCE_END = r"[.!?](?=\s|$)"
MANY = 10**6

#: How often a pattern stands in a document, at least and at most.
COUNTED = [
    # A fence inside a list item, and every other kind of block.
    (GUIDE, r"^\d+\. [^\n]+\n\n +```yaml\n(?: +[^\n]*\n)+ +```$", 1, MANY),
    (GUIDE, r"\n```yaml", 2, MANY),
    (GUIDE, r"\n```python", 1, MANY),
    (GUIDE, r"\n\n    \S", 1, MANY),
    (GUIDE, r"^> \S", 1, MANY),
    (GUIDE, r"^ {2,3}- \S", 1, MANY),
    (GUIDE, r"\w\[\^1\]", 1, MANY),
    (GUIDE, r"\n\[\^1\]: ", 1, MANY),
    (HANDBOOK, r"^- \[ \] ", 5, MANY),
    (HANDBOOK, r"^  - ", 5, MANY),
    # Tables and a fold, entities, a comment with a false number, a list in a list.
    *((page, "<table>", 2, MANY) for page in PAGES),
    *((page, "<details>", 1, MANY) for page in PAGES),
    *((page, r"<main>[\s\S]*<li>[^/]*?<ul>\s*<li>", 1, MANY) for page in PAGES),
    (PAGES[0], r"up to 200\.\s*<!--[^>]*\b500\b[^>]*-->", 1, MANY),
    (PAGES[0], "&amp;", 1, MANY),
    (PAGES[0], "&nbsp;", 1, 1),
    # 45 days, each time in another sentence, stand in the archived policy only; its front matter alone says archived.
    (ARCHIVED, r"[^.?!\n]*\b45 days\b[^.?!\n]*", 5, MANY),
    (ARCHIVED, r"Electronics, defective or not, may be returned within 45 days of delivery\.", 1, MANY),
    (ARCHIVED, r"\b(30|60)[ -]days?\b", 0, 0),
    (POLICY, "45", 0, 0),
    (ARCHIVED, r"\A---\nstatus: archived\nvalid_from: 2023-06-01\nvalid_until: 2025-02-28\n---\n", 1, 1),
    (ARCHIVED, r"---\n+# TechGadgets Return Policy \(2023\)\n", 1, 1),
    (ARCHIVED, r"(?i)archived|replaced by|no longer valid|superseded", 1, 1),
    (POLICY, r"\A---", 0, 0),
    (LOYALTY, "24 months", 1, MANY),
    # The FAQ has no structure but its pairs, and sends readers elsewhere for the key facts.
    (FAQ, r"^#|^[-*] |\*\*|`", 0, 0),
    (FAQ, r"\b(30|45|60)[ -]days?\b|5 to 7|2 to 3|€4\.90|€12\.90|€39\b", 0, 0),
    # Calls are one block without marks and speakers (a name or role, followed by a colon).
    *((call, r"\n\s*\S|\n[ \t]*\n", 0, 0) for call in (CALL, TOPICS)),
    *((call, MARKS, 0, 0) for call in (CALL, TOPICS)),
    *((call, r"\b[A-Z][a-z]+:\s", 0, 0) for call in (CALL, TOPICS)),
    *((call, r"\S+", 1501, MANY) for call in (CALL, TOPICS)),
    # Forty plain sentences without a figure.
    (CARE, SENTENCE_END, 40, 40),
    (CARE, r"[.!?]\s*\Z", 1, 1),
    (CARE, r"\d", 0, 0),
    (CARE, MARKS, 0, 0),
    (ESSAY, MARKS, 0, 0),
    # Chinese marks, each of them, and no blank after them; headings and a table.
    (CASES, "。", 60, MANY),
    *((CASES, mark, 1, MANY) for mark in "！？；，、《》"),
    (CASES, "[。？；，] ", 0, 0),
    (CASES, "^# ", 1, 1),
    (CASES, "^## 案例[一二三四五六]", 6, 6),
    *((CASES, f"^### {title}$", 6, 6) for title in ("案情", "争议焦点", "裁判要旨", "评析")),
    (CASES, r"\| --- \|", 1, MANY),
    # No word is hyphenated at the end of a line; a table over two pages has one head.
    *((name, r"[-\xad]$", 0, 0) for name in (MANUAL, CARDS)),
    (MANUAL, "Code  What is wrong  What to do", 1, 1),
]


@pytest.mark.parametrize(("document", "pattern", "least", "most"), COUNTED)
def test_a_pattern_stands_as_often_as_planted(document: str, pattern: str, least: int, most: int) -> None:
    assert least <= len(re.findall(pattern, TEXTS[document], re.MULTILINE)) <= most


def section(text: str, heading: str, *, deeper: bool = True) -> str:
    """From a heading to the next one of the same or a higher level, or of any level."""
    start = text.index(heading + "\n") + len(heading)
    end = re.compile(rf"^#{{1,{len(heading.split()[0]) if deeper else 6}}} ", re.M).search(text, start)
    return text[start : end.start() if end else len(text)]


ASKED = list(map(json.loads, (DATA / "questions-products.jsonl").read_text(encoding="utf-8").splitlines()))


def quotes(kind: str, document: str) -> list[str]:
    """All gold quotes of a kind that stand in a document."""
    parts = (part for q in ASKED if q["kind"] == kind for parts in q["gold"] for part in parts)
    return [part["quote"] for part in parts if part["document"] == document]


def tables(text: str) -> list[list[str]]:
    """Each table as its lines: header, rule, rows."""
    return [found[0].splitlines() for found in re.finditer(r"(?:^\|.*\|$\n?)+", text, re.M)]


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


# --- The automation guide, the handbook, the API pages ---------------------------------------------------------------


def test_the_guides_long_fence_is_cut_by_blank_lines_and_by_what_looks_like_headings() -> None:
    text = TEXTS[GUIDE]
    fences = re.finditer(r"^```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    start, end = max((found.span(1) for found in fences), key=lambda span: span[1] - span[0])
    lines = text[start:end].splitlines()
    assert 60 <= len(lines) <= 70
    assert sum(line.startswith("#") for line in lines) >= 10
    assert sum(not line for line in lines) >= 5
    assert "\n\n" in text[start:end]
    # A pattern for headings (marks, blank, words) is fooled just as well.
    for mark in (r"\n#", r"^#{1,6} \w"):
        assert len([at for at in re.finditer(mark, text, re.MULTILINE) if start < at.start() < end]) >= 5
    assert any(piece.count("\n```") % 2 for piece in re.split(r"\n(?=#)", text))
    assert any(paragraph.count("```") == 1 for paragraph in text.split("\n\n"))


def test_the_guides_table_has_escaped_pipes() -> None:
    rows = [line for line in TEXTS[GUIDE].splitlines() if line.startswith("|") and r"\|" in line]
    assert len(rows) >= 3
    for row in rows:
        assert len(cells(row)) == 3
        assert len(row.strip("|").split("|")) > 3  # a naive split finds too many cells


@pytest.mark.parametrize("document", [GUIDE, HANDBOOK])
def test_headings_are_nested_to_level_four(document: str) -> None:
    outside = re.sub(r"(?ms)^ *```.*?^ *```.*?$", "", TEXTS[document])
    levels = [len(marks) for marks in re.findall(r"(?m)^(#{1,6}) ", outside)]
    assert levels.count(1) == 1
    assert set(levels) == {1, 2, 3, 4}
    assert all(lower <= upper + 1 for upper, lower in pairwise(levels))


@pytest.mark.parametrize("page", PAGES)
def test_pages_suffer_from_careless_extraction(page: str) -> None:
    raw = TEXTS[page]
    for tag in ("script", "style"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", raw, re.DOTALL)
        assert len(content.split()) > 20
    assert raw.index("<script>") < raw.index("</head>") < raw.index("<nav>") < raw.index("<main>")
    blocks = re.findall(r"<pre><code>(.*?)</code></pre>", raw, re.DOTALL)
    code = "\n".join(blocks)
    assert len(blocks) >= 4
    assert "&quot;" in code
    assert "&lt;" in code
    assert any("\n\n" in block for block in blocks)
    assert sum(line.startswith("#") for line in code.splitlines()) >= 3


# --- Release notes, comparison, manuals ------------------------------------------------------------------------------

NAMES = ["3.2.1", "3.2.0", *(f"3.1.{n}" for n in range(5, -1, -1)), *(f"3.0.{n}" for n in range(5, -1, -1))]
_PARTS = re.split(r"^## Version (.+)$", TEXTS[NOTES], flags=re.M)
VERSIONS = dict(zip(_PARTS[1::2], _PARTS[2::2], strict=True))


def test_fourteen_versions_newest_first_with_the_same_headings() -> None:
    assert list(VERSIONS) == NAMES
    for version in VERSIONS.values():
        headings = ["### New", "### Fixed", "### Known issues", "### Requirements"]
        assert re.findall(r"^#+ .+", version, re.M) == headings


def test_neighbouring_versions_are_nearly_the_same() -> None:
    for (a, one), (b, other) in pairwise(VERSIONS.items()):
        assert SequenceMatcher(None, one, other, autojunk=False).ratio() > 0.55, (a, b)
    needs = [section(version, "### Requirements") for version in VERSIONS.values()]
    for one, other in pairwise(needs[:-1]):  # 3.0.0 has no version before it
        assert SequenceMatcher(None, one, other, autojunk=False).ratio() > 0.9


@pytest.mark.parametrize(
    "pattern",
    [
        r"Released on (.+\d{4})",
        r"Home app must be version ([\d.]+) or later",
        r"At least (\d+) MB",
        r"Installing takes (\d+) minutes",
        r"come back by themselves again: (.+)\.",
    ],
)
def test_what_differs_between_versions_differs_in_all_of_them(pattern: str) -> None:
    found = [re.findall(pattern, version) for version in VERSIONS.values()]
    assert [len(some) for some in found] == [1] * 14
    assert len({some[0] for some in found}) == 14


def test_no_answer_of_a_version_names_its_version() -> None:
    golds = quotes("version", NOTES)
    assert len(golds) >= 24
    for quote in golds:
        (home,) = [name for name, version in VERSIONS.items() if quote in version]
        assert home not in quote


def test_devices_appear_no_earlier_than_the_manual_of_the_hub_allows() -> None:
    table = next(t for t in tables(TEXTS[HUB]) if "From firmware" in t[0])
    for row in table[2:]:
        model, first = cells(row)[1].split()[0], cells(row)[3]
        named = [name for name, version in VERSIONS.items() if model in version]
        assert not named or min(named) >= first, model
    assert [name for name, version in VERSIONS.items() if "VR-80" in version] == ["3.2.1"]


def test_the_table_of_forty_rows() -> None:
    (table,) = [t for t in tables(TEXTS[COMPARISON]) if len(t) == 42]
    assert {len(cells(row)) for row in table} == {10}
    assert len({cells(row)[0] for row in table[2:]}) == 40
    row = table[2 + 30]
    golds = [quote for quote in quotes("table", COMPARISON) if quote in table]
    assert golds.count(row) == 2
    assert len(golds) >= 6
    # Without the header nobody knows what the figures of the row mean, and a piece of 512 tokens cannot hold both.
    assert not re.search(r"bright|weight|kg|usb|size", row, re.I)
    assert len("\n".join(table[:33]).split()) > 600


def test_the_table_of_twelve_columns() -> None:
    (table,) = [t for t in tables(TEXTS[COMPARISON]) if len(cells(t[0])) == 12]
    assert len(table) == 12
    assert all(len(cells(row)) == 12 for row in table)
    assert any(quote in table for quote in quotes("table", COMPARISON))


def test_escaped_pipes_and_a_footnoted_cell() -> None:
    (table,) = [t for t in tables(TEXTS[COMPARISON]) if any(r"\|" in row for row in t)]
    assert {len(cells(row)) for row in table} == {7}
    naive = {row.count("|") - 1 for row in table[2:]}
    assert len(naive) > 1, "whoever splits at every bar gets rows of different lengths"
    assert any(r"\|" in quote for quote in quotes("table", COMPARISON))
    (noted,) = [row for row in table if "¹" in row]
    assert noted.startswith("| Model D4 ")
    assert [line for line in TEXTS[COMPARISON].splitlines() if line.startswith("¹ ")], "the note stands below the table"


def test_the_safety_paragraph_is_the_same_in_five_manuals() -> None:
    manuals = (HEADPHONES, HUB, WATCH, VACUUM)
    (paragraph,) = {section(TEXTS[name], "### General safety").strip().split("\n\n")[0] for name in manuals}
    assert len(paragraph.split()) > 80
    assert paragraph.startswith("Never open, crush or pierce")
    assert " ".join(TEXTS[MANUAL].split()).count(paragraph) == 1
    assert paragraph not in TEXTS[MANUAL], "its lines are broken, so only text without line ends matches"


def test_nine_steps_with_a_warning_inside_the_sixth() -> None:
    steps = re.findall(r"^\d+\. .+", section(TEXTS[VACUUM], "## Replacing the battery"), re.M)
    assert [int(step.split(".")[0]) for step in steps] == list(range(1, 10))
    assert ["**Warning:**" in step for step in steps] == [n == 6 for n in range(1, 10)]
    assert not steps[5].split(". ", 1)[1].startswith("**"), "the warning stands inside the step, not before it"
    assert sum(quote in steps[5] for quote in quotes("list", VACUUM)) == 2


@pytest.mark.parametrize(
    ("document", "heading", "rule", "exception"),
    [
        (WATCH, "### Swimming", "You may swim", "Hot tubs"),
        (WATCH, "### Do not disturb", "neither messages nor calls", "Alarms and timers"),
        (VACUUM, "### Wiping", "lifts the cloth", "longer than 10 mm"),
        (VACUUM, "### Rooms and barriers", "does not set a wheel", "wherever you send it"),
    ],
)
def test_the_exception_stands_two_paragraphs_after_its_rule(
    document: str, heading: str, rule: str, exception: str
) -> None:
    paragraphs = section(TEXTS[document], heading).strip().split("\n\n")
    ((first,), (second,)) = ([n for n, text in enumerate(paragraphs) if words in text] for words in (rule, exception))
    assert second - first >= 2
    assert any(exception in quote for quote in quotes("exception", document))


def test_sentences_that_say_nothing_alone() -> None:
    golds = quotes("context", WATCH) + quotes("context", VACUUM)
    assert "Keep it pressed until the second beep." in golds
    assert not any(re.search(r"vacuum|TW-5|hub|emergency|headphones", quote, re.I) for quote in golds)


def test_some_answers_need_two_documents() -> None:
    pairs = [{part["document"] for part in parts} for q in ASKED if q["kind"] == "parts" for parts in q["gold"]]
    assert all(len(pair) == 2 for pair in pairs)
    assert {VACUUM, HUB} in pairs
    assert {WATCH, HEADPHONES} in pairs


# --- Policies, the loyalty program, the FAQ --------------------------------------------------------------------------


def test_the_loyalty_program_says_60_days_only_of_points() -> None:
    text = TEXTS[LOYALTY]
    hits = [sentence for sentence in re.split(r"(?<=[.?!])\s+|\n+", text) if "60 days" in sentence]
    assert len(hits) == text.count("60") - text.count("600 points") == 2
    assert hits[0].startswith("They stay pending for 60 days after delivery")
    assert "points" in hits[1]
    assert not any(re.search(r"return|defective|faulty|electronics", hit, re.I) for hit in hits)


def test_the_loyalty_program_tempts_who_asks_about_faulty_electronics() -> None:
    waiting = section(TEXTS[LOYALTY], "### When points become yours", deeper=False)
    assert "60 days" in waiting
    assert "Electronics" in waiting
    faulty = section(TEXTS[LOYALTY], "### Defective and faulty items", deeper=False).lower()
    assert all(word in faulty for word in ("defective", "faulty", "electronics", "return", "points"))
    assert "60" not in faulty


@pytest.mark.parametrize(
    ("today", "before"),
    [
        ("€3.90 per parcel", "€2.90"),
        ("restocking fee of 15%", "restocking fee of 10%"),
        ("issued within 5 business days", "made within 10 business days"),
        ("return number expires after 14 days", "return slip is valid for 21 days"),
        ("€29.00 per collection", "€19.00"),
        ("7 days to object", "object within 14 days"),
    ],
)
def test_today_and_then_differ_in_every_amount_that_is_asked_for(today: str, before: str) -> None:
    now, then = TEXTS[POLICY], TEXTS[ARCHIVED]
    assert today in now
    assert today not in then
    assert before in then
    assert before not in now


def test_a_fixed_cut_parts_a_question_of_the_faq_from_its_answer() -> None:
    text = TEXTS[FAQ]
    pairs = list(re.finditer(r"^(Q: .+)\nA: .+$", text, re.M))
    assert 55 <= len(pairs) == text.count("\nQ: ") == text.count("\nA: ") <= 65
    assert len({pair[1] for pair in pairs}) == len(pairs)
    spans = split_fixed_size(text, chunk_size=200)
    assert any(pair.end(1) <= end < pair.end() for _, end in spans for pair in pairs)
    # The seven years lose their question.
    chunks = [text[slice(*span)] for span in spans]
    question, answer = "Q: For how long can I download old invoices?", "A: Seven years."
    assert f"{question}\n{answer}" in text
    assert sum(question in chunk for chunk in chunks) == sum(answer in chunk for chunk in chunks) == 1
    assert not any(question in chunk and answer in chunk for chunk in chunks)
    (orphan,) = (chunk for chunk in chunks if answer in chunk)
    assert not re.search(r"invoice|download", orphan.split("\n\n")[0])


# --- The two PDFs ----------------------------------------------------------------------------------------------------


def lines_of(name: str) -> list[list[str]]:
    """The lines of each page as they are extracted, running lines and all."""
    return [page.extract_text().splitlines() for page in PdfReader(DATA / name).pages]


def outline_of(name: str) -> list[tuple[int, str, int]]:
    """Level, title and page index of every bookmark, in order."""
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


def test_the_manual_is_long_and_has_a_running_header_and_footer_on_every_page() -> None:
    pages = lines_of(MANUAL)
    assert len(pages) >= 12
    chapters = {title for level, title, _ in outline_of(MANUAL) if level == 0}
    for number, lines in enumerate(pages, start=1):
        start, chapter = lines[0].split("  ")
        assert start == "PS-600 user manual"
        assert chapter in chapters
        assert lines[-1] == f"Edition 2, October 2025  {number} / {len(pages)}"


def test_the_eco_exception_is_cut_by_the_page_break_in_the_middle_of_its_sentence() -> None:
    pages = lines_of(MANUAL)
    number = next(n for n, lines in enumerate(pages) if "Eco switch-off" in lines)
    before, after = pages[number][1:-1], pages[number + 1][1:-1]
    assert before[-1].endswith("no matter how little")
    assert after[0].startswith("is drawn. Only the main switch")
    titles = {title for _, title, page in outline_of(MANUAL) if page == number}
    assert titles.isdisjoint(before[before.index("Eco switch-off") + 1 :]), "the cut is inside the section"


def test_the_table_of_error_codes_is_cut_by_the_page_and_its_head_not_repeated() -> None:
    pages = lines_of(MANUAL)
    rows = {n: found for n, lines in enumerate(pages) if (found := [s for s in lines if re.match(r"P-\d\d  ", s)])}
    counts = [len(found) for found in rows.values()]
    assert len(counts) == 2
    assert min(counts) >= 8
    assert sum(counts) >= 20
    assert all(len(row.split("  ")) == 3 for found in rows.values() for row in found), "two blanks between cells"
    assert pages[max(rows)][1].startswith("P-"), "nothing but the running header stands above the rest of the table"


def test_every_bookmark_is_a_line_of_its_page() -> None:
    assert {level for level, _, _ in outline_of(MANUAL)} == {0, 1}
    for name in (MANUAL, CARDS):
        pages = lines_of(name)
        for _, title, page in outline_of(name):
            assert pages[page].count(title) == 1, title


def test_cards_are_one_topic_a_page_without_running_lines() -> None:
    pages, outline = lines_of(CARDS), outline_of(CARDS)
    assert len(pages) == 8
    assert [page for _, _, page in outline] == list(range(8))
    assert [lines[0] for lines in pages] == [title for _, title, _ in outline]
    assert all(90 <= len(" ".join(lines).split()) <= 165 for lines in pages)
    assert len({lines[-1] for lines in pages}) == 8


# --- Calls, an essay, a leaflet, Chinese -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("got them, and how long.", "About eight seconds,"),
        ("Which one do I want then.", "RB-84,"),
        ("And how often should I be doing that", "Then once a fortnight"),
    ],
)
def test_answers_of_the_vacuum_call_come_late(question: str, answer: str) -> None:
    """Question and answer are separate sentences with at least one other sentence between them."""
    text = TEXTS[CALL]
    assert text.count(question) == text.count(answer) == 1
    assert re.search(SENTENCE_END, text[text.index(question) + len(question) : text.index(answer)])


def test_six_topics_stand_in_order_and_differ_in_vocabulary() -> None:
    turns = json.loads((DATA / "call-six-topics.turns.json").read_text(encoding="utf-8"))
    text, firsts = TEXTS[turns["document"]], turns["first_sentences"]
    assert len(firsts) == len(set(firsts)) == 6
    assert all(text.count(sentence) == 1 for sentence in firsts)
    starts = [text.index(sentence) for sentence in firsts]
    assert starts == sorted(starts)
    assert starts[0] == 0
    # A sentence ends before the turn, and a plain space is all that separates the topics.
    assert all(re.search(r"[.!?] $", text[:start]) for start in starts[1:])
    topics = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    assert all(200 <= len(topic.split()) <= 310 for topic in topics)
    # Words of six and more letters: two topics have at most one in ten of them in common.
    words = [set(re.findall(r"[a-z]{6,}", topic.lower())) for topic in topics]
    for one, other in combinations(words, 2):
        assert len(one & other) / len(one | other) <= 0.1, one & other


def test_the_leaflet_stands_in_two_files() -> None:
    assert TEXTS[CARE] == TEXTS["help-battery-care.txt"]


def test_the_essay_is_long_paragraphs_only() -> None:
    text = TEXTS[ESSAY]
    paragraphs = [paragraph for paragraph in re.split(r"\n\s*\n", text.strip()) if paragraph.strip()]
    assert 6 <= len(paragraphs) <= 8
    assert min(map(len, paragraphs)) > 1500
    # No short line that could pass for a heading.
    assert all(len(line) > 1500 for line in text.splitlines() if line.strip())


def test_the_chinese_cases_are_chinese() -> None:
    letters = [character for character in TEXTS[CASES] if character.isalpha()]
    assert sum("\u4e00" <= character <= "\u9fff" for character in letters) >= 0.95 * len(letters)
