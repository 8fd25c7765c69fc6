# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 01: count the chunks, leave out the redundant tail, never cut a word.

But: they slice a list of units; the exact token limits of `split_fixed_size` need more.
"""

from __future__ import annotations

import re
from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


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


def whole_words(text: str, chunk_size: int) -> list[tuple[int, int]]:
    """Spans of as many whole words as fit; a word that is longer stands alone."""
    spans: list[tuple[int, int]] = []
    for word in re.finditer(r"\S+", text):
        if spans and word.end() - spans[-1][0] <= chunk_size:
            spans[-1] = (spans[-1][0], word.end())
        else:
            spans.append(word.span())
    return spans


def _with_tail(n_tokens: int, chunk_size: int, chunk_overlap: int) -> list[int]:
    return list(range(0, n_tokens, chunk_size - chunk_overlap))


def _without_overlap(n_tokens: int, chunk_size: int, chunk_overlap: int) -> list[int]:
    return list(range(0, n_tokens, chunk_size))


def _last_left_out(n_tokens: int, chunk_size: int, chunk_overlap: int) -> list[int]:
    return list(range(0, n_tokens - chunk_size, chunk_size - chunk_overlap))


def _full_only(n_tokens: int, chunk_size: int, chunk_overlap: int) -> list[int]:
    return list(range(0, n_tokens - chunk_overlap, chunk_size - chunk_overlap))


def _one_word_too_many(text: str, chunk_size: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for word in re.finditer(r"\S+", text):
        if spans and spans[-1][1] - spans[-1][0] <= chunk_size:
            spans[-1] = (spans[-1][0], word.end())
        else:
            spans.append(word.span())
    return spans


def _blanks_not_counted(text: str, chunk_size: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for word in re.finditer(r"\S+", text):
        if spans and len("".join(text[spans[-1][0] : word.end()].split())) <= chunk_size:
            spans[-1] = (spans[-1][0], word.end())
        else:
            spans.append(word.span())
    return spans


def _cuts_words(text: str, chunk_size: int) -> list[tuple[int, int]]:
    return [(start, min(start + chunk_size, len(text))) for start in range(0, len(text), chunk_size)]


def _copies(text: str, chunk_size: int) -> list[str]:
    return [text[start:end] for start, end in whole_words(text, chunk_size)]


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
        judge=cases(window_starts, (17, 5, 1), (16, 5, 1), (10, 4, 0), (3, 5, 1), (1, 5, 1), (0, 5, 1), (90, 20, 2)),
        solution=window_starts,
        hints=(
            "Begin with `range(0, n_tokens, chunk_size - chunk_overlap)`: all starts, and at times one too many.",
            "Stop after the first start whose chunk reaches the end: `start + chunk_size >= n_tokens`.",
        ),
        wrong=(
            (_with_tail, "The last chunk may lie wholly inside the one before it."),
            (_without_overlap, "Two starts are `chunk_size` apart here. Where is the overlap?"),
            (_full_only, "A text that is no longer than the overlap still wants one chunk."),
            (_last_left_out, "The end of the text is in no chunk: the last start is missing."),
        ),
    ),
    "1.3": Exercise(
        judge=cases(
            whole_words,
            ("The cat sat on a mat.", 12),
            ("There was  a cat.\nThe cat sat.", 12),
            ("a noise-cancelling headset", 8),
            ("one two three", 7),
            ("  one  ", 3),
            ("", 3),
        ),
        solution=whole_words,
        hints=(
            'Go through `re.finditer(r"\\S+", text)` and keep a list of spans. Does this word still fit the last?',
            "It fits where `word.end() - spans[-1][0] <= chunk_size`. Then the last span ends at `word.end()`.",
        ),
        wrong=(
            (_one_word_too_many, "Ask before a word is added: with it, the chunk may be too long."),
            (
                _blanks_not_counted,
                "The blanks between the words count as well: a span is all from start to end.",
            ),
            (_cuts_words, "That cuts inside words. Go from word to word, not from size to size."),
            (_copies, "These are copies. Asked for are places: pairs of start and end."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
