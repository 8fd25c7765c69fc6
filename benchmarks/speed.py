# SPDX-License-Identifier: MIT
"""Time of the splitters as a multiple of one tokenizer pass over the same text, beside the published libraries.

The row "a tokenizer's object" is a multiple of that tokenizer's own pass, and its chunks are measured in its tokens.

    python benchmarks/speed.py [FOLDER] [--size 200] [--repeat 5]

FOLDER holds the texts (``*.md``, ``*.txt``); without it the course's own documents serve. A library of the extra
``[peers]`` that is not installed is left out, and the table says so. Spans over the limit are counted with the real
tokenizer, on each chunk's own text.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import tiktoken

from chunklib import PROSE, Span, split_fixed_size, split_markdown, split_recursive, split_sentences
from chunklib.core import plain

Splitter = Callable[[str], Sequence[str]]
OWN = "one pass of the other tokenizer"


def settings(size: int) -> dict[str, dict[str, Any]]:
    """How the recursive splitters are set: by name of the setting, the options of `split_recursive`."""
    words = wordpieces()
    return {
        "": {},
        f", overlap {size // 5}": {"chunk_overlap": size // 5},
        ", a tokenizer's object": {"length": words},
        ", a function": {"length": Counted()},
        f", a function, overlap {size // 5}": {"length": Counted(), "chunk_overlap": size // 5},
    }


class Counted:
    """A plain function from text to tokens that notes how many characters it was given."""

    def __init__(self) -> None:
        self.characters, self.tokens = 0, tiktoken.get_encoding("cl100k_base").encode_ordinary

    def __call__(self, text: str) -> int:
        """How many tokens the text has."""
        self.characters += len(text)
        return len(self.tokens(text))


def wordpieces() -> Any:
    """The tokenizer of the course's encoder, as an object of the package tokenizers."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(os.environ["CHUNKLIB_WORDPIECES"])
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def ours(size: int) -> dict[str, Splitter]:
    """The splitters of this package, as functions to strings."""

    def texts(splitter: Callable[..., list[Span]], **options: Any) -> Splitter:
        return lambda text: [span.of(text) for span in splitter(text, chunk_size=size, **options)]

    def plain_core(text: str, chunk_overlap: int) -> list[str]:
        ruler, levels = plain.measure(text), plain.boundary_levels(PROSE)
        spans = plain.pack(ruler, chunk_size=size, chunk_overlap=chunk_overlap, levels=levels)
        return [span.of(text) for span in spans]

    return {
        **{f"chunklib recursive{name}": texts(split_recursive, **known) for name, known in settings(size).items()},
        "chunklib fixed size": texts(split_fixed_size),
        "chunklib sentences": texts(split_sentences),
        "chunklib Markdown": texts(split_markdown),
        "plain core, recursive": partial(plain_core, chunk_overlap=0),
        f"plain core, recursive, overlap {size // 5}": partial(plain_core, chunk_overlap=size // 5),
    }


def peers(size: int) -> dict[str, Splitter | None]:
    """The published splitters; ``None`` where the library is not installed."""
    found: dict[str, Splitter | None] = {}
    encoding = tiktoken.get_encoding("cl100k_base")
    overlap = size // 5
    try:
        from langchain_text_splitters import MarkdownTextSplitter, RecursiveCharacterTextSplitter

        known = {"chunk_size": size, "length_function": Counted()}
        found["LangChain recursive"] = RecursiveCharacterTextSplitter(chunk_overlap=0, **known).split_text
        found[f"LangChain recursive, overlap {overlap}"] = RecursiveCharacterTextSplitter(
            chunk_overlap=overlap, **known
        ).split_text
        found["LangChain Markdown"] = MarkdownTextSplitter(chunk_overlap=0, **known).split_text
    except ImportError:
        found["LangChain recursive"] = found["LangChain Markdown"] = None
    try:
        import semchunk

        chunker = semchunk.chunkerify(Counted(), chunk_size=size, memoize=False)
        found["semchunk"] = chunker
        found[f"semchunk, overlap {overlap}"] = partial(chunker, overlap=overlap)
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


def asked(text: str, size: int) -> list[str]:
    """How many characters a plain function is asked about, for each character of the text: ours and the others'."""
    rows = []
    for name, options in settings(size).items():
        if isinstance(count := options.get("length"), Counted):
            split_recursive(text, chunk_size=size, **options)
            rows.append(f"chunklib recursive{name}: {count.characters / len(text):.1f}")
    with suppress(ImportError):
        import semchunk

        for overlap in (None, size // 5):
            count = Counted()
            semchunk.chunkerify(count, chunk_size=size, memoize=False)(text, overlap=overlap)
            rows.append(f"semchunk, overlap {overlap or 0}: {count.characters / len(text):.1f}")
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent / "data")
    parser.add_argument("--size", type=int, default=200, help="chunk_size in tokens")
    parser.add_argument("--repeat", type=int, default=5, help="runs; the median counts")
    arguments = parser.parse_args()
    files = sorted(p for p in arguments.folder.rglob("*") if p.suffix in (".md", ".txt"))
    texts = [file.read_bytes().decode() for file in files]
    encoding, pieces = tiktoken.get_encoding("cl100k_base"), wordpieces()
    splitters = {**ours(arguments.size), **peers(arguments.size)}
    missing = [name for name, splitter in splitters.items() if splitter is None]
    present = {name: splitter for name, splitter in splitters.items() if splitter is not None}
    seconds: dict[str, list[float]] = {name: [] for name in ["one tokenizer pass", OWN, *present]}
    for _ in range(arguments.repeat):  # in turn, so that a busy moment hits all alike
        for name in seconds:
            began = time.perf_counter()
            for text in texts:
                if name in present:
                    present[name](text)
                elif name == OWN:
                    pieces.encode(text, add_special_tokens=False)
                else:
                    encoding.encode_ordinary(text)
            seconds[name].append(time.perf_counter() - began)
    base, own = (statistics.median(seconds[name]) for name in ("one tokenizer pass", OWN))
    print(f"{len(texts)} texts, {sum(map(len, texts)):,} characters, chunk_size={arguments.size}\n")
    print("| splitter | time | chunks | over the limit |\n|---|---:|---:|---:|")
    for name, splitter in present.items():
        chunks = [chunk for text in texts for chunk in splitter(text)]
        over = sum(len(encoding.encode_ordinary(chunk)) > arguments.size for chunk in chunks)
        time_taken = statistics.median(seconds[name]) / (own if "object" in name else base)
        print(f"| {name} | {time_taken:.2f} x | {len(chunks):,} | {'-' if 'object' in name else over} |")
    print("\nCharacters that a function was asked about, for each character of the text:")
    print("\n".join(asked("\n\n".join(texts), arguments.size)))
    if missing:
        print(f"\nNot installed: {', '.join(missing)} (pip install -e '.[peers]')")


if __name__ == "__main__":
    main()
