# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/exercises/lesson_01.py). Needs: chunklib.exercises.
"""Exercises of lesson 01: count the chunks, leave out the redundant tail, turn words into spans.

But: they slice a list of units; the exact token limits of `split_fixed_size` need more.
"""

from __future__ import annotations

import re
from functools import partial

from chunklib.exercises import Exercise, cases, guess
from chunklib.exercises import check as check_answer


def n_chunks() -> int:
    """How many chunks 2,000 tokens make."""
    n_tokens, chunk_size, chunk_overlap = 2000, 200, 20
    step = chunk_size - chunk_overlap
    return 1 + -(-(n_tokens - chunk_size) // step)  # the first, then steps (rounded up) until the end is reached


def window_starts(n_tokens: int, chunk_size: int, chunk_overlap: int) -> list[int]:
    """Where each chunk starts, in tokens."""
    starts = []
    for start in range(0, n_tokens, chunk_size - chunk_overlap):
        starts.append(start)
        if start + chunk_size >= n_tokens:
            break
    return starts


def word_spans(text: str, chunk_size: int, chunk_overlap: int) -> list[tuple[int, int]]:
    """Spans of chunks of words, in characters."""
    words = [match.span() for match in re.finditer(r"\S+", text)]
    spans = []
    for first in range(0, len(words), chunk_size - chunk_overlap):
        window = words[first : first + chunk_size]
        spans.append((window[0][0], window[-1][1]))
        if first + chunk_size >= len(words):
            break
    return spans


def _with_tail(n_tokens: int, chunk_size: int, chunk_overlap: int) -> list[int]:
    return list(range(0, n_tokens, chunk_size - chunk_overlap))


def _without_overlap(n_tokens: int, chunk_size: int, chunk_overlap: int) -> list[int]:
    return list(range(0, n_tokens, chunk_size))


def _last_left_out(n_tokens: int, chunk_size: int, chunk_overlap: int) -> list[int]:
    return list(range(0, n_tokens - chunk_size, chunk_size - chunk_overlap))


def _spans_with_tail(text: str, chunk_size: int, chunk_overlap: int) -> list[tuple[int, int]]:
    words = [match.span() for match in re.finditer(r"\S+", text)]
    windows = [words[i : i + chunk_size] for i in range(0, len(words), chunk_size - chunk_overlap)]
    return [(window[0][0], window[-1][1]) for window in windows]


def _ends_too_early(text: str, chunk_size: int, chunk_overlap: int) -> list[tuple[int, int]]:
    words = [match.span() for match in re.finditer(r"\S+", text)]
    windows = [words[i : i + chunk_size] for i in window_starts(len(words), chunk_size, chunk_overlap)]
    return [(window[0][0], window[-1][0]) for window in windows]


def _word_numbers(text: str, chunk_size: int, chunk_overlap: int) -> list[tuple[int, int]]:
    n = len(text.split())
    return [(start, min(start + chunk_size, n)) for start in window_starts(n, chunk_size, chunk_overlap)]


EXERCISES = {
    "1.1": Exercise(
        judge=guess(n_chunks),
        solution=n_chunks,
        hints=(
            "Each chunk starts `200 - 20` tokens after the one before it.",
            "The first chunk covers 200 tokens. How many steps until the remaining 1,800 are covered?",
        ),
        wrong=(
            (10, "That is the count without overlap. With it, a step is shorter than a chunk."),
            (12, "That is the count of the naive loop, with its redundant last chunk."),
        ),
    ),
    "1.2": Exercise(
        judge=cases(window_starts, (17, 5, 1), (16, 5, 1), (10, 4, 0), (3, 5, 1), (0, 5, 1), (2000, 200, 20)),
        solution=window_starts,
        hints=(
            "Begin with `range(0, n_tokens, chunk_size - chunk_overlap)`: all starts, and at times one too many.",
            "Stop after the first start whose chunk reaches the end: `start + chunk_size >= n_tokens`.",
        ),
        wrong=(
            (_with_tail, "The last chunk may lie wholly inside the one before it."),
            (_without_overlap, "Two starts are `chunk_size` apart here. Where is the overlap?"),
            (_last_left_out, "The end of the text is in no chunk: the last start is missing."),
        ),
    ),
    "1.3": Exercise(
        judge=cases(
            word_spans,
            ("There was  a cat.\nThe cat sat.", 3, 1),
            ("one two three four five", 3, 1),
            ("  one  ", 3, 1),
            ("", 3, 1),
            ("a b c d e f", 2, 0),
        ),
        solution=word_spans,
        hints=(
            'The places of the words are `[m.span() for m in re.finditer(r"\\S+", text)]`.',
            "A chunk starts where its first word starts, and ends where its last word ends.",
        ),
        wrong=(
            (_spans_with_tail, "The last span may lie wholly inside the one before it."),
            (_ends_too_early, "A span ends where its last word ends, not where that word starts."),
            (_word_numbers, "These are numbers of words. A span counts characters."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
