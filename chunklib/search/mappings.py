# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: filelock to write an index into an SQLite file, redis for `RedisMapping`.
"""Texts that survive the process: mappings from str to str in an SQLite file or on a Redis server, for one writer.

When to use it: `SQLiteMapping` for one machine, `RedisMapping` for several; a dict to learn and to test. `get_many`,
`delete_many` and `turn` work on any mapping, and call the mapping's own where it has them.

But: a file on a network drive is no place for SQLite. Redis keeps what its settings say: with the usual ``appendfsync
everysec`` it may lose the last second; say ``appendonly yes`` and ``appendfsync always``, and ``maxmemory-policy
noeviction``. A mapping without a `turn` of its own is kept from the other threads of this process only.

Cost: a round trip or a transaction a call; SQLite waits for the disk at each write.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit
from uuid import uuid4

from chunklib.core.needs import needs

#: Seconds after which a server that says nothing cannot be reached.
TIMEOUT = 60
#: Seconds for which Redis keeps a turn without a sign of life; a writer gives one before each batch.
LEASE = 300
StillMine = Callable[[], None]
_BUSY = "another writer is at work; call again when it is done"
_AT_WORK: dict[int, object] = {}  # whose turn it is in this process, by id() of the mapping


class Busy(RuntimeError):
    """Another writer is at work, or has taken over; call again later."""


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


@contextmanager
def turn(mapping: MutableMapping[str, str]) -> Iterator[StillMine]:
    """One writer at a time: raises `Busy` where another is at work, and does not wait.

    It gives a call for before each step of a long work, a sign of life that raises `Busy` where the turn was lost.

    >>> with turn({}) as still_mine:
    ...     still_mine()
    """
    mine = object()
    if _AT_WORK.setdefault(id(mapping), mine) is not mine:
        raise Busy(_BUSY)
    try:
        if hasattr(mapping, "turn"):
            with mapping.turn() as still_mine:
                yield still_mine
        else:
            yield lambda: None
    finally:
        del _AT_WORK[id(mapping)]


def shown(address: str) -> str:
    """An address as it may be shown: host, port and path, without user, password and query.

    >>> shown("redis://user:secret@localhost:6379/0?password=secret"), shown("unix://:secret@/var/redis.sock")
    ('localhost:6379/0', '/var/redis.sock')
    """
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        _ = parts.port
    except ValueError:  # it would show what it found in place of the number
        raise ValueError("the address has no number for a port; a / in a password is written as %2F") from None
    return (parts.netloc + parts.path).rpartition("@")[2]


def unusable(place: str, error: Exception) -> ConnectionError:
    """What to raise where a store cannot be used for now."""
    return ConnectionError(f"{place} cannot be used ({_said(error)}); make it available and call again")


def refused(place: str, error: Exception) -> RuntimeError:
    """What to raise where a store refuses a call for good."""
    return RuntimeError(f"{place} refuses the call ({_said(error)}); the same again will not help")


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


class SQLiteMapping(MutableMapping[str, str]):
    """A mapping from str to str in one SQLite file, which survives the process. Threads and processes may share it.

    The folder is made where it is missing. Raises ``ConnectionError`` where the file cannot be used; then call again.

    >>> with SQLiteMapping(":memory:") as store:
    ...     store["a"] = "one"
    ...     dict(store), "b" in store
    ({'a': 'one'}, False)
    """

    def __init__(self, path: str | Path, *, table: str = "records") -> None:
        if not table.isidentifier():
            raise ValueError(f"table={table!r} must be a plain name")
        self.path, self.table = str(path), table
        self._opened: sqlite3.Connection | None = None
        self._alone = threading.RLock()  # one connection has one transaction

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path == ":memory:":
            raise TypeError("a mapping in memory cannot be handed to another process; use a file")
        return partial(SQLiteMapping, table=self.table), (self.path,)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._alone:
            try:
                if self._opened is None:
                    Path(self.path).parent.mkdir(parents=True, exist_ok=True)
                    self._opened = sqlite3.connect(self.path, timeout=30, check_same_thread=False)
                    self._finished = weakref.finalize(self, self._opened.close)
                    # In full: the order of writes must outlive a power cut. Bytes: SQLite has no half characters.
                    self._opened.executescript(
                        "pragma journal_mode = wal; pragma synchronous = full; create table if not exists "
                        f"{self.table} (key blob primary key, value blob not null)"
                    )
                with self._opened as store:
                    yield store
            except (sqlite3.DatabaseError, OSError) as error:
                self.close()  # the next call begins anew
                raise unusable(f"SQLite file {self.path}", error) from error

    @contextmanager
    def turn(self) -> Iterator[StillMine]:
        """See `turn`; holds between processes, and ends with the process, however that ends."""
        if self.path == ":memory:":
            yield lambda: None
            return
        with needs("filelock"):
            from filelock import FileLock, Timeout

        with self._transaction():  # makes the folder
            try:
                held = FileLock(f"{Path(self.path).resolve()}.{self.table}.lock").acquire(timeout=0)
            except Timeout:
                raise Busy(_BUSY) from None
        with held:
            yield lambda: None

    def __getitem__(self, key: str) -> str:
        with self._transaction() as store:
            row = store.execute(f"select value from {self.table} where key = ?", (_bytes(key),)).fetchone()
        if row is None:
            raise KeyError(key)
        return _str(row[0])

    def __setitem__(self, key: str, value: str) -> None:
        self.update({key: value})

    def update(self, other: Any = (), /, **named: str) -> None:
        """Store several, all or none of them."""
        rows = [(_bytes(key), _bytes(value)) for key, value in dict(other, **named).items()]
        with self._transaction() as store:
            store.executemany(f"insert or replace into {self.table} values (?, ?)", rows)

    def __delitem__(self, key: str) -> None:
        if not self.delete_many([key]):
            raise KeyError(key)

    def delete_many(self, keys: Sequence[str]) -> int:
        """Remove the keys, all or none of them; says how many were there."""
        with self._transaction() as store:
            sql = f"delete from {self.table} where key = ?"
            return store.executemany(sql, [(_bytes(key),) for key in keys]).rowcount

    def __iter__(self) -> Iterator[str]:
        with self._transaction() as store:
            return iter([_str(key) for (key,) in store.execute(f"select key from {self.table} order by key")])

    def __len__(self) -> int:
        with self._transaction() as store:
            return int(store.execute(f"select count(*) from {self.table}").fetchone()[0])

    def close(self) -> None:
        """Close the file; it is opened again when it is next needed."""
        with self._alone:
            if self._opened is not None:
                self._finished()
            self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class RedisMapping(MutableMapping[str, str]):
    """A mapping from str to str in Redis, Valkey or anything else that speaks their protocol.

    ``url`` such as ``"redis://localhost:6379/0"``. One server can hold several mappings, each with its own ``prefix``:
    its texts are the hash ``texts`` after that, its writer's lock is ``turn``. Other settings go to
    ``redis.Redis.from_url``.

    Raises ``ConnectionError`` where the server cannot be reached or is full; then call again. ``PermissionError`` where
    it refuses this user, ``RuntimeError`` where it refuses the call: then calling again does not help. Cost: a round
    trip a call.
    """

    def __init__(self, url: str = "redis://localhost:6379/0", *, prefix: str = "chunklib:", **settings: Any) -> None:
        with needs("redis"):
            import redis  # noqa: F401
        self.url, self.prefix, self._place = url, prefix, f"Redis at {shown(url)}"
        self.settings = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT, **settings}
        self._texts, self._lock = _bytes(f"{prefix}texts"), _bytes(f"{prefix}turn")
        self._opened: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(RedisMapping, prefix=self.prefix, **self.settings), (self.url,)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        import redis

        try:
            if self._opened is None:
                self._opened = redis.Redis.from_url(self.url, **self.settings)
            yield self._opened
        except (redis.AuthenticationError, redis.exceptions.NoPermissionError) as error:
            mend = "pass username=… and password=…, or give this user the rights (ACL)"
            raise PermissionError(f"{self._place} refuses this user ({_said(error)}); {mend}") from error
        except redis.OutOfMemoryError as error:
            raise ConnectionError(f"{self._place} is full ({error}); raise its maxmemory and call again") from error
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise unusable(self._place, error) from error
        except redis.ResponseError as error:
            raise refused(self._place, error) from error

    @contextmanager
    def turn(self) -> Iterator[StillMine]:
        """See `turn`; holds between all clients of the server, for `LEASE` seconds after each sign of life.

        The turn of a process that died on this machine is taken over at once, except on Windows. Containers that share
        a host name do not see each other's processes: there the later writer takes over, and the earlier one stops.
        """
        from redis.exceptions import LockError

        with self._client() as client:
            lock = client.lock(self._lock, timeout=LEASE, thread_local=False)
            its = client.get(self._lock)
            if its and _is_dead(its):
                with suppress(LockError):  # somebody was faster
                    lock.do_release(its)
            if not lock.acquire(blocking=False, token=f"{socket.gethostname()} {os.getpid()} {uuid4().hex}"):
                raise Busy(f"{_BUSY}, or in {client.ttl(self._lock)} seconds if it died")

        def still_mine() -> None:
            with self._client():
                try:
                    lock.reacquire()
                except LockError:
                    raise Busy("another writer has taken over after a long silence; call again") from None

        try:
            yield still_mine
        finally:
            with self._client(), suppress(LockError):
                lock.release()

    def __getitem__(self, key: str) -> str:
        return self.get_many([key])[key]

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of the keys that are there, in one round trip."""
        with self._client() as client:
            values = client.hmget(self._texts, [_bytes(key) for key in keys]) if keys else []
        return {key: _str(value) for key, value in zip(keys, values, strict=True) if value is not None}

    def __setitem__(self, key: str, value: str) -> None:
        self.update({key: value})

    def update(self, other: Any = (), /, **named: str) -> None:
        """Store several in one round trip, all or none of them."""
        rows = {_bytes(key): _bytes(value) for key, value in dict(other, **named).items()}
        with self._client() as client:
            if rows:
                client.hset(self._texts, mapping=rows)

    def __delitem__(self, key: str) -> None:
        if not self.delete_many([key]):
            raise KeyError(key)

    def delete_many(self, keys: Sequence[str]) -> int:
        """Remove the keys in one round trip; says how many were there."""
        with self._client() as client:
            return int(client.hdel(self._texts, *map(_bytes, keys))) if keys else 0

    def __iter__(self) -> Iterator[str]:
        with self._client() as client:
            return iter(sorted(map(_str, client.hkeys(self._texts))))

    def __len__(self) -> int:
        with self._client() as client:
            return int(client.hlen(self._texts))

    def close(self) -> None:
        """Close the connection; it is opened again when it is next needed."""
        if self._opened is not None:
            self._opened.close()
        self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _is_dead(token: bytes) -> bool:
    """Whether the process of a turn's token ran on this machine, and runs no more; False where that cannot be told."""
    host, process, _ = token.decode().split()
    if host == socket.gethostname() and os.name != "nt":  # there is no question on Windows that does not end it
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # it is another user's
            pass
    return False


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _str(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
