# SPDX-License-Identifier: MIT
"""Do the tests notice? Change one thing in a module, run its tests, and tell which changes survive.

    python -m tools.mutate measure packing --sample 20

Works on a copy of the project in a temporary folder. The tests of a module are its own file, the laws, and the examples
in its docstrings; a change that survives them may still be caught by another module's tests or by a notebook. Takes as
long as these tests, once for each change.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.notebooks import ROOT

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
KEPT_OUT = {".venv", ".git", "my_notebooks", "notebooks", "site", "wheels", "__pycache__"}


def changed(node: ast.AST) -> bool:
    """Change one node in place; false where there is nothing to change."""
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in SWAPS:
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        node.value += 1
    else:
        return False
    return True


def mutants(source: str) -> Iterator[tuple[int, str]]:
    """Each change of one thing: its line, and the whole module with it.

    >>> [(line, text) for line, text in mutants("x = a < 1")]
    [(1, 'x = a <= 1'), (1, 'x = a < 2')]
    """
    tree = ast.parse(source)
    for i, _ in enumerate(ast.walk(tree)):
        other = copy.deepcopy(tree)
        node = next(node for j, node in enumerate(ast.walk(other)) if j == i)
        if changed(node):
            yield getattr(node, "lineno", 0), ast.unparse(ast.fix_missing_locations(other))


def files_for(module: str) -> list[str]:
    """The files that test a module: its own, its docstrings, and the laws where they are about it.

    >>> files_for("span"), files_for("cache")
    (['tests/test_span.py', 'chunklib/span.py', 'tests/test_laws.py'], ['tests/test_cache.py', 'chunklib/cache.py'])
    """
    own = [f"tests/test_{module}.py", f"chunklib/{module}.py"]
    laws = (ROOT / "tests" / "test_laws.py").read_text(encoding="utf-8")
    return (
        [*own, "tests/test_laws.py"] if f"from chunklib.{module} " in laws or module in ("packing", "blocks") else own
    )


def survives(project: Path, tests: list[str]) -> bool:
    """Whether the tests pass in this copy of the project; what runs for five minutes is stopped, and has noticed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--doctest-modules", *tests]
    environment = {**os.environ, "PYTHONPATH": str(project), "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> int:
    """Print the survivors of each module, with their line, and the rate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("modules", nargs="+", help="names, without chunklib/ and .py")
    parser.add_argument("--sample", type=int, default=20, help="changes of each module, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    noticed = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        shutil.copytree(ROOT, project, ignore=lambda _, names: KEPT_OUT & set(names))
        for module in options.modules:
            file = project / "chunklib" / f"{module}.py"
            source = file.read_text(encoding="utf-8")
            tests = [path for path in files_for(module) if (project / path).exists()]
            every = list(mutants(source))
            for line, text in random.Random(options.seed).sample(every, min(options.sample, len(every))):
                file.write_text(text, encoding="utf-8")
                tried += 1
                if survives(project, tests):
                    print(f"survived: {module}.py, line {line}: {source.splitlines()[line - 1].strip()}", flush=True)
                else:
                    noticed += 1
            file.write_text(source, encoding="utf-8")
            print(f"{module}: so far {noticed} of {tried} changes noticed", flush=True)
    return 0 if noticed == tried else 1


if __name__ == "__main__":
    sys.exit(main())
