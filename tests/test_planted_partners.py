# SPDX-License-Identifier: MIT
"""Situations planted in the API pages, the automation guide and the support handbook."""

from __future__ import annotations

import re
from itertools import pairwise

from chunklib.course.datasets import DATA, load_course_documents

TEXTS = {document.id: document.text for document in load_course_documents()}

GUIDE = "homehub-automation-guide.md"
HANDBOOK = "support-handbook.md"
PAGES = ("api-orders.html", "api-webhooks.html")


def long_fence() -> tuple[int, int]:
    """Start and end of the contents of the longest fence that starts at a line start."""
    found = re.finditer(r"^```\w+\n(.*?)^```$", TEXTS[GUIDE], re.DOTALL | re.MULTILINE)
    return max((m.span(1) for m in found), key=lambda span: span[1] - span[0])


def headings(text: str) -> list[str]:
    """Headings outside fences, as their marks ("##")."""
    marks: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside and (m := re.match(r"(#{1,6}) ", line)):
            marks.append(m.group(1))
    return marks


def test_guide_has_a_long_fence_with_comments_and_blank_lines() -> None:
    start, end = long_fence()
    lines = TEXTS[GUIDE][start:end].splitlines()
    assert 60 <= len(lines) <= 70
    assert sum(line.startswith("#") for line in lines) >= 10
    assert sum(not line for line in lines) >= 5


def test_guide_split_at_hash_lines_cuts_the_long_fence() -> None:
    text = TEXTS[GUIDE]
    start, end = long_fence()
    cuts = [m.start() for m in re.finditer(r"\n#", text)]
    inside = [cut for cut in cuts if start < cut < end]
    assert len(inside) >= 5
    # A pattern for headings (marks, blank, words) is fooled just as well.
    fake = [m for m in re.finditer(r"^#{1,6} \w", text, re.MULTILINE) if start < m.start() < end]
    assert len(fake) >= 5
    pieces = re.split(r"\n(?=#)", text)
    assert any(piece.count("\n```") % 2 for piece in pieces)


def test_guide_blank_lines_cut_the_long_fence() -> None:
    text = TEXTS[GUIDE]
    start, end = long_fence()
    assert "\n\n" in text[start:end]
    assert any(paragraph.count("```") == 1 for paragraph in text.split("\n\n"))


def test_guide_has_a_fence_inside_a_list_item() -> None:
    pattern = r"^\d+\. [^\n]+\n\n +```yaml\n(?: +[^\n]*\n)+ +```$"
    assert re.search(pattern, TEXTS[GUIDE], re.MULTILINE)


def test_guide_has_other_blocks() -> None:
    text = TEXTS[GUIDE]
    assert text.count("\n```yaml") >= 2
    assert "\n```python" in text
    assert re.search(r"\n\n    \S", text), "indented code block"
    assert re.search(r"^> \S", text, re.MULTILINE), "block quote"
    assert re.search(r"^ {2,3}- \S", text, re.MULTILINE), "nested list"
    assert re.search(r"\w\[\^1\]", text), "mark of the footnote"
    assert "\n[^1]: " in text, "footnote"


def test_guide_table_has_escaped_pipes() -> None:
    rows = [line for line in TEXTS[GUIDE].splitlines() if line.startswith("|") and r"\|" in line]
    assert len(rows) >= 3
    for row in rows:
        assert len(re.split(r"(?<!\\)\|", row.strip("|"))) == 3
        assert len(row.strip("|").split("|")) > 3  # a naive split finds too many cells


def test_headings_are_nested_to_level_four() -> None:
    for document in (GUIDE, HANDBOOK):
        marks = headings(TEXTS[document])
        assert marks.count("#") == 1
        assert {"#", "##", "###", "####"} == set(marks)
        for upper, lower in pairwise(marks):
            assert len(lower) <= len(upper) + 1


def test_handbook_has_a_checklist_and_nested_lists() -> None:
    text = TEXTS[HANDBOOK]
    assert len(re.findall(r"^- \[ \] ", text, re.MULTILINE)) >= 5
    assert len(re.findall(r"^  - ", text, re.MULTILINE)) >= 5


def test_pages_have_scripts_and_styles_that_must_not_reach_the_text() -> None:
    for page in PAGES:
        raw = (DATA / page).read_text(encoding="utf-8")
        for tag in ("script", "style"):
            (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", raw, re.DOTALL)
            assert len(content.split()) > 20
        assert raw.index("<script>") < raw.index("</head>") < raw.index("<nav>") < raw.index("<main>")


def test_orders_page_has_a_comment_with_a_false_number() -> None:
    raw = (DATA / "api-orders.html").read_text(encoding="utf-8")
    assert re.search(r"up to 200\.\s*<!--[^>]*\b500\b[^>]*-->", raw)


def test_pages_have_code_that_suffers_from_careless_extraction() -> None:
    for page in PAGES:
        raw = (DATA / page).read_text(encoding="utf-8")
        blocks = re.findall(r"<pre><code>(.*?)</code></pre>", raw, re.DOTALL)
        assert len(blocks) >= 4
        code = "\n".join(blocks)
        for entity in ("&quot;", "&lt;"):
            assert entity in code
        assert any("\n\n" in block for block in blocks)
        assert sum(line.startswith("#") for line in code.splitlines()) >= 3
        assert len(re.findall(r"<table>", raw)) >= 2
        assert "<details>" in raw
        assert re.search(r"<li>[^/]*?<ul>\s*<li>", raw.split("<main>")[1]), "nested list"
    assert "&amp;" in (DATA / "api-orders.html").read_text(encoding="utf-8")
    assert (DATA / "api-orders.html").read_text(encoding="utf-8").count("&nbsp;") == 1
