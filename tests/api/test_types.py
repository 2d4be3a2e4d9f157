"""What type checkers say about programs of users: nothing about right ones, each mistake else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from tests.helpers import operator_names
from tests.helpers.every import every

import semira as gb

ROOT = Path(__file__).resolve().parents[2]

RIGHT = """
from typing import Unpack

import numpy as np
import semira as gb


def bfs(A: gb.Matrix, source: int) -> gb.Vector:
    level = gb.Vector(int, A.nrows)
    frontier = gb.Vector.from_coo([source], True, size=A.nrows)
    depth = gb.Scalar.from_value(0)

    def step() -> object:
        level(frontier.S) << depth
        depth << depth + 1
        frontier(~level.S, replace=True) << frontier.vxm(A, gb.semiring.any_pair)
        return frontier.nvals > 0

    gb.repeat(step)
    return level


def product(A: gb.Matrix, v: gb.Vector, **opts: Unpack[gb.ProductOptions]) -> gb.Vector:
    return A.mxv(v, "min_plus").new(**opts)


def two_hops(A: gb.Matrix) -> gb.Matrix:
    return gb.semiring.plus_pair(A @ A.T).new(mask=A.S)


def best(v: gb.Vector, w: gb.Vector) -> gb.Vector:
    both = gb.binary.max(v | w).new()
    both += 1.0
    return (both - v.apply(gb.unary.abs)).select(">", 0).dup()


rows, columns, values = [0, 0, 1, 2, 3], [1, 2, 3, 3, 4], np.arange(1.0, 6.0)
A = gb.Matrix.from_coo(rows, columns, values, nrows=5, ncols=5)
v = gb.Vector.from_dense(np.arange(5.0))
print(bfs(A, 0).to_dict(), product(A, v, direction="pull").nvals)
print(best(v, v).nvals, two_hops(A).nvals)
row, column, corner, block = A[0, :], A[[0, 1], 1], A[-1, -1], A[np.array([0, 1]), :]
print(row.new().size, column.new().size, corner.new().value, block.new().shape)
A[0, 0] = 7
A[0, :](accum=gb.binary.plus) << v
B = gb.Matrix(A.dtype, A.nrows, A.ncols)
B(A.S) << A.T
w = A.reduce_rowwise(gb.monoid.max).new()
total: gb.Scalar = w.reduce(gb.agg.sum).new()
print(float(total), (v @ w).new().value, (w * 2 + v).new().isequal(v), (1 / v).new().nvals)
print((A + v).new().nrows, (v + A).new().ncols, (gb.Scalar.from_value(1) + A).new().ncols)
print(v.outer(v).new().nrows, v.diag().ncols, A.diag().size, (v @ A).new().size)
road = gb.io.read("road:5x5")
distance = gb.algorithms.sssp(road, 12).distance
print(distance.nvals, gb.algorithms.bfs(road, 0, direction="push").level.nvals)
print(gb.explain(v.vxm(A, "min_plus")))
"""

#: Five mistakes: a complaint about each, and no other. Their relatives follow.
WRONG = """
gb.binary.pluss(A | A)
gb.algorithms.pagerank(A, alpha=3)
A.mxm(3)
A.foo
gb.algorithms.bfs(A)
"""
RELATIVES = """
gb.semiring.min_plsu(A @ v)
gb.io.raed("graph.mtx")
gb.Matrix.from_coos([0], [0])
gb.algorithms.bfs(A, 0, direction="sideways")
gb.algorithms.sssp(A, 0, methods="auto")
gb.algorithms.bfs(v, 0)
gb.algorithms.pagerank(A).ranks
gb.repeat(3)
A.mxv(A)
A.mxm(A, gb.binary.plus)
A.T.mxm(v)
v.gather(A)
v @ 3
A + "x"
A[0]
A["x", 0]
v[0, 1]
(A @ v).new().nrows
A.T.new().size
v.reduce().new().to_dict()
w: gb.Matrix = A.mxv(v).new()
"""


def names() -> tuple[str, set[int]]:
    """Return a script that uses every public name and others, and the lines of the others."""
    lines, others = ["import semira as gb"], set()
    known = {
        "gb": [*gb.__all__, *gb._MODULES],
        "gb.algorithms": gb.algorithms.__all__,
        "gb.io": gb.io.__all__,
        "gb.datasets": gb.datasets.__all__,
    }
    known |= {
        f"gb.{name}": sorted(
            {*operator_names.built_in(name), *getattr(getattr(gb, name), "__all__", ())}
        )
        for name in operator_names.MODULES
    }
    for space, listed in known.items():
        lines += [f"{space}.{name}" for name in listed]
        lines.append(f"{space}.no_such_name")
        others.add(len(lines))
    return "\n".join(lines), others


def complaints(*scripts: Path) -> dict[str, list[int]]:
    """Return the lines that mypy, as strict as for the package itself, complains about."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", *map(str, scripts)],
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    found = defaultdict(list)
    for line in done.stdout.splitlines():
        path, number, kind, _ = line.split(":", 3)
        if kind == " error":
            found[Path(path).name].append(int(number))
    return found


def check(found: dict[str, list[int]]) -> None:
    """Check the lines that a type checker complains about, by script."""
    assert found["right.py"] == []
    assert found["wrong.py"] == [3, 4, 5, 6, 7]
    assert set(found["relatives.py"]) == set(range(3, 2 + len(RELATIVES.splitlines())))
    assert set(found["names.py"]) == names()[1]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("scripts")
    given = "import semira as gb\nA, v = gb.Matrix(int, 3, 3), gb.Vector(int, 3)"
    texts = {"right": RIGHT, "wrong": given + WRONG, "relatives": given + RELATIVES}
    paths = {}
    for name, text in {**texts, "names": names()[0]}.items():
        paths[name] = folder / f"{name}.py"
        paths[name].write_text(text, encoding="utf-8")
    return paths


def test_mypy_knows_every_name_and_complains_about_each_mistake(scripts: dict[str, Path]) -> None:
    found = complaints(*scripts.values())
    check(found)


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_knows_every_name_and_complains_about_each_mistake(
    scripts: dict[str, Path],
) -> None:
    folder = scripts["right"].parent
    config = {"extraPaths": [str(ROOT / "src")]}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    done = subprocess.run(
        ["pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = defaultdict(list)
    for each in json.loads(done.stdout)["generalDiagnostics"]:
        if each["severity"] == "error":
            found[Path(each["file"]).name].append(each["range"]["start"]["line"] + 1)
    check(found)


def test_the_right_script_runs(scripts: dict[str, Path]) -> None:
    run = subprocess.run(
        [sys.executable, str(scripts["right"])],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "SEMIRA_DEVICE": "reference"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("{0: 0, 1: 1, 2: 1, 3: 2, 4: 3} 4\n")


@every("module", (*operator_names.MODULES, operator_names.SEMIRINGS))
def test_names_of_operators_are_those_that_there_are(module: str) -> None:
    text = operator_names.path_of(module).read_text(encoding="utf-8")
    assert text == operator_names.written(module), "python -m tests.helpers.operator_names"
