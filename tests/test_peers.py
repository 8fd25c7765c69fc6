# SPDX-License-Identifier: MIT
"""What is stored of the published libraries is what they return, and they know the names that the lesson gives."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib import peers
from chunklib.datasets import load_course_documents
from chunklib.peer_names import JAVA, NAMES, java_names, python_names
from chunklib.peers import LIBRARIES, PEERS, STORED, Piece, key, packed, unpacked
from tools.notebooks import ROOT
from tools.peers import calls

CALLS = [(name, settings, documents) for name, settings, documents in calls()]
MODULES = ("langchain_text_splitters", "llama_index.core.node_parser", "chonkie", "semchunk", "semantic_text_splitter")


def library(name: str) -> str:
    return str(PEERS[name].library)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_library_returns_what_is_stored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with the extra [peers]; without it, LlamaIndex alone is here."""
    if not peers.installed(name):
        pytest.skip("the extra [peers] is not installed")
    tried = 0
    for peer, settings, documents in CALLS:
        if library(peer) == name:
            for document in load_course_documents(*documents):
                monkeypatch.setenv("CHUNKLIB_PEERS", "stored")
                stored = PEERS[peer](document.text, **settings)
                monkeypatch.delenv("CHUNKLIB_PEERS")
                assert PEERS[peer](document.text, **settings) == stored, (peer, settings, document.id)
                tried += 1
    assert tried > 5


def test_all_is_stored_and_no_more() -> None:
    """A document was changed? Then `python -m tools.peers` has to run again, with the extra [peers]."""
    wanted = {
        key(name, document.text, settings)
        for name, settings, documents in CALLS
        for document in load_course_documents(*documents)
    }
    assert set(json.loads(STORED.read_text(encoding="utf-8"))["results"]) == wanted
    assert {name for name, _, _ in CALLS} == set(PEERS)


def test_the_stored_versions_are_the_pinned_ones() -> None:
    pins = dict(re.findall(r"(?m)^([\w-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8")))
    versions = json.loads(STORED.read_text(encoding="utf-8"))["versions"]
    assert versions == {name: pins[name] for name in LIBRARIES}


def test_the_versions_and_the_day_are_told() -> None:
    assert re.fullmatch(r"(?:[\w-]+ [\d.]+\n){5}stored on \d{4}-\d\d-\d\d", peers.about())


def test_another_version_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.1")
    assert "installed here: llama-index-core 0.1; its results may differ" in peers.about().splitlines()


def test_what_was_not_stored_needs_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "installed", lambda name: False)
    with pytest.raises(
        LookupError, match=r"semchunk is not installed, .*\{'chunk_size': 7\}; install it with: .*peers"
    ):
        peers.semchunk_recursive("A text of your own.", chunk_size=7)


pieces = st.builds(
    Piece,
    st.text("ab \n", max_size=5),
    st.none() | st.integers(-1, 12),
    st.none() | st.integers(0, 12),
    st.none() | st.text(max_size=3),
)


@given(pieces, st.text("ab \n", max_size=12))
def test_a_piece_is_read_as_it_was_stored(piece: Piece, text: str) -> None:
    assert unpacked(json.loads(json.dumps(packed(piece, text))), text) == piece


@pytest.mark.parametrize("name", PEERS)
def test_the_code_shown_calls_the_library(name: str) -> None:
    shown = peers.code(PEERS[name])
    ast.parse(shown)
    assert LIBRARIES[library(name)].partition(".")[0] in shown or name == "langchain_adapter"
    assert "_of_" not in shown
    assert "_encoding()" not in shown
    assert "Piece" not in shown


# --- Names -----------------------------------------------------------------------------------------------------------


def test_tables_are_full() -> None:
    assert {len(row) for row in NAMES} == {len(python_names().head)}
    assert {len(row) for row in JAVA} == {len(java_names().head)}


def names_in(column: int) -> list[str]:
    cells = [row[column] for row in NAMES if "not run" not in row[column] and row[0] != "if you say nothing"]
    return [name for cell in cells for name in re.findall(r"\w+", cell)]


def known(module: Any) -> set[str]:
    """Names in a module, and of the parameters, fields and methods of all that is in it."""
    found = set(dir(module))
    for thing in map(module.__dict__.get, dir(module)):
        if callable(thing):
            found |= set(dir(thing)) | set(getattr(thing, "model_fields", ()))
            members = [thing, *(getattr(thing, name, None) for name in ("__init__", "__call__"))]
            members += [getattr(thing, name, None) for name in dir(thing) if name.startswith("from_")]
            for member in members:
                try:
                    found |= set(inspect.signature(member).parameters)
                except (TypeError, ValueError):  # written in C or Rust
                    found |= set(re.findall(r"\w+", getattr(member, "__text_signature__", None) or ""))
    return found


@pytest.mark.parametrize(("column", "module"), list(enumerate(MODULES, start=2)))
def test_the_library_knows_the_names(column: int, module: str) -> None:
    pytest.importorskip(module.partition(".")[0], reason="the extra [peers] is not installed")
    names = known(importlib.import_module(module))
    if module.startswith("llama_index"):
        names |= set(importlib.import_module("llama_index.core.schema").TextNode.model_fields)
        names.add("tokenizer")  # a parameter of its own __init__, asserted below
    if module == "semchunk":
        names |= known(importlib.import_module("semchunk.semchunk"))
    assert [name for name in names_in(column) if name not in names] == []


def test_our_own_names() -> None:
    from chunklib import parent_child, recursive, semantic, sentence, span, structure

    names = set().union(*map(known, (recursive, sentence, structure, semantic, parent_child, span)))
    names |= {"split_fixed_size"}
    assert [name for name in names_in(1) if name not in names] == []


def test_defaults() -> None:
    row = next(row for row in NAMES if row[0] == "if you say nothing")
    from chunklib.recursive import split_recursive

    assert row[1] == f"{inspect.signature(split_recursive).parameters['chunk_size'].default} tokens"
    sentence = pytest.importorskip("llama_index.core.node_parser").SentenceSplitter
    assert row[3] == f"{sentence().chunk_size} tokens"
    assert "tokenizer" in inspect.signature(sentence.__init__).parameters
    splitters = pytest.importorskip("langchain_text_splitters", reason="the extra [peers] is not installed")
    default = inspect.signature(splitters.TextSplitter.__init__).parameters
    assert (row[2], default["length_function"].default) == (f"{default['chunk_size'].default} characters", len)
    assert splitters.RecursiveCharacterTextSplitter()._separators == ["\n\n", "\n", " ", ""]
    default = inspect.signature(pytest.importorskip("chonkie").RecursiveChunker.__init__).parameters
    assert (row[4], default["tokenizer"].default) == (f"{default['chunk_size'].default} characters", "character")


def test_overlap_in_characters_is_searched_right() -> None:
    """What the lesson says of LangChain's default unit."""
    splitters = pytest.importorskip("langchain_text_splitters", reason="the extra [peers] is not installed")
    for document in load_course_documents("returns-policy.md", "homehub-manual.md"):
        splitter = splitters.RecursiveCharacterTextSplitter(chunk_size=400, chunk_overlap=80, add_start_index=True)
        for chunk in splitter.create_documents([document.text]):
            assert document.text.startswith(chunk.page_content, chunk.metadata["start_index"])
            assert chunk.metadata["start_index"] >= 0
