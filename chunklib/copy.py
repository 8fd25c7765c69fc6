# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""One technique as one file that stands alone: ``python -m chunklib.copy recursive recursive_chunks.py``.

The technique's module is copied whole, and so are the modules below it. For measuring and packing, that is the plain
core, which is short and gives the same spans. Without the name of a file, the copy is printed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TypeGuard

from chunklib import __version__

HERE = Path(__file__).resolve().parent
#: The seven, in the order of the lessons.
TECHNIQUES = ("fixed_size", "recursive", "sentence", "structure", "semantic", "enrichment", "parent_child")
_LICENCE = HERE.parent / "LICENSE"  # in a checkout
#: Modules whose names a copy takes from the plain core.
_FAST = dict.fromkeys(("core.measure", "core.packing", "core.separators"), "core.plain")
# Measured by benchmarks/speed.py on 1.4 MB of English, chunks of 200 tokens, the overlap 40.
_PLAIN = """
Measuring and packing are the plain core here: cutting takes 7 times as long as the tokenizer alone, with an overlap 11
times. The package's own takes 1.2 and 3 times, and gives the same spans.
"""


def copy_out(technique: str) -> str:
    """The source of one technique with all that it needs from the package.

    Raises ``ValueError`` for other names, and where two modules give one name to different things: in one file, the
    second would replace the first.

    >>> [line for line in copy_out("fixed_size").splitlines() if line.startswith("def ")][-1]
    'def split_fixed_size('
    """
    if technique not in TECHNIQUES:
        raise ValueError(f"technique={technique!r} is unknown; use one of {', '.join(TECHNIQUES)}")
    trees = {name: ast.parse(_source(name)) for name in _with_those_below(technique)}
    _refuse_twins(trees)
    about = f"From Chunk by Chunk (chunklib {__version__}: {technique}.py and what it needs)."
    lines = [about, *(_PLAIN.strip().splitlines() if "core.plain" in trees else []), "", *licence_text().splitlines()]
    head = ["# SPDX-License-Identifier: MIT", *(f"# {line}".rstrip() for line in lines)]
    parts = ["\n".join([*head, "", "from __future__ import annotations", "", *_imports(trees.values())])]
    for name, tree in trees.items():
        title = f"# {'-' * 3} {name.replace('.', '/')}.py {'-' * (114 - len(name))}"
        parts.append("\n".join([title, *_comment(tree), "", *_body(_source(name).splitlines(), tree)]).rstrip())
    return "\n\n\n".join(parts) + "\n"


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


def _source(name: str) -> str:
    return HERE.joinpath(*name.split(".")).with_suffix(".py").read_text(encoding="utf-8")


def _with_those_below(name: str, known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The module and all that it imports, each after those that it stands on."""
    for node in ast.parse(_source(name)).body:
        if _is_ours(node):
            below = (node.module or "").removeprefix("chunklib.")
            below = _FAST.get(below, below)
            known = known if below in known else _with_those_below(below, known)
    return (*known, name)


def _is_ours(node: ast.stmt) -> TypeGuard[ast.ImportFrom]:
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chunklib.")


def _imports(trees: Iterable[ast.Module]) -> list[str]:
    """What the modules import from elsewhere, each line once; whole modules first, as is the custom."""
    found = set()
    for node in (node for tree in trees for node in tree.body if not _is_ours(node)):
        if isinstance(node, ast.Import):
            found |= {ast.unparse(ast.Import([alias])) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            found |= {ast.unparse(ast.ImportFrom(node.module, [alias], 0)) for alias in node.names}
    return sorted(found, key=lambda line: (line.startswith("from"), line.lower()))


def _comment(tree: ast.Module) -> list[str]:
    """The docstring as comments: in the middle of a file it would only be an expression."""
    return [f"# {line}".rstrip() for line in (ast.get_docstring(tree) or "").splitlines()]


def _body(lines: list[str], tree: ast.Module) -> list[str]:
    """The lines of a module without its head, its docstring and its imports, those of examples included."""
    last = max(
        node.end_lineno or 0
        for i, node in enumerate(tree.body)
        if not i or isinstance(node, ast.Import | ast.ImportFrom)
    )
    return "\n".join(line for line in lines[last:] if ">>> from chunklib" not in line).strip("\n").splitlines()


def _refuse_twins(trees: dict[str, ast.Module]) -> None:
    home: dict[str, str] = {}
    for module, tree in trees.items():
        for name in {name for node in tree.body for name in _defines(node)}:
            if home.setdefault(name, module) != module:
                raise ValueError(f"{home[name]} and {module} both define {name}; rename it in one of them")


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return set()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def main(arguments: Sequence[str]) -> None:
    """The command line: a technique, then the file to write, if any."""
    if len(arguments) not in (1, 2) or arguments[0] not in TECHNIQUES:
        sys.exit(f"usage: python -m chunklib.copy TECHNIQUE [FILE], the technique one of {', '.join(TECHNIQUES)}")
    source = copy_out(arguments[0])
    if arguments[1:]:
        Path(arguments[1]).write_text(source, encoding="utf-8")
    else:
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        sys.stdout.write(source)


if __name__ == "__main__":
    main(sys.argv[1:])
