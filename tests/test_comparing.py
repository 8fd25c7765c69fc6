# SPDX-License-Identifier: MIT
"""Places of chunks that came as strings, and what is counted about them."""

from __future__ import annotations

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from chunklib.course.comparing import Counts, as_splitter, compare, locate, ours, places, table
from chunklib.course.peer_store import Piece
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.sentence import split_sentences
from tests.laws import hard_text

TEXT = "# Returns\n\nAsk us. Then send it.\n\n## Faults\n\nAsk us. Sixty days."


@given(hard_text, st.integers(1, 9), st.sampled_from([split_fixed_size, split_recursive, split_sentences]))
def test_spans_are_found_again(text: str, size: int, split: partial[list[tuple[int, int]]]) -> None:
    spans = split(text, chunk_size=size, length="words")
    assert locate(text, [text[start:end] for start, end in spans]) == spans
    assert places(text, [Piece(text[start:end]) for start, end in spans]) == spans
    assert places(text, ours(text, spans)) == spans


@given(hard_text, st.sampled_from(["  \n", "\n\n\n", "\t"]))
def test_changed_blanks_do_no_harm(text: str, blank: str) -> None:
    spans = split_sentences(text)
    altered = [blank.join(text[start:end].split()) for start, end in spans]
    assert locate(text, altered) == spans


def test_what_is_not_there_has_no_place() -> None:
    assert locate("Ask us. Then wait.", ["Ask us.", "Never.", "", "Then wait."]) == [(0, 7), None, None, (8, 18)]


def test_overlapping_pieces_must_go_on() -> None:
    """The second piece stands inside the first as well; it must end later than that."""
    text = "us. Ask us. Then us. Wait."
    assert locate(text, ["us. Ask us. Then", "us. Then us.", "us. Wait."], overlapping=True) == [
        (0, 16),
        (8, 20),
        (17, 26),
    ]


def test_a_claimed_place_wins_if_it_holds() -> None:
    text = "Ask us. Ask us. Ask us."
    assert places(text, [Piece("Ask us.", 0), Piece("Ask us.", 16)]) == [(0, 7), (16, 23)]
    assert places(text, [Piece("Ask us.", 0), Piece("Ask us.", 17)]) == [(0, 7), (8, 15)]
    assert places(text, [Piece(" Ask us. ", 7, 16)]) == [(8, 15)]
    # a chunk that only repeats the end of the one before, as one library makes them
    assert places(text, [Piece("Ask us. Ask us.", 0, 15), Piece("us.", 12, 15)], overlapping=True)[1] == (12, 15)


def test_each_fault_is_counted() -> None:
    good = ours(TEXT, [(0, 32), (34, len(TEXT))])
    assert compare(TEXT, good, chunk_size=20) == Counts(2, 0, 0, 0, 0, 0, 0)
    assert compare(TEXT, good, chunk_size=10).over == 1
    assert compare(TEXT, good, chunk_size=None).over is None
    assert compare(TEXT, good[:1], chunk_size=20).lost == len("##Faults" + "Askus.Sixtydays.")
    joined = [Piece("# Returns  \nAsk us. Then send it."), good[1]]
    assert compare(TEXT, joined, chunk_size=20) == Counts(2, 0, 1, 1, 0, 0, 0)
    assert compare(TEXT, [piece._replace(start=None, end=None) for piece in good], chunk_size=20).misplaced is None
    moved = [good[0], good[1]._replace(start=33, end=len(TEXT) - 1)]
    assert compare(TEXT, moved, chunk_size=20).misplaced == 1
    assert compare(TEXT, [good[0]._replace(start=-1), good[1]], chunk_size=20).misplaced == 1
    assert compare(TEXT, [good[0], good[1]._replace(end=len(TEXT) - 1)], chunk_size=20).misplaced == 1
    bare = ours(TEXT, [(0, 43), (45, len(TEXT))])
    assert compare(TEXT, bare, chunk_size=20).bare == 1
    cut = ours(TEXT, [(0, 14), (15, len(TEXT))])
    assert compare(TEXT, cut, chunk_size=20).cut == 1
    chinese = "今天很好。真的。"
    assert compare(chinese, ours(chinese, [(0, 5), (5, 8)]), chunk_size=20).cut == 0, "it begins where another ends"


def test_a_heading_at_the_very_end_is_not_bare() -> None:
    text = "# Returns\n\nAsk us.\n\n## Nothing\n"
    assert compare(text, ours(text, [(0, 18), (20, 30)]), chunk_size=20).bare == 0


def test_a_torn_character_is_lost_and_no_more() -> None:
    text = "设备一经激活"
    pieces = [Piece("设备一\ufffd", 0, 4), Piece("\ufffd激活", 4, 7)]
    counts = compare(text, pieces, chunk_size=20)
    assert (counts.altered, counts.misplaced, counts.lost) == (2, 2, 1)


def test_a_peer_as_a_splitter() -> None:
    def halves(text: str, *, chunk_size: int) -> list[Piece]:
        return [Piece(text[:chunk_size]), Piece(" never there "), Piece(text[chunk_size:] + "\n")]

    splitter = as_splitter(halves, chunk_size=7)
    assert splitter("Ask us. Then wait.") == [(0, 7), (8, 18)]
    assert splitter.__name__ == "halves"


def test_the_table_shows_a_dash_for_what_was_not_counted() -> None:
    shown = table({"a <b>": Counts(1, None, 0, None, 2, 0, 0)})
    assert repr(shown).splitlines()[1].split() == ["a", "<b>", "1", "-", "0", "-", "2", "0", "0"]
    assert '<td style="text-align: left">a &lt;b&gt;</td>' in shown._repr_html_()
