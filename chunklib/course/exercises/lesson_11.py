# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 11: sentences that no chunk holds, copies, and the techniques within one standard error.

But: in the second and third every technique and text stands for itself; `chunklib.search.audit` and
`chunklib.course.trial` say where it stands, and why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def n_lost() -> int:
    """How many sentences lie in no chunk as a whole."""
    sentences = [(0, 40), (41, 90), (91, 120)]
    chunks = [(0, 60), (50, 100), (95, 120)]
    return sum(not any(a <= start and end <= b for a, b in chunks) for start, end in sentences)


def copies(texts: Sequence[str]) -> list[tuple[int, int]]:
    """For each text whose words came before: the place of the first such text, and its own."""
    first: dict[tuple[str, ...], int] = {}
    found = []
    for place, text in enumerate(texts):
        words = tuple(re.findall(r"\w+", text.lower()))
        if words in first:
            found.append((first[words], place))
        first.setdefault(words, place)
    return found


def _to_the_letter(texts: Sequence[str]) -> list[tuple[int, int]]:
    first: dict[str, int] = {}
    found = []
    for place, text in enumerate(texts):
        if text in first:
            found.append((first[text], place))
        first.setdefault(text, place)
    return found


def _in_any_order(texts: Sequence[str]) -> list[tuple[int, int]]:
    first: dict[frozenset[str], int] = {}
    found = []
    for place, text in enumerate(texts):
        words = frozenset(re.findall(r"\w+", text.lower()))
        if words in first:
            found.append((first[words], place))
        first.setdefault(words, place)
    return found


def _all_pairs(texts: Sequence[str]) -> list[tuple[int, int]]:
    words = [re.findall(r"\w+", text.lower()) for text in texts]
    return [(i, j) for j in range(len(texts)) for i in range(j) if words[i] == words[j]]


def _last_one(texts: Sequence[str]) -> list[tuple[int, int]]:
    last: dict[tuple[str, ...], int] = {}
    found = []
    for place, text in enumerate(texts):
        words = tuple(re.findall(r"\w+", text.lower()))
        if words in last:
            found.append((last[words], place))
        last[words] = place
    return found


def near_best(found: Mapping[str, Sequence[int]]) -> list[str]:
    """Names whose mean difference to the best is no larger than the standard error of that difference."""
    best = max(found, key=lambda name: sum(found[name]))
    names = []
    for name, values in found.items():
        differences = [a - b for a, b in zip(found[best], values, strict=True)]
        n, mean = len(differences), sum(differences) / len(differences)
        variance = sum((d - mean) ** 2 for d in differences) / (n - 1)
        if mean <= (variance / n) ** 0.5:
            names.append(name)
    return names


def _by_deviation(found: Mapping[str, Sequence[int]]) -> list[str]:
    best = max(found, key=lambda name: sum(found[name]))
    names = []
    for name, values in found.items():
        differences = [a - b for a, b in zip(found[best], values, strict=True)]
        n, mean = len(differences), sum(differences) / len(differences)
        if mean <= (sum((d - mean) ** 2 for d in differences) / (n - 1)) ** 0.5:
            names.append(name)
    return names


def _by_own_error(found: Mapping[str, Sequence[int]]) -> list[str]:
    best = max(found, key=lambda name: sum(found[name]))
    n = len(found[best])
    share = sum(found[best]) / n
    variance = sum((value - share) ** 2 for value in found[best]) / (n - 1)
    return [name for name, values in found.items() if share - sum(values) / n <= (variance / n) ** 0.5]


def _the_best_only(found: Mapping[str, Sequence[int]]) -> list[str]:
    most = max(sum(values) for values in found.values())
    return [name for name, values in found.items() if sum(values) == most]


_PAIRED = {
    "a": [1, 1, 1, 1, 1, 1, 1, 1, 0, 0],
    "b": [1, 1, 1, 1, 1, 1, 0, 0, 1, 0],
    "c": [1, 1, 1, 1, 1, 1, 0, 0, 0, 0],
    "d": [0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
    "e": [0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
}

EXERCISES = {
    "11.1": Exercise(
        judge=guess(n_lost),
        solution=n_lost,
        hints=(
            "For each sentence ask: is there one chunk that starts at or before it, and ends at or after it?",
            "The first sentence lies in the first chunk. The second ends at 90: which chunk reaches from 41 to 90?",
        ),
        wrong=(
            (0, "Every character lies in some chunk, but that does not make a sentence whole."),
            (1, "Look at both: does the third sentence start before or after the last chunk does?"),
            (3, "The first sentence, 0 to 40, lies whole in the first chunk, 0 to 60."),
        ),
    ),
    "11.2": Exercise(
        judge=cases(
            copies,
            (["Keep it dry.", "keep\nit DRY", "Keep it.", "Keep it dry!"],),
            (["a b", "b a", "a, b", "A B."],),
            (["one", "two"],),
            ([],),
        ),
        solution=copies,
        hints=(
            'Make a key of each text: `tuple(re.findall(r"\\w+", text.lower()))`.',
            "Keep in a dict at which place each key came first. `setdefault` leaves a value that is there alone.",
        ),
        wrong=(
            (_to_the_letter, "Case, marks and line ends must not count: compare the words, in lower case."),
            (_in_any_order, "A set forgets the order: *a b* and *b a* are other words in another order."),
            (_all_pairs, "Each copy is named once, beside the first text of its kind, not beside every other."),
            (_last_one, "Beside the first text of its kind, not the last one before it."),
        ),
    ),
    "11.3": Exercise(
        judge=cases(
            near_best,
            (_PAIRED,),
            ({"a": [1, 1, 0, 1], "b": [1, 0, 1, 0]},),
            ({"x": [0, 0, 1], "y": [1, 1, 1]},),
            ({"only": [1, 0]},),
        ),
        solution=near_best,
        hints=(
            "Take the differences question by question: best minus the other. Their mean is compared with their error.",
            "The variance divides by n - 1. The standard error is the root of variance / n.",
        ),
        wrong=(
            (
                _by_deviation,
                "That is the standard deviation. The error of a mean is smaller: divide the variance by n.",
            ),
            (_by_own_error, "That is the error of the best one's own share. Asked for is that of the difference."),
            (_the_best_only, "Those that are a little behind belong to it, too: as far as one standard error."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
