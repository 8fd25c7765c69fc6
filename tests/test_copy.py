# SPDX-License-Identifier: MIT
"""A technique that was copied out stands alone and keeps the laws."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chunklib.copy import copy_out, techniques
from tools.notebooks import ROOT

ALONE = """
import importlib.util, inspect, sys
from pathlib import Path
def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
alone, laws = load("alone", sys.argv[1]), load("laws", sys.argv[2])
from hypothesis import given, settings, strategies as st
import tiktoken
def tokens(text):
    return len(tiktoken.get_encoding("cl100k_base").encode(text, disallowed_special=()))
def measured(function):
    parameters = inspect.signature(function).parameters.values()
    settings = {p.name for p in parameters}
    needed = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    return {"chunk_size", "chunk_overlap"} <= settings and not needed
splitters = [f for name, f in vars(alone).items() if name.startswith("split_") and measured(f)]
@settings(max_examples=150, deadline=None, derandomize=True)
@given(laws.hard_text, st.integers(1, 30), st.booleans(), st.sampled_from(splitters))
def check(text, size, overlapping, split):
    overlap = size // 3 * overlapping
    parts = split(text) if split.__name__ == "split_markdown" else None
    laws.assert_laws(text, split(text, chunk_size=size, chunk_overlap=overlap), tokens, size, overlap, parts)
    laws.assert_laws(text, split(text, chunk_size=size, length="characters"), len, size, parts=parts)
check()
assert not any(name.startswith("chunklib") for name in sys.modules), "the copy needs the package"
print("kept", *(split.__name__ for split in splitters))
"""
#: Which functions of each copy are tried: all that take a size, those that came along as well.
TRIED = {
    "fixed_size": "split_fixed_size",
    "recursive": "split_recursive",
    "semantic": "split_recursive split_sentences",  # for its own, see below
    "sentence": "split_sentences",
    "structure": "split_recursive split_paragraphs split_markdown",
}


@pytest.mark.parametrize("technique", techniques())
def test_the_copy_keeps_the_laws_alone(technique: str, tmp_path: Path) -> None:
    copied = tmp_path / "copied.py"
    copied.write_text(copy_out(technique), encoding="utf-8")
    command = [
        sys.executable,
        "-I",
        "-c",
        ALONE,
        str(copied),
        str(Path(__file__).with_name("laws.py")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ), check=False)
    assert done.stdout == f"kept {TRIED[technique]}\n", done.stderr


@pytest.mark.parametrize("technique", techniques())
def test_the_copy_carries_the_licence_and_lints(technique: str, tmp_path: Path) -> None:
    source = copy_out(technique)
    assert source.startswith("# SPDX-License-Identifier: MIT\n")
    assert "Permission is hereby granted" in source
    assert "import chunklib" not in source
    assert "from chunklib" not in source
    copied = tmp_path / "copied.py"
    copied.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", str(copied)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_an_unknown_technique_is_named() -> None:
    with pytest.raises(
        ValueError, match="technique='nothing' is unknown; use one of fixed_size, recursive, semantic, sen"
    ):
        copy_out("nothing")


def test_the_copy_of_semantic_cuts_by_meaning_alone(tmp_path: Path) -> None:
    copied = tmp_path / "copied.py"
    copied.write_text(copy_out("semantic"), encoding="utf-8")
    program = """
import sys
import copied
text = "The cat sat. The cat ran. Rain fell. Rain stopped."
embed = lambda texts: [[t.count("cat"), t.count("Rain")] for t in texts]
print([s.of(text) for s in copied.split_semantic(text, embed=embed)])
print([s.of(text) for s in copied.split_optimal(text, embed=embed, chunk_size=30, length="characters")])
print(copied.embed(["a cat"]).shape, [name for name in sys.modules if name.startswith("chunklib")])
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ), check=False)
    cut = "['The cat sat. The cat ran.', 'Rain fell. Rain stopped.']"
    assert done.stdout.splitlines() == [cut, cut, "(1, 384) []"], done.stderr


def test_the_command_prints_the_same_copy_each_time_and_names_the_techniques_where_none_is_meant() -> None:
    def command(*words: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
        line, env = [sys.executable, "-m", "chunklib.copy", *words], {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(line, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, env=env, check=False)

    for seed in "012345":
        done = command("structure", seed=seed)
        assert (done.stdout, done.stderr, done.returncode) == (copy_out("structure"), "", 0)
    for words in [(), ("nothing",), ("fixed_size", "recursive")]:
        done = command(*words)
        assert (done.stdout, done.returncode) == ("", 1)
        assert done.stderr == f"usage: python -m chunklib.copy TECHNIQUE, one of {', '.join(techniques())}\n"
