"""Machine code loads wherever the system has room for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Takes all memory but a hole of one page before each call. Code finds it, and its constants have
#: to lie more than 2**31 bytes away; or they find it, and the code is longer.
SCRIPT = """
import ctypes
import numpy as np, semira as gb
from semira.backends.cpu.codegen import digest_of
from semira.backends.cpu.compiler import kernels, machine
machine._jit(kernels.shared(digest_of))
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
page = 4096
for pages in (256, 64, 16, 4, 1):
    for _ in range(400):
        libc.mmap(None, pages * page, 0, 0x22, -1, 0)
holes = libc.mmap(None, 99 * page, 0, 0x22, -1, 0)
libc.mmap(None, 5 << 30, 0, 0x4022, -1, 0)
def punch(number):
    libc.munmap(holes + (2 * number + 1) * page, page)
punch(0)
v = gb.Vector.from_dense(np.linspace(0, 1, 50))
assert abs(v.apply(gb.unary.exp).new().apply(gb.unary.sin).new().reduce().value - 43.493895) < 1e-6
A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.5, 2.5, 3.5], nrows=3, ncols=3)
for number, name in enumerate(["pagerank", "hits", "closeness_centrality", "k_core"], 1):
    punch(number)
    getattr(gb.algorithms, name)(A, **({"k": 2} if name == "k_core" else {}))
print("loaded")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for memory in its own way")
def test_code_and_constants_may_lie_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIRA_CACHE_DIR", str(tmp_path))
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "loaded"), done.stderr
