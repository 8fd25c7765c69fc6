# SPDX-License-Identifier: MIT
"""Differences between versions, and citations that lead back to the words."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.document import Chunk, Document, chunk_document
from chunklib.course.datasets import load_course_documents
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.search.identity import Citation, cite, diff, resolve
from tests.laws import hard_text

ROWS = [json.loads(row) for row in Path(__file__).with_name("reported_faults.jsonl").read_bytes().decode().splitlines()]
FAULTS: dict[str, Any] = {row["id"]: row for row in ROWS}
WORDS = partial(split_recursive, chunk_size=4, length="words")


def paragraphs(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\S.*", text)]


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


# --- diff ----------------------------------------------------------------------------------------------------------

OLD = Document("One.\nTwo.\nThree.\nFour.", id="d")


def test_each_chunk_is_in_one_list() -> None:
    new = replace(OLD, text="One.\nNew.\nThree.\nTwo.")
    found = diff(chunk_document(OLD, paragraphs), chunk_document(new, paragraphs))
    assert texts(found.added) == ["New."]
    assert texts(found.removed) == ["Four."]
    assert texts(found.unchanged) == ["One.", "Three."]
    assert [(a.start, b.start) for a, b in found.moved] == [(5, 17)]
    assert found.changed == []
    assert repr(found) == "Diff(added=1, removed=1, changed=0, moved=1, unchanged=2)"


@given(st.lists(st.sampled_from("abcd"), max_size=6), st.lists(st.sampled_from("abcd"), max_size=6))
def test_nothing_is_lost_or_counted_twice(old: list[str], new: list[str]) -> None:
    before, after = (chunk_document(Document("\n".join(lines), id="d"), paragraphs) for lines in (old, new))
    found = diff(before, after)
    assert len(found.removed) + len(found.changed) + len(found.moved) + len(found.unchanged) == len(before)
    assert len(found.added) + len(found.changed) + len(found.moved) + len(found.unchanged) == len(after)
    assert sorted(texts(found.added) + [c.text for c in before]) == sorted(
        texts(found.removed) + [c.text for c in after]
    )
    assert diff(before, before) == ([], [], [], [], before)


def test_a_new_context_is_a_change_and_a_new_section_a_move() -> None:
    chunks = chunk_document(OLD, paragraphs)
    found = diff(chunks, [replace(chunks[0], context="x"), replace(chunks[1], section_path=("x",)), *chunks[2:]])
    assert ([len(part) for part in found]) == [0, 0, 1, 1, 2]


def test_ids_that_collide_are_refused() -> None:
    chunks = chunk_document(OLD, paragraphs, chunk_id=lambda document, level, text, ordinal: "same")
    with pytest.raises(ValueError, match="id 'same' belongs to two chunks, of 'd' and 'd'"):
        diff([], chunks)


def test_equal_texts_have_ids_of_their_own() -> None:
    text = eval(FAULTS["IDS-01"]["make"])
    splitter = partial(split_recursive, chunk_size=14, length="characters")
    first, second = (chunk_document(Document(text, id="d"), splitter) for _ in range(2))
    assert len({chunk.id for chunk in first}) == len(first) == 5
    assert diff(first, second).unchanged == first


def test_an_unchanged_document_and_one_with_a_paragraph_more() -> None:
    text = eval(FAULTS["IDS-05"]["make"])
    first, second, third = (chunk_document(Document(t, id="d"), paragraphs) for t in (text, text, text + "\n\nMore."))
    assert [len(part) for part in diff(first, second)] == [0, 0, 0, 0, 6]
    assert [len(part) for part in diff(second, third)] == [1, 0, 0, 0, 6]


# --- cite and resolve ----------------------------------------------------------------------------------------------


@given(hard_text, st.data())
def test_a_citation_leads_back_to_its_words(text: str, data: st.DataObject) -> None:
    document = Document.from_markdown(text, id="d")
    for chunk in chunk_document(document, WORDS):
        start = data.draw(st.integers(chunk.start, chunk.end - 1))
        end = data.draw(st.integers(start + 1, chunk.end))
        for citation in (cite(chunk), cite(chunk, (start, end))):
            found = resolve(citation, document)
            assert found.quote == text[found.start : found.end]
            assert found.span == citation.span
            assert found.section_path == document.section_path(*citation.span)
            assert pickle.loads(pickle.dumps(found)) == found


@given(hard_text, st.text(max_size=20))
def test_a_citation_moves_with_its_words(text: str, above: str) -> None:
    document = Document(text, id="d")
    above += "\n"  # else its last word and the first of the text may be one
    for chunk in chunk_document(document, WORDS):
        beside = text[max(0, chunk.start - 1) : chunk.start] + text[chunk.end : chunk.end + 1]
        if all(map(str.isspace, beside)) and text.count(chunk.text) == 1 and (above + text).count(chunk.text) == 1:
            found = resolve(cite(chunk), Document(above + text, id="d"))
            assert found.span == (chunk.start + len(above), chunk.end + len(above))


def test_thirty_days_are_not_cited_as_sixty() -> None:
    """One chunk over two sections: each sentence is cited with its own."""
    (policy,) = load_course_documents("returns-policy.md")
    (whole,) = chunk_document(policy, lambda text: [(0, len(text))])
    wanted = {"30-day return window": "Our promise", "60 days instead": "Electronics Returns"}
    for words, section in wanted.items():
        start = policy.text.index(words)
        citation = cite(whole, (start, start + len(words)))
        assert citation.section_path == ("TechGadgets Return Policy",), "what holds for all of the chunk"
        found = resolve(citation, policy)
        assert (found.quote, found.section_path) == (words, ("TechGadgets Return Policy", section))
        assert str(found) == (
            f'"{words}" (TechGadgets Return Policy > {section}, data/returns-policy.md, '
            f"characters {start} to {start + len(words)})"
        )


def test_words_that_stand_twice_are_told_apart_by_those_around_them() -> None:
    document = Document("Laptops: within 30 days. Phones: within 30 days.", id="d")
    second = chunk_document(document, lambda text: [(0, len(text))])[0]
    at = document.text.rindex("30 days")
    citation = cite(second, (at, at + 7))
    # The edit puts the first 30 days where the second stood.
    edited = Document("x" * (at - 16) + "Laptops: within 30 days. Phones: within 30 days.", id="d")
    assert edited.text[at : at + 7] == "30 days"
    assert resolve(citation, edited).start == edited.text.rindex("30 days")
    assert resolve(citation, document).start == at


def test_what_cannot_be_told_is_refused() -> None:
    (chunk,) = chunk_document(Document("30 days.", id="d"), lambda text: [(0, 8)])
    with pytest.raises(LookupError, match=r"'d' does not say '30 days\.' any more"):
        resolve(cite(chunk), Document("60 days.", id="d"))
    with pytest.raises(LookupError, match=r"'d' says '30 days\.' 2 times"):
        resolve(cite(chunk), Document("A 30 days. A 30 days. A", id="d"))
    with pytest.raises(ValueError, match="the citation is of 'd', the document is 'e'"):
        resolve(cite(chunk), Document("30 days.", id="e"))


def cited(text: str, words: str) -> Citation:
    """The words, cited from a chunk that is the whole text."""
    (chunk,) = chunk_document(Document(text, id="d"), lambda text: [(0, len(text))])
    at = text.index(words)
    return cite(chunk, (at, at + len(words)))


RULE = "## Electronics\n\nIf the item turns out to be faulty, the window is 60 days instead. Keep the box."


@pytest.mark.parametrize(
    ("words", "edited"),
    [
        ("60 days instead", RULE.replace("60 days", "160 days")),
        ("60 days instead", RULE.replace("60 days", "1.60 days")),
        ("60 days instead", RULE.replace("60 days", "no longer 60 days")),
        ("60 days instead", RULE.replace("instead", "instead of 90")),
        ("60 days instead", "Gift cards: 60 days instead. Phones: 30 days."),
        ("60", RULE.replace("60 days", "60.5 days")),
        ("days", RULE.replace("days", "weekdays")),
        ("day", RULE.replace("60 days", "60 holidays")),
    ],
)
def test_the_same_characters_with_another_sense_are_refused(words: str, edited: str) -> None:
    with pytest.raises(LookupError, match=r"'d' says .*, but not where it was cited: other words stand beside it"):
        resolve(cited(RULE, words), Document(edited, id="d"))


def test_a_whole_chunk_is_no_part_of_a_word() -> None:
    (chunk,) = chunk_document(Document("60 days", id="d"), lambda text: [(0, 7)])
    for text in ("In 160 days", "In 3,60 days", "In 60 dayss"):
        with pytest.raises(LookupError, match="other words stand beside it"):
            resolve(cite(chunk), Document(text, id="d"))
    assert resolve(cite(chunk), Document("In 60 days.", id="d")).span == (3, 10)


def test_lines_may_break_elsewhere() -> None:
    words = "the window is 60 days instead"
    for other in (RULE.replace("window is", "window\n  is"), RULE.replace(" ", "\n")):
        found = resolve(cited(RULE, words), Document(other, id="d"))
        assert found.quote.split() == words.split()
        assert other[found.start : found.end] == found.quote
    back = resolve(cited(RULE.replace(" ", "\r\n"), "60\r\ndays\r\ninstead"), Document(RULE, id="d"))
    assert back.quote == "60 days instead"


def test_an_edit_that_is_not_beside_the_words_does_no_harm() -> None:
    edited = RULE.replace("If the item turns out to be", "News.\n\nWhere an item is").replace("box", "box, all of it")
    assert resolve(cited(RULE, "60 days instead"), Document(edited, id="d")).start == edited.index("60 days")


def test_the_old_place_decides_only_where_nothing_beside_it_changed() -> None:
    twice = "The window is 30 days, they say. The window is 30 days, they say. The window is 30 days, they say."
    middle = cite(chunk_document(Document(twice, id="d"), lambda text: [(0, len(text))])[0], (47, 54))
    assert middle.quote == "30 days"
    assert resolve(middle, Document(twice, id="d")).start == 47
    edited = twice.replace("The window is", "Our window is")
    with pytest.raises(LookupError, match=r"[23] times, with the same words around it"):
        resolve(middle, Document(edited, id="d"))


@pytest.mark.parametrize("span", [(0, 5), (9, 12), (12, 12), (14, 13), (12, 20)])
def test_a_span_outside_the_chunk_is_refused(span: tuple[int, int]) -> None:
    document = Document("Some words. Thirty.", id="d")
    chunk = chunk_document(document, lambda text: [(12, 19)])[0]
    with pytest.raises(ValueError, match=rf"span \({span[0]}, {span[1]}\) is not inside the chunk, \(12, 19\)"):
        cite(chunk, span)


def test_the_page_is_that_of_the_quote() -> None:
    text = "One.\fTwo.\fThree."
    document = Document(text, id="d", pages=[0, 5, 10], source="a.pdf", title="A")
    (chunk,) = chunk_document(document, lambda text: [(0, len(text))])
    for page, word in enumerate(("One.", "Two.", "Three."), start=1):
        start = text.index(word)
        citation = cite(chunk, (start, start + len(word)))
        assert citation.page_number == resolve(citation, document).page_number == page
        assert f"(A, a.pdf, page {page}, characters {start} to {start + len(word)})" in str(citation)


def test_every_pdf_page_of_the_course_is_cited_right() -> None:
    for document in load_course_documents("ps600-power-station-manual.pdf", "service-desk-cards.pdf"):
        for chunk in chunk_document(document, partial(split_fixed_size, chunk_size=600)):
            for at in range(chunk.start, chunk.end, 97):
                if not document.text[at].isspace():
                    assert cite(chunk, (at, at + 1)).page_number == document.page_number(at)
