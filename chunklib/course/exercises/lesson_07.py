# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 07: how many children to read, another way to rank parents, windows that do not repeat.

But: they work on names and numbers; the stores and their order of writes are `chunklib.parent_child`.
"""

from __future__ import annotations

from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def n_read() -> int:
    """How many children are read until four parents are known."""
    order = list("AABACBDAEA")
    return next(n for n in range(len(order) + 1) if len(set(order[:n])) == 4)


def by_two_best(hits: list[tuple[str, float]]) -> list[str]:
    """Parents in the order of the mean of their two best children."""
    scores: dict[str, list[float]] = {}
    for parent, score in hits:
        scores.setdefault(parent, []).append(score)
    means = {parent: sum(found[:2]) / len(found[:2]) for parent, found in scores.items()}
    return sorted(means, key=lambda parent: -means[parent])


def windows_to_read(spans: list[tuple[int, int]], found: list[int], around: int) -> list[tuple[int, int]]:
    """Windows around what was found, in the order of the text; those that share a sentence become one."""
    wanted = {i for at in found for i in range(max(0, at - around), min(len(spans), at + around + 1))}
    windows: list[tuple[int, int]] = []
    for i in sorted(wanted):
        if i - 1 in wanted:
            windows[-1] = (windows[-1][0], spans[i][1])
        else:
            windows.append(spans[i])
    return windows


def _all_children(hits: list[tuple[str, float]]) -> list[str]:
    scores: dict[str, list[float]] = {}
    for parent, score in hits:
        scores.setdefault(parent, []).append(score)
    means = {parent: sum(found) / len(found) for parent, found in scores.items()}
    return sorted(means, key=lambda parent: -means[parent])


def _sum_of_two(hits: list[tuple[str, float]]) -> list[str]:
    scores: dict[str, list[float]] = {}
    for parent, score in hits:
        scores.setdefault(parent, []).append(score)
    return sorted(scores, key=lambda parent: -sum(scores[parent][:2]))


def _by_best(hits: list[tuple[str, float]]) -> list[str]:
    return list(dict.fromkeys(parent for parent, _ in hits))


def _one_each(spans: list[tuple[int, int]], found: list[int], around: int) -> list[tuple[int, int]]:
    last = len(spans) - 1
    return [(spans[max(0, at - around)][0], spans[min(last, at + around)][1]) for at in sorted(found)]


def _as_found(spans: list[tuple[int, int]], found: list[int], around: int) -> list[tuple[int, int]]:
    last = len(spans) - 1
    return [(spans[max(0, at - around)][0], spans[min(last, at + around)][1]) for at in found]


def _sharing_only(spans: list[tuple[int, int]], found: list[int], around: int) -> list[tuple[int, int]]:
    windows: list[list[int]] = []
    for at in sorted(found):
        first, last = max(0, at - around), min(len(spans) - 1, at + around)
        if windows and first <= windows[-1][1]:
            windows[-1][1] = last
        else:
            windows.append([first, last])
    return [(spans[first][0], spans[last][1]) for first, last in windows]


def _alphabetical(hits: list[tuple[str, float]]) -> list[str]:
    scores: dict[str, list[float]] = {}
    for parent, score in hits:
        scores.setdefault(parent, []).append(score)
    means = {parent: sum(found[:2]) / len(found[:2]) for parent, found in scores.items()}
    return sorted(means, key=lambda parent: (-means[parent], parent))


def _from_the_end(spans: list[tuple[int, int]], found: list[int], around: int) -> list[tuple[int, int]]:
    return [(spans[at - around][0], spans[min(len(spans) - 1, at + around)][1]) for at in sorted(found)]


_SPANS = [(0, 8), (9, 17), (18, 28), (29, 38), (39, 48), (49, 60), (61, 70), (71, 80)]

EXERCISES = {
    "7.1": Exercise(
        judge=guess(n_read),
        solution=n_read,
        hints=(
            "Go along the list and note each parent that you have not seen before.",
            "`A`, then `B` at rank 3. At which rank does the fourth new letter come?",
        ),
        wrong=(
            (4, "The first four children, `A A B A`, have only two parents."),
            (5, "Among the first five there are three parents: `A`, `B` and `C`."),
            (6, "At rank 6 comes `B` again; it is known since rank 3."),
            (8, "Count the place of the fourth *new* letter."),
            (9, "At rank 9 comes the fifth parent, `E`. Four are known before."),
            (10, "All ten have five parents. Stop when four are known."),
        ),
    ),
    "7.2": Exercise(
        judge=cases(
            by_two_best,
            ([("A", 0.9), ("B", 0.8), ("B", 0.7), ("A", 0.1)],),
            ([("A", 0.9), ("B", 0.8), ("B", 0.7), ("A", 0.5), ("B", 0.1)],),
            ([("A", 0.6), ("B", 0.5), ("B", 0.5)],),
            ([("A", 0.9), ("B", 0.6), ("A", 0.1), ("A", 0.1)],),
            ([("A", 0.5)],),
            ([("B", 0.6), ("A", 0.6)],),
            ([("A", 0.6), ("B", 0.6)],),
            ([],),
        ),
        solution=by_two_best,
        hints=(
            "Gather the scores of each parent in a dict of lists. They come best first already.",
            "`found[:2]` holds the best two, or the only one. Divide by its own length, then sort by the mean.",
        ),
        wrong=(
            (_by_best, "That is the order of the best child alone."),
            (_alphabetical, "Equal ones keep the order in which they first appear; `sorted` leaves it as it is."),
            (_all_children, "Only the best two of a parent count; the others say nothing."),
            (_sum_of_two, "A sum, or its half, is unfair to a parent with one child: divide by how many there are."),
        ),
    ),
    "7.3": Exercise(
        judge=cases(
            windows_to_read,
            (_SPANS, [3], 1),
            (_SPANS, [0], 1),
            (_SPANS, [7], 2),
            (_SPANS, [6, 1], 1),
            (_SPANS, [3, 4], 1),
            (_SPANS, [4, 1], 1),
            (_SPANS, [5, 0, 2], 0),
            (_SPANS, [], 1),
        ),
        solution=windows_to_read,
        hints=(
            "First collect the numbers of all sentences to be read, in a set: it has no doubles.",
            "Go through the sorted numbers. If `i - 1` is in the set too, the last window grows; else one starts.",
        ),
        wrong=(
            (_as_found, "Windows want the order of the text, whatever was found first."),
            (_sharing_only, "Windows that touch without sharing are one as well."),
            (_one_each, "Two windows that share a sentence, or follow each other, are to become one."),
            (_from_the_end, "Before the first sentence there is none: in Python, `spans[-1]` is the last."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
