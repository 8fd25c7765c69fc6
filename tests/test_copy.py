# SPDX-License-Identifier: MIT
"""A technique that was copied out stands alone and keeps the laws."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from chunklib.copy import copy_out, techniques
from tools.notebooks import ROOT

ALONE = """
import importlib.util, sys
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
split = getattr(alone, sys.argv[3])
@settings(max_examples=150, deadline=None, derandomize=True)
@given(laws.hard_text, st.integers(1, 30), st.booleans())
def check(text, size, overlapping):
    overlap = size // 3 * overlapping
    laws.assert_laws(text, split(text, chunk_size=size, chunk_overlap=overlap), tokens, size, overlap)
    laws.assert_laws(text, split(text, chunk_size=size, length="characters"), len, size)
check()
assert not any(name.startswith("chunklib") for name in sys.modules), "the copy needs the package"
print("kept")
"""


@pytest.mark.parametrize("technique", techniques())
def test_the_copy_keeps_the_laws_alone(technique: str, tmp_path: Path) -> None:
    copied = tmp_path / "copied.py"
    copied.write_text(copy_out(technique), encoding="utf-8")
    name = re.findall(r"^def (split_\w+)", (ROOT / "chunklib" / f"{technique}.py").read_text(encoding="utf-8"), re.M)[0]
    command = [
        sys.executable,
        "-I",
        "-c",
        ALONE,
        str(copied),
        str(Path(__file__).with_name("laws.py")),
        name,
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ), check=False)
    assert done.stdout == "kept\n", done.stderr


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
    with pytest.raises(ValueError, match="technique='nothing' is unknown; use one of fixed_size, recursive, sentence"):
        copy_out("nothing")
