"""Fork under load: every lock is free in the child, and objects that moved meanwhile are whole."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[3] / "src"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

#: Forks while other threads work; exits with 1 where a child hangs or finds something wrong.
FORKS = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)
{setup}

def fork_once(number):
    child = os.fork()
    if child == 0:
        status = 2
        try:
            status = 0 if in_child() else 3
        finally:
            os._exit(status)
    deadline = time.monotonic() + 20
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            sys.exit(f"child {{number}} hangs")
        time.sleep(0.0005)
    if status:
        sys.exit(f"child {{number}} ended with {{os.waitstatus_to_exitcode(status)}}")

for work in workers:
    threading.Thread(target=work, daemon=True).start()
for number in range({forks}):
    fork_once(number)
print("done", flush=True)
os._exit(0)
"""

#: Threads read one matrix, make others, and move them between devices.
OBJECTS = """
import semira as gb
A = gb.Matrix.from_coo([0, 1], [1, 0], [1, 2], device="reference")

def read():
    while True:
        A.nvals

def make():
    while True:
        A.mxm(A, "plus_times").new()

def move():
    while True:
        v = gb.Vector.from_coo([0, 2], [5, 7], size=3)
        moving[0] = v
        v.to("reference")
        v.nvals

moving = [gb.Vector.from_coo([0, 2], [5, 7], size=3)]
workers = [read, read, make, move]

def in_child():
    right = A.mxm(A, "plus_times").new().nvals == 2
    return right and moving[0].to("reference").to_dict() == {0: 5, 2: 7}
"""

#: A thread compiles without end, and the child compiles as well.
COMPILERS = """
import numba
from semira.backends.cpu import jit

def compile_one(number=iter(range(10**9))):
    scope = {}
    exec(f"def add(x): return x + {next(number)}", scope)
    return numba.njit(scope["add"])(1) > 0

def forever():
    while True:
        compile_one()

compile_one()  # modules that are half imported at a fork stay so in the child
workers = [forever]
in_child = compile_one
"""


#: The same by operators of Python functions, whose kernels are not Numba's.
FUNCTIONS = """
import semira as gb

def apply_one(number=iter(range(10**9))):
    v = gb.Vector.from_coo([0], [1], device="cpu")
    found = v.apply(eval(f"lambda x: x + {next(number)}")).new()
    return found[0].value > 0

def forever():
    while True:
        apply_one()

apply_one()
workers = [forever]
in_child = apply_one
"""


def run_forks(setup: str, forks: int, **environment: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS.format(setup=setup, forks=forks)],
        env=os.environ | {"PYTHONPATH": str(SOURCE)} | environment,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout == "done\n", done.stderr


def test_children_of_a_busy_process_work() -> None:
    run_forks(OBJECTS, 80)


def test_children_of_a_process_that_compiles_can_compile() -> None:
    run_forks(COMPILERS, 2)


def test_children_of_a_process_that_compiles_functions_can_compile(tmp_path: Path) -> None:
    run_forks(FUNCTIONS, 8, SEMIRA_CACHE_DIR=str(tmp_path))


#: What another thread logs while a fork waits for it.
LOGGER = """
import os, sys, threading
from semira.base import locks
import logging

class Guard:
    def __enter__(self):
        other = threading.Thread(target=logging.getLogger("a").setLevel, args=(10,), daemon=True)
        other.start()
        other.join(5)
        print("waits" if other.is_alive() else "logs", flush=True)
        if other.is_alive():
            os._exit(1)

    def __exit__(self, *_):
        pass

guard = Guard()
locks.wait_at_fork(guard)
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""


def test_whoever_a_fork_waits_for_can_log() -> None:
    """A compiler sets the level of a logger, which takes the lock of `logging`."""
    done = subprocess.run(
        [sys.executable, "-c", LOGGER],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stdout == "logs\n", done.stderr


def test_every_lock_is_renewed_in_a_child() -> None:
    """A lock made elsewhere than in `locks` would stay locked in a child."""
    kinds = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event", "Barrier"}
    words = {*kinds, "cached_property", "register_at_fork"}
    found = []
    for path in sorted((SOURCE / "semira").rglob("*.py")):
        if path == SOURCE / "semira" / "base" / "locks.py":
            continue
        text = path.read_text("utf-8")
        if not any(word in text for word in words):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module in ("threading", "functools"):
                names = {alias.name for alias in node.names} & {*kinds, "cached_property"}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                names = {node.attr} & (kinds if node.value.id == "threading" else set())
                names |= {node.attr} & {"register_at_fork"}
            else:
                names = set()
            found += [f"{path.name}:{node.lineno}: {name}" for name in names]
    assert not found, "use semira.base.locks: " + ", ".join(found)
