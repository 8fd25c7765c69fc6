# SPDX-License-Identifier: MIT
"""Run the published splitters on the course's documents and write data/peers.json, with versions and date.

python -m tools.peers       (needs the extra: python -m pip install -c constraints.txt -e ".[course,peers]")
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from datetime import date
from typing import Any

from chunklib.course.datasets import load_course_documents
from chunklib.course.peer_store import LIBRARIES, STORED, installed, key, packed
from chunklib.course.peers import PEERS
from chunklib.course.scoreboard import scored_documents
from tools.notebooks import command

#: What lesson 12 asks for: splitter, its settings, and of which documents.
POLICY, CASES, HUB, CALL = "returns-policy.md", "zh-cases.md", "homehub-manual.md", "call-six-topics.txt"
SIZED = ("langchain_recursive", "llamaindex_sentences", "semchunk_recursive", "semantic_text_splitter_recursive")
EVERY = tuple(document.id for document in scored_documents())


def calls() -> Iterator[tuple[str, dict[str, Any], tuple[str, ...]]]:
    """Name, settings and documents of each call."""
    texts = (POLICY, CASES, HUB, CALL)
    for name in ("langchain_tokens", "llamaindex_tokens", "chonkie_tokens", "chonkie_sentences"):
        yield name, {"chunk_size": 100}, texts
    yield "langchain_nltk", {"chunk_size": 100}, (POLICY,)
    for name in (*SIZED, "chonkie_recursive"):
        yield name, {"chunk_size": 100}, texts
        yield name, {"chunk_size": 200}, (*EVERY, CASES)
    for name in (*SIZED, "langchain_tokens", "llamaindex_tokens", "chonkie_tokens", "chonkie_sentences"):
        yield name, {"chunk_size": 100, "chunk_overlap": 20}, texts
    for name in ("langchain_markdown", "semantic_text_splitter_markdown"):
        yield name, {"chunk_size": 100}, texts
    for name in ("langchain_adapter", "llamaindex_adapter"):
        yield name, {"chunk_size": 100, "chunk_overlap": 20}, texts
    yield "langchain_nltk", {"chunk_size": 100, "separator": "", "use_span_tokenize": True}, (POLICY,)
    yield "llamaindex_sentences", {"chunk_size": 400}, (POLICY,)  # the parents of the children below
    yield "langchain_headers", {}, (POLICY, HUB)
    yield "langchain_syntax", {}, (POLICY, HUB)
    yield "llamaindex_markdown", {}, texts
    yield "llamaindex_windows", {"window_size": 1}, texts
    yield "llamaindex_children", {"chunk_sizes": [400, 100]}, texts
    yield "llamaindex_semantic", {"buffer_size": 1, "breakpoint_percentile_threshold": 95}, (CALL, POLICY)
    yield "llamaindex_semantic", {"buffer_size": 3, "breakpoint_percentile_threshold": 95}, (CALL,)
    yield "chonkie_semantic", {"threshold": 0.8, "chunk_size": 400}, (CALL, POLICY)


def results() -> Iterator[tuple[str, list[list[Any]]]]:
    """Key and packed pieces of each call; raises ``LookupError`` where a library is missing."""
    if missing := [name for name in LIBRARIES if not installed(name)]:
        raise LookupError(f"not installed: {', '.join(missing)}; see the first lines of this file")
    for name, settings, documents in calls():
        for document in load_course_documents(*documents):
            pieces = PEERS[name](document.text, **settings)
            yield key(name, document.text, settings), [packed(piece, document.text) for piece in pieces]


if __name__ == "__main__":
    command(__doc__).parse_args()
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    head = {"versions": versions, "date": date.today().isoformat()}
    rows = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(row, ensure_ascii=False, separators=(',', ':'))}" for name, row in results()
    )
    text = json.dumps(head)[:-1] + ', "results": {\n' + rows + "\n}}\n"
    STORED.write_text(text, encoding="utf-8", newline="\n")
    print(f"{text.count(chr(10)) - 2} results of {len(PEERS)} splitters, {len(text):,} characters")
