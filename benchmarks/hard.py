# SPDX-License-Identifier: MIT
"""Inputs that hurt: a megabyte of one thing, and prose of 1 and 10 MB. No input may take a splitter long.

    python benchmarks/hard.py [--megabytes 10]

Prints seconds for each splitter, without and with overlap, and how many times as long the larger prose takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

from chunklib.core.span import Splitter
from chunklib.course.datasets import load_course_documents
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.sentence import split_sentences
from chunklib.structure import split_markdown

MEGABYTE = 1_000_000  # characters
REPEATED = {
    "letters": "a",
    "blanks": " ",
    "digits": "1",
    "full stops": ".",
    "short sentences": "A. ",
    "line ends": "\n",
    "carriage returns": "a\r",
    "line separators": "\u2028",
    "NUL": "\x00",
    "ideographs": "漢",
    "combining marks": "\u0301",
    "blanks with a mark": " \u0301",
    "flags": "🇳🇱",
    "families": "👩\u200d👩\u200d👧\u200d👦",
    "one endless family": "👩\u200d",
    "jamo": "\u1100\u1161\u11a8",
    "Devanagari": "क्षि",
    "right to left": "שלום ",
    "lone surrogates": "\ud800",
    "pairs of surrogates": "\ud83d\ude00",
    "special tokens": "<|endoftext|>",
}
SPLITTERS: dict[str, Splitter] = {
    "fixed size": split_fixed_size,
    "fixed size, overlap 40": partial(split_fixed_size, chunk_overlap=40),
    "recursive": split_recursive,
    "recursive, overlap 40": partial(split_recursive, chunk_overlap=40),
    "Markdown": partial(split_markdown, chunk_size=200),
    "sentences": split_sentences,
    "sentences 200, overlap 40": partial(split_sentences, chunk_size=200, chunk_overlap=40),
}


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=10, help="size of the larger prose, in million characters")
    large = parser.parse_args().megabytes
    split_recursive("The tokenizer is loaded before the clock starts.")
    print(f"| 1 MB of | {' | '.join(SPLITTERS)} |\n|---|{'---:|' * len(SPLITTERS)}")
    for name, piece in REPEATED.items():
        text = (piece * (MEGABYTE // len(piece) + 1))[:MEGABYTE]
        times = [seconds(partial(splitter, text)) for splitter in SPLITTERS.values()]
        print(f"| {name} | {' | '.join(f'{t:.1f} s' for t in times)} |", flush=True)
    prose = "\n\n".join(document.text for document in load_course_documents())
    print(f"\n| prose | 1 MB | {large} MB | times |\n|---|---:|---:|---:|")
    for name, splitter in SPLITTERS.items():
        texts = [(prose * (n * MEGABYTE // len(prose) + 1))[: n * MEGABYTE] for n in (1, large)]
        small = min(seconds(partial(splitter, texts[0])) for _ in range(3))
        big = seconds(partial(splitter, texts[1]))
        print(f"| {name} | {small:.2f} s | {big:.2f} s | {big / small:.1f} |", flush=True)


if __name__ == "__main__":
    main()
