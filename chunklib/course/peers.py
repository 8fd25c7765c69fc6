# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: what chunklib.course.datasets needs; with the extra [peers], the libraries run.
"""The published splitters beside ours: each a function from text to the pieces that a library returns.

Where the library is installed, it runs. Where it is not, `chunklib.course.peer_store` reads what it returned.

But: few settings are passed on, those that lesson 12 needs.

Cost: importing the library (LlamaIndex a second or two) and running it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from chunklib.course.peer_store import Peer, Piece, peer


def _encoding() -> Any:
    import tiktoken

    return tiktoken.get_encoding("cl100k_base")


# --- LangChain -------------------------------------------------------------------------------------------------------


def _of_langchain(documents: Sequence[Any]) -> list[Piece]:
    return [Piece(document.page_content, document.metadata.get("start_index")) for document in documents]


@peer("langchain-text-splitters")
def langchain_tokens(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Fixed size: ``TokenTextSplitter``."""
    from langchain_text_splitters import TokenTextSplitter

    splitter = TokenTextSplitter(
        encoding_name="cl100k_base", chunk_size=chunk_size, chunk_overlap=chunk_overlap, add_start_index=True
    )
    return _of_langchain(splitter.create_documents([text]))


@peer("langchain-text-splitters")
def langchain_recursive(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Recursive: ``RecursiveCharacterTextSplitter``, sizes in tokens."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        encoding_name="cl100k_base", chunk_size=chunk_size, chunk_overlap=chunk_overlap, add_start_index=True
    )
    return _of_langchain(splitter.create_documents([text]))


@peer("langchain-text-splitters")
def langchain_nltk(text: str, *, chunk_size: int, chunk_overlap: int = 0, **spans: Any) -> list[Piece]:
    """Sentences: ``NLTKTextSplitter``; with ``use_span_tokenize=True, separator=""`` it keeps the blanks."""
    from langchain_text_splitters import NLTKTextSplitter

    # It warns of each chunk over the limit; here these are counted.
    logging.getLogger("langchain_text_splitters.base").setLevel(logging.ERROR)
    splitter = NLTKTextSplitter.from_tiktoken_encoder(
        encoding_name="cl100k_base", chunk_size=chunk_size, chunk_overlap=chunk_overlap, add_start_index=True, **spans
    )
    return _of_langchain(splitter.create_documents([text]))


@peer("langchain-text-splitters")
def langchain_markdown(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Markdown by separators: ``MarkdownTextSplitter``, sizes in tokens."""
    from langchain_text_splitters import MarkdownTextSplitter

    splitter = MarkdownTextSplitter.from_tiktoken_encoder(
        encoding_name="cl100k_base", chunk_size=chunk_size, chunk_overlap=chunk_overlap, add_start_index=True
    )
    return _of_langchain(splitter.create_documents([text]))


@peer("langchain-text-splitters")
def langchain_headers(text: str) -> list[Piece]:
    """Markdown sections, each with its headings: ``MarkdownHeaderTextSplitter``; it knows no size."""
    from langchain_text_splitters import MarkdownHeaderTextSplitter

    levels = [("#" * level, f"h{level}") for level in range(1, 7)]
    splitter = MarkdownHeaderTextSplitter(levels, strip_headers=False)
    documents = splitter.split_text(text)
    return [Piece(d.page_content, section=" > ".join(d.metadata.values())) for d in documents]


@peer("langchain-text-splitters")
def langchain_syntax(text: str) -> list[Piece]:
    """The same, blanks kept: ``ExperimentalMarkdownSyntaxTextSplitter``."""
    from langchain_text_splitters import ExperimentalMarkdownSyntaxTextSplitter

    levels = [("#" * level, f"h{level}") for level in range(1, 7)]
    splitter = ExperimentalMarkdownSyntaxTextSplitter(levels, strip_headers=False)
    documents = splitter.split_text(text)
    return [Piece(document.page_content) for document in documents]


@peer("langchain-text-splitters")
def langchain_adapter(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Our recursive splitter inside LangChain."""
    from functools import partial

    from chunklib.production.adapters import langchain_splitter
    from chunklib.recursive import split_recursive

    ours = partial(split_recursive, chunk_size=chunk_size, chunk_overlap=chunk_overlap)
    splitter = langchain_splitter(ours)
    return _of_langchain(splitter.create_documents([text]))


# --- LlamaIndex ------------------------------------------------------------------------------------------------------


def _of_llamaindex(nodes: Sequence[Any]) -> list[Piece]:
    return [
        Piece(node.text, node.start_char_idx, node.end_char_idx, node.metadata.get("header_path")) for node in nodes
    ]


@peer("llama-index-core")
def llamaindex_tokens(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Fixed size: ``TokenTextSplitter``."""
    from llama_index.core import Document
    from llama_index.core.node_parser import TokenTextSplitter

    parser = TokenTextSplitter(chunk_size=chunk_size, chunk_overlap=chunk_overlap, tokenizer=_encoding().encode)
    return _of_llamaindex(parser.get_nodes_from_documents([Document(text=text)]))


@peer("llama-index-core")
def llamaindex_sentences(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Paragraphs, sentences, words: ``SentenceSplitter``, LlamaIndex's default."""
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter

    parser = SentenceSplitter(chunk_size=chunk_size, chunk_overlap=chunk_overlap, tokenizer=_encoding().encode)
    return _of_llamaindex(parser.get_nodes_from_documents([Document(text=text)]))


@peer("llama-index-core")
def llamaindex_windows(text: str, *, window_size: int) -> list[Piece]:
    """Single sentences: ``SentenceWindowNodeParser``; each node carries its window in its metadata."""
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceWindowNodeParser

    parser = SentenceWindowNodeParser(window_size=window_size)
    return _of_llamaindex(parser.get_nodes_from_documents([Document(text=text)]))


@peer("llama-index-core")
def llamaindex_markdown(text: str) -> list[Piece]:
    """Markdown sections with their path: ``MarkdownNodeParser``; it knows no size."""
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser

    return _of_llamaindex(MarkdownNodeParser().get_nodes_from_documents([Document(text=text)]))


@peer("llama-index-core")
def llamaindex_semantic(text: str, *, buffer_size: int, breakpoint_percentile_threshold: int) -> list[Piece]:
    """Semantic: ``SemanticSplitterNodeParser`` with the course's encoder."""
    from llama_index.core import Document
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.node_parser import SemanticSplitterNodeParser

    from chunklib.search.embedding import embed

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


@peer("llama-index-core")
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


@peer("llama-index-core")
def llamaindex_adapter(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Our recursive splitter inside LlamaIndex."""
    from functools import partial

    from llama_index.core import Document

    from chunklib.production.adapters import llamaindex_parser
    from chunklib.recursive import split_recursive

    ours = partial(split_recursive, chunk_size=chunk_size, chunk_overlap=chunk_overlap)
    parser = llamaindex_parser(ours)
    return _of_llamaindex(parser.get_nodes_from_documents([Document(text=text)]))


# --- Chonkie ---------------------------------------------------------------------------------------------------------


def _of_chonkie(chunks: Sequence[Any]) -> list[Piece]:
    return [Piece(chunk.text, chunk.start_index, chunk.end_index) for chunk in chunks]


@peer("chonkie")
def chonkie_tokens(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Fixed size: ``TokenChunker``."""
    from chonkie import TokenChunker

    chunker = TokenChunker(tokenizer=_encoding(), chunk_size=chunk_size, chunk_overlap=chunk_overlap)
    return _of_chonkie(chunker.chunk(text))


@peer("chonkie")
def chonkie_recursive(text: str, *, chunk_size: int) -> list[Piece]:
    """Recursive: ``RecursiveChunker``; overlap is a step of its own there, ``OverlapRefinery``."""
    from chonkie import RecursiveChunker

    chunker = RecursiveChunker(tokenizer=_encoding(), chunk_size=chunk_size)
    return _of_chonkie(chunker.chunk(text))


@peer("chonkie")
def chonkie_sentences(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Sentences: ``SentenceChunker``."""
    from chonkie import SentenceChunker

    chunker = SentenceChunker(tokenizer=_encoding(), chunk_size=chunk_size, chunk_overlap=chunk_overlap)
    return _of_chonkie(chunker.chunk(text))


@peer("chonkie")
def chonkie_semantic(text: str, *, threshold: float, chunk_size: int) -> list[Piece]:
    """Semantic: ``SemanticChunker`` with the course's encoder."""
    from chonkie import SemanticChunker
    from chonkie.embeddings import BaseEmbeddings

    from chunklib.search.embedding import embed

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


@peer("semchunk")
def semchunk_recursive(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Recursive: ``chunkerify``."""
    import semchunk

    chunker = semchunk.chunkerify(_encoding(), chunk_size=chunk_size)
    chunks, offsets = chunker(text, offsets=True, overlap=chunk_overlap or None)
    return [Piece(chunk, *place) for chunk, place in zip(chunks, offsets, strict=True)]


@peer("semantic-text-splitter")
def semantic_text_splitter_recursive(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Recursive, by Unicode's rules for sentences and words: ``TextSplitter`` of semantic-text-splitter."""
    from semantic_text_splitter import TextSplitter

    splitter = TextSplitter.from_tiktoken_model("gpt-4", chunk_size, chunk_overlap)
    chunks = splitter.chunk_indices(text)
    return [Piece(chunk, start) for start, chunk in chunks]


@peer("semantic-text-splitter")
def semantic_text_splitter_markdown(text: str, *, chunk_size: int, chunk_overlap: int = 0) -> list[Piece]:
    """Markdown by a parser: ``MarkdownSplitter`` of semantic-text-splitter."""
    from semantic_text_splitter import MarkdownSplitter

    splitter = MarkdownSplitter.from_tiktoken_model("gpt-4", chunk_size, chunk_overlap)
    chunks = splitter.chunk_indices(text)
    return [Piece(chunk, start) for start, chunk in chunks]


#: All of them, by name.
PEERS: dict[str, Peer] = {name: thing for name, thing in list(globals().items()) if hasattr(thing, "library")}
