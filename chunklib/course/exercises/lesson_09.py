# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 09: what reciprocal ranks weigh, copies once with all their places, codes in any spelling.

But: `chunklib.search.keywords` knows more spellings, and `chunklib.search.retrieval` copies of real chunks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def largest_rank() -> int:
    """The largest r with 2 / (60 + r) above 1 / 61."""
    constant = 60
    return max(rank for rank in range(1, 1000) if 2 / (constant + rank) > 1 / (constant + 1))


def copies_once(ranked: Sequence[tuple[str, str]], k: int) -> list[tuple[str, list[str]]]:
    """The first k different texts, each with all of its places."""
    places: dict[str, list[str]] = {}
    for text, place in ranked:
        places.setdefault(text, []).append(place)
    return list(places.items())[:k]


def _cut_first(ranked: Sequence[tuple[str, str]], k: int) -> list[tuple[str, list[str]]]:
    return copies_once(ranked[:k], k)


def _first_place_only(ranked: Sequence[tuple[str, str]], k: int) -> list[tuple[str, list[str]]]:
    return [(text, places[:1]) for text, places in copies_once(ranked, k)]


def _neighbours_only(ranked: Sequence[tuple[str, str]], k: int) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for text, place in ranked:
        if found and found[-1][0] == text:
            found[-1][1].append(place)
        else:
            found.append((text, [place]))
    return found[:k]


def _all_of_them(ranked: Sequence[tuple[str, str]], k: int) -> list[tuple[str, list[str]]]:
    return copies_once(ranked, len(ranked))


def _stopped_when_full(ranked: Sequence[tuple[str, str]], k: int) -> list[tuple[str, list[str]]]:
    places: dict[str, list[str]] = {}
    for text, place in ranked:
        if text not in places and len(places) == k:
            break
        places.setdefault(text, []).append(place)
    return list(places.items())


def codes(text: str) -> list[str]:
    """Codes of one to three letters and two to four digits, in one spelling."""
    pattern = r"(?<![A-Za-z0-9])([A-Za-z]{1,3})-?([0-9]{2,4})(?![A-Za-z0-9])"
    return [f"{letters}-{digits}".lower() for letters, digits in re.findall(pattern, text)]


def _as_spelled(text: str) -> list[str]:
    return [found[0] for found in re.finditer(r"(?<![A-Za-z0-9])[A-Za-z]{1,3}-?[0-9]{2,4}(?![A-Za-z0-9])", text)]


def _hyphen_needed(text: str) -> list[str]:
    return [code for code in codes(text) if code in text.lower()]


def _inside_words(text: str) -> list[str]:
    return [f"{a}-{b}".lower() for a, b in re.findall(r"([A-Za-z]{1,3})-?([0-9]{2,4})", text)]


def _capitals_only(text: str) -> list[str]:
    pattern = r"(?<![A-Za-z0-9])([A-Z]{1,3})-?([0-9]{2,4})(?![A-Za-z0-9])"
    return [f"{letters}-{digits}".lower() for letters, digits in re.findall(pattern, text)]


def _each_once(text: str) -> list[str]:
    return sorted(set(codes(text)))


def _hyphens(text: str) -> list[str]:
    pattern = r"(?<![A-Za-z0-9])([A-Za-z]{1,3})-*([0-9]{2,4})(?![A-Za-z0-9])"
    return [f"{letters}-{digits}".lower() for letters, digits in re.findall(pattern, text)]


EXERCISES = {
    "9.1": Exercise(
        judge=guess(largest_rank),
        solution=largest_rank,
        hints=(
            "Chunk A gets 1 / 61 in all. Chunk B gets 1 / (60 + r) twice.",
            "2 / (60 + r) has to be more than 1 / 61, so 60 + r less than 122.",
        ),
        wrong=(
            (62, "At 62 they are equal: 2 / 122 is 1 / 61. Asked for is the last rank at which B is ahead."),
            *((rank, "B may be much further down: it counts twice, and 60 is added to each rank.") for rank in (1, 2)),
            (30, "Write both down: A gets 1 / 61, B gets 2 / (60 + r). For r = 30, B is far ahead."),
            (60, "For r = 60, B gets 2 / 120, which is 1 / 60. Is there a larger r?"),
            *((total, "That is near 60 + r. Subtract the 60.") for total in (120, 121, 122)),
        ),
    ),
    "9.2": Exercise(
        judge=cases(
            copies_once,
            ([("dry it", "p. 3"), ("call us", "p. 9"), ("dry it", "p. 7")], 3),
            ([("dry it", "p. 3"), ("dry it", "p. 7"), ("call us", "p. 9")], 2),
            ([("a", "1"), ("b", "2"), ("c", "3"), ("a", "4")], 2),
            ([("a", "1")], 3),
            ([], 3),
        ),
        solution=copies_once,
        hints=(
            "A dict from text to its list of places keeps the order in which the texts first came.",
            "Go through all of `ranked` first. Then take the first `k` items of the dict.",
        ),
        wrong=(
            (_cut_first, "Cut at the end: copies must not take the places of other texts, nor lose their own."),
            (_first_place_only, "The other places of a text are wanted too: each may be cited."),
            (_neighbours_only, "Copies need not follow each other. Remember every text that came before."),
            (_all_of_them, "That is every text. Asked for are `k`."),
            (_stopped_when_full, "Go on to the end of `ranked`: later copies add places."),
        ),
    ),
    "9.3": Exercise(
        judge=cases(
            codes,
            ("E-47, E48 and e-49",),
            ("E-47 or E47",),
            ("TG-412 on my AX310.",),
            ("homehub2024, E-4, 2AX310, E-471a",),
            ("E--47",),
            ("ax-310",),
            ("no code, 60 days",),
        ),
        solution=codes,
        hints=(
            "`re.findall` with two groups gives pairs: `([A-Za-z]{1,3})-?([0-9]{2,4})`.",
            "Before and after it no letter or digit: `(?<![A-Za-z0-9])` and `(?![A-Za-z0-9])`. Join with a hyphen.",
        ),
        wrong=(
            (_as_spelled, "One spelling for all, or the question's `e47` does not meet the manual's `E-47`."),
            (_hyphen_needed, "The hyphen may be missing in the text."),
            (_inside_words, "That finds codes inside longer words and numbers, such as `hub-2024`."),
            (_capitals_only, "Customers write small letters too."),
            (_each_once, "A code that stands twice is returned twice, in the order of the text."),
            (_hyphens, "One hyphen at most: `E--47` is no code."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
