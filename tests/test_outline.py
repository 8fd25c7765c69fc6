# SPDX-License-Identifier: MIT
"""Headings, tables and front matter of Markdown, with their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.document import Document
from chunklib.core.outline import FRONT_MATTER, markdown_headings, markdown_outline

TABLE = "| Zone | Price |\n|------|-------|\n| near | 4.90 |\n| far | 9.90 |"


def found(text: str) -> list[tuple[str, str]]:
    """Return header row and whole table as they stand in the text."""
    return [(header.of(text), table.of(text)) for header, table in markdown_outline(text).tables]


def test_a_table_between_paragraphs() -> None:
    assert found(f"Shipping:\n\n{TABLE}\n\nEnd.") == [(TABLE.split("\n")[0], TABLE)]


def test_tables_in_lists_and_quotes_keep_the_marks_of_their_lines() -> None:
    quoted = "> " + TABLE.replace("\n", "\n> ")
    listed = "- " + TABLE.replace("\n", "\n  ")
    assert found(f"a\n\n{quoted}\n\nb\n\n{listed}\n") == [
        ("> | Zone | Price |", quoted),
        ("- | Zone | Price |", listed),
    ]


def test_escaped_pipes_code_and_missing_outer_pipes() -> None:
    table = "Command | Meaning\n:-- | --:\n`a \\| b` | one \\| two\nlast | row"
    assert found(f"{table}\n\nText | not a table\n") == [("Command | Meaning", table)]


def test_windows_line_ends() -> None:
    table = TABLE.replace("\n", "\r\n")
    assert found(f"One\r\n\r\n{table}\r\n\r\nTwo") == [("| Zone | Price |", table)]


@pytest.mark.parametrize(
    "text", ["```\n" + TABLE + "\n```", "    " + TABLE.replace("\n", "\n    "), "| a | b |\n| c | d |"]
)
def test_what_only_looks_like_a_table(text: str) -> None:
    assert found(text) == []


def test_two_header_rows_are_a_paragraph_and_a_table() -> None:
    """STR-17 of the reported faults: the parser decides what the header is."""
    assert found("| Zone | Day |\n| | 6-18 h |\n|---|---|\n| z0 | 0 |\n") == [
        ("| | 6-18 h |", "| | 6-18 h |\n|---|---|\n| z0 | 0 |")
    ]


CELL = st.text(alphabet="ab0 .€`*#\\_-", max_size=6).map(lambda cell: cell.replace("\\", "\\|").strip() or "x")


@given(
    rows=st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=5),
    before=st.sampled_from(["", "Words.\n\n", "# Title\n\n", "- item\n\n", "---\nkey: 1\n---\n\n"]),
    mark=st.sampled_from(["", "> "]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_a_table_begins_and_ends_where_it_was_put(rows: list[list[str]], before: str, mark: str, end: str) -> None:
    header, *body = (f"{mark}| {' | '.join(row)} |" for row in rows)
    table = end.join([header, f"{mark}|---|---|---|", *body])
    assert found(before.replace("\n", end) + table + end * 2 + "After.") == [(header, table)]


@given(text=st.text(alphabet="|-: a\n\r\t>*\\`", max_size=60))
def test_spans_of_tables_are_in_order_and_inside(text: str) -> None:
    last = 0
    for header, table in markdown_outline(text).tables:
        assert last <= table.start == header.start < header.end < table.end <= len(text)
        assert "|" in header.of(text)
        assert not any(end in header.of(text) for end in "\r\n")
        last = table.end


def test_a_footnote_is_no_heading() -> None:
    text = "# Rule\n\nSixty days.[^1]\n\n[^1]: From 1 March.\n===\n\n## Next\n"
    assert [heading.title for heading in markdown_headings(text)] == ["Rule", "Next"]


def test_a_title_says_what_a_link_says() -> None:
    text = "# See [the *manual*][m], `a|b` & ![the plan](p.png)\n\n[m]: https://example.org\n"
    assert [heading.title for heading in markdown_headings(text)] == ["See the manual, a|b & the plan"]


# --- Front matter ----------------------------------------------------------------------------------------------------


def test_front_matter_becomes_metadata_and_stays_in_the_text() -> None:
    text = "---\ntitle: Old rules\nvalid: 2024-01-01\nat: 2024-01-01 08:30:00\ntags: [a, 2]\n---\n# Returns\n\nText."
    document = Document.from_markdown(text)
    assert document.title == "Old rules"
    assert document.metadata == {
        "title": "Old rules",
        "valid": "2024-01-01",
        "at": "2024-01-01T08:30:00",
        "tags": ["a", 2],
    }
    assert document.text == text
    assert [text[h.start : h.end] for h in document.headings] == ["# Returns"]


def test_what_is_given_wins_over_what_is_found() -> None:
    document = Document.from_markdown("---\ntitle: Old\n---\n# Top\n", title="New", metadata={"year": 2026})
    assert (document.title, document.metadata) == ("New", {"title": "Old", "year": 2026})


@pytest.mark.parametrize(
    "block",
    [
        "just words",
        "- a\n- list",
        "key: [open",
        "a: b: c",
        "date: 2024-99-99",
        "big: " + "1" * 5000,
        "x: !!python/object/apply:os.system ['exit 1']",
        "x: !!binary aGVsbG8=",
        "a: &a [x, x]\nb: [*a, *a]",
        "a: &a [*a]",
        "a: " + "[" * 5000,
        "a: " + "b" * FRONT_MATTER,
        "",
    ],
)
def test_broken_or_hostile_front_matter_is_text(block: str) -> None:
    outline = markdown_outline(f"---\n{block}\n---\n\n# Top\n")
    assert (outline.metadata, outline.title) == ({}, "Top")


def test_a_title_that_is_no_text_is_not_taken() -> None:
    assert markdown_outline("---\ntitle: [a]\n---\n# Top\n").title == "Top"
    assert markdown_outline("---\ntitle: ' '\n---\n# Top\n").title == "Top"


# --- It ends ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["[", "![", "<", ">", "- ", "*a ", "[a](", "|", "#", "\\", "```\n", "a|b\n-|-\n"])
def test_every_text_comes_to_an_end(unit: str) -> None:
    markdown_outline(unit * (100_000 // len(unit)))
