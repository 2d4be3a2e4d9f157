"""Huge objects and the extensions below ``.ss`` on the GPU against the cpu backend."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.wide_store import CheckedStore, recorded_levels

import semira as gb
from semira.backends.registry import backend_for
from semira.backends.renumbering.objects import WideObject
from semira.base.dtypes import FP64, INT64, lookup_dtype
from semira.formats import VectorArrays, coo_to_matrix
from semira.ops.registry import binary, indexunary, monoid, select

pytestmark = pytest.mark.gpu

N = 2**44
DTYPES = ("BOOL", "INT8", "UINT16", "FP32", "INT64", "FP64")


def same(program):
    """Run a program on both devices and compare every object it returns."""
    with gb.device("cuda"):
        found = program()
    with gb.device("cpu"):
        meant = program()
    for number, (mine, other) in enumerate(zip(found, meant, strict=True)):
        assert mine.dtype == other.dtype, number
        for a, b in zip(mine.to_coo(), other.to_coo(), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"result {number}")


def graph(count, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    ids = np.unique(rng.integers(0, N, 300))
    rows, cols = rng.choice(ids, count), rng.choice(ids, count)
    return gb.Matrix.from_coo(
        rows, cols, rng.integers(0, 5, count).astype(dtype), nrows=N, ncols=N, dup_op="min"
    )


def values_at(count, seed):
    rng = np.random.default_rng([seed, 7])
    ids = np.unique(np.random.default_rng(0).integers(0, N, 300))
    ones = gb.Vector.from_coo(np.unique(rng.choice(ids, count)), 1, size=N)
    return ones.apply(gb.indexunary.index, 3).new()


# the store ---------------------------------------------------------------------------------------
@pytest.fixture
def stores():
    on_device = backend_for("cuda").store
    with on_device.stream():
        yield on_device, CheckedStore()


def arrays_of(dtype):
    rng = np.random.default_rng(3)
    kind = lookup_dtype(dtype)
    keys = np.unique(rng.integers(0, 40 * 70, 200))
    values = rng.integers(0, 2, len(keys)).astype(kind.np_type)
    at = np.unique(rng.integers(0, 90, 50)).astype(np.int32)
    vector = VectorArrays.sparse(90, kind, at, rng.integers(0, 2, len(at)).astype(kind.np_type))
    matrix = coo_to_matrix(40, 70, keys // 70, keys % 70, values, dtype=kind)
    return vector, matrix, coo_to_matrix(40, 70, keys // 70, keys % 70, None, dtype=kind)


@pytest.mark.parametrize("which", [0, 1, 2], ids=["vector", "matrix", "iso matrix"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_store_moves_entries_as_numpy_does(stores, dtype, which):
    arrays, found = arrays_of(dtype)[which], []
    for store in stores:
        library = store.library
        thing = store.put(arrays)
        places = store.places(thing)
        entries = library.arange(0, len(places[0]), 3)
        some = tuple(at[entries] for at in places)
        made = [
            store.moved(thing, store.describe(thing)[0], some, entries),
            store.moved(thing, (100,), (library.arange(len(entries)),), entries),
            store.moved(thing, (100, 2), (library.arange(len(entries)), entries % 2), entries),
            store.moved(thing, (5,), (library.zeros(0, np.int64),), entries[:0]),
            store.valued(thing, library.arange(len(places[0])), INT64),
        ]
        found.append([store.get(each) for each in made])
        found[-1].append(
            [np.asarray(store.download(part)) for part in (*places, store.values(thing))]
        )
    for mine, meant in zip(found[0][:-1], found[1][:-1], strict=True):
        mine.validate()
        assert mine.nvals == meant.nvals
        np.testing.assert_array_equal(mine.entry_values(), meant.entry_values())
    for mine, meant in zip(found[0][-1], found[1][-1], strict=True):
        np.testing.assert_array_equal(mine, meant)


@pytest.mark.parametrize(
    ("op", "bound", "left"),
    [
        (indexunary["diagindex"].typed(FP64), (np.int64(-4), INT64), False),
        (select["tril"].typed(FP64), (np.int64(9), INT64), False),
        (binary["secondj"].typed(INT64), (np.int64(2), INT64), True),
    ],
)
def test_store_applies_operators_at_listed_positions(stores, op, bound, left):
    found = []
    for store in stores:
        thing = store.put(arrays_of("FP64")[1])
        places = tuple(at * 2**34 for at in store.places(thing))
        found.append(store.download(store.applied(op, thing, places, bound, left=left)))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("count", [1, 7, 2048, 2049, 600_000])
@pytest.mark.parametrize("mean", [1, 40, 10**9])
def test_store_scans_segments_of_every_length(stores, count, mean):
    rng = np.random.default_rng(count)
    values, heads = rng.integers(-9, 9, count), rng.random(count) < 1 / mean
    heads[0] = True
    store = stores[0]
    found = store.scanned(
        monoid["plus"].typed(INT64), store.upload(values), INT64, store.upload(heads)
    )
    sums = np.cumsum(values)
    starts = np.maximum.accumulate(np.where(heads, np.arange(count), 0))
    np.testing.assert_array_equal(store.download(found), sums - sums[starts] + values[starts])


@pytest.mark.parametrize("longest", [1, 2, 3, 31, 5000])
def test_store_orders_segments_of_every_length(stores, longest):
    rng = np.random.default_rng(longest)
    sizes = rng.integers(1, longest + 1, 40)
    sizes[7] = longest
    values = rng.integers(0, 9, sizes.sum()).astype(float)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    lengths = np.repeat(sizes, sizes)
    store = stores[0]
    order = store.ranked(
        binary["gt"].typed(FP64), *(store.upload(values),), FP64, store.upload(starts),
        store.upload(lengths), longest,
    )  # fmt: skip
    np.testing.assert_array_equal(store.download(order), np.lexsort((-values, starts)))


# huge objects ------------------------------------------------------------------------------------
def test_nothing_is_held_for_every_position():
    with gb.device("cuda"):
        A, v = graph(500), values_at(50, 1)
        product = A.mxv(v, "min_plus").new()
        held = sum(sum(x.memory_usage().values()) for x in (A._value, v._value, product._value))
        assert isinstance(product._value.handle_on("cuda"), WideObject)
    assert held < 2**20


@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "any_pair", "min_secondi"])
def test_products(semiring):
    def program():
        A, B, v, w = graph(900), graph(700, 1), values_at(80, 1), values_at(60, 2)
        out = w.dup()
        out(~v.S, accum="plus") << A.mxv(v, semiring)
        masked = B.dup()
        masked(A.S, replace=True) << A.mxm(B.T, semiring)
        return (
            out, masked, v.vxm(A, semiring).new(), A.mxm(B, semiring).new(mask=~B.S),
            A.mxv(v, semiring).new(mask=w.V),
        )  # fmt: skip

    same(program)


def test_everything_else():
    def program():
        A, B, v, w = graph(900), graph(700, 1), values_at(80, 1), values_at(60, 2)
        ids, few = v.to_coo()[0], gb.Vector.from_coo([0, 2], [8, 9], size=3)
        B[ids[:3], ids[3:6]] << 7
        w[ids[:3]] << few
        one = gb.Vector(int, N)
        one[:] << 2
        return (
            B, w, A.ewise_add(B, "plus").new(), A.ewise_mult(B, "firstj").new(),
            A.reduce_rowwise("plus").new(), A.select("tril", 5).new(), A.T.new(), v.diag(3),
            A.diag(-1), A[ids, :].new(), A[:, int(ids[0])].new(), v[::-1].new(),
            A.apply(gb.indexunary.colindex, 2).new(), A.select("valuegt", 2).new(),
            v.ewise_mult(one, "times").new(), v.ewise_union(w, "minus", 1, 2).new(),
        )  # fmt: skip

    same(program)


def test_a_loop_on_huge_objects():
    def program():
        A = graph(900)
        source = int(A.to_coo()[0][0])
        return (recorded_levels(A, source),)

    same(program)


# the extensions below .ss ------------------------------------------------------------------------
@pytest.mark.parametrize("order", ["rowwise", "columnwise"])
def test_extensions(order):
    less = gb.binary.register_anonymous(lambda x, y: x % 3 < y % 3)

    def program():
        made = []
        rng = np.random.default_rng(5)
        keys = np.unique(rng.integers(0, 200 * 300, 20_000))
        values = rng.permutation(len(keys))
        ordinary = gb.Matrix.from_coo(keys // 300, keys % 300, values, nrows=200, ncols=300)
        for A in (ordinary, ordinary.T.new(), graph(600, dtype=int)):
            made += [A.ss.scan("plus", order), A.ss.scan("min", order), A.ss.scan("any", order)]
            made += [A.ss.selectk("last", 2, order), A.ss.compactify("largest", 3, order)]
            made += [A.ss.compactify("smallest", None, order, reverse=True, asindex=True)]
            made += A.ss.sort("gt", order)
        # The host compares, by a Python function.
        few = gb.Matrix.from_coo(*(part[::10] for part in ordinary.to_coo()), nrows=200, ncols=300)
        for A in (few, few.T.new(), graph(600, dtype=int)):
            made += A.ss.sort(less, order)
        v = ordinary.ss.flatten(order)
        made += [v, v.ss.reshape(300, 200, order), v.ss.scan("plus"), *v.ss.sort("lt")]
        made += [gb.ss.concat(ordinary.ss.split([90, 110])), gb.ss.concat([v, v])]
        return made

    same(program)
