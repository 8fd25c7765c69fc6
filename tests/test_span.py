# SPDX-License-Identifier: MIT
"""Spans, documents, chunks and their ids."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.checks import checked
from chunklib.core.document import Document, chunk_document, chunk_documents, chunk_from
from chunklib.core.outline import markdown_headings
from chunklib.core.span import Span
from chunklib.fixed_size import split_fixed_size
from tests.laws import hard_text

POLICY = "Before.\n\n# Policy\n\nRule.\n\n## Faults\n\nSixty days.\n\n### Postage\n\nFree.\n\n## Gifts\n\nThe same.\n"
by_words = partial(split_fixed_size, chunk_size=3, length="words")


def test_every_chunk_knows_its_section() -> None:
    document = Document.from_markdown(POLICY, id="policy")
    sections = {text: document.section_path(POLICY.index(text)) for text in ("Before.", "Rule", "Free", "The same")}
    assert sections == {
        "Before.": (),
        "Rule": ("Policy",),
        "Free": ("Policy", "Faults", "Postage"),
        "The same": ("Policy", "Gifts"),
    }
    assert document.section_path(POLICY.index("Free"), POLICY.index("The same") + 8) == ("Policy",)


def test_pages_and_metadata() -> None:
    document = Document("one\ftwo", pages=(0, 4), metadata={"year": 2026})
    first, second = chunk_document(document, lambda text: [(0, 3), (4, 7)])
    assert (first.page_number, second.page_number) == (1, 2)
    first.metadata["year"] = 1
    assert second.metadata == {"year": 2026}, "each chunk has its own"


def test_ids_survive_an_edit_elsewhere_and_tell_equal_texts_apart() -> None:
    before = chunk_document(Document("same same same other", id="d"), lambda t: [(0, 4), (5, 9), (10, 14), (15, 20)])
    after = chunk_document(
        Document("new same same same other", id="d"), lambda t: [(4, 8), (9, 13), (14, 18), (19, 24)]
    )
    assert [c.id for c in before] == [c.id for c in after]
    assert len({c.id for c in before}) == 4
    parents = chunk_document(Document("same", id="d"), lambda t: [(0, 4)], level="parent")
    assert parents[0].id not in {c.id for c in before}


def test_another_key_is_one_argument() -> None:
    chunks = chunk_document(
        Document("a b", id="d"), lambda t: [(0, 1), (2, 3)], chunk_id=lambda d, level, t, n: f"{d.id}:{t}"
    )
    assert [c.id for c in chunks] == ["d:a", "d:b"]


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 0)], r"bad returned \(0, 0\): want 0 <= start < end <= 7"),
        ([(0, 8)], r"bad returned \(0, 8\)"),
        ([(2, 4), (1, 5)], r"bad returned \(1, 5\) after \(2, 4\): starts and ends must increase"),
        ([(0, 4), (1, 4)], "must increase"),
    ],
)
def test_a_splitter_that_breaks_a_law_is_named(spans: list[tuple[int, int]], message: str) -> None:
    def bad(text: str) -> list[tuple[int, int]]:
        return spans

    with pytest.raises(ValueError, match=message):
        chunk_document(Document("0123456"), bad)


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (None, "None"),
        (7, "7"),
        (["012", "3456"], "'012'"),  # texts, as other libraries return them
        (["01"], "'01'"),
        ("01", "'0'"),
        ([(0.0, 4.0)], r"\(0\.0, 4\.0\)"),
        ([("0", "4")], r"\('0', '4'\)"),
        ([(0, None)], r"\(0, None\)"),
        ([(0, 2, 4)], r"\(0, 2, 4\)"),
        ([(0,)], r"\(0,\)"),
        ([(0, 2), 4], "4"),
        ([None], "None"),
        ([range(50)], r"range\(0, 50\)"),
        (["word " * 1000], "'word word [^']{0,30}'"),
    ],
)
def test_a_splitter_that_returns_no_pairs_of_whole_numbers_is_named(returned: Any, told: str) -> None:
    def bad(text: str) -> Any:
        return returned

    for splitter in (bad, partial(bad)):
        with pytest.raises(ValueError, match=rf"^bad returned {told}: want pairs of whole numbers \(start, end\)$"):
            chunk_document(Document("0123456"), splitter)


@pytest.mark.parametrize("kind", [list, iter, lambda spans: np.array(spans, dtype=np.int32)])
def test_whole_numbers_of_any_kind_become_plain_ones(kind: Callable[[Any], Any]) -> None:
    spans = checked(kind([(0, 3), (3, 7)]), "0123456", by_words)
    assert spans == [Span(0, 3), Span(3, 7)]
    assert {type(offset) for span in spans for offset in span} == {int}
    chunks = chunk_document(Document("0123456"), lambda text: kind([(0, 3), (3, 7)]))
    assert [json.loads(json.dumps(asdict(chunk)))["start"] for chunk in chunks] == [0, 3]


def test_what_a_splitter_itself_raises_is_not_renamed() -> None:
    def failing(text: str) -> Any:
        yield (0, 2)
        raise TypeError("its own fault")

    with pytest.raises(TypeError, match=r"^its own fault$"):
        chunk_document(Document("0123456"), failing)


@pytest.mark.parametrize("document", ["abc", b"abc", None, ("abc",)])
def test_a_text_is_no_document_yet(document: Any) -> None:
    for cut in (chunk_document, lambda document, splitter: list(chunk_documents([document], splitter))):
        with pytest.raises(TypeError, match=r"^document=.* must be a Document, such as Document\(text\)$"):
            cut(document, by_words)
    with pytest.raises(TypeError, match=r"^document='word word[^']{0,20}' must"):
        chunk_document("word " * 1000, by_words)  # type: ignore[arg-type]


def test_a_key_that_is_no_media_type_is_named() -> None:
    with pytest.raises(ValueError, match=r"^per_type has 'markdown'; its keys must be media types, such as 'text/mark"):
        list(chunk_documents([Document("a b")], by_words, per_type={"text/html": by_words, "markdown": by_words}))
    cut = chunk_documents(
        [Document("a b"), Document("a b", media_type="text/html")],
        by_words,
        per_type={"text/html": lambda text: [(0, 1), (2, 3)]},
    )
    assert [chunk.text for chunk in cut] == ["a b", "a", "b"]


def test_given_metadata_is_added_to_that_of_the_front_matter() -> None:
    text = "---\nby: Ada\nyear: 2025\n---\n\n# A\n"
    given = {"year": 2026, "a": 1}
    assert Document.from_markdown(text, metadata=given).metadata == {"by": "Ada", "year": 2026, "a": 1}
    assert given == {"year": 2026, "a": 1}
    assert Document.from_markdown(text).metadata == {"by": "Ada", "year": 2025}
    assert Document.from_markdown("# A\n", metadata=given).metadata == given
    assert Document.from_markdown(text, title="B", headings=()).headings == ()


def test_a_chunk_comes_back_from_json_and_serves_as_a_key() -> None:
    document = Document.from_markdown(POLICY, id="policy", pages=[0, 30], metadata={"tags": ["a"], "by": {"name": "A"}})
    chunks = chunk_document(document, by_words)
    back = [chunk_from(json.loads(json.dumps(asdict(chunk)))) for chunk in chunks]
    assert back == chunks
    assert {type(chunk.section_path) for chunk in back} == {tuple}
    assert max(len(chunk.section_path) for chunk in back) == 3
    assert set(back) == set(chunks)
    assert len(set(chunks)) == len(chunks)
    record = asdict(chunks[0])
    assert chunk_from({**record, "score": 0.5}) == chunks[0]
    del record["document_id"]
    with pytest.raises(KeyError, match=r"^'document_id'$"):
        chunk_from(record)


def test_documents_serve_as_keys_whatever_holds_their_parts() -> None:
    parts: dict[str, Any] = {"headings": [], "pages": [0, 3], "tables": [], "metadata": {"a": [1]}}
    one, same, other = (Document(text, id="d", **parts) for text in ("a", "a", "b"))
    assert len({one, same, other}) == 2
    assert hash(one) == hash(same)


@given(text=hard_text)
def test_chunks_are_slices_and_pickle(text: str) -> None:
    chunks = chunk_document(Document(text, id="x"), by_words)
    assert all(c.text == text[c.start : c.end] for c in chunks)
    assert len({c.id for c in chunks}) == len(chunks)
    assert pickle.loads(pickle.dumps(chunks)) == chunks


def test_a_lone_surrogate_hashes_as_the_replacement_character() -> None:
    lone, replaced = (chunk_document(Document(t, id="x"), lambda _: [(0, 1)])[0] for t in ("\ud800", "\ufffd"))
    assert lone.id == replaced.id


def test_hashes_in_code_are_no_headings() -> None:
    text = "---\ntitle: x\n---\n\nTop\n===\n\n```\n# no\n```\n\n    # no\n\n## Yes `code` *here* ##\n"
    assert [(h.level, h.title) for h in markdown_headings(text)] == [(1, "Top"), (2, "Yes code here")]


@given(text=st.text(alphabet="#=-`> \n\r\tab*", max_size=80))
def test_headings_lie_inside_the_text_in_order(text: str) -> None:
    headings = markdown_headings(text)
    assert all(0 <= h.start <= h.end <= len(text) for h in headings)
    assert [h.start for h in headings] == sorted(h.start for h in headings)


def test_a_title_is_said_as_it_is_read() -> None:
    text = "# un**bold**ed, `code`\n\nTwo\nlines\n---\n"
    assert [h.title for h in markdown_headings(text)] == ["unbolded, code", "Two lines"]


def test_the_title_is_the_first_heading_of_the_first_level_else_the_id() -> None:
    headings = markdown_headings("## Faults\n\n# Policy\n\n# Gifts\n")
    assert Document("text", id="x", headings=headings).title == "Policy"
    assert Document("text", id="x", headings=headings[:1]).title == "x"
    assert Document("text", id="x", title="Own", headings=headings).title == "Own"


def test_spans_instead_of_a_splitter_are_told_apart() -> None:
    with pytest.raises(TypeError, match=r"splitter=\[\(0, 2\)\] must be a function from text to spans, such as"):
        chunk_document(Document("ab"), [(0, 2)])  # type: ignore[arg-type]
