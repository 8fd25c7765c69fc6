# SPDX-License-Identifier: MIT
"""What holds the house together: versions that agree, make, the scripts in tools/, nbval itself, clean files."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools import lab, notebooks
from tools.notebooks import MACHINE_PATH, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


# --- Versions agree --------------------------------------------------------------------------------------------------


def pins() -> dict[str, Version]:
    """Read constraints.txt; each line must be name==version."""
    found: dict[str, Version] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([a-z0-9.-]+)==([^\s=+]+)", line)
            assert match, f"constraints.txt: want name==version, no local version: {line!r}"
            assert match[1] not in found, f"constraints.txt: {match[1]} twice"
            found[match[1]] = Version(match[2])
    return found


#: What the package asks for itself, and torch, which comes along: its pin fits every build of it.
ASKED_FOR = [*PROJECT["dependencies"], *(text for extra in EXTRAS.values() for text in extra), "torch>=2"]


@pytest.mark.parametrize("text", ASKED_FOR)
def test_direct_dependency_is_pinned_within_its_range(text: str) -> None:
    requirement = Requirement(text)
    name = canonicalize_name(requirement.name)
    assert requirement.specifier, f"{name}: no range"
    assert name in pins()
    assert pins()[name] in requirement.specifier


def test_conda_environment_agrees_with_pyproject() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["channels"] == ["conda-forge"]
    *conda, pip = environment["dependencies"]
    assert conda == ["python=3.11", "pip"], "all else comes by pip, from pyproject.toml"
    assert "3.11" in Requirement(f"python{PROJECT['requires-python']}").specifier
    constraints, package = pip["pip"]
    assert constraints == "-c constraints.txt"
    match = re.fullmatch(r"-e \.\[([a-z,]+)\]", package)
    assert match
    extras = match[1].split(",")
    assert set(extras) <= set(EXTRAS)
    assert f'".[{match[1]}]"' in (ROOT / "Makefile").read_text(encoding="utf-8"), "the same extras as make setup"


# --- make ------------------------------------------------------------------------------------------------------------


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder in which make believes that everything was installed a minute after the last change."""
    (tmp_path / ".venv").mkdir()
    for name, age in {"Makefile": 120, "pyproject.toml": 120, "constraints.txt": 120, ".venv/.installed": 60}.items():
        path = tmp_path / name
        if name == ".venv/.installed":
            path.touch()
        else:
            shutil.copy(ROOT / name, path)
        then = path.stat().st_mtime - age
        os.utime(path, (then, then))
    return tmp_path


def dry_run(folder: Path, *arguments: str) -> str:
    command = ["make", "--no-print-directory", "-n", *arguments]
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


@needs_make
@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_a_second_setup_installs_only_what_has_changed(checkout: Path, changed: str) -> None:
    assert "pip install" not in dry_run(checkout, "setup")
    (checkout / changed).touch()
    assert "pip install" in dry_run(checkout, "setup")


@needs_make
def test_interrupted_setup_is_taken_up_again(checkout: Path) -> None:
    (checkout / ".venv/.installed").unlink()
    plan = dry_run(checkout, "test")
    assert plan.index("-m venv") < plan.index("pip install") < plan.index("touch") < plan.index("pytest")


@needs_make
def test_extra_index_for_torch(checkout: Path) -> None:
    (checkout / ".venv/.installed").unlink()
    assert "--extra-index-url" not in dry_run(checkout, "setup", "TORCH_INDEX=")
    assert "--extra-index-url https://example.org/cpu" in dry_run(
        checkout, "setup", "TORCH_INDEX=https://example.org/cpu"
    )


@needs_make
def test_help_tells_every_target(checkout: Path) -> None:
    told = subprocess.run(["make"], cwd=checkout, check=True, capture_output=True, text=True).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony
    assert set(re.findall(r"^make (\w+)", told, re.MULTILINE)) == set(phony[1].split())


@needs_make
def test_clean_keeps_the_learners_copies(checkout: Path) -> None:
    kept = checkout / "my_notebooks" / "build" / "mine.ipynb"
    kept.parent.mkdir(parents=True)
    kept.touch()
    cache = checkout / "chunklib" / "__pycache__"
    cache.mkdir(parents=True)
    subprocess.run(["make", "clean"], cwd=checkout, check=True, capture_output=True)
    assert kept.exists()
    assert not (checkout / ".venv").exists()
    assert not cache.exists()


# --- tools/lab.py ----------------------------------------------------------------------------------------------------


def test_copies_are_never_overwritten(tmp_path: Path) -> None:
    source, copies = tmp_path / "notebooks", tmp_path / "my_notebooks"
    source.mkdir()
    (source / "00_a.ipynb").write_text("theirs", encoding="utf-8")
    (source / "notes.txt").write_text("not a lesson", encoding="utf-8")
    assert lab.copy_missing(source, copies) == [copies / "00_a.ipynb"]
    assert [path.name for path in copies.iterdir()] == ["00_a.ipynb"]

    (copies / "00_a.ipynb").write_text("mine", encoding="utf-8")
    (source / "01_b.ipynb").write_text("a new lesson", encoding="utf-8")
    assert lab.copy_missing(source, copies) == [copies / "01_b.ipynb"]
    assert (copies / "00_a.ipynb").read_text(encoding="utf-8") == "mine"


def test_fresh_copies_get_a_folder_of_their_own(tmp_path: Path) -> None:
    day = date(2026, 11, 30)
    assert lab.fresh_folder(tmp_path, day).name == "fresh-2026-11-30-1"
    lab.fresh_folder(tmp_path, day).mkdir()
    assert lab.fresh_folder(tmp_path, day).name == "fresh-2026-11-30-2"


def test_lab_asks_nothing_of_the_network(tmp_path: Path) -> None:
    from jupyterlab.labapp import LabApp

    opened = tmp_path / "fresh-2026-11-30-1" / lab.FIRST
    app = LabApp()
    app.parse_command_line(lab.lab_arguments(tmp_path, opened))
    assert app.news_url is None
    assert app.check_for_updates_class.__name__ == "NeverCheckForUpdate"
    assert app.extension_manager == "readonly"
    assert app.default_url == "/lab/tree/fresh-2026-11-30-1/00_start_here.ipynb"


# --- The commands of tools/ ------------------------------------------------------------------------------------------

COMMANDS = sorted(path.stem for path in (ROOT / "tools").glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    """What a command of tools/ exits with, when it may start no process, and write no file or folder."""

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the command did something")

    monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
    for owner, method in ((subprocess, "run"), (Path, "write_text"), (Path, "write_bytes"), (Path, "mkdir")):
        monkeypatch.setattr(owner, method, refused)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(ROOT / "tools" / f"{name}.py"), run_name="__main__")
    return stopped.value.code


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_asked_for_help_does_nothing_else(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(name, "--help", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.startswith("usage: ")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "lab"])  # lab.py passes it on to JupyterLab
def test_a_command_stops_at_an_option_it_does_not_know(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(name, "--hlep", monkeypatch=monkeypatch) == 2
    assert "--hlep" in capsys.readouterr().err


def test_a_notebook_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("notebooks", "notebooks/99.ipynb", monkeypatch=monkeypatch) == 2
    assert "no such notebook: notebooks/99.ipynb" in capsys.readouterr().err.replace("\\", "/")


# --- tools/notebooks.py and nbval, in real kernels -------------------------------------------------------------------


def write(path: Path, *cells: tuple[str, list[dict[str, Any]]]) -> Path:
    """Write a small notebook as one does by hand: no cell ids, metadata from somewhere."""
    made = [
        {
            "cell_type": "code",
            "source": source,
            "outputs": outputs,
            "execution_count": None,
            "metadata": {"trusted": True},
        }
        for source, outputs in cells
    ]
    metadata = {"kernelspec": {"name": "other", "display_name": "Other"}, "widgets": {}}
    notebook = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def printed(text: str) -> list[dict[str, Any]]:
    return [{"output_type": "stream", "name": "stdout", "text": text}]


def test_rebuild_runs_and_normalises(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", ("n = 6", printed("old")), ("print(n)\nprint('ü')", []), ("n * 7", []))
    assert notebooks.rebuild(path) == []
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "ü" in text
    notebook = json.loads(text)
    assert notebook["metadata"] == notebooks.METADATA
    assert [cell["metadata"] for cell in notebook["cells"]] == [{}, {}, {}]
    assert [cell["id"] for cell in notebook["cells"]] == ["cell-1", "cell-2", "cell-3"]
    assert [cell["execution_count"] for cell in notebook["cells"]] == [1, 2, 3]
    assert [cell["outputs"] for cell in notebook["cells"][:2]] == [[], [{**printed("")[0], "text": ["6\n", "ü\n"]}]]
    assert notebooks.rebuild(path) == []
    assert path.read_text(encoding="utf-8") == text, "a second run changes nothing"


def test_the_view_of_a_widget_is_not_stored(tmp_path: Path) -> None:
    """Its id differs from run to run, and without the state beside it JupyterLab shows an error in its place."""
    path = write(tmp_path / "a.ipynb", ("from ipywidgets import IntSlider\nIntSlider(3)", []))
    assert notebooks.rebuild(path) == []
    ((output,),) = (cell["outputs"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"])
    assert list(output["data"]) == ["text/plain"]


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("1 / 0", "cell 2 (1 / 0) raised ZeroDivisionError: division by zero"),
        ("import warnings\nwarnings.warn('old')", "cell 2 (import warnings) wrote to stderr: "),
        ("print('/ho' + 'me/me')", "cell 2 (print('/ho' + 'me/me')) shows a path of this machine: "),
    ],
)
def test_rebuild_fails_loudly(tmp_path: Path, source: str, complaint: str) -> None:
    path = write(tmp_path / "a.ipynb", ("n = 6", []), (source, []))
    before = path.read_bytes()
    (found,) = notebooks.rebuild(path)
    assert found.startswith(complaint)
    assert path.read_bytes() == before


def test_nbval_compares_all_but_pixels(tmp_path: Path) -> None:
    """A changed output is red, a picture that another machine draws with other pixels is not."""
    page = 'from IPython.display import HTML\nHTML(\'<img alt="{}" src="data:image/png;base64,{}">\')'
    same = write(tmp_path / "same.ipynb", ("print(42)", []), (page.format("a chart", "AAAA"), []))
    changed = write(tmp_path / "changed.ipynb", ("print(42)", []), (page.format("a chart", "AAAA"), []))
    assert notebooks.rebuild(same) == notebooks.rebuild(changed) == []
    same.write_text(same.read_text(encoding="utf-8").replace("AAAA", "BBBB+/="), encoding="utf-8")
    stored = changed.read_text(encoding="utf-8")
    changed.write_text(stored.replace('"42\\n"', '"41\\n"').replace("a chart", "another", 1), encoding="utf-8")

    command = [sys.executable, "-m", "pytest", "-q", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    command += ["-p", "no:cacheprovider", "same.ipynb", "changed.ipynb"]
    command += [f"--nbval-sanitize-with={ROOT / 'tests' / 'nbval_sanitize.cfg'}"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
    assert "2 failed, 2 passed" in run.stdout, run.stdout + run.stderr


# --- Files -----------------------------------------------------------------------------------------------------------


def tracked() -> list[Path]:
    """List the files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode("utf-8")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


# Written so that these lines do not find themselves.
REGISTRY = re.compile(
    r"pypi[.]org|pythonhosted[.]org|(?:deb|security|ftp)[.]debian[.]org|registry[.](?:npmjs|yarnpkg)[.]"
)


def test_patterns_find_what_they_are_for() -> None:
    home = "/home"
    for text in (
        f"'{home}/me/x'",
        f"({home}/me",
        "C:" + "\\Users\\me",
        "C:" + "\\\\Users\\\\me",
        "file:" + "///x",
        "/tmp" + "/x",
    ):
        assert MACHINE_PATH.search(text), text
    for text in ("https://example.org" + home + "/x", "a/tmp/b", "[home](/home)", "/home", "my_notebooks/home/x"):
        assert not MACHINE_PATH.search(text), text
    for host in ("pypi.", "files.pythonhosted.", "deb.debian."):
        assert REGISTRY.search(host + "org")


def test_no_file_names_one_machine_or_a_registry() -> None:
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="replace")
        for pattern in (MACHINE_PATH, REGISTRY):
            found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in pattern.finditer(text)]
    assert not found, "\n".join(found)


def test_every_python_file_names_its_licence() -> None:
    bare = [
        str(path.relative_to(ROOT))
        for path in tracked()
        if path.suffix == ".py" and not path.read_text(encoding="utf-8").startswith("# SPDX-License-Identifier: MIT\n")
    ]
    assert not bare


def test_licences_are_there() -> None:
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert "https://creativecommons.org/licenses/by/4.0/" in (ROOT / "LICENSE-PROSE").read_text(encoding="utf-8")


def test_import_is_light() -> None:
    """No module of the package imports what is slow before it is needed."""
    code = "import sys, pkgutil, importlib, chunklib\n"
    code += "for m in pkgutil.walk_packages(chunklib.__path__, 'chunklib.'): importlib.import_module(m.name)\n"
    heavy = {"torch", "nltk", "matplotlib", "sentence_transformers", "transformers", "llama_index", "IPython", "PIL"}
    heavy |= {"bs4", "pypdf", "yaml", "markdown_it", "qdrant_client", "redis"}
    code += f"print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
