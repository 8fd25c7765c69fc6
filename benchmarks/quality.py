# SPDX-License-Identifier: MIT
"""Retrieval quality of the splitters on a public data set, beside the published libraries.

    python benchmarks/quality.py --data FOLDER [--sizes 100 150 200 400] [--peers [200 ...]] [--enriched]

FOLDER holds ``corpora/*.md`` and ``questions_df.csv`` with the columns question, references (JSON list of start_index
and end_index) and corpus_id, as in the repository chunking_evaluation (see README.md here). All chunks of all corpora
lie in one index. With ``--peers`` the libraries of the extra ``[peers]`` are scored as well, each at the sizes given.
With ``--enriched`` our recursive splitter alone is scored, and what each addition to its index brings.

A chunk whose exact text stands in its corpus before is scored at its first copy, as the data set's authors do: more
than a third of one corpus repeats earlier passages, and the references mark first copies only.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path

import tiktoken

from chunklib.core.document import Chunk, Document, chunk_document
from chunklib.core.measure import count
from chunklib.core.outline import Heading
from chunklib.core.span import Span, Splitter
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.search.evaluation import Question, Searcher, evaluate
from chunklib.search.retrieval import Index, fuse_ranks
from chunklib.semantic import split_optimal, split_semantic
from chunklib.sentence import split_sentences

SENTENCES = ["\n\n", "\n", ".", "?", "!", " ", ""]  # the separators that the data set's authors gave LangChain
VERSIONS = ("chunk-by-chunk", "bm25s", "sentence-transformers", "torch", "numpy", "tiktoken")
PEERS = ("langchain-text-splitters", "semchunk", "chonkie", "semantic-text-splitter")


def load(folder: Path) -> tuple[list[Document], list[Question]]:
    """The corpora as documents, and the questions, whose kind is their corpus."""
    documents = [Document(file.read_bytes().decode(), id=file.stem) for file in sorted(folder.glob("corpora/*.md"))]
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    questions = []
    for number, row in enumerate(rows, start=1):
        spans = [Span(part["start_index"], part["end_index"]) for part in json.loads(row["references"])]
        corpus = row["corpus_id"]
        gold = (tuple((corpus, span) for span in spans),)
        questions.append(Question(str(number), row["question"], kind=corpus, split="", gold=gold))
    return documents, questions


def ours(size: int) -> Iterator[tuple[str, Splitter]]:
    """The splitters of this package."""
    yield f"chunklib fixed size {size}", partial(split_fixed_size, chunk_size=size)
    yield f"chunklib recursive {size}", partial(split_recursive, chunk_size=size)
    yield f"chunklib sentences {size}", partial(split_sentences, chunk_size=size)
    semantic = partial(split_semantic, window=1, min_chunk_size=size // 2, max_chunk_size=size)  # see lesson 05
    yield f"chunklib semantic {size}", semantic
    yield f"chunklib optimal {size}", partial(split_optimal, chunk_size=size)
    pieces = partial(split_recursive, chunk_size=50)
    yield f"chunklib optimal {size}, of pieces of 50", partial(split_optimal, chunk_size=size, sentences=pieces)


def peers(size: int) -> Iterator[tuple[str, Splitter]]:
    """The published splitters that are installed, as functions to spans."""
    encoding = tiktoken.get_encoding("cl100k_base")
    length = partial(count, length="tokens")
    try:
        from langchain_text_splitters import RecursiveCharacterTextSplitter as Recursive

        settings = {"chunk_size": size, "chunk_overlap": 0, "length_function": length}
        yield f"LangChain Recursive {size}", locating(Recursive(**settings).split_text)
        yield f"LangChain Recursive +.?! {size}", locating(Recursive(**settings, separators=SENTENCES).split_text)
    except ImportError:
        pass
    try:
        import semchunk

        chunker = semchunk.chunkerify(length, chunk_size=size, memoize=False)
        yield f"semchunk {size}", lambda text: chunker(text, offsets=True)[1]
    except ImportError:
        pass
    try:
        from chonkie import RecursiveChunker

        chonkie = RecursiveChunker(tokenizer=encoding, chunk_size=size)
        yield f"Chonkie Recursive {size}", lambda text: [(c.start_index, c.end_index) for c in chonkie.chunk(text)]
    except ImportError:
        pass
    try:
        from semantic_text_splitter import TextSplitter

        rust = TextSplitter.from_tiktoken_model("gpt-4", size)
        name = f"semantic-text-splitter {size}"
        yield name, lambda text: [(start, start + len(chunk)) for start, chunk in rust.chunk_indices(text)]
    except ImportError:
        pass


def locating(split: Callable[[str], list[str]]) -> Splitter:
    """A splitter without overlap that returns strings, as one that returns spans: each is sought after the last."""

    def spans(text: str) -> list[tuple[int, int]]:
        found, end = [], 0
        for chunk in split(text):
            start = text.index(chunk, end)
            end = start + len(chunk)
            found.append((start, end))
        return found

    return spans


def at_first_copy(chunks: Iterable[Chunk], text: str) -> Iterator[Chunk]:
    """The chunks, each where its text stands first."""
    for chunk in chunks:
        start = text.find(chunk.text, 0, chunk.end)
        yield replace(chunk, start=start, end=start + len(chunk.text))


def headings(text: str) -> list[Heading]:
    """Lines such as ``= = Plot = =``; in a text without any, a short line without a mark at its end, before a long one.

    The corpora are plain text in their own formats; three of the five have no headings at all.
    """
    titles = re.finditer(r"(?m)^ ?((?:= )+)(.+?)(?: =)+ ?$", text)
    found = [Heading(title.start(), title.end(), len(title[1]) // 2, title[2].strip()) for title in titles]
    short = re.finditer(r"(?m)^(?=[A-Z0-9])([^\n|]{3,90}[^\s.,;:?!])\n+(?=[^\n]{200})", text)
    return found or [Heading(*line.span(1), 2, line[1].strip()) for line in short]


def rough_sentences(text: str) -> list[tuple[int, int]]:
    """Lines, cut after a full stop, question or exclamation mark and a blank."""
    ends = [0, *(match.end() for match in re.finditer(r"(?<=[.?!])[\"'”’)]*\s+(?=\S)|\n+", text)), len(text)]
    spans = [(start + len(text[start:end]) - len(text[start:end].lstrip()), end) for start, end in pairwise(ends)]
    spans = [(start, start + len(text[start:end].rstrip())) for start, end in spans]
    return [(start, end) for start, end in spans if end - start >= 3]


def enriched(size: int, documents: list[Document]) -> Iterator[tuple[str, Searcher]]:
    """Additions to the index of recursive chunks, one more each time; the weights are those of the course."""
    splitter = partial(split_recursive, chunk_size=size)
    known = [replace(document, headings=headings(document.text)) for document in documents]
    plain = placed(splitter, known)
    headed = [replace(chunk, context=" > ".join(chunk.section_path)) for chunk in plain]
    name = f"recursive {size}"
    yield f"{name}: copies once", Index(plain, once=True)
    yield f"{name}: and headings", Index(headed, once=True)
    near = Index(headed, once=True, neighbours=0.3)
    yield f"{name}: and neighbours 0.3", near
    best = Index(headed, once=True, neighbours=0.3, sentences=rough_sentences)
    yield f"{name}: and best sentence 0.3 (all dense)", best
    yield f"{name}: keywords alone", near.view(mode="keywords")
    yield f"{name}: without sentence, fused 0.15", near.view(mode="fused")
    yield f"{name}: all, fused 0.15", best.view(mode="fused")
    ranks = Index(headed, once=True, neighbours=0.3, sentences=rough_sentences, fuse=fuse_ranks)
    yield f"{name}: all, fused by reciprocal rank", ranks.view(mode="fused")


def placed(splitter: Splitter, documents: Iterable[Document]) -> list[Chunk]:
    """All chunks, each where its text stands first."""
    return [chunk for d in documents for chunk in at_first_copy(chunk_document(d, splitter), d.text)]


def row(name: str, index: Searcher, questions: list[Question]) -> str:
    """One line of the table."""
    chunks = index.chunks
    scores, half = (evaluate(index, questions, k=5, budget=budget) for budget in (4000, 2000))
    measures = (scores.recall, scores.iou, scores.precision_omega, half.recall_at_budget, scores.recall_at_budget)
    tokens = [count(chunk.text) for chunk in chunks]
    shown = [f"{100 * values.mean():.1f}" for values in measures]
    shown += [f"{len(chunks)}", f"{sum(tokens) / len(tokens):.0f}", f"{max(tokens)}"]
    return f"| {name} | {' | '.join(shown)} |"


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with corpora/ and questions_df.csv")
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 150, 200, 400], help="of our chunks, in tokens")
    parser.add_argument("--enriched", action="store_true", help="score additions to the index instead of splitters")
    parser.add_argument(
        "--peers", type=int, nargs="*", help="score the published libraries, too, at 200 or these sizes"
    )
    arguments = parser.parse_args()
    documents, questions = load(arguments.data)
    if not documents or not questions:
        sys.exit(f"{arguments.data} holds no corpora/*.md or no question")
    print("| splitter | recall | IoU | precision Ω | recall@2000c | recall@4000c | chunks | mean tokens | max tokens |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    if arguments.enriched:
        searchers = (entry for size in arguments.sizes for entry in enriched(size, documents))
    else:
        entries = [entry for size in arguments.sizes for entry in ours(size)]
        if arguments.peers is not None:
            entries += [entry for size in arguments.peers or [200] for entry in peers(size)]
        searchers = ((name, Index(placed(splitter, documents))) for name, splitter in entries)
    for name, index in searchers:
        print(row(name, index, questions), flush=True)
    print(f"\n{len(questions)} questions, {sum(len(d.text) for d in documents):,} characters, k = 5, {date.today()}.")
    print(", ".join(versions((*VERSIONS, *PEERS) if arguments.peers is not None else VERSIONS)))


def versions(packages: Iterable[str]) -> Iterator[str]:
    """Name and version of each package, or that it is not installed."""
    yield f"Python {sys.version.split()[0]}"
    for name in packages:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"{name} not installed"


if __name__ == "__main__":
    main()
