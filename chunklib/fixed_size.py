# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, regex, tiktoken (for tokens).
"""Fixed size: a chunk every so many tokens, whatever the text says there.

When to use it: as the baseline that every other technique has to beat, and for text without any structure.

But: it cuts inside sentences, tables and words. Overlap mends some of that, and costs storage for all of it.

Cost: one pass of the tokenizer, then a binary search and a short recount for each chunk.
"""

from __future__ import annotations

from chunklib.core.measure import Length, measure
from chunklib.core.packing import pack
from chunklib.core.span import Span, check_settings


def split_fixed_size(
    text: str, *, chunk_size: int = 200, chunk_overlap: int = 0, length: Length = "tokens"
) -> list[Span]:
    """Cut ``text`` into spans that are each as long as fits.

    Parameters
    ----------
    chunk_size: the most that a chunk may measure, in units of ``length``; exact, each slice counted on its own.
    chunk_overlap: how much the end of a chunk is repeated at the start of the next, at most.
    length: ``"tokens"``, ``"words"``, ``"characters"``, ``"wordpieces"``, the name of a tiktoken encoding, a tokenizer,
        or a function to int.

    A cut never falls inside a unit that fits, nor inside a character that is made of several code points. Blanks at
    either end of a chunk are left out. There is no last chunk that only repeats the overlap.

    Raises ``ValueError`` or ``TypeError`` that names the bad setting and the mend.

    >>> text = "There was a cat. The cat sat. The cat sat on a mat."
    >>> [span.of(text) for span in split_fixed_size(text, chunk_size=5, chunk_overlap=1, length="words")]
    ['There was a cat.', '. The cat sat.', '. The cat sat on', 'on a mat.']
    """
    check_settings(text, chunk_size, chunk_overlap)
    return pack(measure(text, length), chunk_size=chunk_size, chunk_overlap=chunk_overlap)
