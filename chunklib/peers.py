# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/peers.py). Needs: nothing; with the extra [peers], the published libraries run.
"""The published splitters beside ours: each a function from text to the pieces that a library returns.

Where the library is installed, it runs. Where it is not, what it returned is read from ``data/peers.json``, which
``python -m tools.peers`` wrote with the versions and on the day that stand in it. A test compares both.

But: it stores results only for the course's own documents and the settings of lesson 12.

Cost: reading the file; or importing the library (LlamaIndex a second or two) and running it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import inspect
import json
import logging
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any, NamedTuple

STORED = Path(__file__).resolve().parent.parent / "data" / "peers.json"
#: Distribution, as a package index names it -> the module that it brings.
LIBRARIES = {
    "langchain-text-splitters": "langchain_text_splitters",
    "llama-index-core": "llama_index.core",
    "chonkie": "chonkie",
    "semchunk": "semchunk",
    "semantic-text-splitter": "semantic_text_splitter",
}


class Piece(NamedTuple):
    """What a library returned for one chunk: its text, where it says that this starts and ends, and in which section.

    ``None`` where it says nothing; LangChain's -1 ("not found") is passed on.
    """

    text: str
    start: int | None = None
    end: int | None = None
    section: str | None = None


_ENCODING = 'tiktoken.get_encoding("cl100k_base")'
Peer = Callable[..., list[Piece]]
PEERS: dict[str, Peer] = {}


def _peer(library: str) -> Callable[[Peer], Peer]:
    """A function that runs the library, made into one that runs it or reads what it returned."""

    def decorate(function: Peer) -> Peer:
        @wraps(function)
        def call(text: str, **settings: Any) -> list[Piece]:
            if installed(library) and os.environ.get("CHUNKLIB_PEERS") != "stored":
                return function(text, **settings)
            rows = _stored()["results"].get(key(function.__name__, text, settings))
            if rows is None:
                raise LookupError(
                    f"{library} is not installed, and {function.__name__} was not stored for this text and {settings}; "
                    'install it with: python -m pip install -c constraints.txt -e ".[peers]"'
                )
            return [unpacked(row, text) for row in rows]

        call.library = library  # type: ignore[attr-defined]
        PEERS[function.__name__] = call
        return call

    return decorate


def installed(library: str) -> bool:
    """Whether a library can be run here."""
    return importlib.util.find_spec(LIBRARIES[library].partition(".")[0]) is not None


def about() -> str:
    """The versions that the stored results come from, and the day; below it, which other versions would run here."""
    stored = _stored()
    lines = [f"{name} {version}" for name, version in stored["versions"].items()]
    lines.append(f"stored on {stored['date']}")
    for name, version in stored["versions"].items():
        if installed(name) and importlib.metadata.version(name) != version:
            lines.append(f"installed here: {name} {importlib.metadata.version(name)}; its results may differ")
    return "\n".join(lines)


def code(peer: Peer) -> str:
    """The lines that call the library, without those that only serve this module."""
    lines = textwrap.dedent(inspect.getsource(inspect.unwrap(peer))).splitlines()
    first = next(i for i, line in enumerate(lines) if i > 1 and line.endswith('"""'))
    body = textwrap.dedent("\n".join(lines[first + 1 :])).strip()
    body = re.sub(r"(?m)^return _of_\w+\((.*)\)$|^return \[Piece.*$", r"\1", body).strip()
    return body.replace("_encoding()", _ENCODING)


def key(name: str, text: str, settings: dict[str, Any]) -> str:
    """What a stored result is found by: the splitter, its settings, the text."""
    given = ", ".join(f"{option}={value!r}" for option, value in sorted(settings.items()))
    return f"{name}({given}) {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def packed(piece: Piece, text: str) -> list[Any]:
    """A piece as JSON keeps it: its text only where that does not stand at the place it names."""
    at = piece.start if piece.start is not None and piece.start >= 0 else text.find(piece.text)
    place = [at, at + len(piece.text)] if at >= 0 and text[at : at + len(piece.text)] == piece.text else piece.text
    return [place, piece.start, piece.end, *([] if piece.section is None else [piece.section])]


def unpacked(row: Sequence[Any], text: str) -> Piece:
    """The reverse of `packed`."""
    place, *claims = row
    return Piece(place if isinstance(place, str) else text[slice(*place)], *claims)


@cache
def _stored() -> dict[str, Any]:
    return dict(json.loads(STORED.read_text(encoding="utf-8")))


def _encoding() -> Any:
    import tiktoken

    return tiktoken.get_encoding("cl100k_base")


# --- LangChain -------------------------------------------------------------------------------------------------------


def _of_langchain(documents: Sequence[Any]) -> list[Piece]:
    return [Piece(document.page_content, document.metadata.get("start_index")) for document in documents]


@_peer("langchain-text-splitters")
def langchain_tokens(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Fixed size: ``TokenTextSplitter``."""
    from langchain_text_splitters import TokenTextSplitter

    splitter = TokenTextSplitter(
        encoding_name="cl100k_base", chunk_size=chunk_size, chunk_overlap=chunk_overlap, add_start_index=True
    )
    return _of_langchain(splitter.create_documents([text]))


@_peer("langchain-text-splitters")
def langchain_recursive(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Recursive: ``RecursiveCharacterTextSplitter``, sizes in tokens."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        encoding_name="cl100k_base", chunk_size=chunk_size, chunk_overlap=chunk_overlap, add_start_index=True
    )
    return _of_langchain(splitter.create_documents([text]))


@_peer("langchain-text-splitters")
def langchain_nltk(text: str, *, chunk_size: int, chunk_overlap: int = 0, **spans: Any) -> list[Piece]:
    """Sentences: ``NLTKTextSplitter``; with ``use_span_tokenize=True, separator=""`` it keeps the blanks."""
    from langchain_text_splitters import NLTKTextSplitter

    # It warns of each chunk over the limit; here these are counted.
    logging.getLogger("langchain_text_splitters.base").setLevel(logging.ERROR)
    splitter = NLTKTextSplitter.from_tiktoken_encoder(
        encoding_name="cl100k_base", chunk_size=chunk_size, chunk_overlap=chunk_overlap, add_start_index=True, **spans
    )
    return _of_langchain(splitter.create_documents([text]))


@_peer("langchain-text-splitters")
def langchain_markdown(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Markdown by separators: ``MarkdownTextSplitter``, sizes in tokens."""
    from langchain_text_splitters import MarkdownTextSplitter

    splitter = MarkdownTextSplitter.from_tiktoken_encoder(
        encoding_name="cl100k_base", chunk_size=chunk_size, chunk_overlap=chunk_overlap, add_start_index=True
    )
    return _of_langchain(splitter.create_documents([text]))


@_peer("langchain-text-splitters")
def langchain_headers(text: str) -> list[Piece]:
    """Markdown sections, each with its headings: ``MarkdownHeaderTextSplitter``; it knows no size."""
    from langchain_text_splitters import MarkdownHeaderTextSplitter

    levels = [("#" * level, f"h{level}") for level in range(1, 7)]
    splitter = MarkdownHeaderTextSplitter(levels, strip_headers=False)
    documents = splitter.split_text(text)
    return [Piece(d.page_content, section=" > ".join(d.metadata.values())) for d in documents]


@_peer("langchain-text-splitters")
def langchain_adapter(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Our recursive splitter inside LangChain."""
    from functools import partial

    from chunklib.adapters import langchain_splitter
    from chunklib.recursive import split_recursive

    ours = partial(split_recursive, chunk_size=chunk_size, chunk_overlap=chunk_overlap)
    splitter = langchain_splitter(ours)
    return _of_langchain(splitter.create_documents([text]))


# --- LlamaIndex ------------------------------------------------------------------------------------------------------


def _of_llamaindex(nodes: Sequence[Any]) -> list[Piece]:
    return [
        Piece(node.text, node.start_char_idx, node.end_char_idx, node.metadata.get("header_path")) for node in nodes
    ]


@_peer("llama-index-core")
def llamaindex_tokens(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Fixed size: ``TokenTextSplitter``."""
    from llama_index.core import Document
    from llama_index.core.node_parser import TokenTextSplitter

    parser = TokenTextSplitter(chunk_size=chunk_size, chunk_overlap=chunk_overlap, tokenizer=_encoding().encode)
    return _of_llamaindex(parser.get_nodes_from_documents([Document(text=text)]))


@_peer("llama-index-core")
def llamaindex_sentences(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Paragraphs, sentences, words: ``SentenceSplitter``, LlamaIndex's default."""
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter

    parser = SentenceSplitter(chunk_size=chunk_size, chunk_overlap=chunk_overlap, tokenizer=_encoding().encode)
    return _of_llamaindex(parser.get_nodes_from_documents([Document(text=text)]))


@_peer("llama-index-core")
def llamaindex_windows(text: str, *, window_size: int) -> list[Piece]:
    """Single sentences: ``SentenceWindowNodeParser``; each node carries its window in its metadata."""
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceWindowNodeParser

    parser = SentenceWindowNodeParser(window_size=window_size)
    return _of_llamaindex(parser.get_nodes_from_documents([Document(text=text)]))


@_peer("llama-index-core")
def llamaindex_markdown(text: str) -> list[Piece]:
    """Markdown sections with their path: ``MarkdownNodeParser``; it knows no size."""
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser

    return _of_llamaindex(MarkdownNodeParser().get_nodes_from_documents([Document(text=text)]))


@_peer("llama-index-core")
def llamaindex_semantic(text: str, *, buffer_size: int, breakpoint_percentile_threshold: int) -> list[Piece]:
    """Semantic: ``SemanticSplitterNodeParser`` with the course's encoder."""
    from llama_index.core import Document
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.node_parser import SemanticSplitterNodeParser

    from chunklib.embedding import embed

    class Encoder(BaseEmbedding):  # type: ignore[misc]
        def _get_text_embedding(self, text: str) -> list[float]:
            return list(map(float, embed([text])[0]))

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [list(map(float, row)) for row in embed(texts)]

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    parser = SemanticSplitterNodeParser(
        embed_model=Encoder(),
        buffer_size=buffer_size,
        breakpoint_percentile_threshold=breakpoint_percentile_threshold,
    )
    return _of_llamaindex(parser.get_nodes_from_documents([Document(text=text)]))


@_peer("llama-index-core")
def llamaindex_children(text: str, *, chunk_sizes: list[int]) -> list[Piece]:
    """Parent-child: the leaves of ``HierarchicalNodeParser``."""
    from llama_index.core import Document
    from llama_index.core.node_parser import HierarchicalNodeParser, SentenceSplitter, get_leaf_nodes

    levels = {
        f"{size} tokens": SentenceSplitter(chunk_size=size, chunk_overlap=0, tokenizer=_encoding().encode)
        for size in chunk_sizes
    }
    parser = HierarchicalNodeParser.from_defaults(node_parser_ids=list(levels), node_parser_map=levels)
    return _of_llamaindex(get_leaf_nodes(parser.get_nodes_from_documents([Document(text=text)])))


@_peer("llama-index-core")
def llamaindex_adapter(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Our recursive splitter inside LlamaIndex."""
    from functools import partial

    from llama_index.core import Document

    from chunklib.adapters import llamaindex_parser
    from chunklib.recursive import split_recursive

    ours = partial(split_recursive, chunk_size=chunk_size, chunk_overlap=chunk_overlap)
    parser = llamaindex_parser(ours)
    return _of_llamaindex(parser.get_nodes_from_documents([Document(text=text)]))


# --- Chonkie ---------------------------------------------------------------------------------------------------------


def _of_chonkie(chunks: Sequence[Any]) -> list[Piece]:
    return [Piece(chunk.text, chunk.start_index, chunk.end_index) for chunk in chunks]


@_peer("chonkie")
def chonkie_tokens(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Fixed size: ``TokenChunker``."""
    from chonkie import TokenChunker

    chunker = TokenChunker(tokenizer=_encoding(), chunk_size=chunk_size, chunk_overlap=chunk_overlap)
    return _of_chonkie(chunker.chunk(text))


@_peer("chonkie")
def chonkie_recursive(text: str, *, chunk_size: int) -> list[Piece]:
    """Recursive: ``RecursiveChunker``; it knows no overlap."""
    from chonkie import RecursiveChunker

    chunker = RecursiveChunker(tokenizer=_encoding(), chunk_size=chunk_size)
    return _of_chonkie(chunker.chunk(text))


@_peer("chonkie")
def chonkie_sentences(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Sentences: ``SentenceChunker``."""
    from chonkie import SentenceChunker

    chunker = SentenceChunker(tokenizer=_encoding(), chunk_size=chunk_size, chunk_overlap=chunk_overlap)
    return _of_chonkie(chunker.chunk(text))


@_peer("chonkie")
def chonkie_semantic(text: str, *, threshold: float, chunk_size: int) -> list[Piece]:
    """Semantic: ``SemanticChunker`` with the course's encoder."""
    from chonkie import SemanticChunker
    from chonkie.embeddings import BaseEmbeddings

    from chunklib.embedding import embed

    class Encoder(BaseEmbeddings):  # type: ignore[misc]
        dimension = 384

        def embed(self, text: str) -> Any:
            return embed([text])[0]

        def embed_batch(self, texts: list[str]) -> list[Any]:
            return list(embed(texts)) if texts else []

        def get_tokenizer(self) -> Any:
            return _encoding()

    chunker = SemanticChunker(embedding_model=Encoder(), threshold=threshold, chunk_size=chunk_size)
    return _of_chonkie(chunker.chunk(text))


# --- semchunk, semantic-text-splitter --------------------------------------------------------------------------------


@_peer("semchunk")
def semchunk_recursive(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Recursive: ``chunkerify``."""
    import semchunk

    chunker = semchunk.chunkerify(_encoding(), chunk_size=chunk_size)
    chunks, offsets = chunker(text, offsets=True, overlap=chunk_overlap or None)
    return [Piece(chunk, *place) for chunk, place in zip(chunks, offsets, strict=True)]


@_peer("semantic-text-splitter")
def semantic_text_splitter_recursive(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Recursive, by Unicode's rules for sentences and words: ``TextSplitter`` of semantic-text-splitter."""
    from semantic_text_splitter import TextSplitter

    splitter = TextSplitter.from_tiktoken_model("gpt-4", chunk_size, chunk_overlap)
    chunks = splitter.chunk_indices(text)
    return [Piece(chunk, start) for start, chunk in chunks]


@_peer("semantic-text-splitter")
def semantic_text_splitter_markdown(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Markdown by a parser: ``MarkdownSplitter`` of semantic-text-splitter."""
    from semantic_text_splitter import MarkdownSplitter

    splitter = MarkdownSplitter.from_tiktoken_model("gpt-4", chunk_size, chunk_overlap)
    chunks = splitter.chunk_indices(text)
    return [Piece(chunk, start) for start, chunk in chunks]
