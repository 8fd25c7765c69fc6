# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 06: what is left after cleaning, a stop list that keeps the meaning, a context line that fits.

But: they take a word for what stands between blanks; `chunklib.documents.cleaning` guards numbers, names and addresses
as well.
"""

from __future__ import annotations

import re
from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def n_words() -> int:
    """How many words of the warning are left."""
    left = "not use if not dry"  # contractions are expanded; "do" and "it" are dropped, "if" and both "not" are kept
    return len(left.split())


def drop_words(text: str, stop: set[str], kept: set[str]) -> str:
    """The words that are left, in lower case, without the marks at their ends."""
    words = [word.strip(".,;:!?").lower() for word in text.split()]
    return " ".join(word for word in words if word and (word in kept or word not in stop))


def context_line(title: str, path: list[str], budget: int) -> str:
    """Title and sections in one line of at most so many characters, the innermost sections first to stay."""
    parts = path if path[:1] == [title] else [title, *path]
    while len(" > ".join(parts)) > budget and parts:
        parts = parts[1:]
    return " > ".join(parts)


def _kept_ignored(text: str, stop: set[str], kept: set[str]) -> str:
    words = [word.strip(".,;:!?").lower() for word in text.split()]
    return " ".join(word for word in words if word and word not in stop)


def _capitals_missed(text: str, stop: set[str], kept: set[str]) -> str:
    words = [word.strip(".,;:!?") for word in text.split()]
    return " ".join(word.lower() for word in words if word and (word in kept or word not in stop))


def _marks_left(text: str, stop: set[str], kept: set[str]) -> str:
    return " ".join(word for word in text.lower().split() if word in kept or word not in stop)


def _only_kept(text: str, stop: set[str], kept: set[str]) -> str:
    words = [word.strip(".,;:!?").lower() for word in text.split()]
    return " ".join(word for word in words if word in kept)


def _as_a_list(text: str, stop: set[str], kept: set[str]) -> list[str]:
    return drop_words(text, stop, kept).split()


def _letters_only(text: str, stop: set[str], kept: set[str]) -> str:
    return " ".join(word for word in re.findall(r"\w+", text.lower()) if word in kept or word not in stop)


def _title_twice(title: str, path: list[str], budget: int) -> str:
    parts = [title, *path]
    while len(" > ".join(parts)) > budget and parts:
        parts = parts[1:]
    return " > ".join(parts)


def _sliced(title: str, path: list[str], budget: int) -> str:
    return " > ".join(path if path[:1] == [title] else [title, *path])[:budget]


def _innermost_dropped(title: str, path: list[str], budget: int) -> str:
    parts = path if path[:1] == [title] else [title, *path]
    while len(" > ".join(parts)) > budget and parts:
        parts = parts[:-1]
    return " > ".join(parts)


def _one_too_strict(title: str, path: list[str], budget: int) -> str:
    return context_line(title, path, budget - 1)


def _separators_not_counted(title: str, path: list[str], budget: int) -> str:
    parts = path if path[:1] == [title] else [title, *path]
    while len("".join(parts)) > budget and parts:
        parts = parts[1:]
    return " > ".join(parts)


def _title_taken_out(title: str, path: list[str], budget: int) -> str:
    return context_line(title, [part for part in path if part != title], budget)


def _budget_ignored(title: str, path: list[str], budget: int) -> str:
    return " > ".join(path if path[:1] == [title] else [title, *path])


EXERCISES = {
    "6.1": Exercise(
        judge=guess(n_words),
        solution=n_words,
        hints=(
            "First `isn't` becomes two words. Then drop the words that say little: `do` and `it`.",
            "Negations stay, and so do words that set a condition.",
        ),
        wrong=(
            (2, "That is what the full list leaves: `use dry`, the opposite of the warning."),
            (4, "Both negations stay, and the condition with them."),
            (9, "That is all of them: `do` and both `it`, `is` are on the list and carry no condition."),
        ),
    ),
    "6.2": Exercise(
        judge=cases(
            drop_words,
            ("Do not open the valve.", {"do", "not", "the"}, {"not"}),
            ("It is covered. It is NOT covered!", {"it", "is", "not"}, {"not"}),
            (
                "No, only after the 60 days; never before",
                {"no", "only", "after", "the", "before"},
                {"no", "only", "after"},
            ),
            ("The the - THE", {"the"}, set()),
            ("", {"the"}, {"not"}),
        ),
        solution=drop_words,
        hints=(
            "Make each word plain first: `word.strip('.,;:!?').lower()`. What is empty then is left out.",
            "A word stays where it is in `kept`, or not in `stop`.",
        ),
        wrong=(
            (_kept_ignored, "A word that is in both sets has to stay."),
            (_capitals_missed, "Compare in lower case: `The` is on the list as `the`."),
            (_marks_left, "`covered.` and `covered` should be one word: take the marks off the ends."),
            (_only_kept, "Words on neither list stay as well."),
            (_as_a_list, "Join the words with blanks."),
            (_letters_only, "Split at blanks. A hyphen is none of the marks to take off."),
        ),
    ),
    "6.3": Exercise(
        judge=cases(
            context_line,
            ("Returns", ["Returns", "Electronics", "Drones"], 60),
            ("Returns", ["Electronics"], 60),
            ("Returns", ["Electronics", "Returns"], 60),
            ("Returns", ["Returns", "Electronics", "Drones"], 20),
            ("Returns", ["Returns", "Electronics", "Drones"], 6),
            ("Returns", ["Returns", "Electronics", "Drones"], 5),
            ("Returns", ["Returns", "A", "B"], 12),
            ("Returns", [], 7),
        ),
        solution=context_line,
        hints=(
            "Put the title in front unless `path` starts with it. Join with ` > ` and look at the length.",
            "While the line is too long, leave out the first part: the innermost heading says most about the chunk.",
        ),
        wrong=(
            (_title_twice, "The title is also the first heading here: say it once."),
            (_sliced, "A heading that is cut in two says something else. Leave out whole ones."),
            (_innermost_dropped, "The innermost heading says most about the chunk. Leave out from the front."),
            (_budget_ignored, "The line is longer than the budget."),
            (_one_too_strict, "A line of exactly `budget` characters fits."),
            (_separators_not_counted, "Measure the joined line: each ` > ` counts, too."),
            (_title_taken_out, "Only a title at the start is said twice. A heading of that name further in stays."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
