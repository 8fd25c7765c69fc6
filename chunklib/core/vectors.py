# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy.
"""Vectors of texts, by whatever encoder: one row a text, each as long as 1, so that a dot product is a cosine.

But: two texts with a high cosine sound similar to the encoder. Whether one answers the other is another question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
#: Any encoder: from texts to vectors, one a text, of any length, as an array or as lists.
Encoder = Callable[[Sequence[str]], npt.ArrayLike]

_DOUBLED = 1000  # vectors that are made double precision at a time


def encoder(embed: Encoder | None) -> Encoder:
    """The encoder that was given, or else the one of the package, which is loaded only now.

    Raises ``TypeError`` where there is none, as in a copied file.
    """
    if embed is not None:
        return embed
    try:
        found: Encoder = import_module("chunklib.search.embedding").embed
    except ImportError:
        raise TypeError("embed=None: pass a function from texts to vectors, one a text") from None
    return found


def unit_vectors(embed: Encoder, texts: Sequence[str]) -> Vectors:
    """The vectors of some texts by any encoder, each made as long as 1 (or 0): float32, shape (n, d).

    Raises ``ValueError`` for what is not one vector of numbers for each text. What is as long as 1 stays as it is.

    >>> unit_vectors(lambda texts: [[0, 5], [0, 0]], ["a", "b"]).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    given = np.asarray(embed(texts)) if texts else np.zeros((0, 0))
    if given.ndim != 2 or len(given) != len(texts) or (len(texts) and not given.shape[1]):
        raise ValueError(f"embed returned shape {given.shape} for {len(texts)} texts; it must be one vector for each")
    units = np.empty(given.shape, dtype=np.float32)
    for at in range(0, len(given), _DOUBLED):
        rows = given[at : at + _DOUBLED].astype(np.float64)
        if len(bad := np.flatnonzero(~np.isfinite(rows).all(axis=1))):
            text = texts[at + int(bad[0])]
            raise ValueError(f"embed returned a vector that is not finite (NaN or infinite) for {text[:60]!r}")
        small = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)  # no overflow
        unit = small / np.maximum(np.linalg.norm(small, axis=1, keepdims=True), 1e-9)
        same = np.abs(unit - rows).max(axis=1, keepdims=True) < 1e-6
        units[at : at + _DOUBLED] = np.where(same, rows, unit)
    return units
