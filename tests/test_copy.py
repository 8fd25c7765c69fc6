# SPDX-License-Identifier: MIT
"""A technique that was copied out stands alone and keeps the laws."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

import chunklib
from chunklib import copy
from chunklib.copy import HERE, copy_out, licence_text, techniques
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


@pytest.mark.parametrize("technique", techniques())
def test_the_copy_names_its_version_in_the_second_line_and_defines_no_name_twice(technique: str) -> None:
    source = copy_out(technique)
    second = f"# From Chunk by Chunk (chunklib {chunklib.__version__}: {technique}.py and what it needs)."
    assert source.splitlines()[1] == second
    defined = [name for node in ast.parse(source).body for name in copy._defines(node)]
    assert len(defined) == len(set(defined))


@pytest.mark.parametrize("kind", ["{} = 1", "{}: int = 1", "def {}() -> None: ...", "class {}: ..."])
def test_a_name_that_two_modules_define_is_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(module: str, lines: str) -> None:
        (tmp_path / f"{module}.py").write_text(lines, encoding="utf-8")

    write("below", f"{kind.format('_SAME')}\n{kind.format('_OTHER')}\ndef low() -> object:\n    return _SAME\n")
    top = "from chunklib.below import low\n{}\ndef split_top() -> object:\n    return low(), {}\n"
    monkeypatch.setattr(copy, "HERE", tmp_path)
    write("top", top.format(kind.format("_SAME"), "_SAME"))
    with pytest.raises(ValueError, match=r"^below\.py and top\.py both define _SAME; rename it in one of them$"):
        copy_out("top")
    write("top", top.format(kind.format("_OTHER"), "_OTHER"))  # the lower one is not taken along
    assert copy_out("top").count("_OTHER") == 2


def test_the_licence_is_that_of_the_installed_package_else_of_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = (HERE.parent / "LICENSE").read_text(encoding="utf-8")
    found = {"licenses/LICENSE": "as installed"}
    monkeypatch.setattr(copy, "distribution", lambda name: SimpleNamespace(read_text=found.get))
    assert licence_text() == "as installed"
    found.clear()
    assert licence_text() == ours

    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(copy, "distribution", missing)
    assert licence_text() == ours


def test_a_package_that_lies_in_site_packages_can_be_copied_from(tmp_path: Path) -> None:
    shutil.copytree(HERE, tmp_path / "chunklib", ignore=shutil.ignore_patterns("__pycache__"))
    told = tmp_path / f"chunk_by_chunk-{chunklib.__version__}.dist-info"
    (told / "licenses").mkdir(parents=True)
    (told / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: chunk-by-chunk\nVersion: {chunklib.__version__}\n", encoding="utf-8"
    )
    shutil.copy(HERE.parent / "LICENSE", told / "licenses")
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from chunklib.copy import HERE, main; "
        "main(sys.argv[1:]); print(HERE.parent)"
    )
    written = tmp_path / "recursive_chunks.py"
    command = [sys.executable, "-I", "-c", program, str(tmp_path), "recursive", str(written)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(tmp_path.resolve()), done.stderr
    assert written.read_text(encoding="utf-8") == copy_out("recursive")


def test_the_command_prints_the_copy_or_writes_the_file(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    written = tmp_path / "copied.py"
    copy.main(["structure", str(written)])
    assert capsysbinary.readouterr().out == b""
    source = written.read_bytes().decode("utf-8").replace("\r\n", "\n")
    assert "”’»" in source, "some of it is beyond ASCII"
    command = [sys.executable, "-m", "chunklib.copy", "structure"]
    for seed in "0123":  # the order of a set differs from run to run, that of a copy must not
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(HERE.parent)}
        done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, check=True)
        assert done.stdout.decode("utf-8").replace("\r\n", "\n") == source


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["recursive", "a.py", "b.py"]])
def test_a_wrong_command_says_how(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match=r"usage: .* TECHNIQUE \[FILE\], the technique one of fixed_size, recursive"):
        copy.main(arguments)


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
print([name for name in sys.modules if name.startswith("chunklib")])
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ), check=False)
    cut = "['The cat sat. The cat ran.', 'Rain fell. Rain stopped.']"
    assert done.stdout.splitlines() == [cut, cut, "[]"], done.stderr


def test_the_command_prints_the_same_copy_each_time_and_names_the_techniques_where_none_is_meant() -> None:
    def command(*words: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
        line, env = [sys.executable, "-m", "chunklib.copy", *words], {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(line, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, env=env, check=False)

    for seed in "012345":
        done = command("structure", seed=seed)
        assert (done.stdout, done.stderr, done.returncode) == (copy_out("structure"), "", 0)
    for words in [(), ("nothing",), ("fixed_size", "a.py", "b.py")]:
        done = command(*words)
        assert (done.stdout, done.returncode) == ("", 1)
        usage = f"usage: python -m chunklib.copy TECHNIQUE [FILE], the technique one of {', '.join(techniques())}\n"
        assert done.stderr == usage
