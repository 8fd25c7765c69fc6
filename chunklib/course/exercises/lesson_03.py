# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises, chunklib.sentence.
"""Exercises of lesson 03: count sentences, repeat the last one in the next chunk, widen a sentence up to a size.

But: sizes are counted in characters here, which add up; tokens do not.
"""

from __future__ import annotations

from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer

Spans = list[tuple[int, int]]


def n_sentences() -> int:
    """How many sentences the text with the traps has."""
    ends = ["Fig. 2.", "and left.", "out?", "No.", "€4.90."]
    return len(ends)


def pack_with_overlap(spans: Spans, chunk_size: int) -> Spans:
    """Pack sentences; a chunk begins with the last sentence of the one before, where that fits."""
    chunks: Spans = []
    for i, (start, end) in enumerate(spans):
        if chunks and end - chunks[-1][0] <= chunk_size:
            chunks[-1] = (chunks[-1][0], end)
        else:
            if i > 0 and end - spans[i - 1][0] <= chunk_size:
                start = spans[i - 1][0]
            chunks.append((start, end))
    return chunks


def widen_to(spans: Spans, i: int, size: int) -> tuple[int, int]:
    """Sentence ``i`` with as many neighbours as fit, taken in turn from before and after."""
    first = last = i
    grown = True
    while grown:
        grown = False
        if first > 0 and spans[last][1] - spans[first - 1][0] <= size:
            first, grown = first - 1, True
        if last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= size:
            last, grown = last + 1, True
    return spans[first][0], spans[last][1]


def _without_overlap(spans: Spans, chunk_size: int) -> Spans:
    chunks: Spans = []
    for start, end in spans:
        if chunks and end - chunks[-1][0] <= chunk_size:
            chunks[-1] = (chunks[-1][0], end)
        else:
            chunks.append((start, end))
    return chunks


def _one_short(spans: Spans, chunk_size: int) -> Spans:
    return pack_with_overlap(spans, chunk_size - 1)


def _overlap_too_long(spans: Spans, chunk_size: int) -> Spans:
    chunks: Spans = []
    for i, (start, end) in enumerate(spans):
        if chunks and end - chunks[-1][0] <= chunk_size:
            chunks[-1] = (chunks[-1][0], end)
        else:
            chunks.append((spans[i - 1][0] if i else start, end))
    return chunks


def _from_behind(spans: Spans, chunk_size: int) -> Spans:
    chunks: Spans = []
    for i, (start, end) in enumerate(spans):
        if chunks and end - chunks[-1][0] <= chunk_size:
            chunks[-1] = (chunks[-1][0], end)
        else:
            before = spans[i - 1][0]
            chunks.append((before if end - before <= chunk_size else start, end))
    return chunks


def _after_first(spans: Spans, i: int, size: int) -> tuple[int, int]:
    first = last = i
    grown = True
    while grown:
        grown = False
        if last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= size:
            last, grown = last + 1, True
        if first > 0 and spans[last][1] - spans[first - 1][0] <= size:
            first, grown = first - 1, True
    return spans[first][0], spans[last][1]


def _before_first(spans: Spans, i: int, size: int) -> tuple[int, int]:
    first = last = i
    while first > 0 and spans[last][1] - spans[first - 1][0] <= size:
        first -= 1
    while last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= size:
        last += 1
    return spans[first][0], spans[last][1]


def _one_of_each(spans: Spans, i: int, size: int) -> tuple[int, int]:
    first, last = i, i
    if first > 0 and spans[last][1] - spans[first - 1][0] <= size:
        first -= 1
    if last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= size:
        last += 1
    return spans[first][0], spans[last][1]


def _stops_early(spans: Spans, i: int, size: int) -> tuple[int, int]:
    first = last = i
    while True:
        if first == 0 or spans[last][1] - spans[first - 1][0] > size:
            break
        first -= 1
        if last + 1 == len(spans) or spans[last + 1][1] - spans[first][0] > size:
            break
        last += 1
    return spans[first][0], spans[last][1]


def _one_too_many(spans: Spans, i: int, size: int) -> tuple[int, int]:
    first = last = i
    while spans[last][1] - spans[first][0] < size and (first > 0 or last + 1 < len(spans)):
        first, last = max(first - 1, 0), min(last + 1, len(spans) - 1)
    return spans[first][0], spans[last][1]


FIVE = [(0, 10), (11, 21), (22, 40), (41, 45), (46, 60)]
EXERCISES = {
    "3.1": Exercise(
        judge=guess(n_sentences),
        solution=n_sentences,
        hints=(
            "Which full stops stand after an abbreviation, and which inside a number?",
            "“Wait!” and left: who writes on in lower case is still in the same sentence. A single word can be one.",
        ),
        wrong=(
            (8, "That is the count of the naive rule: it cuts after `Dr.`, `a.m.` and `Fig.`, too."),
            (4, "`No.` answers a question here. It is a sentence, and no abbreviation: no number follows."),
            (7, "Two of the naive rule's eight cuts are still wrong: look behind `a.m.`, `Fig.` and the quote."),
            (6, "`“Wait!” and left` goes on in lower case after the quote: one sentence."),
        ),
    ),
    "3.2": Exercise(
        judge=cases(
            pack_with_overlap,
            (FIVE, 25),
            (FIVE, 40),
            (FIVE, 10),
            (FIVE, 200),
            ([(0, 30), (31, 40), (41, 50)], 20),
            ([(0, 4)], 9),
            ([], 9),
        ),
        solution=pack_with_overlap,
        hints=(
            "Only the line that begins a new chunk changes: where should it start?",
            "At `spans[i - 1][0]`, if there is a sentence before and `end - spans[i - 1][0] <= chunk_size`.",
        ),
        wrong=(
            (_one_short, "A chunk of exactly `chunk_size` characters still fits: `<=`, not `<`."),
            (_without_overlap, "That packs without overlap. A new chunk begins one sentence earlier."),
            (_overlap_too_long, "A chunk is longer than `chunk_size` now. Repeat the sentence only where it fits."),
            (_from_behind, "`spans[i - 1]` of the first sentence is the last of the text: `i` is 0 there."),
        ),
    ),
    "3.3": Exercise(
        judge=cases(
            widen_to,
            (FIVE, 1, 35),
            (FIVE, 2, 30),
            (FIVE, 2, 200),
            (FIVE, 2, 10),
            (FIVE, 2, 42),
            (FIVE, 3, 25),
            (FIVE, 3, 50),
            (FIVE, 0, 45),
            (FIVE, 4, 40),
            ([(0, 9)], 0, 5),
        ),
        solution=widen_to,
        hints=(
            "Keep two numbers, the first and the last sentence of the window. Try one step back, then one forward.",
            "A step fits if end minus start of the whole window stays within `size`. Stop after a round with no step.",
        ),
        wrong=(
            (_after_first, "The sentence before comes first in each round, where it fits."),
            (_before_first, "All sentences before come first now. Take them in turn: one before, one after."),
            (_one_of_each, "It stops after one round. Go on as long as a round adds something."),
            (_stops_early, "One side does not fit any more. The other still may."),
            (_one_too_many, "Measure with the new sentence before you take it: a window is too long."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
