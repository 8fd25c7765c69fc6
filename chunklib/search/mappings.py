# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: redis for `RedisMapping`; SQLite comes with Python.
"""Texts that survive the process: mappings from str to str in an SQLite file or on a Redis server.

When to use it: `SQLiteMapping` for one machine, `RedisMapping` for several; a dict to learn and to test. `get_many`,
`delete_many` and `swap` work on any mapping, in one call where it offers them.

But: a file on a network drive is no place for SQLite. Redis keeps what its settings say: with the usual ``appendfsync
everysec`` it may lose the last second; say ``appendonly yes`` and ``appendfsync always``, and ``maxmemory-policy
noeviction``. It is meant for one server: in a Redis Cluster, storing several keys is not all or none.

Cost: a round trip or a transaction a call; SQLite waits for the disk at each write.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PLAIN = threading.Lock()  # for `swap` on a mapping that has none of its own
_SWAP = """
if (redis.call('get', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('del', KEYS[1]) else redis.call('set', KEYS[1], ARGV[2]) end
return 1
"""


def get_many(mapping: MutableMapping[str, str], keys: Sequence[str]) -> dict[str, str]:
    """Those of the keys that are there, with their values.

    >>> get_many({"a": "one", "b": "two"}, ["a", "c"])
    {'a': 'one'}
    """
    if hasattr(mapping, "get_many"):
        return dict(mapping.get_many(keys))
    found = ((key, mapping.get(key)) for key in keys)
    return {key: value for key, value in found if value is not None}


def delete_many(mapping: MutableMapping[str, str], keys: Sequence[str]) -> None:
    """Remove the keys; one that is not there is no error."""
    if hasattr(mapping, "delete_many"):
        mapping.delete_many(keys)
    else:
        for key in keys:
            mapping.pop(key, None)


def swap(mapping: MutableMapping[str, str], key: str, old: str | None, new: str | None) -> bool:
    """Replace the value ``old`` of a key by ``new``, if it is still ``old``. ``None`` is a key that is not there.

    Of several who try the same at once, one succeeds. A mapping without a `swap` of its own has it within one process.

    >>> lock = {}
    >>> swap(lock, "turn", None, "mine"), swap(lock, "turn", None, "yours"), lock
    (True, False, {'turn': 'mine'})
    """
    if hasattr(mapping, "swap"):
        return bool(mapping.swap(key, old, new))
    with _PLAIN:
        if mapping.get(key) != old:
            return False
        if new is not None:
            mapping[key] = new
        elif old is not None:
            del mapping[key]
        return True


class SQLiteMapping(MutableMapping[str, str]):
    """A mapping from str to str in one SQLite file, which survives the process. Threads and processes may share it.

    The folder is made where it is missing. Raises ``ConnectionError`` where the file cannot be used; then call again.

    >>> store = SQLiteMapping(":memory:")
    >>> store["a"] = "one"
    >>> dict(store), "b" in store
    ({'a': 'one'}, False)
    """

    def __init__(self, path: str | Path, *, table: str = "records") -> None:
        if not table.isidentifier():
            raise ValueError(f"table={table!r} must be a plain name")
        self.path, self.table = str(path), table
        self._opened: sqlite3.Connection | None = None
        self._turn = threading.RLock()  # one connection has one transaction

    def __getstate__(self) -> dict[str, Any]:
        if self.path == ":memory:":
            raise TypeError("a mapping in memory cannot be handed to another process; use a file")
        return {"path": self.path, "table": self.table}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"], table=state["table"])  # type: ignore[misc]

    def _open(self) -> sqlite3.Connection:
        if self._opened is None:
            if self.path != ":memory:":
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            store = sqlite3.connect(self.path, timeout=30, check_same_thread=False)
            try:
                store.execute("pragma journal_mode = wal")
                store.execute("pragma synchronous = full")  # the order of writes must outlive a power cut
                store.execute(f"create table if not exists {self.table} (key blob primary key, value blob not null)")
            except BaseException:
                store.close()
                raise
            self._opened = store
        return self._opened

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._turn:
            try:
                with self._open() as store:
                    yield store
            except (sqlite3.OperationalError, OSError) as error:
                raise ConnectionError(
                    f"SQLite file {self.path} cannot be used ({error}); make it available and call again"
                ) from error

    # Keys and values are bytes, since SQLite has no text for half a character.

    def __getitem__(self, key: str) -> str:
        with self._transaction() as store:
            row = store.execute(f"select value from {self.table} where key = ?", (_bytes(key),)).fetchone()
        if row is None:
            raise KeyError(key)
        return _str(row[0])

    def __contains__(self, key: object) -> bool:
        with self._transaction() as store:
            sql = f"select 1 from {self.table} where key = ?"
            return isinstance(key, str) and store.execute(sql, (_bytes(key),)).fetchone() is not None

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of the keys that are there, read in one transaction."""
        found = {}
        with self._transaction() as store:
            for key in keys:
                row = store.execute(f"select value from {self.table} where key = ?", (_bytes(key),)).fetchone()
                if row is not None:
                    found[key] = _str(row[0])
        return found

    def __setitem__(self, key: str, value: str) -> None:
        self.update({key: value})

    def update(self, other: Any = (), /, **named: str) -> None:
        """Store several, all or none of them."""
        rows = [(_bytes(key), _bytes(value)) for key, value in dict(other, **named).items()]
        if rows:
            with self._transaction() as store:
                store.executemany(f"insert or replace into {self.table} values (?, ?)", rows)

    def swap(self, key: str, old: str | None, new: str | None) -> bool:
        """See `swap`; holds between processes."""
        name = _bytes(key)
        with self._transaction() as store:
            if old is None:
                if new is None:
                    return key not in self
                sql, row = f"insert or ignore into {self.table} values (?, ?)", (name, _bytes(new))
            elif new is None:
                sql, row = f"delete from {self.table} where key = ? and value = ?", (name, _bytes(old))
            else:
                sql = f"update {self.table} set value = ? where key = ? and value = ?"
                return store.execute(sql, (_bytes(new), name, _bytes(old))).rowcount == 1
            return store.execute(sql, row).rowcount == 1

    def __delitem__(self, key: str) -> None:
        with self._transaction() as store:
            if not store.execute(f"delete from {self.table} where key = ?", (_bytes(key),)).rowcount:
                raise KeyError(key)

    def delete_many(self, keys: Sequence[str]) -> None:
        """Remove the keys, all or none of them."""
        if keys:
            with self._transaction() as store:
                store.executemany(f"delete from {self.table} where key = ?", [(_bytes(key),) for key in keys])

    def __iter__(self) -> Iterator[str]:
        with self._transaction() as store:
            rows = store.execute(f"select key from {self.table} order by key").fetchall()
        return (_str(key) for (key,) in rows)

    def __len__(self) -> int:
        with self._transaction() as store:
            return int(store.execute(f"select count(*) from {self.table}").fetchone()[0])

    def close(self) -> None:
        """Close the file; it is opened again when it is next needed."""
        with self._turn:
            if self._opened is not None:
                self._opened.close()
            self._opened = None


class RedisMapping(MutableMapping[str, str]):
    """A mapping from str to str in Redis, Valkey or anything else that speaks their protocol.

    ``url`` such as ``"redis://localhost:6379/0"``; ``prefix`` is put before every key, and only such keys are seen, so
    that one server can hold several mappings. Other settings go to ``redis.Redis.from_url``. Raises ``ConnectionError``
    where the server cannot be reached; then call again. Cost: a round trip a call; iterating looks at the whole server.
    """

    def __init__(self, url: str = "redis://localhost:6379/0", *, prefix: str = "chunklib:", **settings: Any) -> None:
        self.url, self.prefix, self.settings = url, prefix, settings
        self._opened: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_opened": None}

    @contextmanager
    def _client(self) -> Iterator[Any]:
        import redis

        try:
            if self._opened is None:
                self._opened = redis.Redis.from_url(self.url, **self.settings)
            yield self._opened
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise ConnectionError(
                f"Redis at {self.url.rpartition('@')[2]} cannot be reached ({error}); start it and call again"
            ) from error

    def _key(self, key: str) -> bytes:
        return _bytes(self.prefix + key)

    def __getitem__(self, key: str) -> str:
        with self._client() as client:
            value = client.get(self._key(key))
        if value is None:
            raise KeyError(key)
        return _str(value)

    def __contains__(self, key: object) -> bool:
        with self._client() as client:
            return isinstance(key, str) and bool(client.exists(self._key(key)))

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of the keys that are there, in one round trip."""
        if not keys:
            return {}
        with self._client() as client:
            values = client.mget([self._key(key) for key in keys])
        return {key: _str(value) for key, value in zip(keys, values, strict=True) if value is not None}

    def __setitem__(self, key: str, value: str) -> None:
        with self._client() as client:
            client.set(self._key(key), _bytes(value))

    def update(self, other: Any = (), /, **named: str) -> None:
        """Store several in one round trip, all or none of them."""
        rows = {self._key(key): _bytes(value) for key, value in dict(other, **named).items()}
        if rows:
            with self._client() as client:
                client.mset(rows)

    def swap(self, key: str, old: str | None, new: str | None) -> bool:
        """See `swap`; holds between all clients of the server. An empty value counts as a key that is not there."""
        with self._client() as client:
            return bool(client.eval(_SWAP, 1, self._key(key), _bytes(old or ""), _bytes(new or "")))

    def __delitem__(self, key: str) -> None:
        with self._client() as client:
            if not client.delete(self._key(key)):
                raise KeyError(key)

    def delete_many(self, keys: Sequence[str]) -> None:
        """Remove the keys in one round trip."""
        if keys:
            with self._client() as client:
                client.delete(*(self._key(key) for key in keys))

    def __iter__(self) -> Iterator[str]:
        start = _bytes(self.prefix)
        pattern = b"".join(b"\\" + bytes([byte]) if byte in b"*?[]\\^-" else bytes([byte]) for byte in start)
        with self._client() as client:
            found = {bytes(key) for key in client.scan_iter(match=pattern + b"*", count=1000)}  # SCAN may say one twice
        return (_str(key[len(start) :]) for key in sorted(found))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def close(self) -> None:
        """Close the connection; it is opened again when it is next needed."""
        if self._opened is not None:
            self._opened.close()
        self._opened = None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _str(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
