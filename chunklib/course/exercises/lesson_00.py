# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""Exercises of lesson 00: the context window as a budget, search as a sort, and what the assistant gets to read.

But: 0.3 asks for the answer inside one chunk; `answer_found` in `chunklib.search.evaluation` also joins neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def chunks_that_fit() -> int:
    """What is left of the window, in whole chunks."""
    window, instructions, question, answer, chunk = 8000, 300, 50, 1000, 400
    return (window - instructions - question - answer) // chunk


def top_k(scores: Sequence[float], k: int) -> list[int]:
    """Positions of the highest scores, highest first."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])[:k]


def _lowest_first(scores: Sequence[float], k: int) -> list[int]:
    return sorted(range(len(scores)), key=lambda i: scores[i])[:k]


def _ties_turned_round(scores: Sequence[float], k: int) -> list[int]:
    return sorted(range(len(scores)), key=lambda i: scores[i])[::-1][:k]


def _scores_themselves(scores: Sequence[float], k: int) -> list[float]:
    return sorted(scores, reverse=True)[:k]


def gold_is_read(spans: Sequence[tuple[int, int]], gold: tuple[int, int], budget: int) -> bool:
    """Whether the gold lies wholly in one of the parts read."""
    for start, end in spans:
        end = min(end, start + budget)
        if start <= gold[0] and gold[1] <= end:
            return True
        budget -= end - start
    return False


def _without_budget(spans: Sequence[tuple[int, int]], gold: tuple[int, int], budget: int) -> bool:
    return any(start <= gold[0] and gold[1] <= end for start, end in spans)


def _a_part_will_do(spans: Sequence[tuple[int, int]], gold: tuple[int, int], budget: int) -> bool:
    for start, end in spans:
        end = min(end, start + budget)
        if start < gold[1] and gold[0] < end:
            return True
        budget -= end - start
    return False


def _parts_together(spans: Sequence[tuple[int, int]], gold: tuple[int, int], budget: int) -> bool:
    read: set[int] = set()
    for start, end in spans:
        end = min(end, start + budget)
        read |= set(range(start, end))
        budget -= max(0, end - start)
    return read >= set(range(*gold))


def _budget_anew(spans: Sequence[tuple[int, int]], gold: tuple[int, int], budget: int) -> bool:
    return any(start <= gold[0] and gold[1] <= min(end, start + budget) for start, end in spans)


EXERCISES = {
    "0.1": Exercise(
        judge=guess(chunks_that_fit),
        solution=chunks_that_fit,
        hints=(
            "Not all of the window is free. Take away first whatever else has to stand in it.",
            "Three things are taken away: instructions, question, answer. What is left is divided by the chunk, whole.",
        ),
        wrong=(
            (20, "That fills the whole window with chunks. Where do instructions, question and answer go?"),
            (19, "The answer is written into the same window. Was its room kept free?"),
            (16.625, "Chunks come whole: round down."),
            (17, "The last of them does not fit whole: round down."),
        ),
    ),
    "0.2": Exercise(
        judge=cases(top_k, ([0.1, 0.7, 0.4], 2), ([0.2, 0.2, 0.9], 3), ([0.5], 5), ([-0.3, -0.1], 1), ([], 3)),
        solution=top_k,
        hints=(
            "Sort the positions 0, 1, 2 …, not the scores.",
            "`sorted(range(len(scores)), key=...)` sorts positions; a minus before the score puts the highest first.",
        ),
        wrong=(
            (_lowest_first, "These are the lowest. `sorted` puts the smallest key first: turn the order round."),
            (
                _ties_turned_round,
                "Of equal scores the earlier comes first; turning the order round turns ties, too.",
            ),
            (_scores_themselves, "These are scores. Asked for are positions, so that the chunk can be looked up."),
        ),
    ),
    "0.3": Exercise(
        judge=cases(
            gold_is_read,
            ([(0, 100), (300, 400)], (320, 350), 4000),
            ([(300, 400), (0, 100)], (360, 380), 40),
            ([(0, 100), (300, 400)], (320, 350), 120),
            ([(0, 100), (300, 400)], (320, 350), 150),
            ([(0, 100), (300, 400)], (90, 120), 4000),
            ([(300, 400), (0, 100)], (320, 350), 50),
            ([(0, 100), (100, 200)], (90, 110), 4000),
            ([], (0, 5), 4000),
        ),
        solution=gold_is_read,
        hints=(
            "Walk through the spans in order and keep account of how many characters may still be read.",
            "Cut each span first: `end = min(end, start + budget)`. Then ask, then take its length off the budget.",
        ),
        wrong=(
            (_without_budget, "The budget is not used: what stands after it is not read."),
            (_a_part_will_do, "A part of the gold is not enough. It has to lie wholly in one of the parts read."),
            (_parts_together, "Two parts cover it together. Here one part has to hold it whole."),
            (_budget_anew, "Each chunk gets the whole budget. What was read before has to be taken off it."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
