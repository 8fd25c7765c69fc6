# SPDX-License-Identifier: MIT
"""The scoreboard that is stored holds what the techniques do today."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from chunklib.core.document import Chunk, chunk_documents
from chunklib.course.datasets import load_course_questions
from chunklib.course.scoreboard import BUDGET, BUDGETS, Row, Scoreboard, score_row, scoreboard, scored_documents
from chunklib.search.evaluation import Interval, paired_difference
from chunklib.search.retrieval import Index
from tools.scoreboard import ROWS, whole

ROW = Row(
    "a <b>",
    "01",
    3,
    0.25,
    {"all": Interval(0.5, 0.25, 0.75), "fact": Interval(1.0, 1.0, 1.0)},
    (0.5,) * 6,
    {"fact": "11"},
)


def test_every_technique_has_its_row_in_the_order_of_the_lessons() -> None:
    rows = scoreboard().rows
    assert [(row.lesson, row.name) for row in rows] == [(lesson, name) for lesson, of in ROWS.items() for name in of]
    assert [row.lesson for row in rows] == sorted(row.lesson for row in rows)


def test_the_cheapest_row_is_what_is_stored() -> None:
    """The lessons assert the others, each its own."""
    assert score_row("whole document", chunk_documents(scored_documents(), whole), lesson="00") == scoreboard().rows[0]


def test_every_kind_of_question_is_counted_and_none_without_an_answer() -> None:
    kinds = {question.kind for question in load_course_questions() if question.gold}
    for row in scoreboard().rows:
        assert set(row.found) == {"all", *kinds}
        assert row.curve[BUDGETS.index(BUDGET)] == row.found["all"].mean
        assert list(row.curve) == sorted(row.curve)


def test_a_perfect_search_finds_all() -> None:
    questions = [q for q in load_course_questions("shipping.md") if len(q.gold[0]) == 1][:3]
    texts = {document.id: document.text for document in scored_documents()}
    places = [question.gold[0][0] for question in questions]
    chunks = [Chunk(texts[name][slice(*span)], *span, i, str(i), name) for i, (name, span) in enumerate(places)]
    assert score_row("gold", chunks, lesson="00", questions=questions).found["all"] == (1, 1, 1)


def test_what_was_never_encoded_is_not_unread() -> None:
    """A parent may be long: where only its children are encoded, nothing of it is lost to the encoder."""

    class Read(Index):
        encoded: tuple[Chunk, ...] = ()

    long = Chunk("word " * 1000, 0, 5000, 0, "a", "shipping.md")
    index, questions = Read([long]), load_course_questions("shipping.md")[:1]
    index.encoded = (Chunk("word", 0, 4, 0, "b", "shipping.md"),)
    assert score_row("long", [long], lesson="00", questions=questions).unread > 0.7
    assert score_row("long", index, lesson="00", questions=questions).unread == 0


def test_the_answers_of_each_question_are_what_the_shares_count() -> None:
    for row in scoreboard().rows:
        for kind, share in row.found.items():
            assert round(float(row.outcomes(kind).mean()), 4) == share.mean


def test_a_gain_is_counted_question_by_question() -> None:
    rows = [
        replace(ROW, name=name, answers={"fact": a, "code": b})
        for name, a, b in (("x", "1100", "1"), ("y", "1010", "0"))
    ]
    board = Scoreboard(tuple(rows))
    mean, low, high = paired_difference([1, 1, 0, 0, 1], [1, 0, 1, 0, 0])
    assert (
        board.gain("x", over="y")
        == f"{100 * mean:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
        == "+20.0 [-40.0, +80.0]"
    )
    assert board.gain("x", over="y", kind="fact").startswith("+0.0 ")
    assert board.gain("x", over="x") == "+0.0 [+0.0, +0.0]"
    with pytest.raises(KeyError, match="z"):
        board.gain("z", over="y")


def test_it_is_shown_with_intervals_and_escaped() -> None:
    board = Scoreboard((ROW,))
    cells = repr(board).splitlines()[1].split()
    assert cells == ["01", "a", "<b>", "3", "25", "50", "[25,", "75]", "100", "[100,", "100]"]
    page = board._repr_html_()
    assert "a &lt;b&gt;" in page
    assert "<b>" not in page
    assert re.sub("<[^>]*>", " ", page).split().count("[25,") == 1


def test_a_row_is_found_by_its_name() -> None:
    assert Scoreboard((ROW,))["a <b>"] is ROW
    with pytest.raises(KeyError, match="'x' is no row; there are a <b>"):
        Scoreboard((ROW,))["x"]
