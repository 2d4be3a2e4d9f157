"""Threads, forks and the end of the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semira as gb

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]


def ring(size: int):
    """Return a directed ring with chords, on the GPU, and the same for NumPy."""
    rows = np.concatenate((np.arange(size), np.arange(size)))
    cols = np.concatenate(((np.arange(size) + 1) % size, (np.arange(size) * 7) % size))
    keys = np.unique(rows * size + cols)
    rows, cols = keys // size, keys % size
    values = (keys % 5 + 1).astype(np.int64)
    return (
        gb.Matrix.from_coo(rows, cols, values, nrows=size, ncols=size).to("cuda"),
        rows,
        cols,
        values,
    )


def hammer(seed: int, wrong: list[str], start: threading.Barrier) -> None:
    """Work on objects of this thread's own, and compare with NumPy."""
    try:
        size = 400 + seed
        A, rows, cols, values = ring(size)
        start.wait(60)
        for turn in range(40):
            x = (np.arange(size) * (turn + seed + 1) % 11).astype(np.int64)
            v = gb.Vector.from_dense(x).to("cuda")
            w = v.vxm(A, gb.semiring.plus_times).new()
            expected = np.zeros(size, np.int64)
            np.add.at(expected, cols, x[rows] * values)
            if not np.array_equal(w.to_dense(0), expected):
                wrong.append(f"thread {seed}, turn {turn}: product")
            if turn % 8 == 0:
                twice = A.ewise_add(A.T, gb.binary.plus).new()
                if int(twice.reduce_scalar(gb.monoid.plus).value) != 2 * values.sum():
                    wrong.append(f"thread {seed}, turn {turn}: sum")
                level = gb.algorithms.bfs(A, 0).level
                if level.nvals != size:
                    wrong.append(f"thread {seed}, turn {turn}: search")
    except Exception as error:  # noqa: BLE001 - told by the test
        wrong.append(f"thread {seed}: {error!r}")


def run_threads(work: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> None:
    """Run `work` in a thread for each tuple of arguments; one that does not end is a failure."""
    threads = [threading.Thread(target=work, args=each) for each in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive()


@pytest.mark.parametrize("count", [2, 6])
def test_threads_with_objects_of_their_own(count):
    wrong: list[str] = []
    start = threading.Barrier(count)
    run_threads(hammer, [(k, wrong, start) for k in range(count)])
    assert wrong == []


def test_threads_that_read_the_same_objects():
    A, _, cols, values = ring(500)
    v = gb.Vector.from_dense(np.ones(500, np.int64)).to("cuda")
    expected = np.zeros(500, np.int64)
    np.add.at(expected, cols, values)
    wrong: list[str] = []

    def read() -> None:
        for _ in range(50):
            found = v.vxm(A, gb.semiring.plus_times).new()
            if not np.array_equal(found.to_dense(0), expected):
                wrong.append("product")

    run_threads(read, [(), ()])
    assert wrong == []


def test_threads_that_count_the_triangles_of_one_matrix():
    """What is kept for the next sum, its launch and its table, is one thread's at a time."""
    graphs = [gb.io.read(name, device="cuda") for name in ("kron:6", "grid:9x9")]
    expected = [
        gb.algorithms.triangle_count(gb.io.read(name, device="reference")).count
        for name in ("kron:6", "grid:9x9")
    ]
    assert expected[0] > expected[1] == 0
    wrong: list[str] = []

    def count(first: int) -> None:
        for turn in range(40):
            # Turn by turn: a launch is kept for the same matrix only.
            which = (first + turn // 4) % 2
            found = gb.algorithms.triangle_count(graphs[which])
            (row,) = found.trace
            if found.count != expected[which] or row.produced > row.touched:
                wrong.append(f"turn {turn}: {found.count} triangles, {row}")

    run_threads(count, [(k,) for k in (0, 1, 0, 1)])
    assert wrong == []


def test_two_backends_work_on_streams_of_their_own():
    from tests.gpu.test_bfs_cuda import GRAPHS, dense, search
    from tests.helpers.bfs_program import levels_by_numpy

    from semira.backends.cuda.backend import CudaBackend

    backends = [CudaBackend(), CudaBackend()]
    assert int(backends[0].runtime.stream.handle) != int(backends[1].runtime.stream.handle)
    wrong: list[str] = []

    def work(backend, name) -> None:
        # Half of the multiprocessors each, so that both cooperative launches fit.
        backend.blocks = backend.runtime.multiprocessors // 2
        expected = levels_by_numpy(*GRAPHS[name], 0)
        found = (dense(search(backend, GRAPHS[name])[0]) for _ in range(20))
        wrong.extend(name for one in found if not np.array_equal(one, expected))

    run_threads(work, list(zip(backends, ("skewed", "grid"), strict=True)))
    assert wrong == []


def run(text: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own; hanging is a failure."""
    return subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, text=True, capture_output=True, timeout=180,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}, check=False,
    )  # fmt: skip


FORK = """
import os
import warnings
import semira as gb
warnings.simplefilter("ignore")
v = gb.Vector.from_dense([1, 2, 3]).to("cuda")
child = os.fork()
if child == 0:
    code = 1
    try:
        (v + v).new()
    except gb.exceptions.Panic as error:
        code = 7 if "fork" in str(error) else 2
    os._exit(code)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7, status
assert v.apply("ainv").new().to_dense().tolist() == [-1, -2, -3]
print("parent goes on")
"""

QUEUED = """
import numpy as np
import semira as gb
n = 3_000_000
rows = np.arange(n)
A = gb.Matrix.from_coo(rows, (rows * 7 + 1) % n, 1.0, nrows=n, ncols=n).to("cuda")
v = gb.Vector.from_scalar(1.0, n).to("cuda")
for _ in range(300):
    v << v.vxm(A, gb.semiring.plus_times)
print("queued")
"""

THREAD_AT_EXIT = """
import threading
import semira as gb
v = gb.Vector.from_dense([1.0] * 1000).to("cuda")
def work():
    for _ in range(2000):
        v.apply("ainv").new()
threading.Thread(target=work, daemon=True).start()
print("left")
"""


@pytest.mark.hardware(reason="another process opens the device")
def test_a_forked_child_gets_an_error_and_the_parent_goes_on():
    done = run(FORK)
    assert (done.returncode, done.stdout) == (0, "parent goes on\n"), done.stderr


@pytest.mark.parametrize(("text", "said"), [(QUEUED, "queued"), (THREAD_AT_EXIT, "left")])
@pytest.mark.hardware(reason="another process opens the device")
def test_the_interpreter_ends_while_work_is_queued(text, said):
    done = run(text)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{said}\n"
    assert "Traceback" not in done.stderr
