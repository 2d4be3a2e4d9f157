"""Scans, orders and shapes as the cuda backend computes them, with NumPy in CuPy's place."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.compiling import compile_only
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc
from tests.unit.backends.cuda.test_wide import N, both, square, stand_in  # noqa: F401

import semira as gb
from semira.backends.cuda.jit.segments import ROOT, order_source, scan_source
from semira.backends.cuda.rearrange.kronecker import ROOT as KRONECKER
from semira.backends.cuda.rearrange.kronecker import kronecker_source
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT64
from semira.ops.registry import binary, monoid

ORDERS = ["rowwise", "columnwise"]
HOWS = ["first", "last", "smallest", "largest"]


def random_matrix(seed=1):
    rng = np.random.default_rng(seed)
    dense = rng.integers(-3, 4, (9, 13)).astype(float)
    return gb.Matrix.from_dense(np.where(rng.random(dense.shape) < 0.5, dense, np.nan), np.nan)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["plus", "min", "any"])
def test_scan(stand_in, order, name):  # noqa: F811
    def program():
        A = random_matrix()
        v = A.ss.flatten()
        return (
            A.ss.scan(name, order), A.T.new().ss.scan(name, order), v.ss.scan(name),
            square().ss.scan(name, order),
        )  # fmt: skip

    both(stand_in, program)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("reverse", [False, True])
def test_compactify_and_selectk(stand_in, order, how, reverse):  # noqa: F811
    def program():
        A = random_matrix()
        v = A.ss.flatten(order)
        made = [
            x.ss.compactify(how, k, *line, reverse=reverse, asindex=asindex)
            for x, line in ((A, [order]), (v, []), (square(), [order]))
            for k in (None, 0, 2, 30)
            for asindex in (False, True)
        ]
        if how in ("first", "last"):
            made += [A.ss.selectk(how, 2, order), square().ss.selectk(how, 1, order)]
        return [*made, v.ss.selectk(how, 3)]

    both(stand_in, program)


def test_random_choice_takes_as_many_as_there_are(stand_in):  # noqa: F811
    A = random_matrix()
    counts = np.diff(A.to_csr()[0])
    chosen = A.ss.selectk("random", 3)
    assert np.diff(chosen.to_csr()[0]).tolist() == np.minimum(counts, 3).tolist()
    assert chosen.ewise_mult(A, "eq").new().reduce_scalar("land").new().value


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("op", ["lt", "ge", "by_distance", "contradictory"])
def test_sort(stand_in, order, op):  # noqa: F811
    ops = {
        "by_distance": lambda: gb.binary.register_anonymous(lambda x, y: abs(x) < abs(y)),
        "contradictory": lambda: gb.binary.register_anonymous(lambda x, y: True),
    }
    less = ops[op]() if op in ops else getattr(gb.binary, op)

    def program():
        A = random_matrix()
        return (*A.ss.sort(less, order), *A.ss.flatten().ss.sort(less), *square().ss.sort(less))

    if op == "contradictory":
        # There is no order to speak of, but nothing from elsewhere either.
        values, places = random_matrix().ss.sort(less, order)
        assert set(values.to_coo()[2]) <= set(random_matrix().to_coo()[2])
        assert places.nvals == values.nvals == random_matrix().nvals
        return
    both(stand_in, program)


@pytest.mark.parametrize("order", ORDERS)
def test_shapes_and_tiles(stand_in, order):  # noqa: F811
    def program():
        A = random_matrix()
        v = A.ss.flatten(order)
        B = A.dup()
        B.ss.reshape(3, 39, order, inplace=True)
        tiles = A.ss.split([[4, 5], [6, 7]])
        C = gb.Matrix(float, 9, 13)
        C.ss.concat(tiles)
        far = gb.Matrix.from_coo([1, 4095], [2**24, 3], [1, 2], nrows=2**12, ncols=2**25)
        return (
            v, B, v.ss.reshape(13, -1, order), C, gb.ss.concat([v, gb.Scalar.from_value(7), v]),
            gb.ss.concat([[v, v]]), gb.ss.concat(tiles, int), far.ss.flatten(order),
            far.ss.flatten(order).ss.reshape(2**25, 2**12, order),
        )  # fmt: skip

    both(stand_in, program)


SCANS = {
    "plus": (monoid["plus"].typed(FP64), FP32),
    "lor": (monoid["lor"].typed(BOOL), INT64),
    "min": (monoid["min"].typed(INT8), INT8),
}


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", SCANS)
def test_scan_compiles(arch, name):
    compile_only(scan_source(*SCANS[name]), arch, root=ROOT)


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_order_compiles(arch):
    compile_only(order_source(binary["gt"].typed(FP64), INT8), arch, root=ROOT)


def test_the_far_end_is_reached(stand_in):  # noqa: F811
    v = gb.Vector.from_coo([3, N - 1], [2, 1], size=N)
    assert v.ss.sort()[1].to_coo()[1].tolist() == [N - 1, 3]


@needs_nvrtc
@pytest.mark.parametrize("offset_type", ["int", "long long"])
@pytest.mark.parametrize("name", ["times", "firstj", "second"])
def test_kronecker_products_compile_without_warning(name, offset_type):
    op = binary[name].typed(INT64 if name == "firstj" else FP64)
    text = kronecker_source(op, FP32, INT8)
    compiled = compile_only(text, ARCHITECTURES[-1], offset_type, KRONECKER)
    assert compiled.log.strip("\0 \n") == ""
