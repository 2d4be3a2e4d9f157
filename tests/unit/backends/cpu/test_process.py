"""Threads, fork, Ctrl-C, and compiled kernels that the next process finds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.unit.backends.cpu.graphs import Search, grid, grid_levels

from semira.backends.cpu import threads as cpu_threads
from semira.backends.interpreter import interpreted_only
from semira.backends.registry import backend_for
from semira.base.dtypes import BOOL
from semira.base.settings import override, restore

ROOT = Path(__file__).resolve().parents[4]

SEARCH = """
import sys
from semira.backends.cpu import cache
from semira.backends.registry import backend_for
from tests.unit.backends.cpu.graphs import Search, grid, grid_levels
search = Search(backend_for("cpu"), grid(20), "push")
search.run()
assert search.get(search.level).entry_values().tolist() == grid_levels(20).tolist()
print(len(cache.compiled))
"""


@pytest.fixture
def backend():
    return backend_for("cpu")


@pytest.fixture
def many_chunks(monkeypatch):
    """Cut even small work up for three threads."""
    monkeypatch.setattr(cpu_threads, "PARALLEL_ENTRIES", 4)
    before = override(threads=3)
    yield
    restore(before)


def run_search(cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {
        "SEMIRA_CACHE_DIR": str(cache), "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
    } | environment  # fmt: skip
    return subprocess.run(
        [sys.executable, "-c", SEARCH], env=variables, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("method", ["push", "pull"])
def test_search_of_a_grid_finds_every_distance(backend, method):
    search = Search(backend, grid(30), method)
    outcome = search.run()
    level = search.get(search.level)
    assert level.entry_values().tolist() == grid_levels(30).tolist()
    assert outcome.loops[0].iterations == 59
    touched = [row.touched for row in outcome.trace]
    if method == "push":
        # Every vertex is expanded once.
        assert sum(touched) == grid(30).nvals


def test_pull_stops_a_row_at_its_first_operand(backend):
    search = Search(backend, grid(30), "pull")
    outcome = search.run()
    unmasked_edges = grid(30).nvals
    first = outcome.trace[0].touched
    assert first < unmasked_edges
    assert outcome.trace[-1].touched == 0


def test_two_threads_search_at_once(backend, many_chunks):
    failures = []

    def work() -> None:
        try:
            for _ in range(5):
                search = Search(backend, grid(25), "pull")
                search.run()
                np.testing.assert_array_equal(
                    search.get(search.level).entry_values(), grid_levels(25)
                )
        except BaseException as error:
            failures.append(error)
            raise

    pair = [threading.Thread(target=work) for _ in range(2)]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join()
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_forked_child_makes_its_own_pool(backend, many_chunks):
    search = Search(backend, grid(20), "pull")
    search.run()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            again = Search(backend, grid(20), "pull")
            again.run()
            levels = again.get(again.level).entry_values()
            status = 0 if levels.tolist() == grid_levels(20).tolist() else 2
        finally:
            os._exit(status)
    deadline = time.monotonic() + 60
    done, status = 0, 0
    while not done and time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not done:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the forked child hangs")
    assert os.waitstatus_to_exitcode(status) == 0


def test_interrupt_leaves_the_last_complete_iteration(backend):
    side = 300
    search = Search(backend, grid(side), "push")
    Search(backend, grid(20), "push").run()
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        search.run()
    timer.join()
    depth = int(search.get(search.depth).value)
    assert 0 < depth < 2 * side - 2
    level, expected = search.get(search.level), grid_levels(side)
    level.validate()
    np.testing.assert_array_equal(level.entry_indices(), np.flatnonzero(expected < depth))
    np.testing.assert_array_equal(level.entry_values(), expected[expected < depth])
    frontier = search.get(search.frontier)
    np.testing.assert_array_equal(frontier.entry_indices(), np.flatnonzero(expected == depth))
    assert frontier.dtype is BOOL


def test_error_inside_an_iteration_undoes_what_it_wrote_in_place(backend, monkeypatch):
    from semira.backends.cpu.kernelset import CpuKernels

    side = 20
    search = Search(backend, grid(side), "push", limit=10)
    with interpreted_only():
        search.run()
    before = search.get(search.level)
    assert before.nvals == 55
    nvals = CpuKernels.nvals
    calls = []

    def failing(self, data):
        # Fails in the second iteration, when the first has already written in place.
        calls.append(data)
        if len(calls) > 3:
            raise MemoryError
        return nvals(self, data)

    search.bench.bindings[search.loop.limit] = 5
    monkeypatch.setattr(CpuKernels, "nvals", failing)
    with pytest.raises(MemoryError), interpreted_only():
        search.run()
    level, depth = search.get(search.level), int(search.get(search.depth).value)
    expected = grid_levels(side)
    assert depth == 11
    np.testing.assert_array_equal(level.entry_indices(), np.flatnonzero(expected < depth))
    np.testing.assert_array_equal(level.entry_values(), expected[expected < depth])


def test_chunks_end_before_an_interrupt_is_raised(many_chunks, monkeypatch):
    ended = []
    caller = threading.get_ident()
    others = threading.Event()

    def work(part: int, lo: int, hi: int) -> None:
        if threading.get_ident() == caller:
            assert others.wait(10)
        else:
            others.set()
            time.sleep(0.2)
        ended.append(part)

    real_wait = cpu_threads.wait
    interrupts = iter([True])

    def interrupted_wait(futures):
        if next(interrupts, False):
            raise KeyboardInterrupt
        return real_wait(futures)

    monkeypatch.setattr(cpu_threads, "wait", interrupted_wait)
    with pytest.raises(KeyboardInterrupt):
        cpu_threads.run_chunks(work, [0, 1, 2, 3])
    assert sorted(ended) == [0, 1, 2]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_no_chunk_starts_after_an_interrupt_or_an_error(many_chunks, error):
    started = []
    caller = threading.get_ident()

    def work(part: int, lo: int, hi: int) -> None:
        started.append(part)
        if threading.get_ident() == caller:
            raise error
        time.sleep(0.02)

    with pytest.raises(error):
        cpu_threads.run_chunks(work, list(range(1001)))
    # The caller's, and those that other threads had begun.
    assert len(started) < 500


@pytest.mark.parametrize("count", [1, 2, 64])
def test_long_work_is_cut_up_so_that_it_can_be_left(count):
    before = override(threads=count)
    try:
        for entries in (10**7, 10**9, 10**11):
            assert entries / cpu_threads.num_chunks(entries) < 2 * 2**24
    finally:
        restore(before)


def test_interrupt_of_a_compilation_waits_for_its_end():
    from semira.backends.cpu import jit

    ended = []

    def compile_now(signature):
        os.kill(os.getpid(), signal.SIGINT)
        ended.append(signature)

    with pytest.raises(KeyboardInterrupt):
        jit._load_or_compile(SimpleNamespace(py_func=compile_now, overloads={}), compile_now, "one")
    assert ended == ["one"]


def test_interrupt_between_statements_undoes_the_iteration(backend, monkeypatch):
    from semira.backends.cpu.kernelset import CpuKernels

    search = Search(backend, grid(20), "push")
    search.run()
    again = Search(backend, grid(20), "push")
    finish = CpuKernels.finish
    finished = []

    def pressing(self, *args):
        finished.append(args)
        if len(finished) == 10:
            os.kill(os.getpid(), signal.SIGINT)
        return finish(self, *args)

    monkeypatch.setattr(CpuKernels, "finish", pressing)
    with pytest.raises(KeyboardInterrupt), interpreted_only():
        again.run()
    assert len(finished) == 10
    level, depth = again.get(again.level), int(again.get(again.depth).value)
    expected = grid_levels(20)
    np.testing.assert_array_equal(level.entry_indices(), np.flatnonzero(expected < depth))
    np.testing.assert_array_equal(level.entry_values(), expected[expected < depth])


def test_second_process_compiles_nothing(tmp_path):
    cold = run_search(tmp_path)
    assert cold.returncode == 0, cold.stderr
    assert int(cold.stdout) > 0
    warm = run_search(tmp_path, SEMIRA_NO_COMPILE="1")
    assert warm.returncode == 0, warm.stderr
    assert int(warm.stdout) == 0


def test_no_compile_names_the_missing_kernel(tmp_path):
    done = run_search(tmp_path, SEMIRA_NO_COMPILE="1")
    assert done.returncode != 0
    assert "JitError: kernel finish-overwrite-" in done.stderr
    assert "SEMIRA_NO_COMPILE is set: nothing was compiled ahead of time there" in done.stderr
    assert "fill the cache first by `semira compile`" in done.stderr


def test_no_compile_refuses_a_kernel_that_was_written_but_never_compiled(tmp_path):
    assert run_search(tmp_path).returncode == 0
    for index in (*tmp_path.rglob("*.nbc"), *tmp_path.rglob("*.o")):
        index.unlink()
    done = run_search(tmp_path, SEMIRA_NO_COMPILE="1")
    assert done.returncode != 0
    assert "is not compiled for" in done.stderr


def test_unwritable_cache_folder_falls_back_to_a_temporary_one(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    done = run_search(blocked)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
