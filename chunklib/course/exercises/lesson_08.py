# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 08: how many questions a claim needs, recall by characters, and the budget that an answer needs.

But: one document and one place for each answer; `chunklib.search.evaluation` knows parts and alternatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def n_questions() -> int:
    """From p(1 - p) / n = 0.02², solved for n."""
    share, error = 0.8, 0.02
    return round(share * (1 - share) / error**2)


def recall(read: Sequence[tuple[int, int]], gold: tuple[int, int]) -> float:
    """Characters of the gold that were read, each counted once, divided by all of them."""
    characters = set()
    for start, end in read:
        characters |= set(range(max(start, gold[0]), min(end, gold[1])))
    return len(characters) / (gold[1] - gold[0])


def _counted_twice(read: Sequence[tuple[int, int]], gold: tuple[int, int]) -> float:
    return sum(max(0, min(end, gold[1]) - max(start, gold[0])) for start, end in read) / (gold[1] - gold[0])


def _precision(read: Sequence[tuple[int, int]], gold: tuple[int, int]) -> float:
    characters = set[int]()
    for start, end in read:
        characters |= set(range(start, end))
    return len(characters & set(range(*gold))) / len(characters) if characters else 0.0


def _whole_or_nothing(read: Sequence[tuple[int, int]], gold: tuple[int, int]) -> float:
    return float(any(start <= gold[0] and gold[1] <= end for start, end in read))


def budget_needed(spans: Sequence[tuple[int, int]], gold: tuple[int, int]) -> int | None:
    """How many characters are read until one of the spans has shown the whole gold."""
    used = 0
    for start, end in spans:
        if start <= gold[0] and gold[1] <= end:
            return used + gold[1] - start
        used += end - start
    return None


def _whole_chunk(spans: Sequence[tuple[int, int]], gold: tuple[int, int]) -> int | None:
    used = 0
    for start, end in spans:
        used += end - start
        if start <= gold[0] and gold[1] <= end:
            return used
    return None


def _its_rank(spans: Sequence[tuple[int, int]], gold: tuple[int, int]) -> int | None:
    ranks = (i for i, (start, end) in enumerate(spans, start=1) if start <= gold[0] and gold[1] <= end)
    return next(ranks, None)


def _this_chunk_only(spans: Sequence[tuple[int, int]], gold: tuple[int, int]) -> int | None:
    found = (gold[1] - start for start, end in spans if start <= gold[0] and gold[1] <= end)
    return next(found, None)


def _all_of_it(spans: Sequence[tuple[int, int]], gold: tuple[int, int]) -> int | None:
    found = budget_needed(spans, gold)
    return found if found is not None else sum(end - start for start, end in spans)


EXERCISES = {
    "8.1": Exercise(
        judge=guess(n_questions, within=1),
        solution=n_questions,
        hints=(
            "The standard error of a share p of n questions is √(p(1 − p)/n). Here it is to be 0.02.",
            "Square both sides: 0.8 × 0.2 / n = 0.0004.",
        ),
        wrong=(
            (40, "0.16 divided by 0.02 × 0.02 is ten times as much: the error is squared."),
            (8, "The error has to be squared before you divide by it."),
            (
                100,
                "With 100 questions the standard error is four points. Half the error takes four times the questions.",
            ),
        ),
    ),
    "8.2": Exercise(
        judge=cases(
            recall,
            ([(0, 50)], (10, 30)),
            ([(0, 20), (25, 40)], (10, 30)),
            ([(0, 20), (15, 30)], (10, 30)),
            ([(40, 50)], (10, 30)),
            ([], (0, 5)),
        ),
        solution=recall,
        hints=(
            "Of each span only what lies inside the gold counts: the `max` of the starts, the `min` of the ends.",
            "Collect the positions in a set, so that a character that was read twice counts once.",
        ),
        wrong=(
            (_counted_twice, "Spans may share text. A character that is read twice is still one character."),
            (_precision, "That is precision: it divides by what was read. Recall divides by the gold."),
            (_whole_or_nothing, "A part counts as a part: this says 1 or 0 only."),
        ),
    ),
    "8.3": Exercise(
        judge=cases(
            budget_needed,
            ([(0, 100), (300, 400)], (310, 330)),
            ([(300, 400), (0, 100)], (310, 330)),
            ([(0, 100), (100, 200)], (90, 110)),
            ([(0, 100), (50, 150), (90, 200)], (120, 140)),
            ([], (0, 5)),
        ),
        solution=budget_needed,
        hints=(
            "Walk through the spans and add up what was read before. In which span does the gold lie wholly?",
            "In that span only the characters up to the end of the gold are needed: `gold[1] - start`.",
        ),
        wrong=(
            (_whole_chunk, "The last chunk need not be read to its end: the gold may stand at its start."),
            (_its_rank, "That is the rank of the chunk. Asked for are characters."),
            (_this_chunk_only, "What was read in the chunks before it counts as well."),
            (_all_of_it, "Where no span holds the gold, no budget is enough: return `None`."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
