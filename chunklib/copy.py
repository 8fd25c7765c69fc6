# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""One technique as one file that stands alone: ``python -m chunklib.copy recursive recursive_chunks.py``.

The technique's module is copied whole; of the modules that it imports, only what it uses, directly or not. Without the
name of a file, the copy is printed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TypeGuard

from chunklib import __version__

HERE = Path(__file__).resolve().parent
_LICENCE = HERE.parent / "LICENSE"  # in a checkout


def copy_out(technique: str) -> str:
    """The source of one technique with all that it needs from the package.

    Raises ``ValueError`` for other names, and where two modules give one name to different things: in one file, the
    second would replace the first.

    >>> "chunklib.core.measure" in copy_out("fixed_size")
    False
    """
    if technique not in techniques():
        raise ValueError(f"technique={technique!r} is unknown; use one of {', '.join(techniques())}")
    modules = {technique: _Module(technique)}
    below: dict[str, set[str]] = {technique: set()}  # which modules each one stands on
    taken: set[tuple[str, str]] = set()
    imports: set[str] = set()
    for_types: set[str] = set()
    todo = [(technique, name) for name in modules[technique].defined]
    while todo:
        module, name = todo.pop()
        if (module, name) in taken:
            continue
        taken.add((module, name))
        here = modules[module]
        for used in _uses(here.defined[name]):
            if used in here.defined:
                todo.append((module, used))
            elif used in here.inside:
                other = here.inside[used]
                modules.setdefault(other, _Module(other))
                below.setdefault(other, set())
                if used not in here.late:
                    below[module].add(other)
                todo.append((other, used))
            elif used in here.outside:
                imports.add(here.outside[used])
            elif used in here.for_types:
                for_types.add(here.for_types[used])
    _refuse_shared(taken)
    # Sorted, so that the same technique gives the same file every time.
    order = list(TopologicalSorter({name: sorted(below[name]) for name in sorted(below)}).static_order())
    if for_types:
        imports.add("from typing import TYPE_CHECKING")
    licence = "\n".join(f"# {line}".rstrip() for line in licence_text().splitlines())
    head = [
        "# SPDX-License-Identifier: MIT",
        f"# From Chunk by Chunk (chunklib {__version__}: {technique}.py and what it needs).",
        *sorted({modules[name].needs for name in order if modules[name].needs}),
        "#",
        licence,
        "",
        "from __future__ import annotations",
        "",
        *sorted(imports),
    ]
    parts = ["\n".join(head)]
    parts += ["\n".join(["if TYPE_CHECKING:", *(f"    {line}" for line in sorted(for_types))])] if for_types else []
    for name in order:
        parts += [modules[name].about] if name == technique else []
        parts += modules[name].sources({wanted for module, wanted in taken if module == name})
    return "\n\n\n".join(parts) + "\n"


def techniques() -> list[str]:
    """Names of the modules that can be copied out: those that define a ``split_…`` function.

    >>> techniques()
    ['fixed_size', 'recursive', 'semantic', 'sentence', 'structure']
    """
    return sorted(file.stem for file in HERE.glob("*.py") if "\ndef split_" in file.read_text(encoding="utf-8"))


def licence_text() -> str:
    """The licence, which goes with the code, as it asks: that of the installed package, else the checkout's.

    >>> licence_text().splitlines()[0]
    'MIT License'
    """
    try:
        installed = distribution("chunk-by-chunk").read_text("licenses/LICENSE")
    except PackageNotFoundError:
        installed = None
    return installed or _LICENCE.read_text(encoding="utf-8")


def _refuse_shared(taken: Iterable[tuple[str, str]]) -> None:
    home: dict[str, str] = {}
    for module, name in sorted(taken):
        if home.setdefault(name, module) != module:
            raise ValueError(f"{home[name]}.py and {module}.py both define {name}; rename it in one of them")


class _Module:
    """The source of one module, taken apart."""

    def __init__(self, name: str) -> None:
        source = HERE.joinpath(*f"{name}.py".split(".", name.count("."))).read_text(encoding="utf-8")
        self.lines, self.tree = source.splitlines(), ast.parse(source)
        self.needs = next(
            (f"# {line[2:]}" for line in self.lines[:2] if "Needs: " in line and "nothing" not in line), ""
        )
        self.defined = {name: node for node in self.tree.body for name in _defines(node)}
        self.inside: dict[str, str] = {}  # name -> module of the package that it comes from
        self.outside: dict[str, str] = {}  # name -> the line that imports it
        self.for_types = dict[str, str]()  # the same, of imports that only a type checker sees
        self.late = set[str]()  # names from the package that are imported inside a function, where the line is dropped
        for node in self.tree.body:
            if _is_inside(node):
                self.inside |= _names_of(node)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.outside |= _lines_of(node)
            elif isinstance(node, ast.If):
                for inner in node.body:
                    self.for_types |= _lines_of(inner)
        for deeper in ast.walk(self.tree):
            if _is_inside(deeper) and deeper not in self.tree.body:
                self.inside |= _names_of(deeper)
                self.late |= set(_names_of(deeper))
                self.lines[deeper.lineno - 1] = ""

    @property
    def about(self) -> str:
        """The docstring as comments: in the middle of a file it would only be an expression."""
        return "\n".join(f"# {line}".rstrip() for line in (ast.get_docstring(self.tree) or "").splitlines())

    def sources(self, names: set[str]) -> list[str]:
        """The statements that define the names, in their order, each with its decorators and the comment above it."""
        found = []
        for node in self.tree.body:
            if _defines(node) & names:
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
                while first and self.lines[first - 1].startswith("#"):
                    first -= 1
                found.append("\n".join(self.lines[first : node.end_lineno]))
        return found


def _is_inside(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chunklib.")


def _names_of(node: ast.ImportFrom) -> dict[str, str]:
    return {alias.name: (node.module or "").removeprefix("chunklib.") for alias in node.names}


def _lines_of(node: ast.AST) -> dict[str, str]:
    """For each name that a statement imports, the line that imports it alone."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return {}
    source = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
    return {
        alias.asname or alias.name: f"{source}import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
        for alias in node.names
    }


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return set()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _uses(node: ast.stmt) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def main(arguments: Sequence[str]) -> None:
    """The command line: a technique, then the file to write, if any."""
    if len(arguments) not in (1, 2) or arguments[0] not in techniques():
        sys.exit(f"usage: python -m chunklib.copy TECHNIQUE [FILE], the technique one of {', '.join(techniques())}")
    source = copy_out(arguments[0])
    if arguments[1:]:
        Path(arguments[1]).write_text(source, encoding="utf-8")
    else:
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        sys.stdout.write(source)


if __name__ == "__main__":
    main(sys.argv[1:])
