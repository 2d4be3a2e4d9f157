"""Ways in which the lists of a dot product meet, on the GPU: each pinned, and chosen by count."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira import monoid, semiring
from semira.algorithms import triangle_count
from semira.backends.registry import backend_for
from semira.contract import INTERSECTIONS, alias_values
from semira.exceptions import PlanError
from semira.methods.sets import cuda as sets

pytestmark = pytest.mark.gpu

WAYS = [None, *INTERSECTIONS, *alias_values("intersect")]

#: Those that ignore the left operand's values come first: bits serve them alone.
IGNORING = [
    ("plus_pair", "INT64"), ("any_pair", "BOOL"), ("min_second", "FP32"), ("plus_second", "INT8"),
    ("min_firsti", "INT64"), ("max_secondi1", "INT32"),
]  # fmt: skip
READING = [
    ("plus_times", "FP64"),
    ("lor_land", "BOOL"),
    ("min_plus", "INT32"),
    ("any_first", "INT16"),
]


def lines(lengths: list[int], ncols: int, seed: int, dtype: str = "INT64") -> gb.Matrix:
    """Return a matrix whose rows have these lengths."""
    rng = np.random.default_rng(seed)
    columns = [np.sort(rng.choice(ncols, min(length, ncols), replace=False)) for length in lengths]
    rows = np.repeat(np.arange(len(lengths)), [len(each) for each in columns])
    values = rng.integers(0, 4, len(rows))
    shape = {"nrows": len(lengths), "ncols": ncols}
    made = gb.Matrix.from_coo(rows, np.concatenate(columns), values, dtype="INT64", **shape)
    return made.dup(dtype).to("cuda")


#: Rows of the left operand, of the right one's transpose, and of the mask; and columns.
SHAPES = {
    "short lists": ([3] * 60, [4] * 50, [7] * 60, 12),
    "rows without entries": ([0, 5, 0, 0, 40] * 9, [0, 6, 30, 0] * 12, [0, 20, 20, 20, 0] * 9, 64),
    "one is much longer": ([2] * 40, [300] * 30, [9] * 40, 400),
    "the other is much longer": ([300] * 30, [2] * 40, [9] * 30, 400),
    "rows that many entries share": ([60, 1, 90] * 5, [50, 70] * 20, [40] * 15, 300),
    "a hub": ([900, *[5] * 40], [900, *[8] * 60], [61, *[3] * 40], 1000),
    "both are long": ([500] * 6, [700] * 7, [7] * 6, 3000),
    "longer than a warp's table": ([1500, 500] * 3, [400] * 40, [40] * 6, 40_000),
    "every multiple of four": (list(range(34)), list(range(33, -1, -1)), [34] * 34, 40),
}


def product_of(shape: str, name: str, dtype: str, *, by_value: bool = False):
    """Return what makes a masked product on a device, without values to add up wrongly."""
    left, right, opened, ncols = SHAPES[shape]
    a, bt = lines(left, ncols, 1, dtype), lines(right, ncols, 2, dtype)
    mask = lines(opened, len(right), 3)
    ring = getattr(semiring, name)[dtype]

    def make(device: str, **pins):
        here, there, opening = (matrix.dup().to(device) for matrix in (a, bt, mask))
        which = opening.V if by_value else opening.S
        return here.mxm(there.T, ring).new(mask=which, **pins)

    return make


def check(make, intersect: str | None, *, is_any: bool = False) -> None:
    expected = make("reference")
    found = make("cuda", intersect=intersect).to("reference")
    if is_any:
        # Whichever of the values came first.
        assert found.isequal(expected, check_dtype=True) or found.nvals == expected.nvals
    else:
        assert found.isclose(expected, rel_tol=1e-6)
    assert found.nvals == expected.nvals


@pytest.fixture(params=["by their lengths", "by entry"])
def way(request, monkeypatch) -> str:
    """Sets, if they are pinned: by rows where these are long, or in the memory of warps always."""
    if request.param == "by entry":
        monkeypatch.setattr(sets, "SHORT_LINES", 10**9)
    return request.param


@every("intersect", WAYS)
@every("shape", SHAPES)
def test_pairs_of_every_length(way, shape, intersect):
    check(product_of(shape, "plus_pair", "INT64"), intersect)


@every("intersect", WAYS)
@every(("name", "dtype"), [*IGNORING, *READING])
@every("shape", ["rows that many entries share", "a hub", "rows without entries"])
def test_every_semiring(way, shape, name, dtype, intersect):
    if intersect == "bitmap" and (name, dtype) in READING:
        with pytest.raises(PlanError, match="bits say that an entry is there, not where"):
            product_of(shape, name, dtype)("cuda", intersect=intersect)
        return
    check(product_of(shape, name, dtype), intersect, is_any=name == "any_first")


@pytest.mark.parametrize("intersect", WAYS)
def test_a_mask_by_value(intersect):
    make = product_of("rows that many entries share", "plus_pair", "INT64", by_value=True)
    check(make, intersect)


@every("intersect", WAYS)
@every("total", ["plus", "max"])
@every("shape", SHAPES)
def test_sums(shape, total, intersect):
    """Of the products' own monoid, which takes shares of them, and of another one."""
    left, right, opened, ncols = SHAPES[shape]
    a, bt, mask = lines(left, ncols, 1), lines(right, ncols, 2), lines(opened, len(right), 3)
    product = product_of(shape, "plus_pair", "INT64")("reference")
    found = gb.Scalar("INT64")

    def step() -> None:
        made = a.mxm(bt.T, semiring.plus_pair).new(mask=mask.S, intersect=intersect)
        found << made.reduce_scalar(getattr(monoid, total))

    for _ in range(2):
        done = gb.repeat(step, max_iterations=1)
        assert found.value == product.reduce_scalar(getattr(monoid, total)).value
        assert [row.produced for row in done.trace] == [product.nvals]


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("ncols", [30_000, 100_000])
def test_bits_of_a_warp_and_of_a_block(monkeypatch, ncols, by_rows):
    """Where columns are many, rows are in blocks; there is a limit to what a block has."""
    if by_rows:
        monkeypatch.setattr(sets, "SHORT_LINES", -1)
        monkeypatch.setattr(sets, "WARP_BYTES", 0)
    a, mask = lines([70, 0, 5000, 3, 1, 2200], ncols, 1), lines([6, 6, 6, 1, 6, 6], 6, 2)
    expected = a.dup().to("cpu")
    expected = expected.mxm(expected.T, semiring.plus_pair).new(mask=mask.dup().to("cpu").S)
    for intersect in (None, "bitmap", "hash"):
        product = a.mxm(a.T, semiring.plus_pair)
        found = product.new(mask=mask.S, intersect=intersect)
        assert found.to("cpu").isequal(expected)


@pytest.mark.parametrize(("ncols", "intersect", "kernel"), [
    (40_000, "bitmap", "t_dots0"), (40_000, "hash", "t_dots_by_entry"),
    (40_000, None, "t_dots_by_entry"), (30_000, "bitmap", "t_dots_by_entry"),
])  # fmt: skip
def test_pinned_bits_are_taken_however_short_rows_are(ncols, intersect, kernel):
    """A warp has bits for 32,768 columns; beyond, a block has them."""
    a, mask = lines([20, 20, 20, 20], ncols, 1), lines([4, 4, 4, 4], 4, 2)
    with backend_for("cuda").profiled() as profile:
        found = a.mxm(a.T, semiring.plus_pair).new(mask=mask.S, intersect=intersect)
        found.wait()
    assert kernel in {use.name.rpartition(":")[2] for use in profile.kernels()}
    here, over = a.dup().to("cpu"), mask.dup().to("cpu")
    assert found.to("cpu").isequal(here.mxm(here.T, semiring.plus_pair).new(mask=over.S))


def test_bits_have_a_limit(monkeypatch):
    monkeypatch.setattr(sets, "SHORT_LINES", -1)
    a = lines([3, 4], 1_000_000, 1)
    with pytest.raises(PlanError, match="needs 125000 bytes of shared memory for a row of 1000000"):
        a.mxm(a.T, semiring.plus_pair).new(mask=lines([2, 2], 2, 2).S, intersect="bitmap")


GRAPHS = {
    "nothing": nx.empty_graph(5),
    "a star": nx.star_graph(200),
    "stars that touch": nx.compose(nx.complete_graph(9), nx.star_graph(90)),
    "complete": nx.complete_graph(70),
    "a club": nx.karate_club_graph(),
    "hubs": nx.barabasi_albert_graph(400, 12, seed=1),
    "cliques and isolated vertices": nx.disjoint_union(nx.caveman_graph(6, 11), nx.empty_graph(40)),
    "without a triangle": nx.mycielski_graph(8),
}


@every("intersect", WAYS)
@every("order", ["degree", "natural"])
@every("graph", GRAPHS)
def test_triangles(graph, order, intersect):
    there = GRAPHS[graph]
    number = {node: at for at, node in enumerate(there)}
    edges = np.array([(number[u], number[v]) for u, v in there.edges if u != v]).reshape(-1, 2)
    rows, columns = edges.T
    n = len(there)
    A = gb.Matrix.from_coo(
        np.concatenate([rows, columns]), np.concatenate([columns, rows]), True, nrows=n, ncols=n
    ).to("cuda")
    expected = sum(nx.triangles(nx.Graph(there)).values()) // 3
    for _ in range(2):
        found = triangle_count(A, symmetric=True, order=order, intersect=intersect)
        assert found.count == expected
