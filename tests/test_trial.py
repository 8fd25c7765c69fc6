# SPDX-License-Identifier: MIT
"""Techniques side by side: what is measured of each, and what is recommended on that evidence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from chunklib.core.document import Chunk, Document, chunk_document
from chunklib.core.span import Span, Splitter
from chunklib.course.datasets import load_course_documents, load_course_questions
from chunklib.course.trial import (
    ADDED,
    Technique,
    Trial,
    by_structure,
    chart,
    edited,
    faults,
    recommend,
    table,
    techniques,
    try_out,
)
from chunklib.fixed_size import split_fixed_size
from chunklib.search.audit import DUPLICATE, TINY, Finding
from chunklib.search.evaluation import Question, Scores
from chunklib.search.retrieval import Index

LETTERS = "abcdefgh"


def letters(texts: Sequence[str]) -> Any:
    """A vector that counts some letters: no model is needed."""
    counts = np.array([[1 + text.count(c) for c in LETTERS] for text in texts], dtype=np.float32)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def by_letters(splitter: Splitter) -> Technique:
    return Technique(lambda document: splitter, lambda documents, chunks: Index(chunks, embed=letters))


PAGE = Document.from_markdown(
    "# Fees\n\naaaa, and no more of it at all here.\n\n## Post\n\nbbbb, and no more. Nor less."
)
ASKED = (
    Question("1", "aaaa?", "own", "tune", ((("document", Span(8, 44)),),)),
    Question("2", "bbbb?", "own", "tune", ((("document", Span(55, 60)),),)),
    Question("3", "cccc?", "own", "tune", ()),
)


def test_a_trial_measures_what_it_says() -> None:
    trial = try_out("halves", by_letters(lambda text: [(0, 20), (21, 73), (74, len(text))]), [PAGE], ASKED, budget=40)
    assert [chunk.context for chunk in trial.chunks] == ["Fees", "Fees", "Fees > Post"]
    assert len(trial.tokens) == 3
    assert trial.whole == 1 - 1 / 5  # two headings, three sentences; one is cut
    assert {(f.kind, f.chunk.index) for f in trial.findings} == {
        ("cut mid-sentence", 0),
        ("tiny chunk", 0),
        ("tiny chunk", 2),
    }
    assert trial.faulty == 2 / 3
    assert trial.scores is not None
    assert trial.scores.ids == ("1", "2")
    assert trial.scores.found.tolist() == [0, 1]


def test_without_questions_nothing_is_searched() -> None:
    def never(documents: object, chunks: object) -> Any:
        raise AssertionError("searched")

    for questions in ((), ASKED[2:]):
        trial = try_out("one", Technique(lambda d: lambda text: [(0, len(text))], never), [PAGE], questions)
        assert trial.scores is None
        assert (trial.whole, trial.faulty, trial.unread) == (1, 0, 0)
    empty = try_out("none", Technique(lambda d: lambda text: [], never), [Document("")], ASKED)
    assert (empty.whole, empty.stable, empty.faulty, empty.scores) == (1, 1, 0, None)


def test_a_bare_splitter_is_no_technique() -> None:
    mend = r"must be a Technique, such as Technique\(lambda document: my_splitter\)$"
    for wrong in (split_fixed_size, partial(split_fixed_size, chunk_size=5), "fixed", None):
        with pytest.raises(TypeError, match=rf"^technique=.* {mend}"):
            try_out("x", wrong, [PAGE])  # type: ignore[arg-type]


def test_copies_are_the_fault_of_the_documents() -> None:
    chunk = chunk_document(PAGE, lambda text: [(0, 10)])[0]
    findings = (Finding(DUPLICATE, chunk, "", ""),)
    assert Trial("a", (chunk,), findings, (1,), 1, 1, 0).faulty == 0
    assert Trial("a", (chunk,), (*findings, Finding(TINY, chunk, "", "")), (1,), 1, 1, 0).faulty == 1


def test_an_edit_moves_the_outline_along() -> None:
    text = "# Fees\n\nNone at all.\n\n| a |\n|---|\n| b |\n\n## Post\n\nFree."
    document = Document.from_markdown(text, pages=(0, 20))
    new = edited(document)
    assert new.text == text.replace("None", f"{ADDED}\n\nNone", 1)
    for before, after in zip(document.headings, new.headings, strict=True):
        assert new.text[after.start : after.end] == document.text[before.start : before.end]
    for before_row, after_row in zip(document.tables, new.tables, strict=True):
        assert [span.of(new.text) for span in after_row] == [span.of(text) for span in before_row]
    assert new.pages == [0, 20 + len(ADDED) + 2]
    assert edited(Document("One line.")).text == f"{ADDED} One line."


def test_stability_follows_the_structure_of_the_edited_document() -> None:
    """Cuts at headings move with the headings; cuts by counting do not."""
    page = next(d for d in load_course_documents("api-webhooks.html"))
    trials = {name: try_out(name, techniques()[name], [page]) for name in ("fixed", "structure")}
    assert trials["structure"].stable > 0.9
    assert trials["fixed"].stable < 0.2


@pytest.mark.parametrize(
    ("name", "starts"),
    [("returns-policy.md", "## "), ("api-webhooks.html", ""), ("service-desk-cards.pdf", ""), ("faq.txt", "")],
)
def test_structure_takes_what_a_document_offers(name: str, starts: str) -> None:
    (document,) = load_course_documents(name)
    spans = by_structure(document)(document.text)
    begun = {start for start, _ in spans}
    wanted = [h.start for h in document.headings if h.level <= 2 and h.end > h.start] or [0]
    assert len([start for start in wanted if start in begun]) >= 0.7 * len(wanted)


def test_pages_serve_where_there_are_no_headings() -> None:
    spans = by_structure(Document("one page\ftwo pages", media_type="application/pdf", pages=(0, 9)))(
        "one page\ftwo pages"
    )
    assert [tuple(span) for span in spans] == [(0, 8), (9, 18)]


# --- The recommendation ----------------------------------------------------------------------------------------------

CHUNKS = tuple(chunk_document(Document("word " * 100, id="d"), partial(split_fixed_size, chunk_size=1)))


def trial(name: str, found: Sequence[float] | None, *, faulty: int = 0, stable: float = 1.0) -> Trial:
    findings = tuple(Finding(TINY, chunk, "", "") for chunk in CHUNKS[:faulty])
    scores = None
    if found is not None:
        values = np.array(found, dtype=np.float64)
        ids = tuple(map(str, range(len(found))))
        scores = Scores(5, 4000, ids, ("own",) * len(ids), *[values] * 8)
    return Trial(name, CHUNKS, findings, tuple(range(1, 101)), 1, stable, 0, scores)


def test_without_questions_the_fewest_faults_win_and_it_says_so() -> None:
    chosen = recommend([trial("a", None, faulty=9), trial("b", None, faulty=2), trial("c", None, faulty=5)])
    assert chosen.name == "b"
    assert chosen.doubts == (
        "No question was asked: the form of the chunks was compared, not whether answers are found.",
    )
    assert "2% have a fault" in chosen.reasons[0]
    assert recommend([trial("a", None), trial("b", None)]).name == "a"  # of equals the simplest
    assert recommend([trial("a", None, stable=0.5), trial("b", None)]).name == "b"


def test_a_clear_difference_wins_over_faults() -> None:
    chosen = recommend([trial("a", [1] * 30, faulty=50), trial("b", [0] * 15 + [1] * 15)])
    assert chosen.name == "a"
    assert chosen.reasons[0] == "It finds 100% of 30 answers in 4,000 characters read."
    assert chosen.doubts == ("With 30 questions, its share lies between 100% and 100% (95 % interval).",)


def test_within_a_standard_error_the_better_form_wins_and_the_tie_is_told() -> None:
    best, near = [1] * 20 + [0] * 10, [1] * 19 + [0] * 10 + [1]
    near[0] = 0
    chosen = recommend([trial("best", best, faulty=30), trial("near", near, faulty=1)])
    assert chosen.name == "near"
    assert chosen.reasons[1] == "Within one standard error of the best (best, 67%) are: best, near."
    assert "Over these questions it is a tie with: best." in chosen.doubts


@pytest.mark.parametrize("n", range(2, 61))
def test_one_question_behind_is_within_a_standard_error_whatever_the_rounding(n: int) -> None:
    """Its mean difference and the error of that are both 1 / n."""
    chosen = recommend([trial("best", [1] * n, faulty=30), trial("near", [1] * (n - 1) + [0])])
    assert chosen.name == "near"


def test_few_questions_and_many_techniques_are_doubts() -> None:
    doubts = recommend([trial(name, [1, 0, 1]) for name in "abc"]).doubts
    assert "The best of 3 is partly the luckiest: ask it other questions before you trust it." in doubts
    narrow = "Below 20 questions, the interval itself is too narrow."
    assert narrow in doubts
    assert [narrow in recommend([trial("a", [1] * n)]).doubts for n in (19, 20)] == [True, False]
    assert recommend([trial("a", [1])]).name == "a"
    with pytest.raises(ValueError, match="at least one technique"):
        recommend([])


def test_the_table_and_the_counts() -> None:
    trials = [trial("a", [1, 0, 1, 1], faulty=3), trial("b", None)]
    assert table(trials)[1:] == [
        ["a", "100", "1 / 50 / 100", "100.0", "3", "100", "0", "75 [25, 100]"],
        ["b", "100", "1 / 50 / 100", "100.0", "0", "100", "0", "–"],
    ]
    assert {len(row) for row in table(trials)} == {8}
    assert faults(trials) == {TINY: {"a": 3, "b": 0}}
    assert chart(trials).alt == "Chunk sizes in tokens and numbers of findings by kind, for each of 2 techniques"
    assert chart([trial("a", None)]).png[:4] == b"\x89PNG"


def test_every_technique_runs_on_a_document_of_the_course() -> None:
    documents = load_course_documents("returns-policy.md")
    questions = [q for q in load_course_questions("returns-policy.md") if "60 days instead" in str(q.text) or q.gold][
        :3
    ]
    for name, technique in techniques(200).items():
        done = try_out(name, technique, documents, questions)
        assert done.name == name
        assert max(done.tokens) <= 200
        assert done.scores is not None
        assert all(isinstance(chunk, Chunk) and chunk.context for chunk in done.chunks)
