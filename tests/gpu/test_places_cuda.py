"""What is asked of a matrix on the GPU is done there: no algorithm lets the host compute."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira import algorithms
from semira.backends.registry import backend_for

pytestmark = pytest.mark.gpu

#: What the arguments that have no default are.
GIVEN = {"source": 0, "sink": 59, "sources": [0, 3], "k": 3, "hops": 2}
N = 60


def called(name: str) -> bool:
    found = getattr(algorithms, name)
    return callable(found) and not inspect.isclass(found)


@pytest.fixture(scope="module")
def graph() -> gb.Matrix:
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(0, N, (2, 300))
    keys = np.unique(np.concatenate([rows * N + columns, columns * N + rows]))
    rows, columns = np.divmod(keys, N)
    values = (np.minimum(rows, columns) * 7 + np.maximum(rows, columns) * 3) % 11 + 1.0
    apart = rows != columns
    return gb.Matrix.from_coo(rows[apart], columns[apart], values[apart], nrows=N, ncols=N).to(
        "cuda"
    )


@every("name", [name for name in sorted(algorithms.__all__) if called(name)])
def test_the_host_computes_nothing(monkeypatch, graph, name):
    monkeypatch.setattr(backend_for("cpu"), "execute", lambda *_: pytest.fail("on the host"))
    _, *others = inspect.signature(getattr(algorithms, name)).parameters.values()
    plain = [each for each in others if each.kind is each.POSITIONAL_OR_KEYWORD]
    needed = [each for each in plain if each.default is each.empty]
    getattr(algorithms, name)(graph, **{each.name: GIVEN[each.name] for each in needed})
