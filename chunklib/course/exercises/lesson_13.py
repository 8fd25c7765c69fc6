# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 13: what more workers buy, how many are needed, results that arrive out of order.

But: they reckon with rates that stay the same; real machines share their cores, memory and network.
"""

from __future__ import annotations

import math
from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def times_faster() -> float:
    """How many times as fast the whole is."""
    return 100 / (90 / 9 + 10)


def workers_needed(documents: int, chunks: int, per_second: int, hours: int) -> int:
    """The fewest workers that encode all within so many hours."""
    for_one = per_second * 3600 * hours
    return (documents * chunks + for_one - 1) // for_one


def in_order(arrivals: list[tuple[int, str]]) -> list[list[str]]:
    """What can be handed out after each arrival."""
    waiting: dict[int, str] = {}
    following, handed_out = 0, []
    for number, value in arrivals:
        if number >= following:
            waiting[number] = value
        now = []
        while following in waiting:
            now.append(waiting.pop(following))
            following += 1
        handed_out.append(now)
    return handed_out


def _whole_workers(documents: int, chunks: int, per_second: int, hours: int) -> int:
    return documents * chunks // (per_second * 3600 * hours)


def _nearest(documents: int, chunks: int, per_second: int, hours: int) -> int:
    return round(documents * chunks / (per_second * 3600 * hours))


def _in_seconds(documents: int, chunks: int, per_second: int, hours: int) -> int:
    return math.ceil(documents * chunks / (per_second * hours))


def _documents_only(documents: int, chunks: int, per_second: int, hours: int) -> int:
    return math.ceil(documents / (per_second * 3600 * hours))


def _as_they_come(arrivals: list[tuple[int, str]]) -> list[list[str]]:
    return [[value] for _, value in arrivals]


def _one_at_a_time(arrivals: list[tuple[int, str]]) -> list[list[str]]:
    waiting, following, handed_out = dict[int, str](), 0, []
    for number, value in arrivals:
        if number >= following:
            waiting[number] = value
        handed_out.append([waiting.pop(following)] if following in waiting else [])
        following += len(handed_out[-1])
    return handed_out


def _all_at_the_end(arrivals: list[tuple[int, str]]) -> list[list[str]]:
    known = dict(arrivals)
    return [[] for _ in arrivals[1:]] + [[known[number] for number in sorted(known)]]


def _again(arrivals: list[tuple[int, str]]) -> list[list[str]]:
    waiting, following, handed_out = dict[int, str](), 0, []
    for number, value in arrivals:
        waiting[number] = value
        now = [value] if number < following else []
        while following in waiting:
            now.append(waiting[following])
            following += 1
        handed_out.append(now)
    return handed_out


EXERCISES = {
    "13.1": Exercise(
        judge=guess(times_faster, within=0.05),
        solution=times_faster,
        hints=(
            "How many hours does the encoder take with nine workers, and how many does the rest take?",
            "10 + 10 hours instead of 100.",
        ),
        wrong=(
            (9, "Only the encoder's share is divided by nine. The rest takes as long as before."),
            (1.25, "That is 100 to 80: the encoder's 90 hours become 10, not 70."),
            (10, "That is the limit, however many workers there are. With nine, the encoder still takes its time."),
            (20, "That is hours. How many times does 20 go into 100?"),
            (8.1, "Shares of speed do not add up; add up the hours that are left."),
        ),
    ),
    "13.2": Exercise(
        judge=cases(
            workers_needed,
            (36_000, 10, 10, 10),
            (1_000_000, 36, 16, 30),
            (36_001, 10, 10, 10),
            (1_000_000, 36, 16, 24),
            (1_000_000, 36, 16, 48),
            (10, 36, 16, 1),
            (1_000_000_000, 36, 16, 720),
        ),
        solution=workers_needed,
        hints=(
            "All texts are `documents * chunks`. How many does one worker read in `hours` hours of 3,600 seconds?",
            "Divide, and round up: add one less than the divisor before `//`, or take `math.ceil`.",
        ),
        wrong=(
            (_whole_workers, "That leaves some texts for later: round up, and one text needs one worker."),
            (_nearest, "That is sometimes one worker too few: round up."),
            (_in_seconds, "`per_second` counts seconds, `hours` hours: 3,600 of the one are one of the other."),
            (_documents_only, "The encoder reads chunks. Each document has `chunks` of them."),
        ),
    ),
    "13.3": Exercise(
        judge=cases(
            in_order,
            ([(0, "a"), (1, "b"), (2, "c")],),
            ([(1, "b"), (0, "a"), (2, "c")],),
            ([(2, "c"), (1, "b"), (3, "d"), (0, "a")],),
            ([(0, "a"), (2, "c"), (0, "a"), (1, "b"), (1, "b")],),
            ([(1, "b"), (1, "b"), (0, "a")],),
            ([],),
        ),
        solution=in_order,
        hints=(
            "Keep what cannot be handed out yet in a dict from number to value, and the number that comes next.",
            "After each arrival: while the next number is in the dict, take it out, append it, count on. A number "
            "below the next one has been handed out before.",
        ),
        wrong=(
            (_as_they_come, "That is the order of arrival. Number 1 has to wait for number 0."),
            (_one_at_a_time, "One arrival may set several free: go on while the next number is there."),
            (
                _all_at_the_end,
                "Nothing may wait longer than it has to: at a million documents the list fills the memory.",
            ),
            (_again, "A result that comes a second time has been handed out already."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
