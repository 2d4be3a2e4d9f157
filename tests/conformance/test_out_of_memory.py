"""Under a limit of the process: what does not fit is refused with figures, and work goes on.

One process a device runs every case; the limit leaves it 768 MiB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import semira as gb
from semira.base import memory
from semira.exceptions import OutOfMemory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")

PROGRAM = """
import json, resource, sys, time
from pathlib import Path
import numpy as np
import semira as gb

LEFT = 3 << 28

def limit():
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + LEFT, used + LEFT))

def star(n):
    hub, leaves = np.zeros(n - 1, np.int64), np.arange(1, n)
    rows, columns = np.r_[hub, leaves], np.r_[leaves, hub]
    return gb.Matrix.from_coo(rows, columns, 1.0, nrows=n, ncols=n)

some, few = star(20_000), star(40)
product = few.mxm(few).new()
row, column = gb.Matrix.from_coo([0], [0], [1]), gb.Vector.from_dense(np.arange(5000.0))
full, long = gb.Vector.from_scalar(1.0, 2**31 - 2), gb.Matrix("FP64", 2**31 - 2, 10)
long[7, 0] = 1.0
everywhere = np.broadcast_to(np.float64(1), (20_000, 20_000))
entries = np.broadcast_to(np.int64(3), 170_000_000)

CASES = {
    "star squared": lambda: some.mxm(some).new(),
    "star squared, sorted out later": lambda: some.mxm(some).new(mask=~few_of_some.S),
    "all pairs": lambda: gb.algorithms.all_pairs_shortest_paths(some),
    "all pairs by blocks": lambda: gb.algorithms.all_pairs_shortest_paths(
        some, algorithm="floyd_warshall"
    ),
    "outer": lambda: wide.outer(wide, "plus").new(),
    "kronecker": lambda: some.kronecker(some).new(),
    "vector to_coo": lambda: full.to_coo(),
    "vector to_dense": lambda: full.to_dense(),
    "to_csr": lambda: long.to_csr(),
    "to_dense": lambda: some.to_dense(0),
    "from_dense": lambda: gb.Matrix.from_dense(everywhere),
    "from_coo": lambda: gb.Matrix.from_coo(entries, entries, 1.0),
    "from_scalar": lambda: gb.Matrix.from_scalar(1.0, 50_000, 50_000),
    "assign": lambda: gb.Matrix("FP64", 50_000, 50_000).__setitem__((slice(None),) * 2, 1.0),
    "diagonal": lambda: gb.Vector.from_scalar(1.0, 2**30).diag(),
    "apply": lambda: full.apply("positioni").new(),
    "sparse + full": lambda: thin.ewise_add(full, "plus").new(),
    "generator": lambda: gb.io.read("kron:26"),
}
few_of_some = gb.Matrix(bool, 20_000, 20_000)
few_of_some[0, 0] = True
wide = gb.Vector.from_dense(np.arange(40_000.0))
thin = gb.Vector.from_coo([0], [1.0], size=2**31 - 2)
operands = {"some": some, "few": few, "long": long, "full": full, "thin": thin, "wide": wide}
before = {name: (each.nvals, each.dtype.name) for name, each in operands.items()}

limit()
told = {}
for name, case in CASES.items():
    start = time.process_time()
    try:
        found = type(case()).__name__ + ", not refused"
    except gb.exceptions.OutOfMemory as error:
        found = str(error)
    told[name] = (found, time.process_time() - start)
    assert few.mxm(few).new().isequal(product), name
assert before == {name: (each.nvals, each.dtype.name) for name, each in operands.items()}
json.dump(told, sys.stdout)
"""


def test_operations_that_do_not_fit(device):
    if device not in ("reference", "cpu"):
        pytest.skip("a limit of the host's memory")
    environment = os.environ | {"SEMIRA_DEVICE": device}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    unclear = {
        name: text
        for name, (text, _) in told.items()
        if not all(word in text for word in ("need", "bytes", "available", ";"))
    }
    assert not unclear
    assert len(told) == 18
    # Nothing is begun: each would take minutes of the processor, whatever else the machine does.
    assert {name: took for name, (_, took) in told.items() if took > 10} == {}


def star(n: int) -> gb.Matrix:
    hub, leaves = np.zeros(n - 1, np.int64), np.arange(1, n)
    rows, columns = np.r_[hub, leaves], np.r_[leaves, hub]
    return gb.Matrix.from_coo(rows, columns, 1.0, nrows=n, ncols=n)


def test_products_are_refused_by_what_they_have_at_least(device, monkeypatch):
    if device not in ("reference", "cpu"):
        pytest.skip("asks for the host's memory")
    with gb.device(device):
        few, every = star(40), star(40)
        left = gb.Matrix.from_coo(*np.divmod(np.arange(99), 50), 1.0, nrows=2, ncols=50)
        right = gb.Matrix.from_coo(*np.divmod(np.arange(99), 2), 1.0, nrows=50, ncols=2)
        expected = [few.mxm(few).new(), left.mxm(right).new()]
    left_over = [10_000]
    monkeypatch.setattr(memory, "LARGE", 1)
    monkeypatch.setattr(memory, "available_bytes", lambda: left_over[0])
    # A leaf leads to all leaves, the hub to itself.
    least = 39 * 39 + 1
    with pytest.raises(OutOfMemory, match=f"at least {least} entries needs"):
        few.mxm(every).new()
    assert few.nvals == 2 * 39
    # The mask's complement takes some of it away, a plain mask nearly all.
    if device == "cpu":
        with pytest.raises(OutOfMemory, match=f"at least {least - 78} entries needs"):
            few.mxm(every).new(mask=~few.S)
        assert few.mxm(every).new(mask=few.S).nvals == 0
    # 196 products, and 4 entries: an upper bound refuses nothing.
    left_over[0] = 1_000
    assert left.mxm(right).new().isequal(expected[1])
    left_over[0] = 200 * least
    assert few.mxm(every).new().isequal(expected[0])
