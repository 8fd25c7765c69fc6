# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/enrichment.py). Needs: numpy, regex; tiktoken or tokenizers where there is a budget.
"""What is added to a chunk for the search, while its text stays what the document says.

When to use it: where chunks say "it" or "the fee" and their headings say of what, or are rows that lost their header.

But: the context is read first. Where the encoder reads only so much, a long one pushes the end of the text out: give a
budget, or make the chunks smaller by `chunklib.structure.context_size`.
"""

from __future__ import annotations

from dataclasses import replace

from chunklib.measure import Length, count
from chunklib.span import Chunk, Document
from chunklib.structure import names_at, table_header_at


def add_context(chunk: Chunk, document: Document, *, budget: int | None = None, length: Length = "tokens") -> Chunk:
    """The same chunk with ``Title > Section > Subsection`` as its context, and the header row of its table below that.

    It works for the chunks of every technique: both are looked up from the chunk's place. No title is said twice.

    Parameters
    ----------
    document: the one that the chunk was cut from.
    budget: the most that `Chunk.embedding_text`, context and text together, may measure in units of ``length``. The
        outermost names give way first; where not even the last one fits beside the header row, that gives way, and as
        many names as then fit come back. The text never gives way.

    Raises ``ValueError`` for a chunk of another document and for a budget below 1. Cost: a binary search; with a
    budget, a few calls of the tokenizer.

    >>> from chunklib.span import chunk_document
    >>> document = Document.from_markdown("# Returns\\n\\n## Faults\\n\\nSixty days.")
    >>> chunk = chunk_document(document, lambda text: [(text.index("Sixty"), len(text))])[0]
    >>> add_context(chunk, document).embedding_text
    'Returns > Faults\\n\\nSixty days.'
    >>> add_context(chunk, document, budget=5, length="words").context
    'Faults'
    """
    if chunk.document_id != document.id or chunk.text != document.text[chunk.start : chunk.end]:
        raise ValueError(f"the chunk is of document {chunk.document_id!r}, or of another version of {document.id!r}")
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int)):
        raise TypeError(f"budget={budget!r} must be an int")
    if budget is not None and budget < 1:
        raise ValueError(f"budget={budget} must be 1 or more")
    names, header = names_at(document, chunk.start, chunk.end), table_header_at(document, chunk.start)
    fewer = [" > ".join(names[dropped:]) for dropped in range(len(names))] or [""]
    for path, row in [*((path, header) for path in fewer), *((path, "") for path in fewer)]:
        context = "\n".join(filter(None, [path, row]))
        enriched = replace(chunk, context=context)
        if budget is None or count(enriched.embedding_text, length) <= budget:
            return enriched
    return replace(chunk, context="")
