# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 02: count the chunks, cut before a heading, pack to an exact limit.

But: they cut at places that are given; `split_recursive` also searches them, trims blanks and repeats an overlap.
"""

from __future__ import annotations

from functools import partial

from chunklib.core.measure import count
from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def n_chunks() -> int:
    """How many chunks four paragraphs make."""
    paragraphs, blank_line, size = [60, 68, 60, 70], 2, 130
    chunks, used = 1, paragraphs[0]
    for length in paragraphs[1:]:
        used += blank_line + length
        if used > size:  # then it opens the next chunk, and the blank line before it is in neither
            chunks, used = chunks + 1, length
    return chunks


def last_cut(window: str, separators: list[str], openers: list[str]) -> int:
    """Where to cut: before an opener, or else behind a separator."""
    for opener in openers:
        at = window.rfind(opener)
        if at > 0:
            return at
    for separator in separators:
        at = window.rfind(separator)
        if at >= 0:
            return at + len(separator)
    return len(window)


def pack_exact(text: str, cuts: list[int], limit: int) -> list[tuple[int, int]]:
    """Spans from cut to cut, each as long as its own count of tokens allows."""
    spans: list[tuple[int, int]] = []
    start = 0
    for cut in cuts:
        if spans and count(text[spans[-1][0] : cut]) <= limit:
            spans[-1] = (spans[-1][0], cut)
        else:
            spans.append((start, cut))
        start = cut
    return spans


def _opener_closes(window: str, separators: list[str], openers: list[str]) -> int:
    return next((window.rindex(mark) + len(mark) for mark in openers + separators if mark in window), len(window))


def _opener_at_the_start(window: str, separators: list[str], openers: list[str]) -> int:
    return next(
        (window.rindex(mark) + (mark not in openers) * len(mark) for mark in openers + separators if mark in window),
        len(window),
    )


def _first_not_last(window: str, separators: list[str], openers: list[str]) -> int:
    for opener in openers:
        if window.find(opener) > 0:
            return window.find(opener)
    return next((window.index(mark) + len(mark) for mark in separators if mark in window), len(window))


def _last_of_all(window: str, separators: list[str], openers: list[str]) -> int:
    places = [window.rfind(opener) for opener in openers]
    places += [window.rindex(separator) + len(separator) for separator in separators if separator in window]
    return max([place for place in places if place > 0], default=len(window))


def _furthest_separator(window: str, separators: list[str], openers: list[str]) -> int:
    for opener in openers:
        if window.rfind(opener) > 0:
            return window.rfind(opener)
    return max((window.rindex(mark) + len(mark) for mark in separators if mark in window), default=len(window))


def _separators_first(window: str, separators: list[str], openers: list[str]) -> int:
    for separator in separators:
        if separator in window:
            return window.rindex(separator) + len(separator)
    return next((window.rfind(opener) for opener in openers if window.rfind(opener) > 0), len(window))


def _by_sums(text: str, cuts: list[int], limit: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = total = 0
    for cut in cuts:
        tokens = count(text[start:cut])
        if spans and total + tokens <= limit:
            spans[-1], total = (spans[-1][0], cut), total + tokens
        else:
            spans.append((start, cut))
            total = tokens
        start = cut
    return spans


def _one_short(text: str, cuts: list[int], limit: int) -> list[tuple[int, int]]:
    return pack_exact(text, cuts, limit - 1)


def _as_texts(text: str, cuts: list[int], limit: int) -> list[str]:
    return [text[start:end] for start, end in pack_exact(text, cuts, limit)]


def _in_characters(text: str, cuts: list[int], limit: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    for cut in cuts:
        if spans and cut - spans[-1][0] <= limit:
            spans[-1] = (spans[-1][0], cut)
        else:
            spans.append((start, cut))
        start = cut
    return spans


def _one_too_late(text: str, cuts: list[int], limit: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    for cut in cuts:
        if spans and count(text[slice(*spans[-1])]) <= limit:
            spans[-1] = (spans[-1][0], cut)
        else:
            spans.append((start, cut))
        start = cut
    return spans


def _each_alone(text: str, cuts: list[int], limit: int) -> list[tuple[int, int]]:
    return list(zip([0, *cuts], cuts, strict=False))


_WINDOW = "\n\nThe hub blinks. Wait.\n\n### Reset\n\nHold the button. Let go"
_POLICY = "The window opens on the day after delivery. Presents are often bought early."
_WORDS = [at + 1 for at, char in enumerate(_POLICY) if char == " "] + [len(_POLICY)]

EXERCISES = {
    "2.1": Exercise(
        judge=guess(n_chunks),
        solution=n_chunks,
        hints=(
            "Two paragraphs share a chunk where both fit, together with the blank line between them.",
            "`60 + 2 + 68` is exactly 130. And `60 + 2 + 70`?",
        ),
        wrong=(
            (2, "The blank line between two paragraphs counts as well: `60 + 2 + 70` is more than 130."),
            (5, "A chunk begins only where a paragraph does not fit any more: four paragraphs make at most four."),
            (4, "Neighbours that fit together stay together: a chunk is filled as far as the limit allows."),
        ),
    ),
    "2.2": Exercise(
        judge=cases(
            last_cut,
            (_WINDOW, ["\n\n", ". "], ["\n\n### "]),
            ("\n\n### Reset\n\nHold the button. Let go", ["\n\n", ". "], ["\n\n### "]),
            ("One. Two. Three", ["\n\n", ". "], ["\n\n### "]),
            ("a\n## b\n### c\n## d\n### e", ["\n"], ["\n## ", "\n### "]),
            (". One word", [". "], []),
            ("unbreakable", ["\n\n", ". "], ["\n## "]),
        ),
        solution=last_cut,
        hints=(
            "`window.rfind(mark)` is the last place of a mark, or -1. Try the openers first, one after the other.",
            "An opener at place 0 opens this very window: cut there, and the walk stands still. So ask for `at > 0`.",
        ),
        wrong=(
            (_furthest_separator, "The first separator that occurs decides, not the one furthest to the right."),
            (_opener_closes, "An opener belongs to the next chunk: cut where it starts, not where it ends."),
            (
                _opener_at_the_start,
                "A cut at 0 makes a chunk of nothing, and the walk never ends. Such an opener does not count.",
            ),
            (_first_not_last, "Take the last place of a mark, not the first, or the chunks are far too short."),
            (_last_of_all, "The strongest mark decides, even where a weaker one stands further behind."),
            (_separators_first, "Openers are stronger than all separators: try them first."),
        ),
    ),
    "2.3": Exercise(
        judge=cases(
            pack_exact,
            (_POLICY, _WORDS, 8),
            (_POLICY, _WORDS, 5),
            ("noise-cancelling headphones", [6, 17, 27], 4),
            ("one two", [4, 7], 100),
            ("unbreakable", [11], 1),
            ("", [], 5),
        ),
        solution=pack_exact,
        hints=(
            "Go through `cuts`. Would the last span, made longer up to this cut, still fit?",
            "It fits where `count(text[spans[-1][0]:cut]) <= limit`. If not, a new span starts at the cut before.",
        ),
        wrong=(
            (_one_short, "Exactly `limit` tokens still fit: `<=`, not `<`."),
            (_as_texts, "Return places, not texts: pairs of start and end."),
            (_by_sums, "These are sums of counts. Count the slice that the chunk would be, as a whole."),
            (_in_characters, "The limit is in tokens: `count(...)`, not a difference of places."),
            (_one_too_late, "Ask before a piece is added: with it, the chunk may be too long."),
            (_each_alone, "Every piece is its own chunk. Join neighbours as long as they fit."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
