# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/copy.py). Needs: nothing outside the standard library.
"""One technique as one file that stands alone: ``python -m chunklib.copy recursive > recursive_chunks.py``.

The technique's module is printed whole; of the modules that it imports, only what it uses, directly or not.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: The licence goes with the code, as it asks.
LICENCE = HERE.parent / "LICENSE"


def copy_out(technique: str) -> str:
    """The source of one technique with all that it needs from the package. Raises ``ValueError`` for other names.

    >>> "chunklib.measure" in copy_out("fixed_size")
    False
    """
    if technique not in techniques():
        raise ValueError(f"technique={technique!r} is unknown; use one of {', '.join(techniques())}")
    parts: dict[str, list[str]] = {}  # module -> source of what is taken from it, in the order of need
    imports: set[str] = set()
    needs: list[str] = []
    _take(technique, None, parts, imports, needs)
    order = sorted((name for name in parts if name != technique), key=lambda name: ("span", "measure").index(name))
    body = "\n\n\n".join("\n\n\n".join(parts[name]) for name in [*order, technique])
    licence = "\n".join(f"# {line}".rstrip() for line in LICENCE.read_text(encoding="utf-8").splitlines())
    head = [
        "# SPDX-License-Identifier: MIT",
        f"# From Chunk by Chunk (chunklib/{technique}.py and what it needs). {' '.join(sorted(set(needs)))}",
        "#",
        licence,
        "",
        "from __future__ import annotations",
        "",
        *sorted(imports),
    ]
    return "\n".join(head) + "\n\n\n" + body + "\n"


def techniques() -> list[str]:
    """Names of the modules that can be copied out: those that define a ``split_…`` function.

    >>> techniques()
    ['fixed_size', 'recursive']
    """
    return sorted(file.stem for file in HERE.glob("*.py") if "\ndef split_" in file.read_text(encoding="utf-8"))


def _take(
    module: str, names: set[str] | None, parts: dict[str, list[str]], imports: set[str], needs: list[str]
) -> None:
    """Add from ``module`` what ``names`` need (``None``: everything), then the same from what it imports."""
    source = (HERE / f"{module}.py").read_text(encoding="utf-8")
    lines = source.splitlines()
    needs.extend(line.partition("Needs: ")[2] for line in lines[:2] if "Needs: " in line and "nothing" not in line)
    tree = ast.parse(source)
    statements = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom, ast.If, ast.Expr))]
    if names is None:
        chosen = statements
    else:
        wanted: set[str] = set(names)
        while True:
            chosen = [node for node in statements if _defines(node) & wanted]
            more = wanted | {name for node in chosen for name in _uses(node)}
            if more == wanted:
                break
            wanted = more
    used = {name for node in chosen for name in _uses(node)}
    inner: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chunklib."):
            if found := {alias.name for alias in node.names} & used:
                inner.setdefault((node.module or "").removeprefix("chunklib."), set()).update(found)
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "chunklib" not in ast.unparse(node):
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                continue
            for alias in node.names:
                if (alias.asname or alias.name) in used:
                    one = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
                    imports.add(f"from {node.module} {one}" if isinstance(node, ast.ImportFrom) else one)
    for other, found in inner.items():
        _take(other, found, parts, imports, needs)
    docstring = [f'"""{ast.get_docstring(tree, clean=False)}"""'] if names is None else []
    if docstring:  # a docstring in the middle of a file is only an expression: keep it as comments
        docstring = ["\n".join(f"# {line}".rstrip() for line in (ast.get_docstring(tree) or "").splitlines())]
    parts[module] = docstring + [_source(node, lines) for node in chosen]


def _source(node: ast.stmt, lines: list[str]) -> str:
    """The lines of a statement, with its decorators and the comment above it."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(d.lineno for d in decorators)]) - 1
    while first and lines[first - 1].startswith("#"):
        first -= 1
    return "\n".join(lines[first : node.end_lineno])


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _uses(node: ast.stmt) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in techniques():
        sys.exit(f"usage: python -m chunklib.copy TECHNIQUE, one of {', '.join(techniques())}")
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(copy_out(sys.argv[1]))
