# SPDX-License-Identifier: MIT
"""Context in front of the embedded text: what it says, what it never touches, and how it keeps a budget."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.document import Chunk, Document, chunk_document
from chunklib.core.measure import count
from chunklib.enrichment import add_context, context_size
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.structure import split_markdown

FEES = "# Fees\n\n## Post abroad\n\n| Zone | Fee |\n|---|---|\n| near | 4.90 |\n| far | 9 |\n\nAfter.\n"
DOCUMENT = Document.from_markdown(FEES, id="fees.md", title="Price list")


def chunk_with(word: str) -> Chunk:
    start = FEES.index(word)
    return chunk_document(DOCUMENT, lambda text: [(start, text.index("\n", start))])[0]


def test_title_path_and_header_row() -> None:
    chunk = chunk_with("| far")
    enriched = add_context(chunk, DOCUMENT)
    assert enriched.context == "Price list > Fees > Post abroad\n| Zone | Fee |"
    assert enriched.embedding_text == f"{enriched.context}\n\n| far | 9 |"
    assert replace(enriched, context="") == chunk, "nothing else changes"
    assert add_context(chunk_with("After"), DOCUMENT).context == "Price list > Fees > Post abroad"


def test_what_gives_way_when() -> None:
    chunk = chunk_with("| far")
    given = [add_context(chunk, DOCUMENT, budget=budget, length="characters").context for budget in range(59, 10, -1)]
    assert list(dict.fromkeys(given)) == [
        "Price list > Fees > Post abroad\n| Zone | Fee |",
        "Fees > Post abroad\n| Zone | Fee |",
        "Post abroad\n| Zone | Fee |",
        "Fees > Post abroad",
        "Post abroad",
        "",
    ]


def test_title_chapter_and_page() -> None:
    book = Document(
        FEES, title="Price list", headings=DOCUMENT.headings, tables=DOCUMENT.tables, pages=[0, FEES.index("| far")]
    )
    chunk = chunk_document(book, lambda text: [(text.index("| far"), len(text) - 1)])[0]
    assert add_context(chunk, book, pages=True).context == "[Price list - Fees - page 2]\n| Zone | Fee |"
    assert add_context(chunk, book).context == "Price list > Fees > Post abroad\n| Zone | Fee |", "if asked for"
    given = [add_context(chunk, book, pages=True, budget=size, length="words").context for size in range(25, 3, -1)]
    assert list(dict.fromkeys(given)) == [
        "[Price list - Fees - page 2]\n| Zone | Fee |",
        "[Fees - page 2]\n| Zone | Fee |",
        "[page 2]\n| Zone | Fee |",
        "[Fees - page 2]",
        "[page 2]",
        "",
    ]
    bare = Document("One.\fTwo.", pages=[0, 5])
    assert [add_context(c, bare, pages=True).context for c in chunk_document(bare, lambda text: [(0, 4), (5, 9)])] == [
        "[page 1]",
        "[page 2]",
    ]
    without = Document("One.")
    assert add_context(chunk_document(without, lambda text: [(0, 4)])[0], without, pages=True).context == ""
    assert add_context(chunk_with("After"), DOCUMENT, pages=True).context == "[Price list - Fees]"


def test_a_text_that_is_longer_than_the_budget_stays_whole() -> None:
    assert add_context(chunk_with("| far"), DOCUMENT, budget=1).embedding_text == "| far | 9 |"


def test_a_chunk_of_another_document_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the chunk is of document 'fees.md', or of another version of 'other.md'"):
        add_context(chunk_with("After"), Document(FEES, id="other.md"))
    with pytest.raises(ValueError, match=r"or of another version of 'fees.md'"):
        add_context(chunk_with("After"), Document(" " + FEES, id="fees.md"))


@pytest.mark.parametrize(("budget", "error"), [(0, ValueError), (-1, ValueError), (2.0, TypeError), (True, TypeError)])
def test_bad_budgets(budget: int, error: type[Exception]) -> None:
    with pytest.raises(error, match="budget="):
        add_context(chunk_with("After"), DOCUMENT, budget=budget)


WORDS = st.lists(st.sampled_from(["fee", "far", "zone", "4.90", "post"]), min_size=1, max_size=6).map(" ".join)
LINES = st.lists(
    st.one_of(WORDS, WORDS.map("# {}".format), WORDS.map("### {}".format), st.just(""), st.just("| a | b |\n|---|---|"),
              WORDS.map("| {} | x |".format)),
    max_size=20,
)  # fmt: skip


@given(lines=LINES, size=st.integers(4, 30), title=WORDS, length=st.sampled_from(["words", "tokens", "characters"]))
def test_text_and_place_never_change_and_the_budget_is_kept(
    lines: list[str], size: int, title: str, length: str
) -> None:
    document = Document.from_markdown("\n".join(lines), title=title)
    for splitter in (split_fixed_size, split_recursive, split_markdown):
        for chunk in chunk_document(document, partial(splitter, chunk_size=size, length=length)):
            enriched = add_context(chunk, document, budget=size + 5, length=length)
            assert replace(enriched, context="") == chunk
            assert count(enriched.embedding_text, length) <= size + 5
            room = size + context_size(document, length=length)
            by_page = add_context(chunk, document, pages=True, budget=size + 5, length=length)
            assert replace(by_page, context="") == chunk
            assert count(by_page.embedding_text, length) <= size + 5
            full = add_context(chunk, document)
            assert count(full.embedding_text, length) <= room
            assert add_context(chunk, document, budget=room, length=length) == full
