# SPDX-License-Identifier: MIT
"""Time and memory of every splitter over prose of 1, 10 and 100 MB (course documents, one after another).

    python benchmarks/memory.py [--megabytes 1 10 100] [--patience 600]

Each number comes from a process of its own: the most memory that it held while splitting, less what it held before,
with the text loaded and the splitter used once. One that takes longer than --patience (seconds) is stopped, and the
table says so. The semantic splitters get a stand-in for the encoder, which would take hours: their time is without it.
Reads the memory from /proc, so Linux only.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chunklib.core.span import Splitter
from chunklib.course.datasets import load_course_documents
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.semantic import split_optimal, split_semantic
from chunklib.sentence import split_sentences
from chunklib.structure import split_markdown, split_paragraphs

MEGABYTE = 1_000_000  # characters


def stand_in(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Unit rows of the encoder's shape, by the first letters of each text."""
    rows = np.zeros((len(texts), 384), dtype=np.float32)
    rows[range(len(texts)), [zlib.crc32(text[:4].encode()) % 384 for text in texts]] = 1
    return rows


SPLITTERS: dict[str, Splitter] = {
    "fixed size": split_fixed_size,
    "recursive": split_recursive,
    "recursive, overlap 40": partial(split_recursive, chunk_overlap=40),
    "sentences": partial(split_sentences, chunk_size=200),
    "paragraphs": partial(split_paragraphs, chunk_size=200),
    "Markdown": partial(split_markdown, chunk_size=200),
    "semantic": partial(split_semantic, embed=stand_in, max_chunk_size=200),
    "optimal": partial(split_optimal, embed=stand_in),
}


def prose(megabytes: int) -> str:
    """The course's English documents over and over, up to so many million characters."""
    text = "\n\n".join(d.text for d in load_course_documents() if d.id != "zh-cases.md") + "\n\n"
    return (text * (megabytes * MEGABYTE // len(text) + 1))[: megabytes * MEGABYTE]


def held() -> tuple[float, float]:
    """The memory that this process holds now, and the most that it held since `forget_peak`, in MB (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    known = dict(line.split(":", 1) for line in lines)
    now, most = (int(known[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))
    return now, most


def forget_peak() -> None:
    """From here on the peak counts anew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def one(name: str, megabytes: int) -> tuple[float, float, int]:
    """Seconds, MB and chunks of one splitter over one text, in this process."""
    split = SPLITTERS[name]
    text = prose(megabytes)
    split(text[:1000])  # what is loaded once is not the text's share
    forget_peak()
    (before, _), began = held(), time.perf_counter()
    n = len(split(text))
    return time.perf_counter() - began, held()[1] - before, n


def main() -> None:
    """Print the table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--patience", type=float, default=600)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(*one(arguments.one, *arguments.megabytes))
        return
    print("| splitter |" + "".join(f" {n} MB: s | MB |" for n in arguments.megabytes))
    print("|---|" + "---:|---:|" * len(arguments.megabytes))
    for name in SPLITTERS:
        cells = []
        for megabytes in arguments.megabytes:
            command = [sys.executable, __file__, "--one", name, "--megabytes", str(megabytes)]
            try:
                run = subprocess.run(
                    command, capture_output=True, text=True, check=True, timeout=arguments.patience, encoding="utf-8"
                )
                seconds, grown, _ = run.stdout.split()
                cells.append(f"{float(seconds):.1f} | {float(grown):,.0f}")
            except subprocess.TimeoutExpired:
                cells.append(f"> {arguments.patience:.0f} | –")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
