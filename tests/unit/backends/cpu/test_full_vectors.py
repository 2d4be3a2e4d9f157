"""Kernels for vectors without gaps, and rows written into one room, against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.backends.cpu import threads
from semira.base.settings import override, restore

N = 37


@pytest.fixture(autouse=True, params=["one chunk", "many chunks"])
def chunks(request, monkeypatch):
    """Run everything as tiny inputs run, and again cut up for three threads."""
    if request.param == "one chunk":
        yield
        return
    monkeypatch.setattr(threads, "PARALLEL_ENTRIES", 4)
    before = override(threads=3)
    yield
    restore(before)


def vector(form, dtype, seed=0):
    """Return a vector in one of the storages of the cpu backend."""
    random = np.random.default_rng(seed)
    values = random.integers(-9, 9, N)
    if form == "iso":
        return gb.Vector.from_scalar(3, N, dtype)
    if form == "full":
        return gb.Vector.from_dense(values).dup(dtype)
    places = np.flatnonzero(random.random(N) < (0.6 if form == "bitmap" else 0.02))
    places = places if form == "bitmap" else np.array([4])
    made = gb.Vector.from_coo(places, values[places], size=N).dup(dtype)
    made(accum="second") << made  # kept by position once written to
    return made


def matrix(dtype="INT64", seed=1, density=0.15):
    random = np.random.default_rng(seed)
    rows, cols = np.nonzero(random.random((N, N)) < density)
    return gb.Matrix.from_coo(rows, cols, random.integers(1, 9, len(rows)), dtype, nrows=N, ncols=N)


def both(program):
    """Run a program on the cpu and on the reference; the results must be equal."""
    found = []
    for device in ("cpu", "reference"):
        with gb.device(device):
            result = program()
            found.append((result.dtype, [part.tolist() for part in result.to_coo()]))
    assert found[0] == found[1]


FORMS = ("full", "iso", "bitmap", "list")


@every("op", ["first", "minus"])
@every("method", ["ewise_mult", "ewise_add"])
@every("left", FORMS)
@every("right", FORMS)
def test_element_wise(op, method, left, right):
    both(lambda: getattr(vector(left, "INT32"), method)(vector(right, "INT64", 5), op).new())


@every("form", FORMS)
@every("dtypes", [("INT64", "INT64"), ("INT8", "FP64"), ("FP32", "INT16")])
@every("accum", ["minus", "second"])
def test_accumulating_into_a_full_vector(form, dtypes, accum):
    def program():
        w = vector("full", dtypes[0])
        w(accum=accum) << vector(form, dtypes[1], 7)
        return w

    both(program)


@every("out", ["full", "iso"])
@every("operand", FORMS)
@every("ring", ["min_plus", "plus_pair"])
@every("dtype", ["INT64", "FP32"])
def test_a_product_accumulated_on_the_way(out, operand, ring, dtype):
    def program():
        w = vector(out, dtype)
        w(accum="minus", direction="pull") << matrix(density=0.05).mxv(
            vector(operand, "INT64", 9), getattr(gb.semiring, ring)
        )
        return w

    both(program)


@every("replace", [False, True])
@every("complement", [False, True])
@every("out", FORMS)
@every("form", FORMS)
def test_overwriting_under_a_mask(replace, complement, out, form):
    def program():
        w, mask = vector(out, "INT32"), vector("bitmap", "INT64", 3)
        w(~mask.S if complement else mask.V, replace=replace) << vector(form, "FP64", 4)
        return w

    both(program)


@every("dup", ["min", "plus"])
@every("out", FORMS)
@every("form", ["full", "iso", "bitmap"])
@every("dtype", ["INT32", "FP64"])
def test_scatter_with_repeated_targets(dup, out, form, dtype):
    def program():
        w = vector(out, dtype)
        index = gb.Vector.from_dense(np.arange(N) * 7 % 5)
        w.scatter(index, vector(form, dtype, 8), getattr(gb.monoid, dup))
        return w

    both(program)


@every("form", FORMS)
@every("name", ["plus", "min", "max", "times"])
def test_folding(form, name):
    found = []
    for device in ("cpu", "reference"):
        with gb.device(device):
            found.append(vector(form, "INT64", 2).reduce(getattr(gb.monoid, name)).value)
    assert found[0] == found[1]


@every("dtype", ["INT64", "UINT64", "FP32", "INT8", "BOOL"])
def test_counting_pairs_under_a_mask(dtype):
    def program():
        L = matrix(density=0.4)
        C = gb.Matrix(dtype, N, N)
        C(L.S) << L.mxm(L.T, gb.semiring.plus_pair[dtype])
        return C

    both(program)


def test_an_index_outside_leaves_the_output_alone():
    with gb.device("cpu"):
        w = vector("full", "INT64")
        before = w.to_dense().tolist()
        index = gb.Vector.from_dense([0, N])
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=str(N)):
            w.scatter(index, gb.Vector.from_dense([1, 2]), gb.monoid.min)
        assert w.to_dense().tolist() == before


@pytest.mark.parametrize("iso", [False, True])
def test_rows_are_put_together_without_gaps(iso):
    def program():
        A = matrix(density=0.5)
        A = A.apply("one").new() if iso else A
        return A.select(gb.select.tril, -1).new()

    both(program)
    both(lambda: matrix(seed=1).ewise_mult(matrix(seed=2), "plus").new())
    both(lambda: matrix(seed=1).ewise_add(matrix(seed=2, density=0.5), "plus").new())


@every("index_dtype", ["INT32", "INT64", "UINT32"])
@every("dtype", ["BOOL", "INT8", "FP64", "FC64"])
def test_gathers_of_long_vectors(dtype, index_dtype):
    n = 1 << 15
    rng = np.random.default_rng(3)
    positions, values = rng.integers(0, 999, n), rng.integers(0, 100, 999)
    with gb.device("cpu"):
        u = gb.Vector.from_dense(values, dtype=dtype)
        at = gb.Vector.from_dense(positions, dtype=index_dtype)
        found = u.gather(at).new()
        assert found.dtype == dtype
        assert (found.to_dense() == u.to_dense()[positions]).all()
        for wrong in (-1, 999):
            if index_dtype == "UINT32" and wrong < 0:
                continue
            at[n - 2] << wrong
            with pytest.raises(gb.exceptions.IndexOutOfBound, match=f"gather index {wrong} is"):
                found << u.gather(at)
            assert (found.to_dense() == u.to_dense()[positions]).all()
