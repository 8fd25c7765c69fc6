# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: what chunklib.course.comparing needs.
"""What the same thing is called in each library.

But: a name that is alike need not mean the same. Look at the unit first.
"""

from __future__ import annotations

from chunklib.course.comparing import Table

#: What it is; then its name in chunklib, LangChain, LlamaIndex, Chonkie, semchunk, semantic-text-splitter.
NAMES = (
    ("most in a chunk", "chunk_size", "chunk_size", "chunk_size", "chunk_size", "chunk_size", "capacity"),
    (
        "repeated, at most",
        "chunk_overlap",
        "chunk_overlap",
        "chunk_overlap",
        "chunk_overlap, OverlapRefinery",
        "overlap",
        "overlap",
    ),
    (
        "unit of both",
        "length",
        "length_function",
        "tokenizer",
        "tokenizer",
        "tokenizer_or_token_counter",
        "from_callback, from_tiktoken_model",
    ),
    # Of the recursive ones; of the others where they differ.
    (
        "size, if you say nothing",
        "200 tokens",
        "4000 characters; TokenTextSplitter: tokens",
        "1024 tokens",
        "2048 characters",
        "(none)",
        "(none)",
    ),
    (
        "overlap, if you say nothing",
        "0",
        "200 characters; TokenTextSplitter: tokens",
        "200 tokens; TokenTextSplitter: 20",
        "0",
        "0",
        "0",
    ),
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
        "MarkdownTextSplitter, MarkdownHeaderTextSplitter, ExperimentalMarkdownSyntaxTextSplitter",
        "MarkdownNodeParser",
        'from_recipe("markdown"): fetches it, not run',
        "",
        "MarkdownSplitter",
    ),
    (
        "semantic",
        "split_semantic: threshold, amount, window",
        "SemanticChunker (in langchain-experimental, not run)",
        "SemanticSplitterNodeParser: breakpoint_percentile_threshold, buffer_size",
        "SemanticChunker: threshold, similarity_window",
        "",
        "",
    ),
    (
        "parent-child",
        "ParentChildIndex",
        "ParentDocumentRetriever (in langchain-classic, not run)",
        "HierarchicalNodeParser: chunk_sizes",
        "",
        "",
        "",
    ),
)
#: The same for three libraries in Java; read in November 2026 where the last line says, none of it run.
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
        "chunkOverlap (tokens, since 2.1.0)",
        "chunkOverlap (characters)",
    ),
    ("unit of both", "length", "tokenCountEstimator", "encodingType", ""),
    (
        "read in",
        "",
        "docs.langchain4j.dev/apidocs",
        "github.com/spring-projects/spring-ai, TokenTextSplitter.java of 2.1.0 and of commit 1206a40",
        "github.com/LnYo-Cly/ai4j, folders document and rag/ingestion",
    ),
)


def python_names() -> Table:
    """Five libraries beside this package; a test asks those that are installed whether they know the names."""
    return Table(("", "chunklib", "LangChain", "LlamaIndex", "Chonkie", "semchunk", "semantic-text-splitter"), NAMES)


def java_names() -> Table:
    """Three libraries in Java, from the source or documentation that the last line names; none of them was run."""
    return Table(("", "chunklib", "LangChain4j", "Spring AI", "AI4J"), JAVA)
