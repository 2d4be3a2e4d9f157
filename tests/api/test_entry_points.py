"""Whatever a program uses first: in an interpreter of its own, every way in leads to whole objects.

One process imports the libraries that are slow to load, and forks a child for each entry point
before anything of Semira is imported. Algorithms share the child that made their matrix, and are
forked from it.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.arguments import needed_by
from tests.helpers.every import every

import semira as gb
from semira.algorithms.registry import REGISTRY

SOURCE = Path(__file__).resolve().parents[2] / "src"

#: What each entry point has done when it is left: an object to look at is in `x`.
READERS = {
    "read a file": "import semira as gb; x = gb.io.read('edges.txt')",
    "read a generator": "import semira as gb; x = gb.io.read('road:3x3')",
    "read_graph": "import semira as gb; x = gb.io.read_graph('kron:4').matrix",
    "mmread": "import semira as gb; x = gb.io.mmread('edges.mtx')",
    "from_edges": "import semira as gb; x = gb.io.from_edges(gb.io.edges_of('edges.txt'))",
    "from_numpy": "import semira as gb; x = gb.io.from_numpy(np.eye(3))",
    "from_numpy, a vector": "import semira as gb; x = gb.io.from_numpy(np.arange(3.0))",
    "from_dlpack": "import semira as gb; x = gb.io.from_dlpack(np.arange(3.0))",
    "from_scipy_sparse": "import semira as gb; x = gb.io.from_scipy_sparse(sp.eye_array(3))",
    "from_networkx": "import semira as gb; x = gb.io.from_networkx(nx.path_graph(3))",
    "from_pandas": (
        "import semira as gb; x = gb.io.from_pandas(pd.DataFrame({'source': [0], 'target': [1]}))"
    ),
    "from_arrow": (
        "import pyarrow; import semira as gb; "
        "x = gb.io.from_arrow(pyarrow.table({'source': [0], 'target': [1]}))"
    ),
    "from_pydata_sparse": (
        "import semira as gb; import sparse; "
        "x = gb.io.from_pydata_sparse(sparse.COO(np.array([[0, 1], [1, 0]]), np.ones(2), (2, 2)))"
    ),
    "from_awkward": (
        "import awkward as ak; import semira as gb; "
        "y = ak.Array({'indices': [0, 2], 'values': [1.0, 2.0]}); "
        "y = ak.with_parameter(ak.with_parameter(y, 'format', 'vec'), 'shape', [3]); "
        "x = gb.io.from_awkward(y)"
    ),
    "unpickle a Matrix": "x = pickle.load(open('matrix.pkl', 'rb'))",
    "unpickle a Vector": "x = pickle.load(open('vector.pkl', 'rb'))",
    "unpickle a Scalar": "x = pickle.load(open('scalar.pkl', 'rb'))",
    "unpickle an operator": "f = pickle.load(open('operator.pkl', 'rb')); x = f(4.0).new()",
    "unpickle an aggregator": (
        "f = pickle.load(open('aggregator.pkl', 'rb')); import semira as gb; "
        "x = gb.io.from_numpy(np.eye(3)).reduce_rowwise(f).new()"
    ),
    "deserialize": (
        "from semira.frontend.ss.matrix import MatrixExtensions; "
        "x = MatrixExtensions.deserialize(open('matrix.ser', 'rb').read())"
    ),
    "import Matrix": "from semira import Matrix; x = Matrix.from_coo([0], [1], [2.0])",
    "import Vector": "from semira import Vector; x = Vector.from_coo([0, 2], [2.0, 1.0])",
    "import Scalar": "from semira import Scalar; x = Scalar.from_value(2.0)",
    "ss.diag": "import semira as gb; x = gb.ss.diag(gb.io.from_numpy(np.arange(3.0)))",
    "the class of a module": (
        "from semira.frontend.objects import Matrix; x = Matrix.from_coo([0], [1], [2.0])"
    ),
}

_OPERATORS = {
    "agg": "x.reduce(gb.agg.mean)",
    "binary": "x.ewise_mult(x, gb.binary.plus)",
    "indexunary": "x.apply(gb.indexunary.index)",
    "monoid": "x.ewise_add(x, gb.monoid.max)",
    "op": "x.apply(gb.op.exp)",
    "select": "x.select(gb.select.valuegt, 0)",
    "semiring": "x.inner(x, gb.semiring.min_plus)",
    "unary": "x.apply(gb.unary.sqrt)",
}

MODULES = {
    f"module {name}": f"import semira.{name}; gb = semira; x = gb.io.from_numpy(np.arange(3.0)); "
    + (f"x = {_OPERATORS[name]}.new()" if name in _OPERATORS else "")
    for name in gb._MODULES
}

#: What a program does before it calls any of the algorithms.
SHARED = "import semira as gb; A = gb.io.from_numpy(1 - np.eye(4), 0)"

ALGORITHMS = {
    f"algorithm {name}": "found = gb.algorithms."
    f"{name}({', '.join(['A', *map(str, needed_by(row))])}); repr(found); "
    "x = next((y for y in map(found.__getattribute__, found.__slots__) if hasattr(y, 'ndim')), A)"
    for name, row in REGISTRY.items()
}

ENTRY_POINTS = READERS | MODULES

#: Reads an element, a reduction and the displays of `x`.
LOOK = """
import math
assert 'value' in repr(x) or 'nvals' in repr(x), repr(x)
assert '<' in x._repr_html_()
if x.ndim == 2:
    i, j = (int(part[0]) for part in x.to_coo(values=False)[:2])
    value = x.get(i, j)
    assert (i, j) in x and x[i, j].value == value
    assert x.dtype.kind == 'V' or x.reduce_scalar('max').value >= value
elif x.ndim == 1:
    i = int(x.to_coo(values=False)[0][0])
    value = x.get(i)
    assert i in x and x[i].value == value
    assert x.reduce('max').value >= value
else:
    value = x.value
    assert not math.isnan(value)
assert value is not None
"""

DRIVER = """
import gc, io, json, os, pickle, sys, traceback
import networkx as nx, numpy as np, pandas as pd, scipy.sparse as sp

texts, shared, later, look = json.load(sys.stdin)
assert not [name for name in sys.modules if name.startswith('semira')]

def run_each(texts):
    for name, text in texts.items():
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                exec(compile(text + chr(10) + look, name, 'exec'), globals())
                said = ''
            except BaseException:
                said = traceback.format_exc()
            os.write(write, said.encode()[-4000:])
            os._exit(0)
        os.close(write)
        with open(read) as told:
            print(json.dumps([name, told.read()]), flush=True)
        assert os.waitpid(child, 0)[1] == 0, name

# A child that walks all objects of its parent copies them.
gc.disable()
run_each(texts)
exec(shared)
run_each(later)
"""


def run(arguments: list[str], folder: Path, text: str = "") -> str:
    """Run a program in `folder` that sees Semira: what it printed."""
    environment = {"PYTHONPATH": str(SOURCE), "SEMIRA_DEVICE": "reference"}
    # One thread: a process that forks must not have others.
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        input=text,
        cwd=folder,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("entry_points")
    matrix = gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], [1.0, 2.0, 3.0], nrows=3, ncols=3)
    things = {
        "matrix": matrix,
        "vector": gb.Vector.from_coo([0, 2], [1.0, 2.0]),
        "scalar": gb.Scalar.from_value(2.0),
        "operator": gb.unary.sqrt,
        "aggregator": gb.agg.mean,
    }
    for name, thing in things.items():
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(thing))
    (folder / "matrix.ser").write_bytes(bytes(matrix.ss.serialize()))
    (folder / "edges.txt").write_text("0 1\n1 2\n")
    (folder / "edges.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1.5\n2 1 2.5\n"
    )
    return folder


@pytest.fixture(scope="module")
def outcomes(folder: Path) -> dict[str, str]:
    """Return the traceback of each entry point; empty where all went well."""
    if not hasattr(os, "fork"):
        pytest.skip("needs os.fork")
    printed = run(["-c", DRIVER], folder, json.dumps([ENTRY_POINTS, SHARED, ALGORITHMS, LOOK]))
    return dict(json.loads(line) for line in printed.splitlines())


@every("name", sorted(ENTRY_POINTS | ALGORITHMS))
def test_the_first_object_of_a_process_is_whole(outcomes: dict[str, str], name: str) -> None:
    assert outcomes[name] == ""


def test_a_spawned_worker_reduces_what_it_was_sent(folder: Path) -> None:
    (folder / "pool.py").write_text(
        """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

def total(x):
    return x.reduce("plus").value, x[2].value, "nvals" in repr(x)

if __name__ == "__main__":
    import semira as gb
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        print(pool.submit(total, gb.io.from_numpy(__import__("numpy").arange(3.0))).result())
"""
    )
    assert run(["pool.py"], folder) == "(3.0, 2.0, True)\n"


def test_names_of_the_package_load_no_more_than_they_need() -> None:
    text = "import sys, semira as gb; gb.config, gb.device, gb.MAX_SIZE; print(*sys.modules)"
    loaded = run(["-c", text], SOURCE).split()
    assert "semira.engine.values" in loaded
    assert "semira.frontend.objects" not in loaded
