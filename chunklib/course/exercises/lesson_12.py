# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 12: a search that starts too late, places that are wrong, places that count from a parent.

But: texts and places are small ones; what the libraries do is in the lesson.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def shared_at_most() -> int:
    """The search begins as many characters before the end as the overlap has tokens."""
    return 50  # the number of tokens, taken for characters


def wrong_places(text: str, pieces: Sequence[tuple[str, int]]) -> list[int]:
    """Numbers of the pieces that do not stand where they claim to."""
    return [i for i, (piece, start) in enumerate(pieces) if start < 0 or text[start : start + len(piece)] != piece]


def _only_not_found(text: str, pieces: Sequence[tuple[str, int]]) -> list[int]:
    return [i for i, (_, start) in enumerate(pieces) if start < 0]


def _by_search(text: str, pieces: Sequence[tuple[str, int]]) -> list[int]:
    return [i for i, (piece, start) in enumerate(pieces) if text.find(piece) != start]


def _minus_one_is_a_place(text: str, pieces: Sequence[tuple[str, int]]) -> list[int]:
    return [i for i, (piece, start) in enumerate(pieces) if not text[start:].startswith(piece)]


def _from_one(text: str, pieces: Sequence[tuple[str, int]]) -> list[int]:
    return [i + 1 for i in wrong_places(text, pieces)]


def _how_many(text: str, pieces: Sequence[tuple[str, int]]) -> int:
    return len(wrong_places(text, pieces))


def to_document(
    parents: Sequence[tuple[int, int]], children: Sequence[Sequence[tuple[int, int]]]
) -> list[tuple[int, int]]:
    """Places of all children in the document, where each counts from the start of its parent."""
    found = []
    for (parent_start, _), inside in zip(parents, children, strict=True):
        found += [(parent_start + start, parent_start + end) for start, end in inside]
    return found


def _lengths_added(
    parents: Sequence[tuple[int, int]], children: Sequence[Sequence[tuple[int, int]]]
) -> list[tuple[int, int]]:
    found, before = [], 0
    for (parent_start, parent_end), inside in zip(parents, children, strict=True):
        found += [(before + start, before + end) for start, end in inside]
        before += parent_end - parent_start
    return found


def _starts_only(
    parents: Sequence[tuple[int, int]], children: Sequence[Sequence[tuple[int, int]]]
) -> list[tuple[int, int]]:
    pairs = zip(parents, children, strict=True)
    return [(parent[0] + start, end) for parent, inside in pairs for start, end in inside]


def _nested(
    parents: Sequence[tuple[int, int]], children: Sequence[Sequence[tuple[int, int]]]
) -> list[list[tuple[int, int]]]:
    pairs = zip(parents, children, strict=True)
    return [[(parent[0] + start, parent[0] + end) for start, end in inside] for parent, inside in pairs]


EXERCISES = {
    "12.1": Exercise(
        judge=guess(shared_at_most),
        solution=shared_at_most,
        hints=(
            "The search for a chunk begins at the end of the one before, minus the overlap as a number of characters.",
            "Where does a chunk begin that shares as many characters as there are tokens in the setting? And one more?",
        ),
        wrong=(
            (200, "50 tokens are about 200 characters; but the search takes the number as it is, for characters."),
            (0, "It does go back a little: by the number that was set for the overlap."),
            (20, "That is the setting of the lesson. Here it is 50."),
            (49, "At most: what starts exactly where the search begins is found as well."),
            (51, "That chunk starts one character before the search begins."),
        ),
    ),
    "12.2": Exercise(
        judge=cases(
            wrong_places,
            ("Ask us. Ask us.", [("Ask us.", 0), ("Ask us.", 8)]),
            ("Ask us. Then wait.", [("Ask us.", 0), ("Then wait.", -1)]),
            ("Ask us. Then wait.", [("Ask us.", 1), ("Then wait.", 8)]),
            ("Yes. No.", [("Yes.", 0), ("No.", 5), (".", -1)]),
            ("", []),
        ),
        solution=wrong_places,
        hints=(
            "Cut the text at the claimed place, as long as the piece is, and compare.",
            "`text[-1:]` is the last character, not an error: look at the sign of the start first.",
        ),
        wrong=(
            (_only_not_found, "A place may also be there and be wrong: compare the text that stands at it."),
            (_by_search, "A text that stands twice has two right places. Look at the one that is claimed."),
            (_minus_one_is_a_place, "-1 says *not found*, but to Python it is the last character."),
            (_from_one, "The first piece has the number 0."),
            (_how_many, "A list of numbers is asked for, not how many there are."),
        ),
    ),
    "12.3": Exercise(
        judge=cases(
            to_document,
            ([(0, 10), (10, 20)], [[(0, 4), (5, 10)], [(0, 10)]]),
            ([(0, 10), (12, 20)], [[(0, 10)], [(0, 3), (4, 8)]]),
            ([(0, 10), (6, 20)], [[(0, 10)], [(2, 9)]]),
            ([(5, 9)], [[]]),
        ),
        solution=to_document,
        hints=(
            "Each child's start and end grow by one number: the start of its parent.",
            "Go through parents and children together with `zip`, and collect in one flat list.",
        ),
        wrong=(
            (
                _lengths_added,
                "Parents may share text or leave gaps. Add the start of the parent itself.",
            ),
            (_starts_only, "The end counts from the parent's start as well."),
            (_nested, "One flat list is asked for, not a list for each parent."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
