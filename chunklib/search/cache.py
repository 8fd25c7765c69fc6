# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: platformdirs, to know the user's cache folder.
"""What took long to compute is kept on disk: bytes by key, for all processes and lessons of one user.

When to use it: for results that depend on their key alone, and whose loss costs only time.

It never fails its caller. Where the file is damaged or locked, the folder read-only or the disk full, nothing is found
and nothing is kept. The file may be deleted at any time. ``CHUNKLIB_CACHE`` may name another folder, or say ``off``.

But: it holds about `LIMIT` bytes at most. What was kept first goes first, even where it is still asked for.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path

LIMIT = 200_000_000
_PATIENCE = 10.0  # seconds to wait for another process that writes


def location() -> Path | None:
    """The file, whether or not it exists; ``None`` where results are not kept."""
    wish = os.environ.get("CHUNKLIB_CACHE", "")
    if wish.lower() == "off":
        return None
    if not wish:
        try:
            from platformdirs import user_cache_dir
        except ImportError:
            return None
        wish = user_cache_dir("chunklib", appauthor=False)
    return Path(wish, "results.sqlite")


def key(*parts: str) -> bytes:
    """What a result is found by: the SHA-256 of all that it depends on.

    >>> key("model", "text") == key("model", "text"), key("a", "bc") == key("ab", "c")
    (True, False)
    """
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()


def load(keys: Iterable[bytes]) -> dict[bytes, bytes]:
    """Those of the results that are kept. Cost: about 10 µs each, and 1 ms."""
    found: dict[bytes, bytes] = {}
    file = location()
    if file and file.exists():
        with suppress(OSError, sqlite3.Error), closing(sqlite3.connect(file, timeout=_PATIENCE)) as store:
            _begin(store)
            for name in dict.fromkeys(keys):
                for (value,) in store.execute("select value from results where key = ?", (name,)):
                    if isinstance(value, bytes) and value == _sealed(name, value[4:]):
                        found[name] = value[4:]
    return found


def save(results: Mapping[bytes, bytes]) -> None:
    """Keep some results. What is there already is written over, so a damaged one is mended."""
    file = location()
    if results and file:
        with suppress(OSError, sqlite3.Error):
            file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(file, timeout=_PATIENCE)) as store, store:
                _begin(store)
                rows = [(name, _sealed(name, value)) for name, value in results.items()]
                store.executemany("insert or replace into results values (?, ?)", rows)
                oldest = "delete from results where rowid in (select rowid from results order by rowid limit 10)"
                while _taken(store) > LIMIT and store.execute(oldest).rowcount > 0:
                    pass


def _begin(store: sqlite3.Connection) -> None:
    with suppress(sqlite3.OperationalError):  # another process is just doing the same
        store.execute("pragma journal_mode = wal")  # readers and a writer do not wait for each other
    store.execute("pragma synchronous = normal")
    store.execute("create table if not exists results (key blob primary key, value blob not null)")


def _taken(store: sqlite3.Connection) -> int:
    """Bytes of the file that hold something."""
    names = ("page_count", "freelist_count", "page_size")
    pages, free, size = (store.execute(f"pragma {name}").fetchone()[0] for name in names)
    return int((pages - free) * size)


def _sealed(name: bytes, value: bytes) -> bytes:
    """The value after four bytes that tell a damaged one: SQLite itself would hand it out."""
    return zlib.crc32(name + value).to_bytes(4, "big") + value
