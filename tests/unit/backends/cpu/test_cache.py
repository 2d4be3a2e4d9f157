"""Compiled kernels on disk: whatever happens to the files, kernels run and are kept again."""

from __future__ import annotations

import gc
import logging
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semira.backends import kernel_files
from semira.backends.cpu import cache
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compiler import machine
from semira.backends.cpu.compiler.kernels import ENTRY, shared
from semira.base.errors import JitError
from semira.base.settings import override, restore, settings

SOURCE = Path(__file__).resolve().parents[4] / "src"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, whose failures were not reported yet."""
    before = override(cache_dir=tmp_path / "cache")
    monkeypatch.setattr(kernel_files, "_reported", set())
    yield tmp_path / "cache"
    restore(before)


def run_kernel(dtype: Any = np.int64) -> int:
    """Run a small kernel as a new process would; return how many functions were compiled."""
    before = len(cache.compiled)
    cache._modules.clear()
    moved = np.arange(6).astype(dtype)
    cache.load("move", Header(), "entries").shift(moved, 2, 0, 3)
    assert moved.tolist() == np.array([2, 3, 4, 3, 4, 5]).astype(dtype).tolist()
    return len(cache.compiled) - before


def kept(folder: Path) -> list[Path]:
    """Return the files of kernels, without what all of them share."""
    return [path for path in folder.rglob("*") if path.is_file() and path.stem != "shared"]


def test_functions_own_what_describes_them(folder):
    run_kernel()
    (path,) = kept(folder)
    function = machine.Loaded(kernel_files.read(path), ENTRY, shared(cache.digest_of)).function
    # CPython reads the description when it frees a function, whatever was freed before.
    gc.collect()
    others = [bytearray(b"\xff" * size) for size in range(16, 64) for _ in range(200)]
    assert function.__name__ == ENTRY
    assert len(others) == 9_600


def damaged(code: bytes, how: str) -> bytes:
    middle = len(code) // 2
    flipped = bytes([code[middle] ^ 1])
    return {
        "empty": b"",
        "cut": code[:middle],
        "without its last byte": code[:-1],
        "with a tail": code + b"tail",
        "zeros": bytes(len(code)),
        "random": random.Random(1).randbytes(len(code)),
        "one bit flipped": code[:middle] + flipped + code[middle + 1 :],
    }[how]


@pytest.mark.parametrize(
    "how",
    [
        "empty", "cut", "without its last byte", "with a tail", "zeros", "random",
        "one bit flipped",
    ],
)  # fmt: skip
def test_a_damaged_kernel_is_named_compiled_again_and_replaced(folder, caplog, how):
    assert run_kernel() == 1
    (path,) = kept(folder)
    whole = path.read_bytes()
    path.write_bytes(damaged(whole, how))
    with caplog.at_level("WARNING", logger="semira"):
        assert run_kernel() == 1
    assert str(path) in caplog.text
    assert [one.name for one in kept(folder)] == [path.name]
    caplog.clear()
    assert run_kernel() == 0
    assert not caplog.records


def test_what_kernels_share_is_compiled_again_if_it_is_damaged(folder, caplog):
    shared.cache_clear()
    run_kernel()
    (path,) = folder.rglob("shared.code")
    whole = path.read_bytes()
    path.write_bytes(damaged(whole, "one bit flipped"))
    shared.cache_clear()
    assert run_kernel(np.float64) == 1
    assert str(path) in caplog.text
    assert path.read_bytes() == whole


def test_a_kernel_of_something_else_is_not_taken(folder, caplog):
    run_kernel(np.int64)
    (first,) = kept(folder)
    run_kernel(np.float64)
    (second,) = set(kept(folder)) - {first}
    shutil.copy(first, second)
    assert run_kernel(np.float64) == 1
    assert second.name in caplog.text
    # A right checksum over something that is no machine code.
    caplog.clear()
    kernel_files.write(first, b"no machine code")
    assert run_kernel(np.int64) == 1
    assert first.name in caplog.text
    assert run_kernel(np.int64) == 0


def test_no_compile_names_a_damaged_kernel(folder):
    run_kernel()
    (path,) = kept(folder)
    path.write_bytes(b"")
    before = override(no_compile=True)
    try:
        with pytest.raises(JitError, match=f"kernel move-.*:shift is not compiled .*{folder}"):
            run_kernel()
    finally:
        restore(before)


def test_code_that_is_not_optimised_is_kept_beside_the_other(folder):
    assert run_kernel() == 1
    (first,) = kept(folder)
    before = override(optimise=not settings().optimise)
    try:
        assert run_kernel() == 1
        assert run_kernel() == 0
    finally:
        restore(before)
    (second,) = set(kept(folder)) - {first}
    assert first.read_bytes() != second.read_bytes()
    assert run_kernel() == 0


def test_a_folder_that_is_deleted_meanwhile_is_made_again(folder):
    run_kernel(np.int64)
    shutil.rmtree(folder)
    assert run_kernel(np.float64) == 1
    assert len(kept(folder)) == 1


@pytest.mark.parametrize("error", [OSError(28, "No space left"), OSError(30, "Read-only")])
def test_what_cannot_be_kept_runs_and_is_reported_once(folder, caplog, monkeypatch, error):
    assert run_kernel(np.int64) == 1
    before = kept(folder)

    def fail(path: Path, code: bytes) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fail)
        assert run_kernel(np.float64) == 1
        assert run_kernel(np.int32) == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "SEMIRA_CACHE_DIR" in caplog.text
    # What is there is used, and nothing half written stays.
    assert kept(folder) == before
    assert run_kernel(np.int64) == 0


def test_a_long_name_is_no_obstacle(folder, caplog):
    for expected in (1, 0):
        before = len(cache.compiled)
        cache._modules.clear()
        cache.load("move", Header(), "long" * 100).shift(np.arange(6), 2, 0, 3)
        assert len(cache.compiled) - before == expected
    assert not caplog.records


def test_kernels_may_be_read_by_others(folder):
    mask = os.umask(0o022)
    try:
        run_kernel()
    finally:
        os.umask(mask)
    assert [path.stat().st_mode & 0o777 for path in kept(folder)] == [0o644]


def test_numba_logs_nothing_unless_it_was_asked_to(folder, caplog):
    log = logging.getLogger("numba")
    assert log.level == logging.NOTSET
    # Too long for our own compiler.
    long = {"names": ["x"], "formats": [np.int64], "itemsize": 512}
    records, others = np.dtype(long), np.dtype({**long, "formats": [np.float64]})
    with caplog.at_level("DEBUG"):
        assert run_kernel(records) == 1
        assert not [record for record in caplog.records if record.name.startswith("numba")]
        assert log.level == logging.NOTSET
        with caplog.at_level("DEBUG", logger="numba"):
            assert run_kernel(others) == 1
    assert [record for record in caplog.records if record.name.startswith("numba")]


#: Eight processes compile one kernel at once; each prints how many it compiled.
EIGHT = """
import os, sys
import numpy as np
from semira.backends.cpu import cache
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compiler import kernels
ready, go = os.pipe()
children = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(ready, 1)
        moved = np.arange(6)
        cache.load("move", Header(), "entries").shift(moved, 2, 0, 3)
        os._exit(0 if moved.tolist() == [2, 3, 4, 3, 4, 5] else 3)
    children.append(child)
os.close(go)
codes = {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children}
cache.load("move", Header(), "entries").shift(np.arange(6), 2, 0, 3)
print(codes, len(cache.compiled))
"""

#: Files cannot grow: what a full disk does to a process of any user.
FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
import semira as gb
from semira.backends.cpu import cache
v = gb.Vector.from_coo([0, 1, 2], [1, 2, 3])
print(v.apply(gb.unary.ainv).new().to_dict(), len(cache.compiled))
"""


def run_program(text: str, tmp_path: Path) -> str:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", text],
        env=os.environ
        | {
            "PYTHONPATH": str(SOURCE),
            "SEMIRA_CACHE_DIR": str(tmp_path / "cache"),
            "TMPDIR": str(scratch),
        },
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not list(scratch.iterdir())
    return done.stdout.strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_eight_processes_fill_an_empty_cache_at_once(tmp_path):
    assert run_program(EIGHT, tmp_path) == "{0} 0"
    assert len(kept(tmp_path / "cache")) == 1


@pytest.mark.skipif(os.name == "nt", reason="this system has no limits for processes")
def test_a_full_disk_costs_only_the_next_compilation(tmp_path):
    assert run_program(FULL, tmp_path) == "{0: -1, 1: -2, 2: -3} 1"
    assert not kept(tmp_path / "cache")
