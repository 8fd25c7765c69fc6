# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/peer_names.py). Needs: what chunklib.comparing needs.
"""What the same thing is called in each library.

But: a name that is alike need not mean the same. Look at the unit first.
"""

from __future__ import annotations

from chunklib.comparing import Table

#: What it is; then its name in chunklib, LangChain, LlamaIndex, Chonkie, semchunk, semantic-text-splitter.
NAMES = (
    ("most in a chunk", "chunk_size", "chunk_size", "chunk_size", "chunk_size", "chunk_size", "capacity"),
    ("repeated, at most", "chunk_overlap", "chunk_overlap", "chunk_overlap", "chunk_overlap", "overlap", "overlap"),
    (
        "unit of both",
        "length",
        "length_function",
        "tokenizer",
        "tokenizer",
        "tokenizer_or_token_counter",
        "from_callback, from_tiktoken_model",
    ),
    ("if you say nothing", "200 tokens", "4000 characters", "1024 tokens", "2048 characters", "(none)", "(none)"),
    (
        "place",
        "start, end",
        "add_start_index",
        "start_char_idx, end_char_idx",
        "start_index, end_index",
        "offsets",
        "chunk_indices",
    ),
    ("fixed size", "split_fixed_size", "TokenTextSplitter", "TokenTextSplitter", "TokenChunker", "", ""),
    (
        "recursive",
        "split_recursive",
        "RecursiveCharacterTextSplitter",
        "SentenceSplitter",
        "RecursiveChunker",
        "chunkerify",
        "TextSplitter",
    ),
    ("where to cut", "separators", "separators", "paragraph_separator, separator", "rules", "", ""),
    (
        "sentences",
        "split_sentences",
        "NLTKTextSplitter",
        "SentenceSplitter",
        "SentenceChunker",
        "",
        "",
    ),
    ("windows", "widen: before, after", "", "SentenceWindowNodeParser: window_size", "", "", ""),
    (
        "Markdown",
        "split_markdown",
        "MarkdownTextSplitter, MarkdownHeaderTextSplitter",
        "MarkdownNodeParser",
        "",
        "",
        "MarkdownSplitter",
    ),
    (
        "semantic",
        "split_semantic: threshold, amount, window",
        "SemanticChunker (another package, not run)",
        "SemanticSplitterNodeParser: breakpoint_percentile_threshold, buffer_size",
        "SemanticChunker: threshold, similarity_window",
        "",
        "",
    ),
    (
        "parent-child",
        "ParentChildIndex",
        "ParentDocumentRetriever (another package, not run)",
        "HierarchicalNodeParser: chunk_sizes",
        "",
        "",
        "",
    ),
)
#: The same for three libraries in Java; read in their source and documentation in November 2026, none of it run.
JAVA = (
    ("recursive", "split_recursive", "DocumentSplitters.recursive", "", "RecursiveCharacterTextSplitter"),
    ("fixed size", "split_fixed_size", "DocumentByCharacterSplitter", "TokenTextSplitter", ""),
    ("sentences", "split_sentences", "DocumentBySentenceSplitter", "", "SentenceTextChunker"),
    ("semantic", "split_semantic: amount=95", "", "", "SemanticTextChunker: breakpointPercentile=0.95"),
    (
        "most in a chunk",
        "chunk_size",
        "maxSegmentSizeInTokens, maxSegmentSizeInChars",
        "chunkSize (tokens)",
        "chunkSize, maxChunkSize (characters)",
    ),
    (
        "repeated, at most",
        "chunk_overlap",
        "maxOverlapSizeInTokens, maxOverlapSizeInChars",
        "(none)",
        "chunkOverlap (characters)",
    ),
    ("unit of both", "length", "tokenCountEstimator (older: tokenizer)", "encodingType", ""),
    ("do not cut before", "", "", "minChunkSizeChars (characters)", ""),
    ("drop what is shorter", "", "", "minChunkLengthToEmbed (characters)", ""),
    ("most chunks of a text", "", "", "maxNumChunks", ""),
    ("number of a chunk", "index", 'metadata "index"', "", "chunkIndex"),
)


def python_names() -> Table:
    """Five libraries beside this package; a test asks those that are installed whether they know the names."""
    return Table(("", "chunklib", "LangChain", "LlamaIndex", "Chonkie", "semchunk", "semantic-text-splitter"), NAMES)


def java_names() -> Table:
    """Three libraries in Java, from their source and documentation; none of them was run."""
    return Table(("", "chunklib", "LangChain4j", "Spring AI", "AI4J"), JAVA)
