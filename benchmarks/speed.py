# SPDX-License-Identifier: MIT
"""Time of the splitters as a multiple of one tokenizer pass over the same text, beside the published libraries.

    python benchmarks/speed.py [FOLDER] [--size 200] [--repeat 5]

FOLDER holds the texts (``*.md``, ``*.txt``); without it the course's own documents serve. A library of the extra
``[peers]`` that is not installed is left out, and the table says so. Spans over the limit are counted with the real
tokenizer, on each chunk's own text.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import tiktoken

import chunklib  # noqa: F401  (points tiktoken at its files)
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.sentence import split_sentences
from chunklib.structure import split_markdown

Splitter = Callable[[str], Sequence[str]]


def ours(size: int) -> dict[str, Splitter]:
    """The splitters of this package, as functions to strings."""
    return {
        "chunklib recursive": lambda text: [s.of(text) for s in split_recursive(text, chunk_size=size)],
        "chunklib fixed size": lambda text: [s.of(text) for s in split_fixed_size(text, chunk_size=size)],
        "chunklib sentences": lambda text: [s.of(text) for s in split_sentences(text, chunk_size=size)],
        "chunklib Markdown": lambda text: [s.of(text) for s in split_markdown(text, chunk_size=size)],
    }


def peers(size: int) -> dict[str, Splitter | None]:
    """The published splitters; ``None`` where the library is not installed."""
    found: dict[str, Splitter | None] = {}
    encoding = tiktoken.get_encoding("cl100k_base")

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    try:
        from langchain_text_splitters import MarkdownTextSplitter, RecursiveCharacterTextSplitter

        settings = {"chunk_size": size, "chunk_overlap": 0, "length_function": count}
        found["LangChain recursive"] = RecursiveCharacterTextSplitter(**settings).split_text
        found["LangChain Markdown"] = MarkdownTextSplitter(**settings).split_text
    except ImportError:
        found["LangChain recursive"] = found["LangChain Markdown"] = None
    try:
        import semchunk

        found["semchunk"] = semchunk.chunkerify(count, chunk_size=size, memoize=False)
    except ImportError:
        found["semchunk"] = None
    try:
        from chonkie import RecursiveChunker, SentenceChunker

        chonkie = RecursiveChunker(tokenizer=encoding, chunk_size=size)
        packer = SentenceChunker(tokenizer=encoding, chunk_size=size)
        found["Chonkie recursive"] = lambda text: [chunk.text for chunk in chonkie.chunk(text)]
        found["Chonkie sentence"] = lambda text: [chunk.text for chunk in packer.chunk(text)]
    except ImportError:
        found["Chonkie recursive"] = found["Chonkie sentence"] = None
    try:
        from llama_index.core.node_parser import SentenceSplitter

        llama = SentenceSplitter(chunk_size=size, chunk_overlap=0, tokenizer=encoding.encode_ordinary)
        found["LlamaIndex sentence"] = llama.split_text
    except ImportError:
        found["LlamaIndex sentence"] = None
    try:
        from semantic_text_splitter import MarkdownSplitter, TextSplitter

        found["semantic-text-splitter"] = TextSplitter.from_tiktoken_model("gpt-4", size).chunks
        found["semantic-text-splitter Markdown"] = MarkdownSplitter.from_tiktoken_model("gpt-4", size).chunks
    except ImportError:
        found["semantic-text-splitter"] = found["semantic-text-splitter Markdown"] = None
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent / "data")
    parser.add_argument("--size", type=int, default=200, help="chunk_size in tokens")
    parser.add_argument("--repeat", type=int, default=5, help="runs; the median counts")
    arguments = parser.parse_args()
    files = sorted(p for p in arguments.folder.rglob("*") if p.suffix in (".md", ".txt"))
    texts = [file.read_bytes().decode() for file in files]
    encoding = tiktoken.get_encoding("cl100k_base")
    splitters = {**ours(arguments.size), **peers(arguments.size)}
    missing = [name for name, splitter in splitters.items() if splitter is None]
    present = {name: splitter for name, splitter in splitters.items() if splitter is not None}
    seconds: dict[str, list[float]] = {name: [] for name in ["one tokenizer pass", *present]}
    for _ in range(arguments.repeat):  # in turn, so that a busy moment hits all alike
        for name in seconds:
            began = time.perf_counter()
            for text in texts:
                present[name](text) if name in present else encoding.encode_ordinary(text)
            seconds[name].append(time.perf_counter() - began)
    base = statistics.median(seconds["one tokenizer pass"])
    print(f"{len(texts)} texts, {sum(map(len, texts)):,} characters, chunk_size={arguments.size}\n")
    print("| splitter | time | chunks | over the limit |\n|---|---:|---:|---:|")
    for name, splitter in present.items():
        chunks = [chunk for text in texts for chunk in splitter(text)]
        over = sum(len(encoding.encode_ordinary(chunk)) > arguments.size for chunk in chunks)
        print(f"| {name} | {statistics.median(seconds[name]) / base:.2f} x | {len(chunks):,} | {over} |")
    if missing:
        print(f"\nNot installed: {', '.join(missing)} (pip install -e '.[peers]')")


if __name__ == "__main__":
    main()
