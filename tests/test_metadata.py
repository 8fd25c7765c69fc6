# SPDX-License-Identifier: MIT
"""Metadata by rules: what is found, and what is not taken for it."""

from __future__ import annotations

from functools import partial

import pytest

from chunklib.core.document import Chunk, Document, chunk_document
from chunklib.course.datasets import load_course_documents
from chunklib.documents.cleaning import GUARDED
from chunklib.documents.metadata import describe, entities, key_terms, language, source_of, summary, word_rarity
from chunklib.recursive import split_recursive


def test_entities() -> None:
    text = "Write to ops@example.org or www.example.org. The HomeHub (v2.4.1) costs €1,249.00; 5 to 7 days or 30-day."
    assert [(e.kind, e.text) for e in entities(text)] == [
        ("email", "ops@example.org"),
        ("url", "www.example.org"),
        ("name", "HomeHub"),
        ("version", "v2.4.1"),
        ("money", "€1,249.00"),
        ("duration", "5 to 7 days"),
        ("duration", "30-day"),
    ]


def test_what_cleaning_guards_as_an_e_mail_address_is_an_entity_and_nothing_else_is() -> None:
    found = ["ops@example.org", "a.b+c-d@e-f.co.uk", f"a@b.{'c' * 64}", "_@_._"]
    none = [f"a@b.{'c' * 65}", "a@b", "@b.org", "a@.org"]
    for address in found + none:
        entity = [e.text for e in entities(f"To {address}, now.") if e.kind == "email"]
        assert entity == [address] * (address in found)
        assert bool(GUARDED.fullmatch(address)) == (address in found)


def test_the_first_word_of_a_sentence_is_no_name_unless_it_is_one_elsewhere() -> None:
    assert entities("Please wait. Parcels come.") == []
    assert [e.text for e in entities("Poland is near. We ship to Poland.")] == ["Poland", "Poland"]
    assert [e.text for e in entities("- Norway")] == []


def test_key_terms() -> None:
    assert key_terms("") == key_terms("The of and 5 %") == []
    text = "The drone fee is due. Please pay the drone fee. A seal is a seal."
    assert key_terms(text, k=2) == ["drone fee", "seal"]
    rarity = word_rarity(["please drone", "please seal", "please fee"])
    assert rarity["please"] == 1.0 < rarity["drone"]
    assert key_terms("restocking customers customers", k=1, rarity={"customers": 1.0}) == ["restocking"]


def test_summary() -> None:
    assert summary("") == summary("# Only a heading\n\n| a | b |") == ""
    assert summary("Is it free? It is free for three years.") == "It is free for three years."
    assert summary("Wait.\n\nThe charge of Dr. Lund\nis a charge.") == "The charge of Dr. Lund\nis a charge."
    for document in load_course_documents():
        assert summary(document.text) in document.text


def test_language_of_every_chunk_of_the_course() -> None:
    for document in load_course_documents():
        for chunk in chunk_document(document, partial(split_recursive, chunk_size=150)):
            known = language(chunk.text) or language(document.text)
            assert known == ("zh" if document.id == "zh-cases.md" else "en"), chunk.text
    assert language("退货期限为六十天，请保留收据。") == "zh"
    assert language("") == language("\ud800") == language("| Model K24-Q | IPS | tilt, height |") == ""


@pytest.mark.parametrize(
    ("source", "page", "expected"),
    [
        ("data/a b.pdf", 2, {"name": "a b.pdf", "path": "data/a b.pdf", "uri": "data/a%20b.pdf#page=2"}),
        ("https://example.org/x/y?q=1", None, {"name": "y", "path": "/x/y", "uri": "https://example.org/x/y?q=1"}),
        ("", None, {"name": "d", "path": "d", "uri": "d"}),
        ("c\\d.md", None, {"name": "d.md", "path": "c/d.md", "uri": "c/d.md"}),
    ],
)
def test_source(source: str, page: int | None, expected: dict[str, str]) -> None:
    assert source_of(Chunk("x", 0, 1, 0, "1", "d", source=source, page_number=page)) == expected


def test_what_the_document_says_of_itself_wins() -> None:
    document = Document.from_markdown("---\nlanguage: nl\nproduct: AX310\n---\n\n# T\n\nThirty days for all of you.")
    *_, chunk = chunk_document(document, partial(split_recursive, chunk_size=10))
    described = describe(chunk, document).metadata
    assert (described["language"], described["product"], described["title"]) == ("nl", "AX310", "T")


@pytest.mark.parametrize(
    "unit", ["a", "Ab ", "5 to ", "5-", "a.", "a@", "https://", "A-", "[", "x.\n", "1.", "。", "a’"]
)
def test_every_rule_comes_to_an_end(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    for rule in (entities, key_terms, summary, language):
        rule(text)
