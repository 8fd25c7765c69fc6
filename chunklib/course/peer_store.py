# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: what chunklib.course.datasets needs.
"""What the published splitters returned, stored: a splitter whose library is missing reads it from a file.

``data/peers.json`` was written by ``python -m tools.peers`` with the versions and on the day that stand in it. A test
compares it with the libraries where these are installed.

But: it holds results only for the course's own documents and the settings of lesson 12.

Cost: reading the file once.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import inspect
import json
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, NamedTuple

from chunklib.course.datasets import DATA

STORED = DATA / "peers.json"
#: Distribution, as a package index names it -> the module that it brings.
LIBRARIES = {
    "langchain-text-splitters": "langchain_text_splitters",
    "llama-index-core": "llama_index",
    "chonkie": "chonkie",
    "semchunk": "semchunk",
    "semantic-text-splitter": "semantic_text_splitter",
}


class Piece(NamedTuple):
    """What a library returned for one chunk: its text, where it says that this starts and ends, and in which section.

    ``None`` where it says nothing; LangChain's -1 ("not found") is passed on.
    """

    text: str
    start: int | None = None
    end: int | None = None
    section: str | None = None


_ENCODING = 'tiktoken.get_encoding("cl100k_base")'
Peer = Callable[..., list[Piece]]


def peer(library: str) -> Callable[[Peer], Peer]:
    """A function that runs the library, made into one that runs it or reads what it returned."""

    def decorate(function: Peer) -> Peer:
        @wraps(function)
        def call(text: str, **settings: Any) -> list[Piece]:
            if installed(library) and os.environ.get("CHUNKLIB_PEERS") != "stored":
                return function(text, **settings)
            rows = _stored()["results"].get(key(function.__name__, text, settings))
            if rows is None:
                raise LookupError(
                    f"{library} is not installed, and {function.__name__} was not stored for this text and {settings}; "
                    'install it with: python -m pip install -c constraints.txt -e ".[peers]"'
                )
            return [unpacked(row, text) for row in rows]

        call.library = library  # type: ignore[attr-defined]
        return call

    return decorate


def installed(library: str) -> bool:
    """Whether a library can be run here."""
    return importlib.util.find_spec(LIBRARIES[library]) is not None


def about() -> str:
    """The versions that the stored results come from, and the day; below it, which other versions would run here."""
    stored = _stored()
    lines = [f"{name} {version}" for name, version in stored["versions"].items()]
    lines.append(f"stored on {stored['date']}")
    for name, version in stored["versions"].items():
        if installed(name) and importlib.metadata.version(name) != version:
            lines.append(f"installed here: {name} {importlib.metadata.version(name)}; its results may differ")
    return "\n".join(lines)


def code(peer: Peer) -> str:
    """The lines that call the library, without those that only serve this module."""
    lines = textwrap.dedent(inspect.getsource(inspect.unwrap(peer))).splitlines()
    first = next(i for i, line in enumerate(lines) if i > 1 and line.endswith('"""'))
    body = textwrap.dedent("\n".join(lines[first + 1 :])).strip()
    body = re.sub(r"(?m)^return _of_\w+\((.*)\)$|^return \[Piece.*$", r"\1", body).strip()
    return body.replace("_encoding()", _ENCODING)


def key(name: str, text: str, settings: dict[str, Any]) -> str:
    """What a stored result is found by: the splitter, its settings, the text."""
    given = ", ".join(f"{option}={value!r}" for option, value in sorted(settings.items()))
    return f"{name}({given}) {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def packed(piece: Piece, text: str) -> list[Any]:
    """A piece as JSON keeps it: its text only where that does not stand at the place it names."""
    at = piece.start if piece.start is not None and piece.start >= 0 else text.find(piece.text)
    place = [at, at + len(piece.text)] if at >= 0 and text[at : at + len(piece.text)] == piece.text else piece.text
    return [place, piece.start, piece.end, *([] if piece.section is None else [piece.section])]


def unpacked(row: Sequence[Any], text: str) -> Piece:
    """The reverse of `packed`."""
    place, *claims = row
    return Piece(place if isinstance(place, str) else text[slice(*place)], *claims)


@cache
def _stored() -> dict[str, Any]:
    return dict(json.loads(STORED.read_text(encoding="utf-8")))
