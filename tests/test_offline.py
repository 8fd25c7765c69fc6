# SPDX-License-Identifier: MIT
"""After the installation nothing is fetched, ever: a lesson's worth of work with the network cut off."""

from __future__ import annotations

import ipaddress
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ATTEMPTS: list[str] = []
NOBODY = ("127.0.0.1", 9)  # where the proxy variables of `run` point


def outside(host: object) -> bool:
    """Say whether a host is another machine; a Unix socket's path, no host at all and the loopback are not."""
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or name in ("", "localhost"):
        return False
    try:
        return not ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return True  # a name: asking for its address is a use of the network, too


def block_network() -> None:
    """Refuse and record each use of the network, in this process and for good.

    An audit hook sees every socket that Python opens, whichever way. Libraries in Rust (tokenizers, hf_xet) open their
    own; they obey the proxy variables of `run`, behind which nobody listens.
    """

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        host: object = None
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            address = arguments[1]
            host = address[0] if isinstance(address, tuple) else None
            host = "a proxy" if address == NOBODY else host
        elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
            host = arguments[0]
        if outside(host):
            ATTEMPTS.append(f"{event} {host!r}")
            raise OSError(f"the network is cut off in this test: {event} {host!r}")

    sys.addaudithook(hook)


def run(code: str, home: Path) -> str:
    """Run code in a fresh interpreter, the network cut off, with an empty home and no caches; return what it prints."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("HF_", "XDG_", "TRANSFORMERS_", "TIKTOKEN_", "NLTK_", "DATA_GYM_", "CHUNKLIB_"))
    }
    nowhere = "http://{}:{}".format(*NOBODY)
    proxies = {
        name: nowhere for scheme in ("HTTP", "HTTPS", "ALL") for name in (f"{scheme}_PROXY", f"{scheme.lower()}_proxy")
    }
    empty = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA"), str(home))
    finished = subprocess.run(
        [sys.executable, "-c", f"import test_offline as offline\noffline.block_network()\n{code}"],
        cwd=Path(__file__).parent,
        env={**kept, **proxies, **empty},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def refusals() -> None:
    """Try to get out, in each way; then show that the loopback and Unix sockets still work."""
    import asyncio
    import socket
    import urllib.request

    far = ("192.0.2.1", 80)  # an address reserved for documentation
    ways: list[Callable[[], object]] = [
        lambda: socket.create_connection(far, timeout=5),
        lambda: socket.socket().connect_ex(far),
        lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", far),
        lambda: socket.getaddrinfo("example.org", 443),
        lambda: socket.gethostbyname("example.org"),
        lambda: asyncio.run(asyncio.open_connection(*far)),
        lambda: urllib.request.urlopen("http://192.0.2.1/", timeout=5),  # by the proxy
    ]
    if socket.has_ipv6:
        ways.append(lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 80)))
    refused = 0
    for way in ways:
        try:
            way()
        except OSError as error:
            refused += "cut off" in str(error)
    assert refused == len(ways) == len(ATTEMPTS), ATTEMPTS

    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
    first, second = socket.socketpair()
    first.close()
    second.close()
    assert len(ATTEMPTS) == len(ways)
    print("refused")


def lesson() -> None:
    """Load, split, embed, search: everything that needs a file of a model, a tokenizer or NLTK."""
    from functools import partial

    import nltk
    import numpy as np

    from chunklib.core.document import chunk_document
    from chunklib.course.datasets import load_course_documents
    from chunklib.recursive import split_recursive
    from chunklib.search.embedding import embed
    from chunklib.search.retrieval import Index

    chunks = [
        chunk
        for document in load_course_documents()
        for chunk in chunk_document(document, partial(split_recursive, chunk_size=200))
    ]
    new = embed([f"a text that no cache knows: {os.getpid()} {os.urandom(8).hex()}"])
    assert new.shape == (1, 384)
    assert new.dtype == np.float32
    hits = Index(chunks).search("How long may I return a faulty tablet?", k=3)
    assert len(hits) == 3
    assert all(hit.chunk in chunks for hit in hits)
    assert hits[0].score >= hits[1].score >= hits[2].score
    assert nltk.sent_tokenize("It blinks. Hold it for ten seconds.") == ["It blinks.", "Hold it for ten seconds."]
    assert ATTEMPTS == []
    print("done")


def test_the_network_is_cut_off(tmp_path: Path) -> None:
    assert run("offline.refusals()", tmp_path).strip() == "refused"


def test_a_lesson_without_network(tmp_path: Path) -> None:
    assert run("offline.lesson()", tmp_path).strip() == "done"
