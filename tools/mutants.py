"""Mutation testing: put small faults into the package one by one and count those the tests find.

    python tools/mutants.py list --count 40
    python tools/mutants.py run --out seen.jsonl --tests tests/unit/plan tests/conformance
    python tools/mutants.py run --survivors seen.jsonl --out rest.jsonl --tests tests/property

A fault changes a comparison, operator, constant or condition, or removes a statement. Each is put
into a copy of the tree (``--tree``: the tree of another revision, to compare its tests), where the
given tests run until one fails. The faults depend only on the seed and the files.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: Files and folders that get faults.
PLACES = ("plan", "backends/cpu", "backends/cuda/lower")

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One fault: the file, the position, and the text before and after."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    end: int


def mutants_of(path: Path, root: Path) -> Iterator[Mutant]:
    """Yield every possible fault of a file."""
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(data)
    name = str(path.relative_to(root))
    passed_over = set(_without_effect(tree))
    for node in ast.walk(tree):
        if node in passed_over:
            continue
        for kind, part, after in changes(node):
            start = starts[part.lineno - 1] + part.col_offset
            end = starts[part.end_lineno - 1] + part.end_col_offset
            before = data[start:end].decode()
            if before != after:
                yield Mutant(name, part.lineno, kind, before, after, start, end)


def _without_effect(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield annotations, docstrings, messages and code for type checkers only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node
        elif isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None:
            yield from ast.walk(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield from ast.walk(node.returns)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield node
        elif isinstance(node, (ast.Raise, ast.JoinedStr)):
            # Faults of its condition test whether it is raised; its wording does not matter.
            yield from ast.walk(node)


def changes(node: ast.AST) -> Iterator[tuple[str, Any, str]]:
    """Yield the kind, the replaced part and its new text for each fault of a node."""
    if isinstance(node, ast.Compare):
        for at, op in enumerate(node.ops):
            if type(op) in _SWAPS:
                ops = [*node.ops[:at], _SWAPS[type(op)](), *node.ops[at + 1 :]]
                yield "comparison", node, _text(ast.Compare(node.left, ops, node.comparators))
    elif isinstance(node, ast.BinOp) and type(node.op) in _SWAPS:
        yield "arithmetic", node, _text(ast.BinOp(node.left, _SWAPS[type(node.op)](), node.right))
    elif isinstance(node, ast.BoolOp):
        yield "boolean", node, _text(ast.BoolOp(_SWAPS[type(node.op)](), node.values))
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "constant", node, f"({node.value + random.Random(node.lineno).choice((-1, 1))})"
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield "condition", node.test, _text(ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, (ast.Expr, ast.AugAssign)):
        yield "statement", node, "pass"
    elif isinstance(node, ast.Return) and node.value is not None:
        yield "return", node, "return None"


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def drawn(count: int, seed: int, root: Path = ROOT) -> list[Mutant]:
    """Draw faults, each place in turn, so that small and large places get equally many."""
    order = random.Random(seed)
    by_place = []
    for place in PLACES:
        paths = sorted((root / "src" / "semira" / place).rglob("*.py"))
        found = [mutant for path in paths for mutant in mutants_of(path, root)]
        order.shuffle(found)
        by_place.append(found)
    return [by_place[at % len(PLACES)][at // len(PLACES)] for at in range(count)]


def outcome_of(tests: list[str], tree: Path, limit: float) -> tuple[str, str]:
    """Run tests in a tree; return killed, survived or timeout, and the test that failed."""
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}:{tree}"}
    command = [
        sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", "--no-header",
        "--tb=no", *tests,
    ]  # fmt: skip
    try:
        done = subprocess.run(  # noqa: S603 - our own tests
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=limit,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "timeout", ""
    if done.returncode == 0:
        return "survived", ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "killed", failed[0][:200] if failed else done.stdout[-200:] + done.stderr[-200:]


def run(mutants: list[Mutant], tests_of: Callable[[Mutant], list[str]], tree: Path, out: Path,
        limit: float) -> None:  # fmt: skip
    """Try each fault in a copy of a tree and write its outcome as a line of JSON."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "tree"
        skipped = shutil.ignore_patterns(".git", "__pycache__", ".venv", "*_cache", ".hypothesis")
        shutil.copytree(tree, copy, ignore=skipped, symlinks=True)
        for mutant in mutants:
            place = copy / mutant.file
            data = place.read_bytes()
            assert data[mutant.start : mutant.end].decode() == mutant.before, mutant
            changed = data[: mutant.start] + mutant.after.encode() + data[mutant.end :]
            start = time.monotonic()
            try:
                compile(changed, mutant.file, "exec")
                place.write_bytes(changed)
                said, by = outcome_of(tests_of(mutant), copy, limit)
            finally:
                place.write_bytes(data)
            seconds = round(time.monotonic() - start, 1)
            with out.open("a") as file:
                line = asdict(mutant) | {"outcome": said, "by": by, "seconds": seconds}
                file.write(json.dumps(line) + "\n")
            where = f"{mutant.file}:{mutant.line}"
            sys.stdout.write(f"{said:8} {seconds:6} s  {where} {mutant.kind}  {by}\n")
            sys.stdout.flush()


def selected(tests: list[str], mutant: Mutant) -> list[str]:
    """Return the tests for a fault; PLACE=TEST applies only to faults of that place."""
    chosen = []
    for test in tests:
        place, equals, path = test.partition("=")
        if not equals:
            chosen.append(test)
        elif mutant.file.startswith(f"src/semira/{place}/"):
            chosen.append(path)
    return chosen


def main() -> None:
    """Draw faults, then list or try them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=("list", "run"))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--tree", type=Path, default=ROOT, help="whose package and tests to use")
    parser.add_argument("--survivors", type=Path, help="only faults that survived there")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--limit", type=float, default=180.0, help="seconds per fault")
    parser.add_argument(
        "--tests", nargs="+", default=[], help="as pytest takes them, or PLACE=TEST"
    )
    asked = parser.parse_args()
    mutants = drawn(asked.count, asked.seed, asked.tree)
    if asked.survivors:
        lines = [json.loads(line) for line in asked.survivors.read_text().splitlines()]
        left = {(line["file"], line["start"], line["after"])
                for line in lines if line["outcome"] == "survived"}  # fmt: skip
        mutants = [each for each in mutants if (each.file, each.start, each.after) in left]
    if asked.verb == "list":
        for each in mutants:
            fault = f"{each.before!r} -> {each.after!r}"
            sys.stdout.write(f"{each.file}:{each.line} {each.kind}: {fault}\n")
        return
    run(mutants, lambda each: selected(asked.tests, each), asked.tree, asked.out, asked.limit)


if __name__ == "__main__":
    main()
