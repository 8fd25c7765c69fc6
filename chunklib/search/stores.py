# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, qdrant-client.
"""Where vectors live between runs: Qdrant in memory, in a folder or on a server, or whatever meets `VectorStore`.

The same code runs on all of them, so a lesson's memory becomes a server by one argument. Texts live in a mapping, see
`chunklib.search.mappings`.

When to use it: `QdrantVectors()` to learn and test, a folder for one process, a server for more.

But: a folder has one owner at a time, commits point by point (12 to 18 s per 1,000 points, by the disk) and compares
every vector; above 20,000 points use a server. Memory and folder are for one thread at a time. No Qdrant server was at
hand for the tests: they run in memory and in folders, and a server's calls only against stand-ins.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from chunklib.core.needs import needs
from chunklib.search.mappings import TIMEOUT, refused, shown, unusable

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

T = TypeVar("T")
Vector = npt.NDArray[np.float32]
#: How many records travel in one call.
BATCH = 256
#: Payload keys that a server is told to index; without that it reads every payload to find a document's points.
INDEXED = ("document_id", "level", "namespace")
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

    def ids(self, filter: Mapping[str, Any] | None = None) -> Iterator[str]:
        """The ids of all points that meet the filter."""


class QdrantVectors:
    """Vectors in Qdrant.

    ``location``: ``":memory:"``, a folder, or the address of a server (``"http://localhost:6333"``). The collection is
    created with the first point. ``filter`` of `search`: payload key -> the value wanted, or a list of those allowed; a
    key of the metadata is written ``"metadata.language"``.

    Raises ``ConnectionError`` naming the place where it cannot be reached, is in use or too busy; then call again.
    ``PermissionError`` where the server does not accept the key, ``RuntimeError`` where it refuses the call: then
    calling again does not help. Cost: an exact comparison with every vector in memory and in a folder; a server uses
    its index.

    >>> store = QdrantVectors()
    >>> name = "00000000-0000-0000-0000-000000000001"
    >>> store.upsert([Point(name, np.array([0, 1], dtype=np.float32), {"page": 3})])
    >>> store.search(np.array([0, 1], dtype=np.float32), k=1, filter={"page": 3})
    [({'page': 3}, '00000000-0000-0000-0000-000000000001', 1.0)]
    """

    def __init__(
        self, location: str | Path = ":memory:", *, collection: str = "chunks", api_key: str | None = None
    ) -> None:
        with needs("qdrant-client"):
            import qdrant_client  # noqa: F401
        self.location, self.collection, self.api_key = str(location), collection, api_key
        self._remote = "://" in self.location
        self._place = f"Qdrant at {shown(self.location) if self._remote else self.location}"
        if not self._remote and re.fullmatch(
            r"(.*@)?[\w.-]+:\d+(/.*)?", self.location
        ):  # Qdrant would make a folder of that name
            place = shown(self.location)
            raise ValueError(f"location={place!r} has no scheme; a server is http://{place}")
        self._opened: QdrantClient | None = None
        self._there = self._indexed = False

    def __reduce__(self) -> tuple[Any, ...]:
        if self.location == ":memory:":
            raise TypeError("vectors in memory cannot be handed to another process; use a folder or a server")
        return partial(type(self), collection=self.collection, api_key=self.api_key), (self.location,)

    @property
    def client(self) -> QdrantClient:
        """The client of qdrant-client, opened when it is first needed."""
        if self._opened is None:
            from qdrant_client import QdrantClient

            if self._remote:
                self._opened = QdrantClient(
                    url=self.location, api_key=self.api_key, timeout=TIMEOUT, check_compatibility=False
                )
            else:  # the check would leave a connection open, and store a setting for the whole process
                where = {"location" if self.location == ":memory:" else "path": self.location}
                self._opened = QdrantClient(**where, force_disable_check_same_thread=True)
            # At the latest when the program ends, and before Python takes away what closing needs.
            self._finished = weakref.finalize(self, self._opened.close)
        return self._opened

    def close(self) -> None:
        """Let go of the folder, so that another process can open it; it is opened again when it is next needed."""
        if self._opened is not None:
            self._finished()
        self._opened, self._there, self._indexed = None, False, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def upsert(self, points: Sequence[Point]) -> None:
        """Store the points."""
        from qdrant_client import models

        with self._reached():
            if points and not self._exists():
                shape = models.VectorParams(size=len(points[0].vector), distance=models.Distance.COSINE)
                self.client.create_collection(self.collection, vectors_config=shape)
            if points and "://" in self.location and not self._indexed:  # also after a crash between the two
                for key in INDEXED:
                    self.client.create_payload_index(self.collection, key, models.PayloadSchemaType.KEYWORD)
                self._indexed = True
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

    def ids(self, filter: Mapping[str, Any] | None = None) -> Iterator[str]:
        """The ids of all points that meet the filter."""
        condition = _condition(filter or {})
        offset: Any = None
        while True:
            with self._reached():
                if not self._exists():
                    return
                records, offset = self.client.scroll(
                    self.collection, condition, _PAGE, offset=offset, with_payload=False, with_vectors=False
                )
            yield from (str(record.id) for record in records)
            if offset is None:
                return

    def _exists(self) -> bool:
        self._there = self._there or self.client.collection_exists(self.collection)
        return self._there

    @contextmanager
    def _reached(self) -> Iterator[None]:
        from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            yield
        except UnexpectedResponse as error:
            status = error.status_code or 500
            if status in (401, 403):
                raise PermissionError(f"{self._place} does not accept the key (HTTP {status}); see api_key") from error
            if status < 500 and status not in (408, 429):
                self._there = False  # somebody may have deleted the collection
                raise refused(self._place, error) from error
            raise unusable(self._place, error) from error
        except (ResponseHandlingException, ResourceExhaustedResponse, OSError) as error:
            raise unusable(self._place, error) from error
        except RuntimeError as error:
            if "already accessed" not in str(error):  # a folder that another client holds
                raise
            raise unusable(self._place, error) from error


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


def batches(items: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """The items, so many at a time.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
