# SPDX-License-Identifier: MIT
"""A technique that was copied out stands alone, keeps the laws, and cuts where the package does."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunklib
from chunklib import copy
from chunklib.copy import HERE, TECHNIQUES, copy_out, licence_text
from chunklib.course.datasets import load_course_documents
from chunklib.recursive import MARKDOWN
from tests.laws import hard_text

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
def letters(texts):
    return [[text.count(letter) for letter in "aetx"] for text in texts]
def measured(function):
    parameters = inspect.signature(function).parameters.values()
    settings = {p.name for p in parameters}
    needed = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    return {"chunk_size", "chunk_overlap"} <= settings and not needed
splitters = [f for name, f in vars(alone).items() if name.startswith("split_") and measured(f)]
@settings(max_examples=100, deadline=None, derandomize=True)
@given(laws.hard_text, st.integers(1, 30), st.booleans(), st.sampled_from(splitters))
def check(text, size, overlapping, split):
    overlap = size // 3 * overlapping
    parts = split(text) if split.__name__ == "split_markdown" else None
    laws.assert_laws(text, split(text, chunk_size=size, chunk_overlap=overlap), tokens, size, overlap, parts)
    laws.assert_laws(text, split(text, chunk_size=size, length="characters"), len, size, parts=parts)
    laws.assert_laws(text, split(text, chunk_size=size, chunk_overlap=overlap, length=len), len, size, overlap, parts)
    if hasattr(alone, "split_optimal"):
        laws.assert_laws(text, alone.split_optimal(text, embed=letters, chunk_size=size), tokens, size)
        laws.assert_laws(text, alone.split_semantic(text, embed=letters), tokens, None)
if splitters:
    check()
else:
    document = alone.Document.from_markdown("# Fees\\n\\n## Post\\n\\nFree of charge.", id="fees")
    chunk = alone.chunk_document(document, lambda text: [(17, 32)])[0]
    assert alone.add_context(chunk, document).embedding_text == "Fees > Post\\n\\nFree of charge."
    assert alone.context_size(document, length="words") == 3
    assert alone.ask_about([chunk], lambda prompt: "Is it free?")[0][0].metadata == {"questions": ["Is it free?"]}
if hasattr(alone, "families"):
    found = alone.families(alone.Document("One two.\\n\\nThree.", id="d"), alone.PARENTS, alone.CHILDREN)
    (hit,) = alone.search_families(found, "three", embed=letters)
    assert hit.chunk.text == hit.children[0].chunk.text == "One two.\\n\\nThree."
import doctest
assert not doctest.testmod(alone).failed
assert not any(name.startswith("chunklib") for name in sys.modules), "the copy needs the package"
print("kept", *(split.__name__ for split in splitters))
"""
#: Which functions of each copy are tried: all that take a size, those that came along as well.
TRIED = {
    "fixed_size": "kept split_fixed_size",
    "recursive": "kept split_recursive",
    "sentence": "kept split_sentences",
    "structure": "kept split_recursive split_paragraphs split_markdown",
    "semantic": "kept split_recursive split_sentences",
    "enrichment": "kept",
    "parent_child": "kept split_recursive",
}


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_the_copy_works_and_keeps_the_laws_alone(technique: str, tmp_path: Path) -> None:
    copied = tmp_path / "copied.py"
    copied.write_text(copy_out(technique), encoding="utf-8")
    laws = str(Path(__file__).with_name("laws.py"))
    command = [sys.executable, "-I", "-c", ALONE, str(copied), laws]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ), check=False)
    assert done.stdout == f"{TRIED[technique]}\n", done.stderr


@cache
def copied(technique: str) -> ModuleType:
    spec = importlib.util.spec_from_loader(f"copied_{technique}", loader=None)
    assert spec
    module = sys.modules[f"copied_{technique}"] = importlib.util.module_from_spec(spec)
    exec(compile(copy_out(technique), f"copied_{technique}.py", "exec"), vars(module))
    return module


def letters(texts: Any) -> Any:
    return [[text.count(letter) for letter in "aetx"] for text in texts]


SAME: dict[str, tuple[str, dict[str, Any]]] = {
    "fixed size": ("fixed_size", {}),
    "recursive": ("recursive", {}),
    "recursive, Markdown": ("recursive", {"separators": MARKDOWN}),
    "sentence": ("sentence", {"min_sentences": 2}),
    "sentences": ("sentence", {}),
    "paragraphs": ("structure", {}),
    "markdown": ("structure", {}),
    "optimal": ("semantic", {"embed": letters}),
    "semantic": ("semantic", {"embed": letters, "min_chunk_size": 1}),
}
FUNCTIONS = {
    "fixed size": "split_fixed_size",
    "recursive, Markdown": "split_recursive",
    "sentence": "split_sentences",
    "recursive": "split_recursive",
    **{name: f"split_{name}" for name in ("sentences", "paragraphs", "markdown", "optimal", "semantic")},
}


def both(name: str, text: str, size: int, length: Any) -> tuple[Any, Any]:
    technique, known = SAME[name]
    known = {**known, "max_chunk_size" if name == "semantic" else "chunk_size": size, "length": length}
    package = importlib.import_module(f"chunklib.{technique}")
    found = [getattr(module, FUNCTIONS[name])(text, **known) for module in (copied(technique), package)]
    return [tuple(span) for span in found[0]], [tuple(span) for span in found[1]]


@pytest.mark.parametrize("name", SAME)
@given(text=hard_text, size=st.integers(1, 40), length=st.sampled_from(["words", "characters", len]))
def test_the_copy_cuts_where_the_package_does(name: str, text: str, size: int, length: Any) -> None:
    mine, theirs = both(name, text, size, length)
    assert mine == theirs


@pytest.mark.parametrize("name", SAME)
def test_the_copy_cuts_every_document_where_the_package_does(name: str) -> None:
    for document in load_course_documents():
        for size in (40, 150):
            mine, theirs = both(name, document.text, size, "tokens")
            assert mine == theirs, document.id


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_the_copy_carries_licence_and_version_lints_and_names_nothing_twice(technique: str, tmp_path: Path) -> None:
    source = copy_out(technique)
    assert source.startswith("# SPDX-License-Identifier: MIT\n")
    assert f"(chunklib {chunklib.__version__}: {technique}.py and what it needs)" in source.splitlines()[1]
    assert "Permission is hereby granted" in source
    assert ("The package's own takes" in source) == ("def pack(" in source)
    assert "import chunklib" not in source
    assert "from chunklib" not in source
    written = tmp_path / "copied.py"
    written.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", str(written)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    defined = [name for node in ast.parse(source).body for name in copy._defines(node)]
    assert len(defined) == len(set(defined))


def test_a_copy_is_short() -> None:
    longest = {"fixed_size": 470, "recursive": 540, "sentence": 720}
    for technique, lines in longest.items():
        assert len(copy_out(technique).splitlines()) <= lines


def test_a_name_that_two_modules_define_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, lines in {
        "core/below": "_SAME = 1\ndef low():\n    return _SAME\n",
        "fixed_size": "from chunklib.core.below import low\ndef _SAME():\n    return low()\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(f'"""Something."""\n\n{lines}', encoding="utf-8")
    monkeypatch.setattr(copy, "HERE", tmp_path)
    with pytest.raises(ValueError, match=r"^core\.below and fixed_size both define _SAME; rename it in one of them$"):
        copy_out("fixed_size")


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
    with pytest.raises(ValueError, match="technique='nothing' is unknown; use one of fixed_size, recursive, sentence"):
        copy_out("nothing")
