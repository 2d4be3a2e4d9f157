"""Measure products of sparse matrices (SpGEMM) in FP32, compared with cuSPARSE.

A A by rows and in equal shares, masked by A and by its complement, dense products at the
positions of A's entries, a Kronecker product and a third power. Every result is checked.

Examples
--------
python -m benchmarks mxm --quick
python -m benchmarks mxm --device cuda --out bench/results/mxm.jsonl
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.cupy_calls import product_peer
from benchmarks.harness import Options, Say, Study, option
from benchmarks.studies.device_micro import rtol_in
from benchmarks.studies.spmm import Sparse, load_sparse
from benchmarks.sweep import graphs_of
from semira.base.errors import InvalidValue, OutOfMemory
from semira.bench.device import free_memory, profile_calls
from semira.bench.graphs import rows_of_entries
from semira.bench.record import Record, without_result
from semira.bench.report import checked, figure
from semira.bench.timer import Budget, clock, measure

#: Kronecker graphs, roads, meshes, web graphs, social networks.
GRAPHS = (
    "kron:10", "kron:12", "kron:14", "kron:16", "road:1000x1000,removed=0.05", "USA-road-d.NY",
    "minnesota", "delaunay_n14", "delaunay_n16", "rgg:18", "ak2010", "cnr-2000", "web-NotreDame",
    "coAuthorsDBLP", "wiki-Vote", "mycielskian12",
)  # fmt: skip

#: A few fast ones.
QUICK = ("kron:6", "grid:12x12", "road:20x20,removed=0.05")

#: Columns of the factors of a dense product.
FACTORS = 32

#: Most partial products of A A for which SciPy recomputes every entry, and for which the third
#: power is measured.
EXACT, RAISED = 1 << 20, 1 << 25

#: Most entries of a Kronecker product, and vertices of its ring.
PAIRED, RING = 1 << 27, 8

#: Dense products checked at a time.
_CHUNK = 1 << 20


def products_of(text: str) -> tuple[str, ...]:
    """Return the names of products, separated by semicolons."""
    return tuple(each.strip() for each in text.split(";"))


@dataclass(frozen=True, slots=True)
class MxmOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(GRAPHS, quick=QUICK)
    trials: int = option(3, quick=2)
    seconds: float = option(0.3, quick=0.1)
    products: Sequence[str] = option(
        (), "Products, by semicolons: A A; C<A> = A A; ...", parse=products_of
    )
    peers: bool = option(True, "Run cuSPARSE (SciPy on the host) too.")


@dataclass(frozen=True, slots=True)
class Setting:
    """A matrix on the device and on the host, and the inputs of checks.

    Attributes
    ----------
    options : MxmOptions
    sparse : Sparse
    matrix : Matrix
    blank : Record
        Fields shared by all records of this matrix.
    products : int
        Partial products of A A.
    xp : module
        NumPy, or its equivalent on the device.
    """

    options: MxmOptions
    sparse: Sparse
    matrix: Any
    blank: Record
    products: int
    xp: Any

    def times(self, vector: Any) -> Any:
        """Return the product of the matrix with an array, in FP64, without Semira."""
        xp, held = self.xp, self.sparse
        rows = rows_of_entries(xp, xp.asarray(held.indptr))
        terms = vector[xp.asarray(held.indices)] * xp.asarray(held.values)
        return xp.bincount(rows, terms, minlength=held.shape[0])

    def vector(self) -> Any:
        """Return a vector to multiply results by, with values well above 0."""
        return self.xp.asarray(_drawn(self.sparse.shape[1]))

    def is_near(self, found: Any, expected: Any) -> bool:
        """Return whether two arrays are equal up to FP32 rounding."""
        xp = self.xp
        near = xp.allclose(xp.asarray(found), xp.asarray(expected), rtol=rtol_in("FP32"), atol=0)
        return bool(near)


def _drawn(size: int) -> Any:
    return 0.5 + np.random.default_rng(3).random(size)


#: The fault of a result ("" if none), and the method of the check.
_Check = Callable[[Setting, Any], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Product:
    """One measured product.

    Attributes
    ----------
    make : callable
        (setting, pins) -> a call that returns a result.
    check : callable
    pins : tuple of dict
        One record each.
    fits : callable
        Whether the product of a setting is small enough.
    """

    make: Callable[[Setting, dict[str, Any]], Callable[[], Any]]
    check: _Check
    pins: tuple[dict[str, Any], ...] = ({},)
    fits: Callable[[Setting], bool] = lambda _setting: True


# the products ------------------------------------------------------------------------------------
def _square(setting: Setting, pins: dict[str, Any], mask: Any = None) -> Callable[[], Any]:
    import semira as gb

    matrix, n = setting.matrix, setting.matrix.nrows
    semiring = gb.semiring.plus_times["FP32"]
    result = gb.Matrix("FP32", n, n).to(setting.options.device)

    def call() -> Any:
        if mask is None:
            result(**pins) << matrix.mxm(matrix, semiring)
        else:
            result(mask, replace=True, **pins) << matrix.mxm(matrix, semiring)
        return result.wait()

    return call


def _masked(setting: Setting, pins: dict[str, Any]) -> Callable[[], Any]:
    return _square(setting, pins, setting.matrix.S)


def _complemented(setting: Setting, pins: dict[str, Any]) -> Callable[[], Any]:
    return _square(setting, pins, ~setting.matrix.S)


def _factors(setting: Setting) -> tuple[Any, Any]:
    """Return two arrays of `FACTORS` columns."""
    rng = np.random.default_rng(2)
    shape = setting.sparse.shape[0], FACTORS
    return rng.random(shape, np.float32), rng.random(shape, np.float32)


def _sampled(setting: Setting, pins: dict[str, Any]) -> Callable[[], Any]:
    import semira as gb

    device, matrix = setting.options.device, setting.matrix
    semiring = gb.semiring.plus_times["FP32"]
    with gb.device(device):
        left, right = (gb.Matrix.from_dense(each).to(device) for each in _factors(setting))
        result = gb.Matrix("FP32", matrix.nrows, matrix.ncols)

    def call() -> Any:
        result(matrix.S, replace=True, **pins) << left.mxm(right.T, semiring)
        return result.wait()

    return call


def _ring() -> tuple[Any, Any, Any]:
    """Return rows, columns and values of a ring's edges, both ways."""
    at = np.arange(RING)
    rows, columns = np.concatenate((at, at)), np.concatenate(((at + 1) % RING, (at - 1) % RING))
    return rows, columns, np.linspace(0.5, 1.5, 2 * RING, dtype=np.float32)


def _kronecker(setting: Setting, pins: dict[str, Any]) -> Callable[[], Any]:
    import semira as gb

    assert not pins
    device = setting.options.device
    with gb.device(device):
        ring = gb.Matrix.from_coo(*_ring()).to(device)
    return lambda: setting.matrix.kronecker(ring, gb.binary.times["FP32"]).new().wait()


def _power(setting: Setting, pins: dict[str, Any]) -> Callable[[], Any]:
    import semira as gb

    assert not pins
    return lambda: setting.matrix.power(3, gb.semiring.plus_times["FP32"]).new().wait()


# their checks ------------------------------------------------------------------------------------
def _times_vector(setting: Setting, result: Any, vector: Any) -> Any:
    """Return the product of a result with a vector on the host, by Semira, in FP64."""
    import semira as gb

    with gb.device(setting.options.device):
        operand = gb.Vector.from_dense(vector)
        return result.mxv(operand, gb.semiring.plus_times["FP64"]).new().to_dense(0)


#: Method of a check that multiplies a result by a vector.
_BY_VECTOR = "times a vector in FP64, (A A) x = A (A x)"


def _check_vector(
    setting: Setting, result: Any, vector: Any, expected: Any, by: str = _BY_VECTOR
) -> tuple[str, str]:
    is_right = setting.is_near(_times_vector(setting, result, vector), expected)
    return "" if is_right else "products with a vector differ", by


def _twice(setting: Setting) -> Any:
    """Return A (A x)."""
    return setting.times(setting.times(setting.vector()))


def _exact(setting: Setting, result: Any, keep: bool | None) -> tuple[str, str]:
    """Compare every entry with SciPy's; those in A alone, those outside alone, or all."""
    from scipy.sparse import csr_array

    held, n = setting.sparse, setting.sparse.shape[1]
    values = held.values.astype(np.float64)
    left = csr_array((values, held.indices, held.indptr), shape=held.shape)
    made = (left @ left).tocoo()
    keys = made.row.astype(np.int64) * n + made.col
    order = np.argsort(keys)
    keys, wanted = keys[order], made.data[order]
    if keep is not None:
        rows = np.repeat(np.arange(n), np.diff(held.indptr))
        chosen = np.isin(keys, rows * n + held.indices) == keep
        keys, wanted = keys[chosen], wanted[chosen]
    rows, columns, found = result.to_coo()
    places = rows.astype(np.int64) * n + columns
    if not np.array_equal(np.sort(places), keys):
        return "entries are at other places", "SciPy's product in FP64"
    is_near = np.allclose(found[np.argsort(places)], wanted, rtol=rtol_in("FP32"), atol=0)
    return "" if is_near else "values differ", "SciPy's product in FP64"


def _check_square(setting: Setting, result: Any) -> tuple[str, str]:
    if setting.products <= EXACT:
        return _exact(setting, result, None)
    return _check_vector(setting, result, _drawn(result.ncols), _twice(setting))


def _check_split(setting: Setting, result: Any, *, inside: bool) -> tuple[str, str]:
    """Check a product inside or outside of A with the other one: their sum is A A."""
    if setting.products <= EXACT:
        return _exact(setting, result, inside)
    common = result.ewise_mult(setting.matrix, "first").new().nvals
    if common != (result.nvals if inside else 0):
        return "entries are at other places", "the mask's places"
    other = (_complemented if inside else _masked)(setting, {})()
    found = sum(_times_vector(setting, each, _drawn(each.ncols)) for each in (result, other))
    note = "" if setting.is_near(found, _twice(setting)) else "products with a vector differ"
    return note, f"the mask's places; with what the other mask leaves, {_BY_VECTOR}"


def _check_sampled(setting: Setting, result: Any) -> tuple[str, str]:
    by = "dot products in FP64"
    xp, held = setting.xp, setting.sparse
    left, right = (xp.asarray(each, np.float64) for each in _factors(setting))
    rows, columns = rows_of_entries(xp, xp.asarray(held.indptr)), xp.asarray(held.indices)
    found_rows, found_columns, found = (xp.asarray(part) for part in result.to_coo())
    if len(found) != len(columns) or not (
        bool((found_rows == rows).all()) and bool((found_columns == columns).all())
    ):
        return "entries are at other places", by
    for first in range(0, len(columns), _CHUNK):
        part = slice(first, first + _CHUNK)
        expected = (left[rows[part]] * right[columns[part]]).sum(axis=1)
        if not setting.is_near(found[part], expected):
            return "dot products differ", by
    return "", by


def _check_kronecker(setting: Setting, result: Any) -> tuple[str, str]:
    rows, columns, values = _ring()
    if result.nvals != 2 * RING * len(setting.sparse.indices):
        return f"{result.nvals} entries", "number of entries"
    weights = _drawn(RING)
    ring = setting.xp.asarray(np.bincount(rows, values * weights[columns]))
    expected = setting.xp.outer(setting.times(setting.vector()), ring).ravel()
    vector = np.outer(_drawn(setting.sparse.shape[1]), weights).ravel()
    by = "times a vector in FP64, (A kron B) (x kron y) = A x kron B y"
    return _check_vector(setting, result, vector, expected, by)


def _check_power(setting: Setting, result: Any) -> tuple[str, str]:
    expected = setting.times(_twice(setting))
    by = "times a vector in FP64, (A A A) x = A (A (A x))"
    return _check_vector(setting, result, _drawn(result.ncols), expected, by)


#: Every product by name.
PRODUCTS: dict[str, Product] = {
    "A A": Product(_square, _check_square, ({}, {"balance": "edges"})),
    "C<A> = A A": Product(_masked, lambda s, r: _check_split(s, r, inside=True)),
    "C<!A> = A A": Product(_complemented, lambda s, r: _check_split(s, r, inside=False)),
    "C<A> = X Y'": Product(_sampled, _check_sampled),
    "A kron ring": Product(
        _kronecker, _check_kronecker, fits=lambda s: 2 * RING * len(s.sparse.indices) <= PAIRED
    ),
    "A A A": Product(_power, _check_power, fits=lambda s: s.products <= RAISED),
}


# the run -----------------------------------------------------------------------------------------
def points(options: MxmOptions, xp: Any, say: Say) -> Iterator[tuple[Sparse, Any, Any]]:
    """Yield the matrices, each with the timer of the peer's product.

    Raises
    ------
    InvalidValue
        No such product exists.
    """
    unknown = set(options.products) - PRODUCTS.keys()
    if unknown:
        raise InvalidValue(f"no product {min(unknown)!r}; choose from {', '.join(PRODUCTS)}")
    peer = product_peer(
        options.device, say, cusparse=_cusparse_product, scipy=_scipy_product, wanted=options.peers
    )
    matrices = graphs_of(options.graphs, options.data, xp, say, load_sparse)
    return ((matrix, xp, peer) for matrix in matrices)


def trial(options: MxmOptions, point: tuple[Sparse, Any, Any]) -> Iterator[Record]:
    """Measure and check the products of a matrix; one that does not fit gets a note."""
    import semira as gb

    sparse, xp, peer = point
    with gb.device(options.device):
        parts = sparse.indptr, sparse.indices, sparse.values
        matrix = gb.Matrix.from_csr(*parts, ncols=sparse.shape[1]).to(options.device)
    beforehand = gb.estimate(matrix.mxm(matrix))
    blank = Record(
        "mxm", "", sparse.dataset, "semira", options.device, dtype="FP32",
        facts={"products": beforehand.products},
    )  # fmt: skip
    setting = Setting(options, sparse, matrix, blank, beforehand.products, xp)
    for name in options.products or PRODUCTS:
        product = PRODUCTS[name]
        if not product.fits(setting):
            continue
        for pins in product.pins:
            if pins and options.device != "cuda":
                continue
            named = replace(blank, kernel=name, plan=pins)
            try:
                yield _ours(setting, product, named)
            except OutOfMemory as error:
                yield without_result(named, error)
            free_memory(xp)
        if name == "A A" and peer is not None:
            yield _theirs(setting, peer, replace(blank, kernel=name))
            free_memory(xp)


def _ours(setting: Setting, product: Product, blank: Record) -> Record:
    options = setting.options
    call = product.make(setting, blank.plan)
    result, samples = measure(lambda _trial: call(), Budget(options.trials, options.seconds))
    note, by = product.check(setting, result)
    facts = {**blank.facts, "entries": result.nvals}
    return replace(
        blank, first_s=samples.first_s, warm_s=samples.warm_s, facts=facts, verified=not note,
        verified_by=by, note=note, **profile_calls(options.device, call),
    )  # fmt: skip


# the peers ---------------------------------------------------------------------------------------
#: From a peer: a result, and seconds of calls, of the device, and of calls that sort too.
_Timed = tuple[Any, list[float], list[float] | None, list[float]]


def _scipy_product(sparse: Sparse, trials: int) -> _Timed:
    from scipy.sparse import csr_array

    left = csr_array((sparse.values, sparse.indices, sparse.indptr), shape=sparse.shape)

    def in_order() -> Any:
        made = left @ left
        made.sort_indices()
        return made

    made = left @ left
    times = [[clock(work)[1] for _ in range(trials)] for work in (lambda: left @ left, in_order)]
    return made, times[0], None, times[1]


def _cusparse_product(sparse: Sparse, trials: int) -> _Timed:
    from benchmarks.cupy_calls import run_timed, square_calls

    plain, in_order = square_calls(sparse)
    made, calls, device_s = run_timed(plain, trials)
    return made, calls, device_s, run_timed(in_order, trials)[1]


def _theirs(setting: Setting, peer: Any, blank: Record) -> Record:
    is_cuda = setting.options.device == "cuda"
    blank = replace(blank, library="cusparse" if is_cuda else "scipy", backend="")
    try:
        made, calls, device_s, ordered = peer(setting.sparse, setting.options.trials)
        found = made.astype(np.float64) @ setting.vector()
        nvals = int(made.nnz)
    except Exception as error:  # noqa: BLE001 - libraries raise anything
        return without_result(blank, error)
    is_right = setting.is_near(found, _twice(setting))
    facts = {**blank.facts, "entries": nvals, "sorted_s": statistics.median(ordered)}
    return replace(
        blank, warm_s=calls, device_s=device_s, verified=is_right, facts=facts,
        verified_by=_BY_VECTOR, note="" if is_right else "products with a vector differ",
    )  # fmt: skip


# the tables --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Compared:
    """The records of one product.

    Attributes
    ----------
    chosen : Record
        The planner's.
    shares : Record or None
        In equal shares.
    peer : Record or None
    """

    chosen: Record
    shares: Record | None
    peer: Record | None

    @property
    def times_faster(self) -> float | None:
        """The peer's whole-call time divided by ours; None unless both are right."""
        times = [
            None if each is None or each.verified is not True else each.median_s
            for each in (self.peer, self.chosen)
        ]
        return times[0] / times[1] if times[0] and times[1] else None


def compare_products(records: Sequence[Record]) -> list[Compared]:
    """Return the products of a run, each with all of its records."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record.kind == "mxm":
            found.setdefault((record.dataset.name, record.kernel), []).append(record)
    made = []
    for each in found.values():
        ours = [record for record in each if record.library == "semira"]
        chosen = next((record for record in ours if not record.plan), None)
        shares = next((record for record in ours if record.plan), None)
        peer = next((record for record in each if record.library != "semira"), None)
        if chosen is not None:
            made.append(Compared(chosen, shares, peer))
    return made


def mxm_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: whole calls of every product, of equal shares and the peer."""
    head = [
        "matrix", "product", "entries", "partial products", "entries of the result", "ms",
        "device ms", "equal shares ms", "peer ms", "peer, sorted, ms", "times faster", "verified",
    ]  # fmt: skip
    rows = []
    for one in compare_products(records):
        record = one.chosen
        is_square = "A A" in record.kernel and record.kernel != "A A A"
        rows.append(
            [
                record.dataset.name, f"`{record.kernel}`", f"{record.dataset.nvals:,}",
                f"{record.facts['products']:,}" if is_square else "-",
                f"{record.facts['entries']:,}" if "entries" in record.facts else "-",
                _ms(record.median_s), _ms(record.device_median_s),
                _ms(None if one.shares is None else one.shares.median_s), *_peer_cells(one.peer),
                figure(one.times_faster), _verified(one),
            ]
        )  # fmt: skip
    return head, rows


def _ms(seconds: float | None) -> str:
    return figure(1e3 * seconds) if seconds else "-"


def _peer_cells(peer: Record | None) -> tuple[str, str]:
    """Return the peer's times, unsorted and sorted, or why there are none."""
    if peer is None or peer.median_s is None:
        return ("-" if peer is None else peer.note), "-"
    return _ms(peer.median_s), _ms(peer.facts.get("sorted_s"))


def _verified(one: Compared) -> str:
    """Return the findings of the checks, including equal shares."""
    failed = [each for each in (one.chosen, one.shares) if each and each.verified is not True]
    return checked(failed[0] if failed else one.chosen)


def mxm_summary(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and row: geometric mean against the peer, and products it cannot hold."""
    squares = [one for one in compare_products(records) if one.chosen.kernel == "A A"]
    ratios = [one.times_faster for one in squares if one.times_faster]
    alone = [
        one.chosen.dataset.name for one in squares
        if one.chosen.verified and one.peer is not None and one.peer.median_s is None
    ]  # fmt: skip
    mean = figure(math.exp(sum(map(math.log, ratios)) / len(ratios))) if ratios else "-"
    head = ["products A A", "beside the peer", "times faster", "only ours completes"]
    return head, [[str(len(squares)), str(len(ratios)), mean, ", ".join(alone) or "-"]]


STUDY = Study(
    __doc__,
    MxmOptions,
    trial,
    {"Products of sparse matrices": mxm_table, "All products A A": mxm_summary},
    points,
)
