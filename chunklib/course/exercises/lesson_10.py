# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 10: keys by position, what to encode again, where a quote stands today.

But: they work on dicts and strings; `chunklib.search.identity` also knows sections and pages.
"""

from __future__ import annotations

from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def n_wrong() -> int:
    """How many old keys name another text."""
    before = [f"text {i}" for i in range(40)]
    after = [*before[:10], "a new text", *before[10:]]
    return sum(before[i] != after[i] for i in range(40))


def to_do(old: dict[str, str], new: dict[str, str]) -> tuple[list[str], list[str]]:
    """Texts to encode, each once, and keys to delete."""
    known = set(old.values())
    encode = [text for text in dict.fromkeys(new.values()) if text not in known]
    return encode, [key for key in old if key not in new]


def where_now(text: str, quote: str, before: str) -> int | None:
    """Where the quote starts: after the words that stood before it, or where it stands only once."""
    at = text.find(before + quote)
    if at >= 0:
        return at + len(before)
    return text.find(quote) if text.count(quote) == 1 else None


def _by_key(old: dict[str, str], new: dict[str, str]) -> tuple[list[str], list[str]]:
    encode = [text for key, text in new.items() if key not in old]
    return encode, [key for key in old if key not in new]


def _changed_too(old: dict[str, str], new: dict[str, str]) -> tuple[list[str], list[str]]:
    encode = [text for key, text in new.items() if old.get(key) != text]
    return encode, [key for key in old if key not in new]


def _twice(old: dict[str, str], new: dict[str, str]) -> tuple[list[str], list[str]]:
    known = set(old.values())
    return [text for text in new.values() if text not in known], [key for key in old if key not in new]


def _as_sets(old: dict[str, str], new: dict[str, str]) -> tuple[set[str], set[str]]:
    return set(new.values()) - set(old.values()), set(old) - set(new)


def _last_place(text: str, quote: str, before: str) -> int | None:
    at = text.rfind(before + quote)
    if at >= 0:
        return at + len(before)
    return text.find(quote) if text.count(quote) == 1 else None


def _none_unless_before(text: str, quote: str, before: str) -> int | None:
    at = text.find(before + quote)
    return at + len(before) if at >= 0 else None


def _first_place(text: str, quote: str, before: str) -> int | None:
    at = text.find(quote)
    return at if at >= 0 else None


def _start_of_before(text: str, quote: str, before: str) -> int | None:
    at = text.find(before + quote)
    if at >= 0:
        return at
    return text.find(quote) if text.count(quote) == 1 else None


def _minus_one(text: str, quote: str, before: str) -> int | None:
    at = text.find(before + quote)
    return at + len(before) if at >= 0 else text.find(quote)


EXERCISES = {
    "10.1": Exercise(
        judge=guess(n_wrong),
        solution=n_wrong,
        hints=(
            "The first ten keep their place. What does key 10 name afterwards, and key 11?",
            "Every key from 10 to 39 names another text than before.",
        ),
        wrong=(
            (1, "One text is new, but every text after it has moved on by one place."),
            (10, "Those ten are the right ones."),
            (39, "Keys 0 to 9 name the same texts as before."),
            (40, "Those before the new one keep their place."),
            (31, "Key 40 is a new key: it named nothing before."),
            (29, "Key 10 counts as well: it names the new text now."),
        ),
    ),
    "10.2": Exercise(
        judge=cases(
            to_do,
            ({"a": "x", "b": "y"}, {"a": "x", "c": "z"}),
            ({"a": "x", "b": "y"}, {"a": "x", "b": "z"}),
            ({"a": "x", "b": "y"}, {"a": "y", "b": "x"}),
            ({"a": "x"}, {"a": "x", "b": "z", "c": "z"}),
            ({"a": "w", "b": "v"}, {"c": "z", "d": "x", "e": "y"}),
            ({}, {"a": "x"}),
            ({"a": "x", "b": "y"}, {}),
        ),
        solution=to_do,
        hints=(
            "A vector belongs to a text, not to a key. Which texts of `new` are not among `old.values()`?",
            "`dict.fromkeys(new.values())` holds each text once, in order. Delete the keys of `old` not in `new`.",
        ),
        wrong=(
            (_by_key, "A key that stays may name another text now."),
            (_changed_too, "The text may have stood under another key before: its vector is known."),
            (_as_sets, "In their order: lists, not sets."),
            (_twice, "A text that stands twice is encoded once."),
        ),
    ),
    "10.3": Exercise(
        judge=cases(
            where_now,
            ("Phones: 30 days.", "30 days", "Phones: "),
            ("New. Phones: 30 days.", "30 days", "Phones: "),
            ("Laptops: 30 days. Phones: 30 days.", "30 days", "Phones: "),
            ("Phones: 30 days. Phones: 30 days.", "30 days", "Phones: "),
            ("Laptops: 30 days. Mobiles: 30 days.", "30 days", "Phones: "),
            ("Mobiles: 30 days.", "30 days", "Phones: "),
            ("Mobiles: 60 days.", "30 days", "Phones: "),
        ),
        solution=where_now,
        hints=(
            "Look for `before + quote` first. The quote starts `len(before)` characters later.",
            "Else `text.count(quote)` tells whether there is one place only. Two places, or none: return `None`.",
        ),
        wrong=(
            (_first_place, "The first place need not be the right one."),
            (_last_place, "The first such place is wanted: `rfind` looks from the end."),
            (_none_unless_before, "Where the quote stands only once, that place will do, whatever stands before it."),
            (_start_of_before, "That is where `before` starts. Where does the quote start?"),
            (_minus_one, "Where it cannot be told, `None` is wanted: no guess, and no -1."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
