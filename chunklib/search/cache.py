# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: platformdirs, to know the user's cache folder.
"""What took long to compute is kept on disk: bytes by key, for all processes and lessons of one user.

When to use it: for results that depend on their key alone, and whose loss costs only time.

It never fails its caller. Where the file is damaged or locked, the folder read-only or the disk full, nothing is found
and nothing is kept. The file may be deleted at any time. ``CHUNKLIB_CACHE`` may name another folder, or say ``off``.

But: it holds at most about `LIMIT` bytes. What was not asked for the longest goes first, counted in days.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

LIMIT = 200_000_000
_FILE = "embeddings.sqlite"
_TABLE = """
create table if not exists results (key blob primary key, value blob not null, used integer not null);
create index if not exists by_use on results (used);
"""
_VARIABLES = 500  # in one query; SQLite takes 999 at least
_PATIENCE = 10.0  # seconds to wait for another process that writes
_log = logging.getLogger(__name__)


def location() -> Path | None:
    """The file, whether or not it exists; ``None`` where results are not kept."""
    wish = os.environ.get("CHUNKLIB_CACHE", "")
    if wish.lower() == "off":
        return None
    if wish:
        return Path(wish, _FILE)
    try:
        from platformdirs import user_cache_path
    except ImportError:
        return None
    return user_cache_path("chunklib", appauthor=False) / _FILE


def key(*parts: str) -> bytes:
    """What a result is found by: the SHA-256 of all that it depends on.

    >>> key("model", "text") == key("model", "text"), key("a", "bc") == key("ab", "c")
    (True, False)
    """
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()


def load(keys: Iterable[bytes]) -> dict[bytes, bytes]:
    """Those of the results that are kept. Cost: about 10 µs each, and 1 ms."""
    found: dict[bytes, bytes] = {}
    wanted = list(dict.fromkeys(keys))
    file = location()
    if not wanted or not file or not file.exists():
        return found
    with _forgiven(file), closing(_connect(file)) as store, store:
        today, old = _today(), []
        for at in range(0, len(wanted), _VARIABLES):
            part = wanted[at : at + _VARIABLES]
            marks = ", ".join("?" * len(part))
            for name, value, used in store.execute(
                f"select key, value, used from results where key in ({marks})", part
            ):
                if _sum(name, value[4:]) == value[:4]:
                    found[name] = value[4:]
                    old += [(today, name)] if used < today else []
        store.executemany("update results set used = ? where key = ?", old)  # at most once a day: reads stay reads
    return found


def save(results: Mapping[bytes, bytes]) -> None:
    """Keep some results. What is there already is written over, so a damaged one is mended."""
    file = location()
    if not results or not file:
        return
    with _forgiven(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(_connect(file)) as store, store:
            rows = [(name, _sum(name, value) + value, _today()) for name, value in results.items()]
            store.executemany("insert or replace into results values (?, ?, ?)", rows)
            _evict(store)


@contextmanager
def _forgiven(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        _log.info("%s is not used: %s", file, error)


def _connect(file: Path) -> sqlite3.Connection:
    """A connection of its own for each call: it may come from any thread, or from a process that was forked."""
    store = sqlite3.connect(file, timeout=_PATIENCE)
    try:
        if store.execute("pragma journal_mode").fetchone() != ("wal",):
            store.execute("pragma journal_mode = wal")  # readers and a writer do not wait for each other
        store.execute("pragma synchronous = normal")
        store.executescript(_TABLE)
    except BaseException:
        store.close()
        raise
    return store


def _evict(store: sqlite3.Connection) -> None:
    """Down to nine tenths of the limit, so that not every call has to; the room is used again."""
    pages, free, page = (
        store.execute(f"pragma {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    taken = (pages - free) * page
    if taken > LIMIT:
        (rows,) = store.execute("select count(*) from results").fetchone()
        surplus = math.ceil(rows * (1 - 0.9 * LIMIT / taken))
        oldest = "select rowid from results order by used, rowid limit ?"
        store.execute(f"delete from results where rowid in ({oldest})", (surplus,))


def _sum(name: bytes, value: bytes) -> bytes:
    """Four bytes that tell a damaged result: SQLite itself would hand it out."""
    return zlib.crc32(name + value).to_bytes(4, "big")


def _today() -> int:
    return int(time.time() // 86_400)
