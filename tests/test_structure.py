# SPDX-License-Identifier: MIT
"""Structure: worked examples with exact values, and the promises about what stays whole."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.document import Document, chunk_document
from chunklib.core.measure import count
from chunklib.core.span import Span
from chunklib.course.datasets import load_course_documents
from chunklib.enrichment import context_at, context_size
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.structure import split_at, split_labelled_lines, split_markdown, split_paragraphs
from tests.laws import assert_laws, hard_text, words

DOCUMENTS = load_course_documents()
MARKDOWN = [document for document in DOCUMENTS if document.media_type == "text/markdown"]


def said(text: str, spans: list[Span]) -> list[str]:
    return [span.of(text) for span in spans]


def cut(text: str, chunk_size: int, **settings: Any) -> list[str]:
    return said(text, split_markdown(text, chunk_size=chunk_size, length="characters", **settings))


# --- Paragraphs, labelled lines, known places ------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_paragraphs_are_parted_by_blank_lines_of_any_kind(end: str) -> None:
    text = f"One{end}line.{end}{end}Two.{end} \t{end}{end}  Three.{end}"
    assert said(text, split_paragraphs(text)) == [f"One{end}line.", "Two.", "Three."]


def test_a_page_break_inside_a_line_is_no_blank_line() -> None:
    assert len(split_paragraphs("one\n\ftwo\x0bthree\x85four")) == 1
    assert len(split_paragraphs("one\n\f\ntwo")) == 2


def test_paragraphs_are_packed_and_a_long_one_is_split_further() -> None:
    text = "One two.\n\nThree four.\n\nFive six seven eight nine. Ten eleven twelve thirteen.\n\nEnd."
    spans = split_paragraphs(text, chunk_size=7, length="words")
    assert said(text, spans) == [
        "One two.\n\nThree four.",
        "Five six seven eight nine.",
        "Ten eleven twelve thirteen.\n\nEnd.",
    ]


def test_inner_is_asked_only_for_what_is_too_long() -> None:
    asked: list[str] = []

    def inner(text: str, **settings: Any) -> list[Span]:
        asked.append(text)
        return split_fixed_size(text, **settings)

    text = "One two.\n\nThree four five six.\n\nSeven."
    split_paragraphs(text, chunk_size=3, length="words", inner=inner)
    assert asked == ["Three four five six."]


def test_an_inner_splitter_that_breaks_a_law_is_named() -> None:
    def broken(text: str, **settings: Any) -> list[tuple[int, int]]:
        return [(0, 0)]

    for splitter in (split_paragraphs, partial(split_at, starts=[0]), split_markdown):
        with pytest.raises(ValueError, match=r"broken returned \(0, 0\)"):
            splitter("A long paragraph.", chunk_size=2, inner=broken)


CAT = "Title: Cat\nIntro: There was a cat.\nBody: The cat sat.\nConclusion: The cat sat on a mat."


def test_labelled_lines_are_four_chunks_and_blank_lines_would_give_one() -> None:
    assert said(CAT, split_labelled_lines(CAT)) == CAT.split("\n")
    assert CAT.split("\n\n") == [CAT]


def test_lines_without_a_label_join_the_one_above() -> None:
    text = (
        "Kept since May.\n\nTo: all\nand\n\nsome more\nSubject of mail: cats\nhttps://x.org: no\nat 10:30\na b c d: no"
    )
    assert said(text, split_labelled_lines(text)) == [
        "Kept since May.",
        "To: all\nand\n\nsome more",
        "Subject of mail: cats\nhttps://x.org: no\nat 10:30\na b c d: no",
    ]


def test_labels_of_many_kinds() -> None:
    text = "Wartezeit : 3\nE-mail: a@b.c\n  Client's own Straße: Hauptstr. 1\nनाम: मोहन\nLast:"
    assert said(text, split_labelled_lines(text)) == [line.strip() for line in text.split("\n")]


def test_a_label_and_its_colon_stand_in_one_line() -> None:
    text = "Fee: low\nZone\n: near"
    assert said(text, split_labelled_lines(text)) == [text]


def test_an_answer_stays_with_its_question() -> None:
    text = "Q: One?\nA: Yes.\n\nQ2: Two?\nA2: No.\nA: Or yes.\nQuestion: Three?\nNote: none.\nA: Lost."
    assert said(text, split_labelled_lines(text)) == [
        "Q: One?\nA: Yes.",
        "Q2: Two?\nA2: No.\nA: Or yes.",
        "Question: Three?",
        "Note: none.",
        "A: Lost.",
    ]


def test_every_pair_of_the_faq_is_one_span() -> None:
    text = next(document.text for document in DOCUMENTS if document.id == "faq.txt")
    pieces = said(text, split_labelled_lines(text))
    assert len(pieces) > 50
    assert all(piece.startswith("Q: ") and piece.count("\nA: ") == 1 for piece in pieces[1:])


def test_pages_are_cut_at_their_starts_and_long_ones_further() -> None:
    text = "a b c\fd e f\f\fg h i j k"
    starts = [0, 6, 12, 13]
    assert said(text, split_at(text, starts=starts)) == ["a b c", "d e f", "g h i j k"]
    assert said(text, split_at(text, starts=starts, chunk_size=3, length="words")) == ["a b c", "d e f", "g h i", "j k"]
    overlapping = split_at(text, starts=[13, 6], chunk_size=3, chunk_overlap=1, length="words")
    assert said(text, overlapping) == ["a b c", "d e f", "g h i", "i j k"]


@pytest.mark.parametrize(
    ("starts", "error", "message"),
    [
        ([-1], ValueError, "starts holds -1, outside of a text of 4 characters"),
        ([0, 5], ValueError, "starts holds 5, outside"),
        ([1.0], TypeError, r"starts holds 1\.0; it must hold offsets"),
        ([True], TypeError, "starts holds True"),
        (["a"], TypeError, "starts holds 'a'"),
    ],
)
def test_bad_starts(starts: list[Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        split_at("text", starts=starts)


@pytest.mark.parametrize("starts", [None, 3])
def test_what_is_no_list_of_starts_is_named(starts: Any) -> None:
    with pytest.raises(TypeError, match=rf"^starts={starts} must be a list of offsets, such as document\.pages$"):
        split_at("text", starts=starts)


@given(text=hard_text, data=st.data())
def test_the_laws_of_known_places(text: str, data: st.DataObject) -> None:
    starts = data.draw(st.lists(st.integers(0, len(text)), max_size=4))
    parts = split_at(text, starts=starts)
    assert_laws(text, parts, len, None)
    for chunk_size, overlap in ((5, 0), (9, 4)):
        spans = split_at(text, starts=starts, chunk_size=chunk_size, chunk_overlap=overlap, length="words")
        assert all(any(a <= start and end <= b for a, b in parts) for start, end in spans)
        for part in parts:
            inside = [(a - part.start, b - part.start) for a, b in spans if part.start <= a < part.end]
            assert_laws(part.of(text), inside, words, chunk_size, overlap)


@given(text=hard_text)
def test_the_laws_of_labelled_lines(text: str) -> None:
    assert_laws(text, split_labelled_lines(text), len, None)


# --- Markdown: worked examples ---------------------------------------------------------------------------------------


def test_sections() -> None:
    text = (
        "---\ntitle: x\n---\n\nBefore.\n\nTop\n===\n\n## Empty\n\n### Full\n\nText.\n\n#### Empty too\n"
        "\n## Next\n\n```\n# no\n```\n\n> # quoted\n\n- # in a list\n\n# Last"
    )
    assert said(text, split_markdown(text)) == [
        "---\ntitle: x\n---\n\nBefore.",
        "Top\n===\n\n## Empty\n\n### Full\n\nText.",
        "#### Empty too",
        "## Next\n\n```\n# no\n```\n\n> # quoted\n\n- # in a list",
        "# Last",
    ]


def test_max_level() -> None:
    text = "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n# D\n\nd"
    counts = [len(split_markdown(text, max_level=level)) for level in (1, 2, 3, 6)]
    assert counts == [2, 3, 4, 4]
    assert cut(text, 18, max_level=1) == ["# A\n\na", "## B\n\nb\n\n### C\n\nc", "# D\n\nd"]
    for level, mend in ((0, "must be 1 or more"), (7, "must be 6 or less")):
        with pytest.raises(ValueError, match=f"max_level={level} {mend}"):
            split_markdown(text, max_level=level)
    for wrong in (True, 2.0, None):
        with pytest.raises(TypeError, match=f"max_level={wrong} must be an int"):
            split_markdown(text, max_level=wrong)  # type: ignore[arg-type]


def test_a_heading_stays_with_the_first_sentence_of_a_long_paragraph() -> None:
    text = "## Fees\n\nThe first is low. The second is not so low. A third there is none of."
    assert cut(text, 40) == ["## Fees\n\nThe first is low.", "The second is not so low.", "A third there is none of."]
    assert cut(text, 25) == ["## Fees", "The first is low.", "The second is not so low.", "A third there is none of."]


def test_of_headings_on_top_of_each_other_as_many_stay_as_fit() -> None:
    text = "# A long title of a thing\n\n## Fees\n\nFree of charge."
    assert cut(text, 30) == ["# A long title of a thing", "## Fees\n\nFree of charge."]


def test_a_list_is_whole_or_cut_between_items_and_keeps_its_lead_in() -> None:
    items = "1. one\n2. two\n   - deep\n   - deeper\n3. three"
    text = f"Before it all.\n\nDo this:\n\n{items}\n\nAfter."
    assert cut(text, 55) == ["Before it all.", f"Do this:\n\n{items}", "After."]
    assert cut(text, 47) == ["Before it all.\n\nDo this:", items, "After."]
    assert cut(text, 40) == ["Before it all.", "Do this:\n\n1. one", items[7:], "After."]
    assert cut(text, 20) == [
        "Before it all.", "Do this:\n\n1. one", "2. two", "- deep\n   - deeper", "3. three\n\nAfter.",
    ]  # fmt: skip


def test_a_table_is_cut_between_rows_and_a_long_row_between_cells() -> None:
    rows = ["| name | says |", "|---|---|", "| a | one \\| two |", "| b | three |", "| c | a very long cell of words |"]
    text = "## T\n\n" + "\n".join(rows) + "\n\nEnd."
    assert cut(text, 60) == ["\n".join(["## T", "", *rows[:3]]), "\n".join(rows[3:]) + "\n\nEnd."]
    assert cut(text, 26)[:3] == ["## T", "\n".join(rows[:2]), rows[2]]
    assert cut(text, 20) == ["## T", *rows[:4], "| c |", "a very long cell of", "words |\n\nEnd."]


def test_code_is_whole_or_cut_at_blank_lines_then_at_lines() -> None:
    code = "```py\n# one\na = 1\n\n# two\nb = 2\nc = 3\n```"
    text = f"Intro.\n\n{code}\n\nEnd."
    assert cut(text, 42) == ["Intro.", code, "End."]
    assert cut(text, 38) == ["Intro.", "```py\n# one\na = 1", "# two\nb = 2\nc = 3\n```\n\nEnd."]
    assert cut(text, 17) == ["Intro.", "```py\n# one\na = 1", "# two\nb = 2", "c = 3\n```\n\nEnd."]
    assert cut(f"## Code\n\n{code}", 42) == ["## Code", code]
    assert cut(f"## Code\n\n{code}", 30) == ["## Code\n\n```py\n# one\na = 1", "# two\nb = 2\nc = 3\n```"]


def test_code_without_an_end_indented_code_and_html_lose_nothing() -> None:
    for text in ("# A\n\n```\n# b\n\n# c\n", "# A\n\n    # b\n\n    # c\n", "# A\n\n<!--\n# b\n\n# c\n-->\n"):
        assert said(text, split_markdown(text)) == [text.strip()]
        assert_laws(text, split_markdown(text, chunk_size=8, length="characters"), len, None)


def test_quotes_and_footnotes_are_whole_where_they_fit() -> None:
    text = "One.[^1]\n\n> A quote. It goes on.\n>\n> - and on\n\nTwo.\n\n[^1]: A note. It is long."
    assert cut(text, 40) == ["One.[^1]", "> A quote. It goes on.\n>\n> - and on", "Two.\n\n[^1]: A note. It is long."]
    assert cut(text, 25) == ["One.[^1]", "> A quote. It goes on.\n>", "> - and on\n\nTwo.", "[^1]: A note. It is long."]


def test_targets_of_links_are_blocks_of_their_own() -> None:
    text = "# Links\n\n[a]: https://a.org\n[b]: https://b.org\n\n# Next\n\nEnd."
    assert said(text, split_markdown(text)) == [text[:46], text[48:]]


def test_nothing_overlaps_from_one_section_into_another() -> None:
    text = "# A\n\nOne two. Three four.\n\nFive six.\n\n# B\n\nSeven eight."
    assert said(text, split_markdown(text, chunk_size=6, chunk_overlap=3, length="words")) == [
        "# A\n\nOne two.", "One two. Three four.", "Three four.\n\nFive six.", "# B\n\nSeven eight.",
    ]  # fmt: skip


def test_overlap_is_whole_sentences_rows_items_or_lines() -> None:
    text = "One two. Three four.\n\nFive six. Seven.\n\nEight nine ten."
    assert said(text, split_markdown(text, chunk_size=8, chunk_overlap=3, length="words")) == [
        "One two. Three four.", "Three four.\n\nFive six. Seven.", "Seven.\n\nEight nine ten.",
    ]  # fmt: skip
    listed = "- one two\n- three four\n- five six\n- seven eight"
    assert said(listed, split_markdown(listed, chunk_size=6, chunk_overlap=3, length="words")) == [
        "- one two\n- three four", "- three four\n- five six", "- five six\n- seven eight",
    ]  # fmt: skip


def test_overlap_gives_way_to_a_fence_that_would_not_fit() -> None:
    text = "Say this. And that.\n\n```\na b c\n```\n\nEnd."
    spans = split_markdown(text, chunk_size=18, chunk_overlap=9, length="characters")
    assert "```\na b c\n```" in said(text, spans)


# --- Markdown: what stays whole, on documents made of known parts -----------------------------------------------------

SENTENCE = st.integers(1, 9).map(lambda n: "Word" + " word" * (n - 1) + ".")
ITEM = st.integers(1, 6).map(lambda n: "- item" + " item" * (n - 1))
ROW = st.tuples(st.integers(1, 3), st.integers(1, 3)).map(lambda n: "|" + " cell" * n[0] + " |" + " \\|" * n[1] + " |")
HEADING = st.tuples(st.integers(1, 6), st.integers(1, 3)).map(lambda n: "#" * n[0] + " title" * n[1])
Unit = tuple[str, int, int]


def lines_of(kind: str, parts: st.SearchStrategy[str], between: str, most: int = 5) -> st.SearchStrategy[Any]:
    return st.lists(parts, min_size=1, max_size=most).map(lambda found: (kind, between, found))


def table(rows: list[str]) -> tuple[str, str, list[str]]:
    return "row", "\n", ["| a | b |\n|---|---|\n" + rows[0], *rows[1:]]


BLOCK = st.one_of(
    HEADING.map(lambda heading: ("heading", "", [heading])),
    lines_of("sentence", SENTENCE, " "),
    lines_of("item", ITEM, "\n"),
    st.lists(ROW, min_size=1, max_size=5).map(table),
    st.lists(st.sampled_from(["code", "# code code", ""]), min_size=1, max_size=6).map(
        lambda lines: ("fence", "", ["\n".join(["```", *lines, "```"])])
    ),
)


def built(blocks: list[tuple[str, str, list[str]]]) -> tuple[str, list[list[Unit]]]:
    """A text, and for each block its units: kind, start, end."""
    text, found = "", []
    for kind, between, parts in blocks:
        units = []
        text += "\n\n" if text else ""
        for number, part in enumerate(parts):
            text += between if number else ""
            units.append((kind, len(text), len(text) + len(part)))
            text += part
        found.append(units)
    return text, found


@given(blocks=st.lists(BLOCK, min_size=1, max_size=8), chunk_size=st.integers(6, 40), overlap=st.sampled_from([0, 3]))
def test_what_stays_whole(blocks: list[tuple[str, str, list[str]]], chunk_size: int, overlap: int) -> None:
    apart = [b for a, b in itertools.pairwise([("", "", [""]), *blocks]) if (a[0], b[0]) != ("item", "item")]
    text, found = built(apart)  # two lists one after the other would be one list
    spans = split_markdown(text, chunk_size=chunk_size, chunk_overlap=overlap, length="words")
    assert_laws(text, spans, words, chunk_size, overlap, split_markdown(text))

    def whole(start: int, end: int) -> bool:
        return any(a <= start and end <= b for a, b in spans)

    for units in found:
        for kind, start, end in units:
            if kind != "sentence" or not overlap:
                assert whole(start, end) or words(text[start:end]) > chunk_size, f"a {kind} is torn"
    if overlap:
        return
    for above, units in itertools.pairwise(found):
        kind, start, end = units[0][0], units[0][1], units[-1][2]
        if kind == "item" and above[0][0] != "heading":
            assert whole(start, end) or words(text[start:end]) > chunk_size, "a list is torn that would fit"
        if kind != "heading" and above[0][0] == "heading":
            together = (above[0][1], units[0][2])
            assert whole(*together) or words(text[slice(*together)]) > chunk_size, "a heading dangles"


@given(blocks=st.lists(BLOCK, min_size=1, max_size=8))
def test_sections_begin_at_headings_that_have_text(blocks: list[tuple[str, str, list[str]]]) -> None:
    text, found = built(blocks)
    levels = [len(text[u[0][1] :].split(" ")[0]) if u[0][0] == "heading" else 0 for u in found]
    starts = [
        units[0][1]
        for i, units in enumerate(found)
        if not i or (levels[i] and not (levels[i - 1] and levels[i - 1] < levels[i]))
    ]
    assert [span.start for span in split_markdown(text)] == starts


NESTED = [
    "# A\n", "## B c\n", "Top\n===\n", "para one. Two three. ", "word ", "\n", "\n\n", "- item\n", "  - sub\n",
    "    - subsub\n", "1. one\n", "   ```sh\n   code\n   ```\n", "> quote. x\n", "> > q2\n", "> - qi\n", "Intro:\n\n",
    "| a | b |\n|---|---|\n", "| 1 | x \\| y |\n", "| a long cell of words | other |\n", "```\n", "~~~py\n", "# c\n",
    "\ncode();\n", "    indented\n", "<div>\n", "</div>\n", "<!-- # x\n", "-->\n", "[^1]: foot\n", "[a]: http://b.c\n",
    "---\ntitle: x\n---\n", "***\n", "\r\n", "\r", "\t", "é", "猫。", "\u0301", "🇩🇪", "a" * 30,
]  # fmt: skip
markdown = st.lists(st.sampled_from(NESTED), max_size=40).map("".join)


@given(
    text=markdown,
    setting=st.integers(1, 50).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1))),
    length=st.sampled_from([("tokens", count), ("words", words), ("characters", len)]),
    max_level=st.integers(1, 6),
)
def test_the_laws_of_markdown_of_any_nesting(
    text: str, setting: tuple[int, int], length: tuple[str, Callable[[str], int]], max_level: int
) -> None:
    chunk_size, overlap = setting
    sections = split_markdown(text, max_level=max_level)
    spans = split_markdown(text, chunk_size=chunk_size, chunk_overlap=overlap, length=length[0], max_level=max_level)
    assert_laws(text, sections, len, None)
    assert_laws(text, spans, length[1], chunk_size, overlap, sections)


# --- The course's documents, and inputs that hurt --------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.id)
def test_round_trip(document: Document) -> None:
    text = document.text
    parts = split_markdown(text)
    for spans in (
        parts,
        split_paragraphs(text),
        split_labelled_lines(text),
        split_at(text, starts=document.pages),
        split_at(text, starts=[heading.start for heading in document.headings]),
    ):
        assert_laws(text, spans, len, None)
    assert_laws(text, split_markdown(text, chunk_size=150), count, 150, 0, parts)
    assert_laws(text, split_paragraphs(text, chunk_size=150, chunk_overlap=30), count, 150, 30)


@pytest.mark.parametrize("document", MARKDOWN, ids=lambda document: document.id)
def test_rows_of_the_course_are_whole_and_no_heading_dangles(document: Document) -> None:
    text = document.text
    spans = split_markdown(text, chunk_size=150)
    for _, table in document.tables:
        for line in re.finditer(r".+", table.of(text)):
            start, end = table.start + line.start(), table.start + line.end()
            assert any(a <= start and end <= b for a, b in spans)
    ends = {heading.end for heading in document.headings}
    assert [span.of(text)[-60:] for span in spans if span.end in ends] == []


def test_a_section_of_the_policy_knows_its_path() -> None:
    policy = next(document for document in MARKDOWN if document.id == "returns-policy.md")
    chunks = chunk_document(policy, partial(split_markdown, chunk_size=150))
    faulty = next(chunk for chunk in chunks if "60 days" in chunk.text)
    assert " > ".join(faulty.section_path) == "TechGadgets Return Policy > Electronics Returns"


HARD = {
    "brackets": "[" * 100_000,
    "a heading of brackets": "# " + "![" * 50_000,
    "list levels in a line": "- " * 50_000,
    "list levels": "".join("  " * level + "- x\n" for level in range(450)),
    "quote levels": ">" * 100_000,
    "a table": "| a | b |\n|---|---|\n" + "| near | 4.90 |\n" * 6_500,
    "a wide table": "| a " * 12_500 + "|\n" + "|---" * 12_500 + "|\n" + "| b " * 6_000 + "|\n",
    "one line": "word " * 20_000,
    "one word": "# A\n\n" + "x" * 100_000,
    "a long heading": "# " + "word " * 20_000,
    "code without an end": "```\n" + "code\n" * 20_000,
    "headings": "# a\n" * 25_000,
    "headings in one section": "###### a\n" * 11_000,
    "items": "- item\n" * 14_000,
    "lead-ins": "p:\n\n- a\n\n" * 9_000,
    "carriage returns": "a\r" * 50_000,
    "labels": "a-" * 50_000,
    "words of a label": "a " * 50_000,
    "lines without a label": "a plain line\n" * 200_000,
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_every_text_comes_to_an_end(text: str) -> None:
    spans = split_markdown(text, chunk_size=200, max_level=3)
    assert len(spans) > 1
    assert {len(split_paragraphs(text)), len(split_labelled_lines(text))} <= set(range(1, 20_000))


# --- What a chunk stands under ---------------------------------------------------------------------------------------

FEES = "# Fees\n\nBefore.\n\n## Post\n\n| Zone | Fee |\n|---|---|\n| near | 4.90 |\n| far | 9 |\n\nAfter.\n"


def test_context_of_every_place() -> None:
    document = Document.from_markdown(FEES, id="fees.md")
    places = {word: context_at(document, FEES.index(word)) for word in ("Before", "| Zone", "|---", "| far", "After")}
    assert places == {
        "Before": "Fees",
        "| Zone": "Fees > Post",
        "|---": "Fees > Post\n| Zone | Fee |",
        "| far": "Fees > Post\n| Zone | Fee |",
        "After": "Fees > Post",
    }
    assert context_at(document, FEES.index("Before"), len(FEES)) == "Fees"


def test_nothing_is_said_twice() -> None:
    text = "# The  Guide\n\n## Part\n\n### part\n\nx"
    at = text.index("x")
    assert context_at(Document.from_markdown(text, title="the guide"), at) == "the guide > Part"
    assert context_at(Document.from_markdown(text, title="Handbook"), at) == "Handbook > The Guide > Part"
    assert context_at(Document("x", id="notes.txt"), 0) == ""
    assert context_at(Document("x", id="notes.txt", title="Notes"), 0) == "Notes"


def test_a_table_without_a_header_and_one_in_a_quote() -> None:
    assert context_at(Document("ab", tables=[(Span(0, 0), Span(0, 2))]), 1) == ""
    text = "> | Zone | Fee |\n> |---|---|\n> | near | 4.90 |\n"
    assert context_at(Document.from_markdown(text), text.index("> | near")) == "| Zone | Fee |"


def test_a_web_page_and_a_pdf_have_contexts_too() -> None:
    by_id = {document.id: document for document in DOCUMENTS}
    page = by_id["api-orders.html"]
    header, table = page.tables[0]
    lines = context_at(page, page.text.rindex("\n", 0, table.end) + 1).split("\n")
    assert lines[1:] == header.of(page.text).split("\n")
    assert lines[0].startswith(page.title)
    pdf = by_id["ps600-power-station-manual.pdf"]
    assert context_at(pdf, pdf.headings[-1].end).endswith(pdf.headings[-1].title)


@pytest.mark.parametrize("length", ["tokens", "words", "characters", "wordpieces"])
def test_context_size_leaves_room_for_every_context(length: str) -> None:
    for document in DOCUMENTS:
        room = context_size(document, length=length)
        size = 60 + room
        splitters = [split_fixed_size, split_recursive, split_markdown]
        for splitter in splitters:
            for chunk in chunk_document(document, partial(splitter, chunk_size=size - room, length=length)):
                context = context_at(document, chunk.start, chunk.end)
                assert count(f"{context}\n\n{chunk.text}" if context else chunk.text, length) <= size


def test_context_size_of_nothing_is_nothing() -> None:
    assert context_size(Document("Some text.")) == 0
    assert context_size(Document.from_markdown(FEES), length="characters") == len("Fees > Post\n| Zone | Fee |\n\n")
