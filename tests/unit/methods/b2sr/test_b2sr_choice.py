"""When tiles of bits are taken without a pin: on the cpu, late, and where they cost less."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira.base.dtypes import BOOL
from semira.contract import Features
from semira.formats import MatrixArrays
from semira.formats.index import each_once
from semira.methods.b2sr import plan
from semira.methods.b2sr.profile import WEIGHTS
from semira.plan.policy import Number


def arrays(rows, cols, size: int) -> MatrixArrays:
    places = each_once(rows * size + cols)
    rows, cols = np.divmod(places, size)
    indptr = np.searchsorted(rows, np.arange(size + 1)).astype(np.int32)
    one = np.ones(1, np.bool_)
    return MatrixArrays(size, size, BOOL, "csr", indptr, cols.astype(np.int32), one, iso=True)


def blocks(size: int) -> MatrixArrays:
    """Return full blocks of 16 x 16 on the diagonal."""
    place = np.arange(size * 16)
    return arrays(place // 16, place // 256 * 16 + place % 16, size)


def scattered(size: int) -> MatrixArrays:
    return arrays(*np.random.default_rng(0).integers(0, size, (2, 16 * size)), size)


def cost_of(matrix: MatrixArrays) -> float | None:
    return plan.cost(Features(matrix.nrows, matrix.ncols, matrix.nvals, 1, True, lambda: matrix))


def test_the_cost_of_tiles():
    large, wild = blocks(2**16), scattered(2**16)
    assert large.nvals > wild.nvals > plan.LEAST_ENTRIES.value
    # Four 8 x 8 tiles for each block of 256 entries.
    least = min(WEIGHTS[16], 4 * WEIGHTS[8])
    assert cost_of(large) == pytest.approx(plan.ENTRIES_A_TILE.value * least * large.nvals / 256)
    assert cost_of(wild) > wild.nvals
    assert cost_of(blocks(1024)) is None
    # Measured there alone.
    assert plan.ROWS[0].costed_on == ("cpu",)


@pytest.fixture
def weighed(monkeypatch):
    monkeypatch.setattr(plan, "LEAST_ENTRIES", Number(1, "a test"))
    with gb.device("cpu"):
        yield


def matrix(made: MatrixArrays) -> gb.Matrix:
    return gb.Matrix.from_csr(made.indptr, made.indices, True, dtype=bool, ncols=made.ncols)


def most(size: int) -> gb.Vector:
    """Return a vector for which a pull is cheaper than a push."""
    return gb.Vector.from_coo(np.flatnonzero(np.arange(size) % 8), 1, size=size)


def walked(A: gb.Matrix, u: gb.Vector, ring: str) -> set[str]:
    return {each.storage for each in gb.explain(A.mxv(u, ring)).plan.methods}


def test_they_are_taken_from_a_late_product_on(weighed):
    A, u = matrix(blocks(512)), most(512)
    wanted = A.mxv(u, "plus_pair").new(method="pull")
    first = int(plan.FROM_PRODUCT.value)
    for number in range(2, first):
        assert A.mxv(u, "plus_pair").new().isequal(wanted), number
    assert not any("b2sr" in name for name in A.memory_usage())
    assert A.mxv(u, "plus_pair").new().isequal(wanted)
    assert any("b2sr" in name for name in A.memory_usage())
    assert walked(A, u, "plus_pair") == {"compressed", "b2sr"}
    assert "by the features of the matrix" in str(gb.explain(A.mxv(u, "plus_pair")))
    for ring in ("any_pair", "lor_pair"):
        assert walked(A, u, ring) == {"compressed", "b2sr"}
    # Values decide there, of which tiles take one after the other.
    assert walked(A, u, "min_second") == {"compressed"}
    assert walked(A, u, "any_second") == {"compressed"}
    # A written matrix is another one.
    A[0, 0] = True
    assert walked(A, u, "plus_pair") == {"compressed"}


def test_they_are_not_taken_where_they_cost_more_or_in_loops(weighed):
    A, B = matrix(scattered(4096)), matrix(blocks(4096))
    u, w = most(4096), gb.Vector(int, 4096)

    def step():
        w << B.mxv(u, "plus_pair")

    for _ in range(int(plan.FROM_PRODUCT.value)):
        for each in (A, B):
            each.mxv(u, "plus_pair").new()
    assert walked(A, u, "plus_pair") == {"compressed"}
    assert walked(B, u, "plus_pair") == {"compressed", "b2sr"}
    told = gb.repeat(step, max_iterations=2)
    assert "b2sr" not in str(told.trace)
    assert w.isequal(B.mxv(u, "plus_pair").new())
