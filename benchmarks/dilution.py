# SPDX-License-Identifier: MIT
"""What length does to a chunk: its cosine to the question that it answers, the answer first, in the middle or last.

    python benchmarks/dilution.py        writes data/dilution.json, some 1,500 texts for the encoder

For each question whose answer is one place with enough text on either side, windows of the document are cut around
the answer, so each is a chunk that some splitter could make. All points are means over the same questions.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from itertools import product
from pathlib import Path

import numpy as np

from chunklib.core.measure import measure
from chunklib.core.span import Span
from chunklib.course.datasets import load_course_documents, load_course_questions
from chunklib.search.embedding import embed
from chunklib.search.evaluation import Question

SIZES = (50, 75, 100, 150, 200, 250, 300, 400)  # tokens
PLACES = ("first", "middle", "last")
KINDS = ("fact", "section", "exception", "context")
READ = 254  # word pieces that the encoder reads of a chunk, its two markers aside
TARGET = Path(__file__).resolve().parent.parent / "data" / "dilution.json"


def window(units: list[int], gold: Span, size: int, place: str) -> Span | None:
    """``size`` tokens of the document with the answer at that place, or ``None`` where the text does not reach."""
    first, last = bisect_left(units, gold.start + 1), bisect_left(units, gold.end) + 1
    spare = size - (last - first)
    begin = first - {"first": 0, "middle": spare // 2, "last": spare}[place]
    if spare < 0 or begin < 1 or begin + size > len(units):
        return None
    return Span(units[begin - 1], units[begin + size - 1])


def main() -> None:
    """Cut, encode, average, write."""
    texts = {document.id: document.text for document in load_course_documents()}
    units = {name: list(measure(text).units) for name, text in texts.items()}
    windows: list[str] = []
    asked: list[Question] = []
    for question in load_course_questions():
        if question.kind not in KINDS or len(question.gold) != 1 or len(question.gold[0]) != 1:
            continue
        name, gold = question.gold[0][0]
        found = [window(units[name], gold, size, place) for size, place in product(SIZES, PLACES)]
        if all(found):
            asked.append(question)
            windows += [span.of(texts[name]) for span in found if span]
    shape = (len(asked), len(SIZES), len(PLACES))
    vectors = embed(windows).reshape(*shape, -1)
    cosines = np.einsum("qspd,qd->qsp", vectors, embed([question.text for question in asked]))
    pieces = np.array([measure(text, "wordpieces").size(0, len(text)) for text in windows]).reshape(shape)
    read = (np.minimum(READ, pieces) / pieces).mean((0, 2))
    limit = READ / pieces[:, -1].mean() * SIZES[-1]
    result = {
        "about": "mean cosine of a chunk to the question that it answers; python benchmarks/dilution.py",
        "questions": len(asked),
        "tokens": SIZES,
        "read": [round(float(share), 3) for share in read],
        "limit": round(float(limit)),
        "cosine": {
            place: [round(float(value), 3) for value in cosines[:, :, i].mean(0)] for i, place in enumerate(PLACES)
        },
    }
    TARGET.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8", newline="\n")
    print(TARGET.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
