# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 05: how many chunks a percentile makes, peaks instead of a threshold, chunks of a largest size.

But: they work on lists of distances; no text is encoded.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def n_chunks() -> int:
    """How many chunks 41 sentences give at the 90th percentile, if no two distances are equal."""
    place = 39 * 90 / 100  # 35.1: the distances at places 36, 37, 38 and 39 lie above it
    cuts = 39 - int(place)
    return cuts + 1


def peaks(distances: list[float]) -> list[int]:
    """Gaps whose distance is above the mean and above that of each neighbour."""
    found = []
    mean = sum(distances) / max(len(distances), 1)
    for gap, distance in enumerate(distances):
        neighbours = distances[max(gap - 1, 0) : gap] + distances[gap + 1 : gap + 2]
        if distance > mean and all(distance > other for other in neighbours):
            found.append(gap)
    return found


def cut_large(distances: list[float], most: int) -> list[int]:
    """Sizes of the chunks: any that has more than ``most`` sentences is cut at its largest inner distance."""
    if len(distances) < most:
        return [len(distances) + 1]
    gap = distances.index(max(distances))
    return cut_large(distances[:gap], most) + cut_large(distances[gap + 1 :], most)


def _not_the_mean(distances: list[float]) -> list[int]:
    found = []
    for gap, distance in enumerate(distances):
        neighbours = distances[max(gap - 1, 0) : gap] + distances[gap + 1 : gap + 2]
        if all(distance > other for other in neighbours):
            found.append(gap)
    return found


def _without_the_ends(distances: list[float]) -> list[int]:
    mean = sum(distances) / max(len(distances), 1)
    inner = range(1, len(distances) - 1)
    return [i for i in inner if distances[i] > max(mean, distances[i - 1], distances[i + 1])]


def _from_behind(distances: list[float]) -> list[int]:
    mean = sum(distances) / max(len(distances), 1)
    found = []
    for i in range(len(distances)):
        after = distances[i + 1] if i + 1 < len(distances) else 0
        if distances[i] > max(mean, distances[i - 1], after):
            found.append(i)
    return found


def _plateaus(distances: list[float]) -> list[int]:
    found = []
    mean = sum(distances) / max(len(distances), 1)
    for gap, distance in enumerate(distances):
        neighbours = distances[max(gap - 1, 0) : gap] + distances[gap + 1 : gap + 2]
        if distance > mean and all(distance >= other for other in neighbours):
            found.append(gap)
    return found


def _above_the_mean(distances: list[float]) -> list[int]:
    mean = sum(distances) / max(len(distances), 1)
    return [gap for gap, distance in enumerate(distances) if distance > mean]


def _one_cut(distances: list[float], most: int) -> list[int]:
    if len(distances) < most:
        return [len(distances) + 1]
    gap = distances.index(max(distances))
    return [gap + 1, len(distances) - gap]


def _counts_gaps(distances: list[float], most: int) -> list[int]:
    if len(distances) <= most:
        return [len(distances) + 1]
    gap = distances.index(max(distances))
    return _counts_gaps(distances[:gap], most) + _counts_gaps(distances[gap + 1 :], most)


def _last_of_equals(distances: list[float], most: int) -> list[int]:
    return cut_large(distances[::-1], most)[::-1]


def _halves(distances: list[float], most: int) -> list[int]:
    if len(distances) < most:
        return [len(distances) + 1]
    gap = len(distances) // 2
    return _halves(distances[:gap], most) + _halves(distances[gap + 1 :], most)


def _too_far(distances: list[float], most: int) -> list[int]:
    order = sorted(range(len(distances)), key=lambda gap: -distances[gap])
    cuts = [0, len(distances) + 1]
    for gap in order:
        if max(b - a for a, b in pairwise(cuts)) > most:
            cuts = sorted([*cuts, gap + 1])
    return [b - a for a, b in pairwise(cuts)]


EXERCISES = {
    "5.1": Exercise(
        judge=guess(n_chunks),
        solution=n_chunks,
        hints=(
            "41 sentences have 40 distances, at the places 0 to 39 once they are sorted. Where do 90 per cent lie?",
            "At place 35.1, between two distances. Count the places above it; one cut more makes one chunk more.",
        ),
        wrong=(
            (4, "That many cuts. Each cut makes one chunk more."),
            (37, "Cut is what lies above the threshold, not what lies below it."),
            (36, "Cut is what lies above the threshold, not what lies below it."),
            (6, "That is what a truncated place with `>=` makes: place 35 is cut, too."),
            (40, "Only what exceeds the threshold is a cut."),
        ),
    ),
    "5.2": Exercise(
        judge=cases(
            peaks,
            ([0.2, 0.9, 0.3, 0.4, 0.1],),
            ([0.8, 0.2, 0.3, 0.9],),
            ([0.1, 0.3, 0.2, 0.9, 0.8, 0.85, 0.1],),
            ([0.2, 0.8, 0.8, 0.2],),
            ([0.2, 0.9, 0.1, 0.5, 0.2, 0.6],),
            ([0.5, 0.5],),
            ([0.7],),
            ([],),
        ),
        solution=peaks,
        hints=(
            "Which neighbours does gap `i` have? The first and the last gap have one each.",
            "`distances[max(i - 1, 0) : i] + distances[i + 1 : i + 2]` holds the neighbours that there are.",
        ),
        wrong=(
            (_not_the_mean, "A small bump among small distances is no turn: ask for more than the mean, too."),
            (_without_the_ends, "The first and the last gap have one neighbour. They can be peaks as well."),
            (_from_behind, "`distances[i - 1]` of the first gap is the last of the list: `i` is 0 there."),
            (_plateaus, "A peak is *larger* than its neighbours. Two equal ones are none."),
            (_above_the_mean, "That is a threshold. A peak is also larger than the gaps beside it."),
        ),
    ),
    "5.3": Exercise(
        judge=cases(
            cut_large,
            ([0.1, 0.9, 0.2, 0.3], 3),
            ([0.2, 0.1], 2),
            ([0.1, 0.9, 0.2, 0.3], 2),
            ([0.1, 0.2, 0.3, 0.9, 0.8], 3),
            ([0.5, 0.4, 0.3, 0.9, 0.7, 0.1, 0.6], 2),
            ([0.3, 0.3, 0.3, 0.3], 2),
            ([0.8, 0.9, 0.1, 0.2, 0.15], 2),
            ([0.1, 0.9, 0.2, 0.3], 1),
            ([0.1, 0.2], 3),
            ([], 1),
        ),
        solution=cut_large,
        hints=(
            "A chunk with `n` distances inside has `n + 1` sentences. What is to be done with the two halves of a cut?",
            "The same again: call `cut_large` on the distances before the cut and on those after it; add the lists.",
        ),
        wrong=(
            (_one_cut, "After one cut a half may still be too large. Cut it again."),
            (_counts_gaps, "A chunk with `most` distances inside has one sentence too many."),
            (_last_of_equals, "Of equal distances the first is cut."),
            (_halves, "That cuts in the middle. Cut where the distance is largest."),
            (_too_far, "A chunk that fits already is cut. Look at each chunk on its own."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
