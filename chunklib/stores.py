# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/stores.py). Needs: numpy; qdrant-client for vectors, redis for `RedisMapping`.
"""Where chunks live between runs: vectors in Qdrant, texts in any mapping from str to str.

A mapping may be a dict, `SQLiteMapping` or `RedisMapping`; a vector store is whatever meets `VectorStore`. The same
code runs on all of them, so a lesson's dict becomes a server by one argument.

When to use it: `QdrantVectors()` and a dict to learn and test, a folder and SQLite for one process, servers for more.

But: a folder has one owner at a time, commits point by point (18 s per 1,000 points on a slow disk) and compares every
vector; above 20,000 points use a server. Redis keeps what its own settings say: switch its append-only file on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

T = TypeVar("T")
Vector = npt.NDArray[np.float32]
#: How many records travel in one call.
BATCH = 256
_PAGE = 10_000  # ids in one call; in memory and in a folder each call sorts them all


class Point(NamedTuple):
    """A vector with its id (a UUID) and what is known of it: ``payload`` holds JSON values only."""

    id: str
    vector: Vector
    payload: dict[str, Any]


class VectorStore(Protocol):
    """What an index asks of a vector store. Every method may be called again after an error."""

    def upsert(self, points: Sequence[Point]) -> None:
        """Store the points; one whose id is there already is replaced."""

    def get(self, ids: Sequence[str]) -> dict[str, Point]:
        """Those of the points that are there, by id."""

    def delete(self, ids: Sequence[str]) -> None:
        """Remove the points; an unknown id is no error."""

    def search(
        self, vector: Vector, k: int, filter: Mapping[str, Any] | None = None
    ) -> Sequence[tuple[dict[str, Any], str, float]]:
        """Payload, id and cosine of the ``k`` nearest points that meet the filter, nearest first."""

    def ids(self) -> Iterator[str]:
        """The ids of all points."""


class QdrantVectors:
    """Vectors in Qdrant.

    ``location``: ``":memory:"``, a folder, or the address of a server (``"http://localhost:6333"``). The collection is
    created with the first point. ``filter`` of `search`: payload key -> the value wanted, or a list of those allowed; a
    key of the metadata is written ``"metadata.language"``.

    Raises ``ConnectionError`` naming the place where it cannot be reached or is in use; then call again. Cost: an exact
    comparison with every vector in memory and in a folder; a server uses its index.

    >>> store = QdrantVectors()
    >>> name = "00000000-0000-0000-0000-000000000001"
    >>> store.upsert([Point(name, np.array([0, 1], dtype=np.float32), {"page": 3})])
    >>> store.search(np.array([0, 1], dtype=np.float32), k=1, filter={"page": 3})
    [({'page': 3}, '00000000-0000-0000-0000-000000000001', 1.0)]
    """

    def __init__(
        self, location: str | Path = ":memory:", *, collection: str = "chunks", api_key: str | None = None
    ) -> None:
        self.location, self.collection, self.api_key = str(location), collection, api_key
        self._opened: QdrantClient | None = None
        self._there = False

    def __getstate__(self) -> dict[str, Any]:
        if self.location == ":memory:":
            raise TypeError("vectors in memory cannot be handed to another process; use a folder or a server")
        return {**vars(self), "_opened": None, "_there": False}

    @property
    def client(self) -> QdrantClient:
        """The client of qdrant-client, opened when it is first needed."""
        if self._opened is None:
            from qdrant_client import QdrantClient

            if self.location == ":memory:":
                self._opened = QdrantClient(":memory:")
            elif "://" in self.location:
                self._opened = QdrantClient(url=self.location, api_key=self.api_key, check_compatibility=False)
            else:
                self._opened = QdrantClient(path=self.location)
        return self._opened

    def close(self) -> None:
        """Let go of the folder, so that another process can open it."""
        if self._opened is not None:
            self._opened.close()
        self._opened, self._there = None, False

    def upsert(self, points: Sequence[Point]) -> None:
        """Store the points."""
        from qdrant_client import models

        with self._reached():
            if points and not self._exists():
                shape = models.VectorParams(size=len(points[0].vector), distance=models.Distance.COSINE)
                self.client.create_collection(self.collection, vectors_config=shape)
                if "://" in self.location:  # without one, a server reads every payload to find a document's points
                    self.client.create_payload_index(self.collection, "document_id", models.PayloadSchemaType.KEYWORD)
            for some in batches(points):
                structs = [models.PointStruct(id=p.id, vector=p.vector.tolist(), payload=p.payload) for p in some]
                self.client.upsert(self.collection, structs, wait=True)

    def get(self, ids: Sequence[str]) -> dict[str, Point]:
        """Those of the points that are there."""
        found: dict[str, Point] = {}
        with self._reached():
            for some in batches(ids) if self._exists() else ():
                for record in self.client.retrieve(self.collection, list(some), with_payload=True, with_vectors=True):
                    vector = np.asarray(record.vector, dtype=np.float32)
                    found[str(record.id)] = Point(str(record.id), vector, record.payload or {})
        return found

    def delete(self, ids: Sequence[str]) -> None:
        """Remove the points."""
        with self._reached():
            for some in batches(ids) if self._exists() else ():
                self.client.delete(self.collection, list(some), wait=True)

    def search(
        self, vector: Vector, k: int, filter: Mapping[str, Any] | None = None
    ) -> list[tuple[dict[str, Any], str, float]]:
        """The ``k`` nearest points that meet the filter."""
        condition = _condition(filter or {})
        with self._reached():
            if not self._exists():
                return []
            answer = self.client.query_points(
                self.collection, query=vector.tolist(), limit=k, query_filter=condition, with_payload=True
            )
        # Five decimals: beyond them a score depends on the machine, and equal texts would not stay ties.
        return [(point.payload or {}, str(point.id), round(point.score, 5)) for point in answer.points]

    def ids(self) -> Iterator[str]:
        """The ids of all points."""
        offset: Any = None
        while True:
            with self._reached():
                if not self._exists():
                    return
                records, offset = self.client.scroll(
                    self.collection, limit=_PAGE, offset=offset, with_payload=False, with_vectors=False
                )
            yield from (str(record.id) for record in records)
            if offset is None:
                return

    def _exists(self) -> bool:
        self._there = self._there or self.client.collection_exists(self.collection)
        return self._there

    @contextmanager
    def _reached(self) -> Iterator[None]:
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            yield
        except (ResponseHandlingException, UnexpectedResponse, OSError, RuntimeError) as error:
            # A folder that another client holds is a RuntimeError there.
            raise ConnectionError(
                f"Qdrant at {self.location} cannot be used ({str(error)[:200]}); make it available and call again"
            ) from error


def _condition(filter: Mapping[str, Any]) -> Any:
    from qdrant_client import models

    must: list[Any] = []
    for key, value in filter.items():
        allowed = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        if not allowed or not all(isinstance(one, str | int) for one in allowed):
            raise TypeError(f"filter[{key!r}]={value!r} must be a str, an int, a bool, or a list of them")
        # One `match` each, since a list for any of them may not hold bools.
        some: list[Any] = [models.FieldCondition(key=key, match=models.MatchValue(value=one)) for one in allowed]
        must.append(some[0] if len(some) == 1 else models.Filter(should=some))
    return models.Filter(must=must) if must else None


class SQLiteMapping(MutableMapping[str, str]):
    """A mapping from str to str in one SQLite file, which survives the process. Several processes may use it.

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

    def __getstate__(self) -> dict[str, Any]:
        if self.path == ":memory:":
            raise TypeError("a mapping in memory cannot be handed to another process; use a file")
        return {**vars(self), "_opened": None}

    def _run(self, sql: str, rows: Sequence[tuple[Any, ...]] = ((),)) -> list[tuple[Any, ...]]:
        """One transaction. Keys and values are bytes, since SQLite has no text for half a character."""
        try:
            if self._opened is None:
                self._opened = sqlite3.connect(self.path, timeout=30, check_same_thread=False)
                self._opened.execute("pragma journal_mode = wal")
                self._opened.execute("pragma synchronous = full")  # the order of writes must outlive a power cut
                self._opened.execute(
                    f"create table if not exists {self.table} (key blob primary key, value blob not null)"
                )
            with self._opened as store:
                return store.execute(sql, rows[0]).fetchall() if len(rows) == 1 else _many(store, sql, rows)
        except sqlite3.OperationalError as error:
            raise ConnectionError(
                f"SQLite file {self.path} cannot be used ({error}); make it available and call again"
            ) from error

    def __getitem__(self, key: str) -> str:
        for (value,) in self._run(f"select value from {self.table} where key = ?", [(_bytes(key),)]):
            return _str(value)
        raise KeyError(key)

    def __setitem__(self, key: str, value: str) -> None:
        self.update({key: value})

    def update(self, other: Any = (), /, **named: str) -> None:
        """Store several, all or none of them."""
        rows = [(_bytes(key), _bytes(value)) for key, value in dict(other, **named).items()]
        if rows:
            self._run(f"insert or replace into {self.table} values (?, ?)", rows)

    def __delitem__(self, key: str) -> None:
        if not self._run(f"delete from {self.table} where key = ? returning 1", [(_bytes(key),)]):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (_str(key) for (key,) in self._run(f"select key from {self.table} order by key"))

    def __len__(self) -> int:
        return int(self._run(f"select count(*) from {self.table}")[0][0])

    def close(self) -> None:
        """Close the file; it is opened again when it is next needed."""
        if self._opened is not None:
            self._opened.close()
        self._opened = None


def _many(store: sqlite3.Connection, sql: str, rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    store.executemany(sql, rows)
    return []


class RedisMapping(MutableMapping[str, str]):
    """A mapping from str to str in Redis, Valkey or anything else that speaks their protocol.

    ``url`` such as ``"redis://localhost:6379/0"``; ``prefix`` is put before every key, and only such keys are seen, so
    that one server can hold several mappings. Other settings go to ``redis.Redis.from_url``. Raises ``ConnectionError``
    where the server cannot be reached; then call again. Cost: a round trip a key; iterating looks at the whole server.
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

    def __setitem__(self, key: str, value: str) -> None:
        with self._client() as client:
            client.set(self._key(key), _bytes(value))

    def update(self, other: Any = (), /, **named: str) -> None:
        """Store several in one round trip, all or none of them."""
        rows = {self._key(key): _bytes(value) for key, value in dict(other, **named).items()}
        if rows:
            with self._client() as client:
                client.mset(rows)

    def __delitem__(self, key: str) -> None:
        with self._client() as client:
            if not client.delete(self._key(key)):
                raise KeyError(key)

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


def batches(items: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """The items, so many at a time.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _str(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
