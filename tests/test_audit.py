# SPDX-License-Identifier: MIT
"""What the audit finds, what it lets pass, and how often it is right on the course's own documents."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import FrozenInstanceError, replace
from functools import cache, partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.document import Chunk, Document, chunk_document
from chunklib.core.measure import Length, count
from chunklib.core.span import Span, Splitter
from chunklib.course.datasets import load_course_documents
from chunklib.enrichment import add_context
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.search.audit import (
    DANGLING,
    DUPLICATE,
    FENCE,
    KINDS,
    MID_SENTENCE,
    NO_HEADER,
    TINY,
    UNREAD,
    Finding,
    audit,
)
from chunklib.sentence import split_sentences
from chunklib.structure import split_markdown


def found(document: Document, *spans: tuple[int, int], **settings: int) -> list[tuple[str, int, str]]:
    """Kind, index of the chunk and evidence of all findings of a document, with ``tiny`` off unless asked for."""
    chunks = chunk_document(document, lambda text: spans)
    settings = {"tiny": 0, **settings}
    return [(f.kind, f.chunk.index, f.evidence) for f in audit(chunks, [document], **settings)]  # type: ignore[arg-type]


def cut(document: Document, *before: str, **settings: int) -> list[tuple[str, int, str]]:
    """The same for a text that is cut before each of these words."""
    text = document.text
    places = [0, *(text.index(words) for words in before), len(text)]
    spans = []
    for start, end in pairwise(places):
        spans.append((start, start + len(text[start:end].rstrip())))
    return found(document, *spans, **settings)


# --- Each kind by itself ---------------------------------------------------------------------------------------------

FAULTY = "Keep the box. If the item is faulty, the window is 60 days instead. Ask us."


def test_a_sentence_that_no_chunk_holds_is_told_once() -> None:
    evidence = "If the item is faulty, the window is ‖ 60 days instead."
    assert cut(Document(FAULTY), "60 days") == [(MID_SENTENCE, 0, evidence)]
    assert cut(Document(FAULTY), "faulty", "60 days") == [
        (MID_SENTENCE, 0, "If the item is ‖ faulty, the window is 60 days instead.")
    ]


def test_a_sentence_that_another_chunk_holds_whole_is_not_cut() -> None:
    assert found(Document(FAULTY), (0, 50), (14, len(FAULTY))) == []
    assert cut(Document(FAULTY), "If the", "Ask us") == []


def test_a_line_end_inside_a_sentence_counts_only_where_the_next_line_goes_on() -> None:
    wrapped = Document(
        "The window is\n60 days, and it\nends at midnight. Mind the date, keep the receipt, and write to us."
    )
    assert [kind for kind, *_ in cut(wrapped, "60")] == []  # may be a list of items as well
    assert [kind for kind, *_ in cut(wrapped, "ends")] == [MID_SENTENCE]
    assert cut(Document("Socket | Power\fManual 17\fthe end."), "Manual") == []
    words = Document("\n".join(f"word{i}" for i in range(100)))  # no sentence, but one word a line
    assert MID_SENTENCE not in {kind for kind, *_ in cut(words, "word50")}


def test_cuts_at_headings_and_in_code_are_no_cut_sentences() -> None:
    page = Document("Fees\nYou pay nothing.", headings=Document.from_markdown("Fees\n===").headings[:1])
    page = replace(page, headings=(page.headings[0]._replace(end=4),))
    assert MID_SENTENCE not in {kind for kind, *_ in cut(page, "You")}
    code = Document.from_markdown("Run it.\n\n```\nfor each in them\n    add each.\n```\n\nDone.")
    assert MID_SENTENCE not in {kind for kind, *_ in cut(code, "add")}


def test_a_long_sentence_gets_other_advice() -> None:
    text = "".join(f"part {number}, " for number in range(20)) + "end."
    (finding,) = audit(chunk_document(Document(text), lambda t: [(0, 89), (90, len(t))]), [Document(text)])
    assert finding.kind == MID_SENTENCE
    assert f"{count(text)} tokens, more than any chunk" in finding.advice


def test_evidence_of_48_characters_is_shown_whole_and_of_49_is_cut_at_a_word() -> None:
    for extra, before, after in [
        ("", "The " + "x" * 44, "y" * 43 + " end."),
        ("z", "… " + "x" * 44 + "z", "y" * 43 + "z …"),
    ]:
        text = "The " + "x" * 44 + extra + " " + "y" * 43 + extra + " end."
        assert cut(Document(text), "y") == [(MID_SENTENCE, 0, f"{before} ‖ {after}")]


TABLE = "Fees:\n\n| Zone | Fee |\n|---|---|\n| near | 4.90 |\n| far | 9.90 |\n\nNo more."


def test_rows_without_their_header() -> None:
    document = Document.from_markdown(TABLE)
    assert cut(document, "| far") == [(NO_HEADER, 1, "| far | 9.90 | lacks | Zone | Fee |")]
    assert [row for row in cut(document, "|---") if row[0] == NO_HEADER] == [
        (NO_HEADER, 1, "|---|---| | near | 4.90 | | far | 9.90 | lacks | Zone | Fee |")
    ]
    assert cut(document, "| Zone") == []
    assert cut(document, "No more") == []


def test_a_header_that_is_cut_itself_is_no_header() -> None:
    assert NO_HEADER in {kind for kind, *_ in cut(Document.from_markdown(TABLE), "Fee |")}


def test_a_header_in_the_context_is_enough() -> None:
    document = Document.from_markdown(TABLE)
    chunks = chunk_document(document, lambda text: [(0, text.index("| far") - 1), (text.index("| far"), len(text))])
    assert [f.kind for f in audit(chunks, [document], tiny=0)] == [NO_HEADER]
    assert audit([add_context(chunk, document) for chunk in chunks], [document], tiny=0) == []


def test_a_table_without_header_lacks_none() -> None:
    document = Document("near | 4.90\nfar | 9.90", tables=((Span(0, 0), Span(0, 22)),))
    assert cut(document, "far") == []


FENCED = "Run:\n\n```sh\nmake\n\nmake test\n```\n\n" + "The rest takes far more words than the code does. " * 3


@pytest.mark.parametrize("mark", ["```", "~~~~"])
def test_a_fence_is_cut_though_it_would_fit(mark: str) -> None:
    document = Document.from_markdown(FENCED.replace("```", mark))
    ((kind, index, evidence),) = cut(document, "make test")
    assert (kind, index) == (FENCE, 0)
    assert evidence.startswith(f"{mark}sh of ")
    assert cut(document, "The rest") == []


def test_pieces_of_a_fence_that_is_too_long_are_none() -> None:
    document = Document.from_markdown("```\n" + "".join(f"print({i}, {i * i}, {i % 7})\n\n" for i in range(50)) + "```")
    chunks = chunk_document(document, partial(split_markdown, chunk_size=60))
    assert len(chunks) > 3
    assert audit(chunks, [document], tiny=0) == []


def test_a_fence_that_is_never_closed() -> None:
    ((kind, index, evidence),) = found(Document.from_markdown("Run it.\n\n```sh\nmake\n"), (0, 20))
    assert (kind, index, evidence) == (FENCE, 0, "```sh is never closed")
    assert found(Document.from_markdown("> ```\n> make\n> ```"), (0, 18)) == []
    assert [kind for kind, *_ in found(Document.from_markdown("```"), (0, 3))] == [FENCE]


HEADED = "# Returns\n\nThirty days.\n\n## Faults\n\nSixty days, whoever broke it.\n\n## Empty\n\n## Last\n\nEnd."


def test_a_heading_at_the_end_of_a_chunk() -> None:
    document = Document.from_markdown(HEADED)
    assert cut(document, "Sixty") == [(DANGLING, 0, "Faults ‖ Sixty days, whoever broke it.")]
    assert cut(document, "## Faults", "Sixty") == [(DANGLING, 1, "Faults ‖ Sixty days, whoever broke it.")]
    assert cut(document, "## Last") == []  # the section above has no text of its own, nor one below it
    assert cut(document, "## Faults") == []


def test_a_heading_above_a_heading_belongs_to_it() -> None:
    document = Document.from_markdown("# Fees\n\n## Post\n\nFree of charge.")
    assert cut(document, "## Post") == [(DANGLING, 0, "Fees ‖ ## Post")]


def test_a_heading_that_does_not_fit_with_its_text_stands_alone() -> None:
    text = "## Faults\n\n" + "Sixty days for whoever finds a fault and tells us so in time, " * 4 + "please."
    document = Document.from_markdown(text)
    chunks = chunk_document(document, partial(split_markdown, chunk_size=count(text) - 4))
    assert chunks[0].text == "## Faults"
    assert DANGLING not in {finding.kind for finding in audit(chunks, [document])}


def test_tiny_chunks_but_not_what_the_author_kept_short() -> None:
    document = Document.from_markdown(
        "# Fees\n\nFree.\n\n# Post\n\nIt takes five working days or even more. Not on Sundays."
    )
    assert cut(document, "# Post", tiny=8) == []  # a short section
    assert cut(document, "# Post", "Not on", tiny=8) == [(TINY, 2, "3 words: Not on Sundays.")]
    assert cut(document, "# Post", "Not on", tiny=3) == []
    assert found(Document("Hello."), (0, 6), tiny=8) == []  # a short document
    wide = "# Fees\n\n| a |" + " " * 400 + "b c d e f g h i j |\n\nAnd more of it."
    assert TINY not in {kind for kind, index, _ in cut(Document.from_markdown(wide), "And", tiny=8) if not index}
    assert found(Document("可以退货。三十天内可以退货，请保留小票。"), (0, 5), (5, 20), tiny=8) == [
        (TINY, 0, "4 words: 可以退货。")
    ]


SAFETY = "Never open, crush or pierce the housing and keep it away from fire, because a damaged battery may burn."


def test_the_same_words_twice() -> None:
    documents = [Document(SAFETY, id="a"), Document(SAFETY.upper().replace(" ", "\n"), id="b")]
    chunks = [chunk for document in documents for chunk in chunk_document(document, lambda text: [(0, len(text))])]
    (finding,) = audit(chunks, documents)
    assert (finding.kind, finding.chunk.document_id) == (DUPLICATE, "b")
    assert finding.evidence == f"the same words as a [0, {len(SAFETY)})"


def test_nearly_the_same_words() -> None:
    near, far = SAFETY.replace("may burn", "can burn"), SAFETY.replace(" and", "; that is why we").replace("fire", "it")
    documents = [Document(text, id=name) for name, text in {"a": SAFETY, "b": near, "c": far}.items()]
    chunks = [chunk for document in documents for chunk in chunk_document(document, lambda text: [(0, len(text))])]
    assert [(f.kind, f.chunk.document_id) for f in audit(chunks, documents)] == [(DUPLICATE, "b")]
    assert len(audit(chunks, documents, alike=0.4)) == 2


def test_overlap_and_parents_are_no_duplicates() -> None:
    document = Document(f"{SAFETY} Ask us.")
    assert DUPLICATE not in {kind for kind, *_ in found(document, (0, len(SAFETY)), (6, len(document.text)))}


def test_what_the_encoder_does_not_read() -> None:
    document = Document("word " * 254 + "end")
    assert UNREAD not in [kind for kind, *_ in found(document, (0, 1269))]
    assert found(document, (0, 1273)) == [(UNREAD, 0, "255 of at most 254")]
    assert [kind for kind, *_ in found(document, (0, 1273), reads=255)] == []
    (chunk,) = chunk_document(Document(document.text[:1269]), lambda text: [(0, 1269)])
    assert audit([chunk], [Document(chunk.text)]) == []
    assert [f.kind for f in audit([replace(chunk, context="Title")], [Document(chunk.text)])] == [UNREAD]


# --- The list of findings --------------------------------------------------------------------------------------------


def test_a_finding_says_kind_place_evidence_and_advice() -> None:
    document = Document.from_markdown(HEADED, id="policy", pages=(0,))
    (finding,) = audit(chunk_document(document, lambda text: [(0, 34), (36, len(text))]), [document], tiny=0)
    assert finding.place == "policy [0, 34), Returns, page 1"
    assert str(finding) == "dangling heading: policy [0, 34), Returns, page 1: Faults ‖ Sixty days, whoever broke it."
    assert "split_markdown" in finding.advice
    with pytest.raises(FrozenInstanceError):
        finding.kind = TINY  # type: ignore[misc]


def test_findings_come_in_the_order_of_the_chunks() -> None:
    first, second = Document(FAULTY, id="z"), Document(FAULTY, id="a")
    chunks = [c for d in (first, second) for c in chunk_document(d, lambda text: [(0, 50), (51, len(text))])]
    assert [(f.chunk.document_id, f.kind) for f in audit(chunks, [second, first], tiny=0)] == [
        ("z", MID_SENTENCE),
        ("a", MID_SENTENCE),
        ("a", DUPLICATE),
        ("a", DUPLICATE),
    ]
    assert audit([], []) == []


def test_a_chunk_needs_its_own_document() -> None:
    chunks = chunk_document(Document(FAULTY, id="a"), lambda text: [(0, 10)])
    with pytest.raises(ValueError, match="'a' of a chunk is not among the documents"):
        audit(chunks, [])
    with pytest.raises(ValueError, match=r"at \[0, 10\) is of another text of 'a'"):
        audit(chunks, [Document(FAULTY.replace("Keep", "Take"), id="a")])


@given(
    st.text(alphabet="aB1. \n#|-`~>:,\r\f。字\ud800", max_size=120),
    st.integers(1, 30),
    st.integers(0, 8),
    st.sampled_from(["text/plain", "text/markdown"]),
)
def test_any_text_can_be_audited(text: str, size: int, overlap: int, media_type: str) -> None:
    document = Document.from_markdown(text, media_type=media_type)
    splitter = partial(split_fixed_size, chunk_size=size, chunk_overlap=min(overlap, size - 1), length="characters")
    findings = audit(chunk_document(document, splitter), [document], length="words")
    assert {finding.kind for finding in findings} <= set(KINDS)
    one: Splitter = lambda whole: [(0, len(whole))] if whole else []  # noqa: E731
    whole = {finding.kind for finding in audit(chunk_document(document, one), [document], length="words")}
    assert whole <= {FENCE}  # nothing is cut where there is no cut; the author may have left a fence open


# --- On the course's documents: planted faults found, clean chunks not flagged ---------------------------------------

SIZE = 150


@cache
def clean() -> dict[Document, list[Chunk]]:
    """Chunks as they should be: Markdown by its structure, plain text by sentences, each with its context."""
    splitters: dict[str, Splitter] = {
        "text/markdown": partial(split_markdown, chunk_size=SIZE),
        "text/plain": partial(split_sentences, chunk_size=SIZE),
    }
    return {
        document: [add_context(chunk, document) for chunk in chunk_document(document, splitters[document.media_type])]
        for document in load_course_documents()
        if document.media_type in splitters and document.id != "zh-cases.md"
    }


def clean_chunks() -> list[Chunk]:
    return [chunk for chunks in clean().values() for chunk in chunks]


#: What the audit says of the clean chunks, all of it true: the first four manuals share a page of safety, one leaflet
#: stands in two files, and a table ends with a row of its own.
TRUE_FINDINGS = {
    (DUPLICATE, "homehub-manual.md"): 1,
    (DUPLICATE, "tw5-watch-manual.md"): 1,
    (DUPLICATE, "vr80-vacuum-manual.md"): 1,
    (DUPLICATE, "help-battery-care.txt"): 7,
    (TINY, "ax310-headphones-manual.md"): 1,
}


def test_clean_chunks_are_not_flagged() -> None:
    assert len(clean_chunks()) > 550
    findings = audit(clean_chunks(), clean())
    assert Counter((f.kind, f.chunk.document_id) for f in findings) == TRUE_FINDINGS  # so 0 false alarms


def recut(document: Document, first: int, last: int, place: int, kind: str) -> list[Chunk]:
    """What the audit names if the text of the clean chunks from first to last is two chunks, cut at a place."""
    chunks = clean()[document]
    spans: list[tuple[int, int]] = [chunk.span for chunk in chunks]
    end = len(document.text[:place].rstrip())
    spans[first : last + 1] = [(chunks[first].start, end), (place, chunks[last].end)]
    again = [add_context(chunk, document) for chunk in chunk_document(document, lambda text: spans)]
    return [finding.chunk for finding in audit(again, [document]) if finding.kind == kind]


def middle_of_a_sentence(document: Document, chunk: Chunk, after: Chunk) -> int | None:
    """A blank in the last sentence of the chunk, if that is prose of some length."""
    last = split_sentences(chunk.text)[-1]
    words = last.of(chunk.text)
    if len(words.split()) < 8 or words[0] in "#|`-" or not words.endswith(".") or "\n" in words:
        return None
    return chunk.start + last.start + words.index(" ", len(words) // 2) + 1


def above_its_heading(document: Document, chunk: Chunk, after: Chunk) -> int | None:
    """After the heading that the next chunk starts with, if its first sentence would have fitted beside it."""
    heading = next((h for h in document.headings if h.start == after.start), None)
    if heading is None or heading.end >= after.end or document.text[heading.end :].lstrip().startswith("#"):
        return None
    return after.end - len(document.text[heading.end : after.end].lstrip())


@pytest.mark.parametrize(
    ("kind", "moved", "least"), [(MID_SENTENCE, middle_of_a_sentence, 80), (DANGLING, above_its_heading, 60)]
)
def test_moved_cuts_are_found(kind: str, moved: Callable[[Document, Chunk, Chunk], int | None], least: int) -> None:
    """The cut between two chunks is moved, one at a time, at up to five places of each document."""
    planted = 0
    for document, chunks in clean().items():
        places = {at: place for at in range(1, len(chunks)) if (place := moved(document, *chunks[at - 1 : at + 1]))}
        for at in random.Random(document.id).sample(list(places), min(5, len(places))):
            named = [chunk.index for chunk in recut(document, at - 1, at, places[at], kind)]
            assert named == [at - 1], (document.id, at)  # found, and alone
            planted += 1
    assert planted > least


def test_planted_rows_without_header_are_found() -> None:
    planted = {
        chunk.id
        for document, chunks in clean().items()
        for chunk in chunks
        if any(header.start < chunk.start < table.end for header, table in document.tables)
    }
    assert len(planted) > 30
    bare = [replace(chunk, context="") for chunk in clean_chunks()]
    assert {f.chunk.id for f in audit(bare, clean()) if f.kind == NO_HEADER} == planted


def test_planted_cuts_in_fences_are_found() -> None:
    """At each of their lines, for each fence that stands whole in a chunk."""
    planted = 0
    for document, chunks in clean().items():
        for at, chunk in enumerate(chunks):
            for fence in re.finditer(r"(?ms)^```\w*\n.*?^```$", chunk.text):
                for line in re.finditer(r"\n(?=[^\n])", fence[0]):
                    named = recut(document, at, at, chunk.start + fence.start() + line.end(), FENCE)
                    assert [chunk.index for chunk in named] == [at], (document.id, chunk.span)
                    planted += 1
    assert planted >= 10


def test_planted_tiny_chunks_are_found() -> None:
    planted = 0
    for document, chunks in clean().items():
        for at, chunk in enumerate(chunks):
            last = split_sentences(chunk.text)[-1]
            if last.start and 1 < len(last.of(chunk.text).split()) < 6 and chunk.text[-1] == "." and planted < 60:
                place = chunk.start + last.start
                assert (place, chunk.end) in [named.span for named in recut(document, at, at, place, TINY)]
                planted += 1
    assert planted >= 20


def test_planted_near_duplicates_are_found() -> None:
    """A copy of each document in which every thirtieth word is another one."""
    copies, planted = [], []
    for chunk in (c for c in clean_chunks() if len(c.text.split()) > 40 and not c.document_id.startswith("help")):
        words = chunk.text.split(" ")
        copied = Document(" ".join("other" if i % 30 == 15 else w for i, w in enumerate(words)), id=f"copy {chunk.id}")
        copies.append(copied)
        planted += chunk_document(copied, lambda text: [(0, len(text))])
    findings = audit([*clean_chunks(), *planted], [*clean(), *copies])
    hits = {finding.chunk.id for finding in findings if finding.kind == DUPLICATE}
    share = len(hits & {chunk.id for chunk in planted}) / len(planted)
    assert len(planted) > 300
    assert share >= 0.97  # where three runs of words in ten differ, it is another text


def test_planted_long_chunks_are_found() -> None:
    chunks = [c for d in clean() for c in chunk_document(d, partial(split_recursive, chunk_size=400))]
    planted = {chunk.id for chunk in chunks if count(chunk.text, "wordpieces") > 254}
    assert len(planted) > 100
    assert {f.chunk.id for f in audit(chunks, clean()) if f.kind == UNREAD} == planted


# --- Cost ------------------------------------------------------------------------------------------------------------


def calls(documents: Sequence[Document], chunk_size: int, length: Length) -> tuple[int, list[Finding]]:
    """How many functions an audit calls, and what it finds."""
    splitter = partial(split_fixed_size, chunk_size=chunk_size, length=length)
    chunks = [chunk for document in documents for chunk in chunk_document(document, splitter)]
    called = 0

    def tell(frame: object, event: str, argument: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    sys.setprofile(tell)
    try:
        findings = audit(chunks, documents, length=length)
    finally:
        sys.setprofile(None)
    return called, findings


@pytest.mark.parametrize(
    ("before", "unit"),
    [
        pytest.param("", "word ", id="one sentence"),
        pytest.param("", "## A\n\n", id="headings"),
        pytest.param("| a | b |\n|---|---|\n", "| 1 | 2 |\n", id="one table"),
        pytest.param("", "```\na\n```\n\n", id="fences"),
        pytest.param("", "`", id="marks"),
        pytest.param("", "A b. ", id="short sentences"),
    ],
)
def test_hard_texts_cost_no_more_than_their_length(before: str, unit: str) -> None:
    once, twice = (calls([Document.from_markdown(before + unit * n)], 50, "words")[0] for n in (2000, 4000))
    assert twice < 2.5 * once


def test_equal_chunks_are_compared_in_linear_time() -> None:
    words = random.Random(0).choices([f"w{i}" for i in range(400)], k=60)
    documents = [Document(" ".join([*words[:30], str(i), *words[30:]]), id=str(i)) for i in range(2000)]
    once, _ = calls(documents[:1000], 100, "words")
    twice, findings = calls(documents, 100, "words")
    assert twice < 2.5 * once
    assert [finding.kind for finding in findings] == [DUPLICATE] * 1999
