# SPDX-License-Identifier: MIT
"""The rooms of the package: imports point downwards, without a circle; the face names what most programs want."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

import chunklib
from tools.notebooks import ROOT, cells

PACKAGE = ROOT / "chunklib"
MODULES = {
    ".".join(["chunklib", *file.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__"): file
    for file in sorted(PACKAGE.rglob("*.py"))
}
#: Lowest first. A module may import from its own floor and from those below.
FLOORS = ["core", "techniques", "documents", "search", "production", "course", "face"]


def floor(module: str) -> int:
    room = module.split(".")[1] if "." in module else "face"
    return FLOORS.index({"copy": "face"}.get(room, room if room in FLOORS else "techniques"))


def imports(module: str) -> set[str]:
    """The modules of the package that a module imports, at its head or later."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys()
            found |= inner or {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & MODULES.keys() - {module}


def test_imports_point_downwards() -> None:
    upwards = [(a, b) for a in MODULES for b in imports(a) if floor(b) > floor(a)]
    assert upwards == []


def test_there_is_no_circle() -> None:
    order = list(TopologicalSorter({module: imports(module) for module in MODULES}).static_order())
    assert set(order) == MODULES.keys()


def test_nothing_reaches_into_another_modules_underscore_names() -> None:
    reached = [
        (module, alias.name)
        for module, file in MODULES.items()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chunklib")
        for alias in node.names
        if alias.name.startswith("_") and alias.name != "__version__"
    ]
    assert reached == []


def test_the_face_lists_its_names_and_gives_each() -> None:
    assert 35 <= len(chunklib.__all__) <= 50
    assert set(chunklib.__all__) <= set(dir(chunklib))
    for name in chunklib.__all__:
        home = importlib.import_module(chunklib._HOMES[name])
        assert getattr(chunklib, name) is getattr(home, name)
    with pytest.raises(AttributeError, match=r"chunklib has no 'split_all'; dir\(chunklib\) lists what it has"):
        chunklib.split_all  # type: ignore[attr-defined]  # noqa: B018


def test_no_name_of_the_face_is_a_modules() -> None:
    inside = {module.removeprefix("chunklib.").split(".")[0] for module in MODULES}
    assert not inside & set(chunklib.__all__)


def test_the_face_loads_nothing_before_a_name_is_used() -> None:
    code = "import sys, chunklib; print(sorted(m for m in sys.modules if m.startswith('chunklib.')))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['chunklib.core', 'chunklib.core.offline']"


def test_lessons_readme_and_docstrings_use_the_face() -> None:
    past = re.compile(r"^(?:\s*>>> )?from chunklib\.[\w.]+ import (.*)$", re.MULTILINE)
    texts = {
        file.name: file.read_text(encoding="utf-8") for file in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    }
    texts |= {
        name: "\n".join(re.findall(r"^\s*>>> .*$", file.read_text(encoding="utf-8"), re.MULTILINE))
        for name, file in MODULES.items()
    }
    texts |= {
        file.name: "\n".join(cell["source"] for cell in cells(file) if cell["cell_type"] == "code")
        for file in [*(ROOT / "notebooks").glob("*.ipynb"), *(ROOT / "capstone").glob("*.ipynb")]
    }
    found = [
        (place, name)
        for place, text in texts.items()
        for names in past.findall(text)
        for name in re.findall(r"\w+", names)
        if name in chunklib.__all__
    ]
    assert found == []
