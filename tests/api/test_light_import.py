"""`import semira` is quick and loads no compiler, no SciPy and no CUDA library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
HEAVY = (
    "numba",
    "llvmlite",
    "scipy",
    "cuda",
    "cupy",
    "pandas",
    "networkx",
    "matplotlib",
    "rich",
    "typer",
)
LIMIT_S = 0.15
TRIES = 5

IMPORT = """
import json, sys, time
start = time.perf_counter()
import {module}
elapsed = time.perf_counter() - start
print(json.dumps([elapsed, sorted({{name.partition(".")[0] for name in sys.modules}})]))
"""


def run_fresh(text: str) -> str:
    """Run `text` in a new process: what it printed."""
    run = subprocess.run(
        [sys.executable, "-c", text],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )
    return run.stdout


def import_fresh(module: str) -> tuple[float, set[str]]:
    """Import `module` in a new process: the seconds it took, the top-level modules loaded."""
    elapsed, modules = json.loads(run_fresh(IMPORT.format(module=module)))
    return elapsed, set(modules)


def test_import_loads_nothing_heavy() -> None:
    _, loaded = import_fresh("semira")
    assert "semira" in loaded
    assert not loaded.intersection(HEAVY)


def test_probe_sees_heavy_imports() -> None:
    _, loaded = import_fresh("numba, scipy.sparse")
    assert loaded.intersection(HEAVY) >= {"numba", "scipy"}


def test_import_is_quick() -> None:
    # The best of several, so that a busy machine does not decide; NumPy is part of it.
    best = float("inf")
    for _ in range(TRIES):
        best = min(best, import_fresh("semira")[0])
        if best < LIMIT_S:
            return
    pytest.fail(f"`import semira` took {best:.3f} s at best; the limit is {LIMIT_S} s")


def test_a_small_file_is_read_and_searched_without_scipy(tmp_path: Path) -> None:
    path = tmp_path / "small.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 2 1.5\n")
    text = (
        "import sys, semira as gb; "
        f"level = gb.algorithms.bfs(gb.io.mmread({str(path)!r}), 0).level.to_dict(); "
        "print(level, sorted({'scipy', 'numba'} & set(sys.modules)))"
    )
    assert run_fresh(text) == "{0: 0, 1: 1, 2: 2} []\n"


def test_an_algorithm_loads_no_other() -> None:
    text = (
        "import sys, semira as gb; gb.algorithms.bfs; "
        "print(*sorted(name for name in sys.modules if name.startswith('semira.algorithms.')))"
    )
    loaded = {name.rpartition(".")[2] for name in run_fresh(text).split()}
    assert "bfs" in loaded
    own = {"bfs", "levels", "searches", "sequential"}
    assert loaded <= own | {"checks", "naming", "registry", "results", "row", "run", "shown"}


@pytest.mark.parametrize("first", ["personalised_pagerank", "k_hop", "bfs"])
def test_names_are_functions_whatever_module_was_loaded_first(first: str) -> None:
    text = f"""
import inspect, semira.algorithms.{first}, semira as gb
from semira import algorithms
names = [name for name in algorithms.__all__ if name.islower()]
assert set(names) <= set(dir(algorithms))
assert all(inspect.isfunction(getattr(algorithms, name)) for name in names), names
import semira.algorithms.sssp
assert inspect.isfunction(algorithms.sssp)
try:
    algorithms.no_such_name
except AttributeError as error:
    print(error)
"""
    assert "no_such_name" in run_fresh(text)
