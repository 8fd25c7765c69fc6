# SPDX-License-Identifier: MIT
"""Do the tests notice? Change one thing in a module, run what runs the changed line, and tell which changes survive.

    python -m tools.mutate                          12 changes of each module of chunklib, drawn at random
    python -m tools.mutate measure packing --sample 40

Two numbers come out: what the module's own tests notice (its test file, the examples in its docstrings), and what
anything notices (the other test files, the laws, every output of every notebook). Tests that hang have noticed.
All runs once without a change first, under coverage.py (nbval brings it), to learn how long each file takes and which
lines it runs; that is kept in ``.cache/mutate.json``. Works on a copy of the project, with a copy of the cache of
vectors. Each run is a fork of one process that has imported what is slow to import, and nothing of chunklib: it needs a
system that forks.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from tools.notebooks import ENVIRONMENT, ROOT, cells

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
KEPT_OUT = {".venv", ".git", "my_notebooks", "site", "wheels", "__pycache__"}
MEMORY = 8 << 30  # what one run may take; an endless loop may fill a list
SLOW = (
    "bm25s bs4 ftfy hypothesis llama_index.core matplotlib.pyplot nbformat nbval.plugin nltk numpy psutil pypdf "
    "py3langid qdrant_client redis regex reportlab.pdfgen.canvas sentence_transformers symspellpy tiktoken torch xdist"
)


class Clean(NamedTuple):
    """A run without a change: how long it took, and which lines of which module it ran. It failed: no time at all."""

    seconds: float
    lines: dict[str, list[int]]


def changed(node: ast.AST) -> bool:
    """Change one node in place; false where there is nothing to change."""
    if isinstance(node, ast.Compare):
        node.ops = [SWAPS[type(node.ops[0])](), *node.ops[1:]]  # type: ignore[list-item]
    elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in SWAPS:
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)) and not _swapped_is_negated(node.test):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        node.value += 1
    else:
        return False
    return True


def _swapped_is_negated(test: ast.expr) -> bool:
    """Whether a swap of the operator is the same change, so that it need not be made twice."""
    return isinstance(test, ast.Compare) and not isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))


def spots(node: ast.AST, text: ast.AST | None = None) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """Every node, and the f-string that it is in; not types, errors raised, ``strict=True``."""
    yield node, text
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or name in ("annotation", "returns") or isinstance(child, ast.Raise):
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            if not (isinstance(child, ast.keyword) and child.arg == "strict"):
                yield from spots(child, text or (child if isinstance(child, ast.JoinedStr) else None))


def mutants(source: str) -> Iterator[tuple[int, str]]:
    """Each change of one thing: its line, and the whole module with it, which has the same lines otherwise.

    >>> [(line, text) for line, text in mutants("x = a < 1  # why")]
    [(1, 'x = (a <= 1)  # why'), (1, 'x = a < 2  # why')]
    """
    data = source.encode()
    starts = [0, *accumulate(len(line) for line in data.splitlines(keepends=True))]
    for node, text in spots(ast.parse(source)):
        before, place = dict(vars(node)), text or written(node)
        if not changed(node):
            continue
        with contextlib.suppress(ValueError):  # some f-strings cannot be written again
            new = ast.unparse(text or written(node))
            start, end = (
                starts[getattr(place, f"{side}lineno") - 1] + getattr(place, f"{side}col_offset")
                for side in ("", "end_")
            )
            if not isinstance(place, ast.Constant):
                new = f"({new}" + "\n" * data[start:end].count(b"\n") + ")"
            yield getattr(node, "lineno", 0), (data[:start] + new.encode() + data[end:]).decode()
        vars(node).update(before)


def written(node: ast.AST) -> ast.AST:
    """The part of a node whose text a change replaces.

    >>> ast.unparse(written(ast.parse("if a:\\n    b").body[0])), ast.unparse(written(ast.parse("a + b").body[0]))
    ('a', 'a + b')
    """
    return node.test if isinstance(node, (ast.If, ast.While, ast.IfExp)) else node


def own(module: str) -> list[str]:
    """What is there to test this module: its own test file, and the examples in its docstrings.

    >>> own("core/span"), own("core/blocks")
    (['chunklib/core/span.py', 'tests/test_span.py'], [])
    """
    test = "tests/test_" + module.removesuffix("/__init__").rpartition("/")[2] + ".py"
    examples = ">>>" in (ROOT / "chunklib" / f"{module}.py").read_text(encoding="utf-8")
    return [f"chunklib/{module}.py"] * examples + [test] * (ROOT / test).exists()


def run(unit: str, limit: float, measured: Path | None = None) -> bool:
    """Whether the tests of one file pass, in a process of their own; what takes longer than the limit does not."""
    child = os.fork()
    if not child:
        import resource

        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        said = os.open(measured / "said" if measured else os.devnull, os.O_RDWR | os.O_CREAT)
        for stream in range(3):
            os.dup2(said, stream)
        code = 1
        try:
            code = _tested(unit, measured)
        finally:
            os._exit(0 if code in (0, 5) else 1)  # 5: the file holds no test
    started = time.monotonic()
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        time.sleep(0.02)
        if time.monotonic() - started > limit:
            for last, patience in ((signal.SIGINT, 3), (signal.SIGKILL, 0)):  # first let it end what it has started
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, last)
                time.sleep(patience)
            os.waitpid(child, 0)
            return False
    return ended[1] == 0


def _tested(unit: str, measured: Path | None) -> int:
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutants", "--nbval-cell-timeout=300"]
    options += ["-p", "no:anyio", "-p", "no:xdist"]  # plugins that no test needs
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what was imported before cannot be rewritten
    if not measured:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        return int(pytest.main([*options, unit]))
    import coverage

    settings = measured / "settings"
    settings.write_text(
        f"[run]\nparallel = true\nsigterm = true\ninclude = */chunklib/*\ndata_file = {measured}/lines\n"
    )
    os.environ["COVERAGE_PROCESS_START"] = str(settings)  # kernels, and what tests start, are measured, too
    measuring = coverage.Coverage(config_file=str(settings))
    with measuring.collect():
        code = _cells(unit) if unit.endswith(".ipynb") else int(pytest.main([*options, unit]))
    measuring.save()
    return code


def _cells(unit: str) -> int:
    """Run a notebook's cells in this process: nbval kills its kernel, and with it what was measured."""
    from IPython.core.interactiveshell import InteractiveShell

    os.chdir((ROOT / unit).parent)
    shell = InteractiveShell.instance()
    run_cell: Any = shell.run_cell  # untyped
    return int(not all(run_cell(cell["source"]).success for cell in cells(ROOT / unit) if cell["cell_type"] == "code"))


def clean(unit: str) -> Clean:
    """Run one file of tests without a change. Where measuring disturbs it (endless loops), its lines stay unknown."""
    import coverage

    lines: dict[str, set[int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        measured = passed = run(unit, 600, Path(folder))
        if not measured:
            print(*(Path(folder) / "said").read_text(encoding="utf-8").splitlines()[-20:], sep="\n", flush=True)
        if not measured or unit.endswith(".ipynb"):
            started = time.monotonic()
            passed = run(unit, 600)
        seconds = time.monotonic() - started
        for file in Path(folder).glob("lines.*") if measured else ():
            data = coverage.CoverageData(str(file))
            with contextlib.suppress(coverage.exceptions.DataError):  # a test kills its workers
                data.read()
                for path in data.measured_files():
                    module = path.rpartition("/chunklib/")[2].removesuffix(".py")
                    lines.setdefault(module, set()).update(data.lines(path) or ())
    return Clean(seconds * passed, {module: sorted(found) for module, found in lines.items()})


def clean_runs(kept: Path) -> dict[str, Clean]:
    """Run all that may notice without a change; what has not changed since the last time is read from a file."""
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    package = b"".join(file.read_bytes() for file in sorted(ROOT.glob("chunklib/**/*.py")))
    runs = {}
    for unit in units():
        key = hashlib.sha256(package + (ROOT / unit).read_bytes()).hexdigest()
        if key not in known:
            known[key] = found = clean(unit)
            if found.seconds:
                kept.parent.mkdir(exist_ok=True)
                kept.write_text(json.dumps(known), encoding="utf-8")
        found = Clean(*known[key])
        print(f"{unit}: " + (f"{found.seconds:.0f} s" if found.seconds else "fails unchanged, left out"), flush=True)
        if found.seconds:
            runs[unit] = found
    return runs


def modules() -> list[str]:
    """All of chunklib but the exercises themselves.

    >>> modules()[:3], modules()[-1]
    (['copy', 'core/blocks', 'core/measure'], 'course/exercises/__init__')
    """
    found = [*(ROOT / "chunklib").glob("[!_]*.py"), *(ROOT / "chunklib").glob("*/[!_]*.py")]
    names = [file.relative_to(ROOT / "chunklib").with_suffix("").as_posix() for file in found]
    return [*sorted(names, key=lambda name: (name != "copy", name)), "course/exercises/__init__"]


def units() -> list[str]:
    """All that may notice: test files, examples in docstrings, notebooks."""
    examples = [unit for module in modules() for unit in own(module) if unit.startswith("chunklib")]
    others = [*ROOT.glob("tests/test_*.py"), *ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("capstone/*.ipynb")]
    return examples + sorted(file.relative_to(ROOT).as_posix() for file in others)


def search(names: list[str], sample: int, seed: int, kept: Path) -> int:
    """Print what survives, and the two numbers of each module; return how many changes nothing noticed."""
    from hypothesis import Phase, settings

    # A counterexample is enough: it need not be a small one.
    settings.register_profile("mutants", derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate])
    runs = clean_runs(kept)
    totals = [0, 0, 0]
    for module in names:
        file = ROOT / "chunklib" / f"{module}.py"
        source = file.read_text(encoding="utf-8")
        every = list(mutants(source))
        drawn = random.Random(seed).sample(every, min(sample, len(every)))
        mine = [unit for unit in own(module) if unit in runs]
        if not all(run(unit, 5 * runs[unit].seconds + 10) for unit in mine):
            raise RuntimeError(f"the tests of {module} fail without a change, so they cannot tell one")
        counts = [len(drawn), 0, 0]
        for line, text in drawn:
            file.write_text(text, encoding="utf-8")
            tried = [*mine, *others(module, line, runs)]
            by = next((unit for unit in tried if not run(unit, 5 * runs[unit].seconds + 10)), None)
            file.write_text(source, encoding="utf-8")
            counts = [counts[0], counts[1] + (by in mine), counts[2] + bool(by)]
            if by not in mine:
                new = text.splitlines()[line - 1].strip()
                print(f"{'noticed by ' + by if by else 'survived'}: {module}.py:{line}: {new}", flush=True)
        print(f"{module}: of {len(every)} changes {told(counts)}", flush=True)
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
    print(f"in all: {told(totals)}")
    return totals[0] - totals[2]


def others(module: str, line: int, runs: dict[str, Clean]) -> list[str]:
    """What runs a line besides the module's own tests, the quickest first.

    Of a statement over several lines not each is recorded; then the nearest one above counts.

    >>> runs = {"a": Clean(9, {"span": [1, 5]}), "b": Clean(2, {"span": [1, 5]}), "c": Clean(1, {"span": [1]})}
    >>> others("span", 6, runs), others("span", 2, runs), others("measure", 1, runs)
    (['b', 'a'], ['c', 'b', 'a'], [])
    """
    mine = own(module)
    lines = {unit: set(found.lines.get(module, ())) for unit, found in runs.items() if unit not in mine}
    at = max((other for found in runs.values() for other in found.lines.get(module, ()) if other <= line), default=0)
    return sorted((unit for unit in lines if at in lines[unit]), key=lambda unit: runs[unit].seconds)


def told(counts: list[int]) -> str:
    """Say how many changes were tried, and what noticed them.

    >>> told([12, 9, 11])
    '12 tried: own tests notice 9 (75 %), anything 11 (92 %)'
    """
    tried, *noticed = counts
    by_own, by_any = (f"{number} ({100 * number / max(tried, 1):.0f} %)" for number in noticed)
    return f"{tried} tried: own tests notice {by_own}, anything {by_any}"


def main() -> int:
    """Copy the project, and search there; in the copy, import what is slow and begin."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("modules", nargs="*", help="names, without chunklib/ and .py; none: all")
    parser.add_argument("--sample", type=int, default=12, help="changes of each module, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--copied", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.copied:
        for name in SLOW.split():
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        for name in [name for name in sys.modules if name.split(".")[0] in ("tools", "chunklib", "tests")]:
            del sys.modules[name]  # each run imports its own
        gc.collect()
        gc.freeze()  # so that no run goes through all this again
        kept = options.copied / ".cache" / "mutate.json"
        return int(bool(search(options.modules or modules(), options.sample, options.seed, kept)))
    from chunklib.search.cache import location

    with tempfile.TemporaryDirectory() as folder:
        project, cache = Path(folder) / "project", Path(folder) / "cache"
        shutil.copytree(ROOT, project, ignore=lambda _, names: KEPT_OUT & set(names))
        cache.mkdir()
        if (kept := location()) and kept.exists():
            shutil.copy(kept, cache)
        environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": str(project), "CHUNKLIB_CACHE": str(cache)}
        command = [sys.executable, "-m", "tools.mutate", "--copied", str(ROOT), *sys.argv[1:]]
        return subprocess.run(command, cwd=project, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
