"""Huge objects: what is renumbered, on the cpu; and the kernels of the cuda backend for them.

A conformance test of huge shapes compares with SuiteSparse; here the reference is the oracle.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.compiling import assert_all_compile
from tests.helpers.wide_store import CheckedStore, recorded_levels
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc

import semira as gb
from semira.backends.cpu import huge
from semira.backends.cuda.runtime.primitives import WIDE_ENTRIES
from semira.backends.cuda.wide.entry_source import LISTED as ROOT
from semira.backends.cuda.wide.entry_source import listed_source
from semira.backends.cuda.wide.store import CudaStore
from semira.backends.renumbering.lists import joined_ids, located, places_of
from semira.backends.renumbering.objects import WideObject
from semira.base.dtypes import BOOL, FP64, INT8, INT64
from semira.base.errors import IndexOutOfBound, OutOfMemory
from semira.ops.registry import binary, indexunary, select, unary

N = 2**40
FAR = [0, 7, 2**33, N - 1]


@pytest.fixture
def stand_in(monkeypatch):
    """The cpu, with every object checked that the layer makes."""
    monkeypatch.setattr(huge, "STORE", CheckedStore())
    with gb.device("cpu"):
        yield


def both(stand_in, program):
    """Run a program on the stand-in and on the reference; compare every object it returns."""
    mine = program()
    with gb.device("reference"):
        meant = program()
    for number, (found, expected) in enumerate(zip(mine, meant, strict=True)):
        assert found.dtype == expected.dtype, number
        assert [part.tolist() for part in found.to_coo()] == [
            part.tolist() for part in expected.to_coo()
        ], number
    return mine


def square():
    rows, cols = np.array([0, 0, 7, N - 1]), np.array([7, N - 1, 0, 2**33])
    return gb.Matrix.from_coo(rows, cols, [1, 2, 3, 4], nrows=N, ncols=N)


def test_only_huge_sides_are_renumbered(stand_in):
    A = gb.Matrix.from_coo([5, 2**50, 2**50], [0, 2, 3], [1.0, 2.0, 3.0], nrows=2**51, ncols=4)
    A.to("cpu")
    held = A._value.handle_on("cpu").data
    assert isinstance(held, WideObject)
    assert held.ids[0].tolist() == [5, 2**50]
    assert held.ids[1] is None
    product = A.T.mxm(A).new()
    assert not isinstance(product._value.handle_on("cpu").data, WideObject)
    assert product.to_dense(fill_value=0).tolist()[2] == [0, 0, 4, 6]


def test_lists_grow_and_shrink_with_the_entries(stand_in):
    v = gb.Vector.from_coo(np.arange(0, 2**40, 2**32), 1, size=N)
    v << gb.select.indexgt(v, 2**39)
    held = v._value.handle_on("cpu").data
    assert len(held.ids[0]) == v.nvals == 2**7 - 1
    v[:] << gb.Vector(int, N)
    assert v.nvals == 0


@pytest.mark.parametrize("structural", [True, False])
@pytest.mark.parametrize("complement", [True, False])
@pytest.mark.parametrize("replace", [True, False])
def test_vectors_with_masks(stand_in, structural, complement, replace):
    def program():
        u = gb.Vector.from_coo(FAR, [1, 2, 3, 4], size=N)
        w = gb.Vector.from_coo([0, 5, N - 1], [10, 20, 30], size=N)
        m = gb.Vector.from_coo([0, 5, 7, N - 1], [0, 1, 1, 1], size=N)
        mask = m.S if structural else m.V
        out, sum_ = w.dup(), w.dup()
        out(~mask if complement else mask, replace=replace) << u.ewise_add(w, "plus")
        sum_(~mask if complement else mask, accum="plus", replace=replace) << square().mxv(u)
        part = w.dup()
        part(~mask if complement else mask, accum="plus", replace=replace)[:] << u
        return out, sum_, part

    both(stand_in, program)


def test_regions_of_vectors(stand_in):
    def program():
        u = gb.Vector.from_coo(FAR, [1, 2, 3, 4], size=N)
        few = gb.Vector.from_coo([0, 2], [8, 9], size=3)
        a, b, c, d = (u.dup() for _ in range(4))
        a[[N - 1, 3, 7]] << few
        b[5:] << u[5:].new()
        c[[1, 7]] << 3
        d[N - 1 : 4 : -1] << u[N - 1 : 4 : -1].new()
        e = u.dup()
        e[3:]((u[3:].new()).S) << 6
        return (
            a, b, c, d, e, u[[7, 8, N - 1, 7]].new(), u[N - 3 :].new(), u[2::2].new(),
            u[::-1].new(), u[N - 1 : 4 : -1].new(),
        )  # fmt: skip

    both(stand_in, program)


def test_a_long_range_into_an_ordinary_output(stand_in):
    """The range is looked up, not listed."""
    length = 2**17

    def program():
        places = [0, 5, length - 1, length, N - 1]
        A = gb.Matrix.from_coo(places, [0, 1, 2, 3, 0], [1, 2, 3, 4, 5], nrows=N, ncols=4)
        u = gb.Vector.from_coo(places, [1, 2, 3, 4, 5], size=N)
        out = gb.Matrix.from_coo([5, 6], [1, 1], [10, 20], nrows=length, ncols=4)
        w = gb.Vector.from_coo([5, 6], [10, 20], size=length)
        out(accum="plus") << A[:length, :]
        w(~gb.Vector.from_coo([0, 5], True, size=length).S, accum="plus") << u[:length]
        back = u.dup()
        back[1 : length + 1] << w
        return out, w, back, A[: length - 1, 1].new()

    both(stand_in, program)


@pytest.mark.parametrize("seed", range(3))
def test_hypersparse_matrices_below_the_limit(stand_in, seed):
    """Rows and columns are listed, vectors are not; some objects have a list and others none."""
    n, m = 2**25, (2**25, 4, 2**26)[seed]

    def program():
        rng = np.random.default_rng(seed)
        P, Q = (np.unique([*rng.integers(0, side, 5), 0, side - 1]) for side in (n, m))

        def matrix(count=9):
            rows, cols = rng.choice(P, count), rng.choice(Q, count)
            values = rng.integers(1, 6, count)
            return gb.Matrix.from_coo(rows, cols, values, nrows=n, ncols=m, dup_op="plus")

        A, B, M = matrix(), matrix(), matrix(6)
        u, v = gb.Vector.from_coo(P[:4], [1, 2, 0, 3], size=n), gb.Vector.from_coo(Q, 2, size=m)
        w, mask = gb.Vector.from_coo(P[3:], 7, size=n), gb.Vector.from_coo(P[::2], True, size=n)
        w(~mask.S, accum="plus") << A.mxv(v, "min_plus")
        sums = gb.Vector(int, n)
        sums(mask.S, replace=True) << B.reduce_rowwise("plus")
        total = A.dup()
        total(~M.V, accum="min", replace=True) << A.ewise_add(B, "minus")
        row, assigned = gb.Vector(int, m), A.dup()
        row(accum="plus") << A[int(P[1]), :]
        assigned[int(P[2]), :] << v
        assigned[[int(at) for at in P[:3]], [int(at) for at in Q[:2]]] << 7
        return (
            w, sums, total, row, assigned, u.vxm(A, "any_secondi").new(), A.T.mxm(B).new(),
            A[[int(P[1]), 0], :].new(), u.diag(), gb.select.tril(A, -3).new(),
        )  # fmt: skip

    both(stand_in, program)


def test_gather_and_scatter(stand_in):
    def program():
        u = gb.Vector.from_coo(FAR, [1, 2, 3, 4], size=N)
        index = gb.Vector.from_coo([0, 1, 3, 4], [N - 1, 8, 2**33, 7], size=6)
        w = gb.Vector.from_coo([5, N - 1], [50, 60], size=N)
        w.scatter(index, gb.Vector.from_coo([0, 1, 3], [1, 2, 3], size=6), "plus")
        return u.gather(index).new(), w

    both(stand_in, program)


def test_one_value_at_every_position(stand_in):
    everywhere = gb.Vector(int, N)
    everywhere[:] << 3
    assert everywhere.nvals == N
    few = gb.Vector.from_coo(FAR, [1, 2, 3, 4], size=N)
    assert few.ewise_mult(everywhere, "times").new().to_coo()[1].tolist() == [3, 6, 9, 12]
    assert square().mxv(everywhere).new().to_coo()[1].tolist() == [9, 9, 12]
    assert everywhere.apply("ainv").new()[5].new().value == -3
    assert everywhere[[5, N - 1]].new().to_coo()[1].tolist() == [3, 3]
    assert few.dup(dtype=float).ewise_mult(everywhere, "first").new().nvals == 4
    for refused in (
        lambda: few.ewise_add(everywhere).new(),
        lambda: everywhere.reduce("plus").new(),
        lambda: everywhere.apply(gb.indexunary.index, 1).new(),
    ):
        with pytest.raises(OutOfMemory, match=str(N)):
            refused()


def test_loops_on_huge_objects(stand_in):
    """A breadth-first search: the frontier, the levels and the matrix are huge."""

    def program():
        A = gb.Matrix.from_coo([0, 7, 7, 2**33, 5], [7, 2**33, 0, N - 1, 6], True, nrows=N, ncols=N)
        return (recorded_levels(A, 0),)

    (level,) = both(stand_in, program)
    assert level.to_coo()[1].tolist() == [0, 1, 2, 3]


def test_an_output_survives_what_fails(stand_in):
    w = gb.Vector.from_coo(FAR, [1, 2, 3, 4], size=N)
    with pytest.raises(OutOfMemory):
        w(~gb.Vector.from_coo([5], 1, size=N).S) << 1
    assert w.to_coo()[1].tolist() == [1, 2, 3, 4]


# arithmetic --------------------------------------------------------------------------------------
def test_joined_lists_stay_the_same_object_where_nothing_is_added():
    ids = np.array([1, 2**40])
    assert joined_ids(np, ids, ids, ids[:0]) is ids
    assert joined_ids(np, ids, np.array([0, 1])).tolist() == [0, 1, 2**40]
    assert joined_ids(np).tolist() == []


def test_places_on_lists():
    at, found = places_of(np, np.array([2, 5, 2**40]), np.array([5, 6, 2**41, 2]))
    assert found.tolist() == [True, False, False, True]
    assert at[found].tolist() == [1, 0]
    assert places_of(np, np.array([], int), np.array([3]))[1].tolist() == [False]


@pytest.mark.parametrize("region", [(0, 2**40, 1), (5, 2**40, 3), (2**40 - 1, -1, -2), (9, 9, 1)])
def test_members_of_ranges(region):
    ids = np.unique(np.array([0, 5, 8, 11, 2**33, 2**39, 2**40 - 1]))
    numbers, places = located(np, region, ids, 2**40)
    members = range(*region)
    assert [members[n] for n in numbers.tolist()] == ids[places].tolist()
    assert numbers.tolist() == sorted(numbers.tolist())
    assert set(ids[places].tolist()) == {at for at in ids.tolist() if at in members}


def test_members_outside_the_axis_are_refused():
    with pytest.raises(IndexOutOfBound, match="9"):
        located(np, np.array([1, 9]), np.array([1]), 9)


# the kernel --------------------------------------------------------------------------------------
LISTED = {
    "unary": (unary["positioni1"].typed(FP64), FP64, None, False),
    "index": (indexunary["diagindex"].typed(INT8), INT8, INT64, False),
    "select": (select["tril"].typed(BOOL), BOOL, INT64, False),
    "bound": (binary["secondj"].typed(INT64), INT64, INT64, True),
}


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_kernels_on_listed_positions_compile(arch):
    texts = {name: listed_source(*given, left=left) for name, (*given, left) in LISTED.items()}
    assert_all_compile(texts, arch, root=ROOT)


@pytest.mark.parametrize(("nvals", "bits"), [(WIDE_ENTRIES - 1, 32), (WIDE_ENTRIES, 64)])
def test_offsets_have_as_many_bits_as_those_of_other_matrices(monkeypatch, nvals, bits):
    class Listed:
        def __len__(self) -> int:
            return nvals

    made = SimpleNamespace(row_offsets=lambda offsets, *_: offsets)
    monkeypatch.setattr(CudaStore, "_primitives", made)
    monkeypatch.setattr(CudaStore, "_held", lambda _, array, dtype: array)
    store = CudaStore(None, None)
    matrix = store._matrix((2**31 - 1, 4), (Listed(), Listed()), INT8, None, iso=True)
    assert matrix.offset_type.itemsize * 8 == bits
    assert matrix.orientations["csr"][0] == {32: "int", 64: "long long"}[bits]
