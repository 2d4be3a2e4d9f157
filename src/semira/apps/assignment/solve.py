"""The two methods: shortest augmenting paths on hosts, an auction on every device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import device_traits
from semira.apps.arrays import check_room, on_host
from semira.apps.assignment.problem import DENSE, NAME, Costs
from semira.exceptions import InvalidValue, Panic
from semira.kernels import ArrayKernel, run_loop

_PATHS = "semira.apps.assignment.kernels:paths"
_NEAREST = ArrayKernel(_PATHS, "nearest")
_BID_ONCE = ArrayKernel(_PATHS, "bid_once")
_AUGMENT = ArrayKernel(_PATHS, "augment")

_AUCTION = "semira.apps.assignment.kernels:auction"
_THREADS = 512
_BID = ArrayKernel(_AUCTION, "bid", lanes=_THREADS, threads=_THREADS)
_SETTLE = ArrayKernel(_AUCTION, "settle", threads=_THREADS)
_COMPARE = ArrayKernel(_AUCTION, "compare", lanes=32, threads=_THREADS)
_COUNT = ArrayKernel(_AUCTION, "count", lanes=32, threads=_THREADS)
_TAKE = ArrayKernel(_AUCTION, "take", lanes=32, threads=_THREADS)
_CLOSE = ArrayKernel(_AUCTION, "close", threads=_THREADS)

#: Columns in the list of a row on a GPU, as in the kernels. With 32 an auction of uniform costs
#: reads half as many rows again whole (n = 1,000 and 5,000).
_KEPT = 64

#: Columns of a chunk, as in the kernels.
_CHUNK = 256

_PROOF = "semira.apps.assignment.kernels:proof"
_PROVE = ArrayKernel(_PROOF, "prove", lanes=256)
_TIGHTEN = ArrayKernel(_PROOF, "tighten")
_JUDGE = ArrayKernel(_PROOF, "judge")

#: Dual values may miss costs by this part of the largest, and are raised so often at most.
_LOOSE, _RAISED = 1e-13, 1000

#: Costs of a row that its list keeps: 10 to 24 are as quick (n = 1,000 and 5,000, uniform).
_LISTED = 16

#: Searches leave lists alone after so many whole rows for each row.
_MANY = 1

#: Rows that get their column before Ctrl-C takes effect.
_BATCH = 256

#: Bits of the values of an auction, of the 62 that a price may have, and where it gives up.
_BITS, _LEAST_BITS = 58, 26

#: Bits that costs are rounded to at first, beside those of n + 1, and how often dual values are
#: raised then at most: it takes 10 to 30 times. What rounding decides wrongly the proof finds out.
#: At n = 1,000 an auction of 46 bits in place of 58 takes 18 % fewer bids. The best sums of uniform
#: costs lie about 1 / n**2 apart: from n = 1,000 on it takes twice the bits of n and these.
_FIRST_BITS, _FIRST_MORE, _FIRST_RAISED = 32, 12, 100

#: What costs are rounded to is at most this part of their median, which is that of a sample.
_FINE = 1e-8

#: Arrays of `Costs`.
_ARRAYS = ("values", "indptr", "indices", "x", "y")

#: The span of costs over the first eps, and by what eps is divided from phase to phase. Of 4 to
#: 2,000 and 4 to 20 they take few rounds on uniform, whole and Euclidean costs (n = 1,000, 2,000).
_FIRST, _DIVISOR = 50, 5

#: The proof holds if cost and bound are as near as this, relative to the costs: those of the sum,
#: if an auction has rounded them. What a double is rounded by.
_GAP, _EPS = 1e-9, 2.0**-53

#: The same after the first rounding. What it decides right is as near as 1e-15 (n = 1,500), but
#: costs of 1e8 with fractions that decide met a bound of 32 bits within 1e-10.
_FIRST_GAP = 1e-12

METHODS = ("auto", "paths", "auction")


class _Coarse(InvalidValue):
    """An auction would round costs too far, or its prices overflow."""


@dataclass(frozen=True, slots=True)
class Found:
    """A solved problem."""

    #: Array of int32, shape (rows,). In memory of the device.
    column_of: Any
    #: ndarray of FP64, shape (columns,). Prices of columns, negated: what a dual solution is made
    #: of.
    v: Any
    #: ndarray of FP64, shape (rows,). The least ``c - v`` of each row, so that no ``u + v`` is
    #: above a cost.
    u: Any
    #: ndarray of FP64, shape (rows,). The costs that were chosen. All of these are of the problem
    #: of the least sum.
    taken: Any
    #: One of "paths", "auction".
    method: str
    #: Rows looked at by searches, or bids.
    steps: int


def memory(rows: int, columns: int, *, method: str = "paths") -> int:
    """Return the bytes that a solution takes beside the costs.

    Examples
    --------
    >>> memory(1000, 1000)
    325000
    """
    rows, columns = min(rows, columns), max(rows, columns)
    if method == "auction":
        return 36 * columns + (76 + 12 * _KEPT) * rows
    return (12 * min(_LISTED, columns) + 44) * rows + 89 * columns


def assign(costs: Costs, method: str, device: str, xp: Any) -> Found:
    """Return an optimal assignment of all rows.

    Raises InvalidValue if there is none, or the method is unknown or not one of this device, or an
    auction that was asked for would round the costs too far. Raises OutOfMemory if it does not fit.
    """
    chosen = check_method(method, device)
    if not np.isfinite(costs.largest * costs.rows):
        raise InvalidValue(
            f"{NAME}: a cost is {costs.largest:.6g}, so that sums of {costs.rows:,} are infinite; "
            "divide the costs, or use inf for what must not be chosen"
        )
    needed = memory(costs.rows, costs.columns, method=chosen)
    what = f"{NAME}: {costs.rows:,} rows and {costs.columns:,} columns"
    check_room(needed, device, what, "release objects, or assign fewer rows", least=0)
    if chosen == "paths":
        return _solved(costs, _by_paths, chosen, device, xp)
    try:
        return _auctioned(costs, device, xp)
    except _Coarse as error:
        if method == "auction":
            raise InvalidValue(str(error)) from None
    # Paths need no integers. Those of a GPU's costs are searched by its host.
    given: dict[str, Any] = {name: on_host(getattr(costs, name)) for name in _ARRAYS}
    return _solved(replace(costs, **given), _by_paths, "paths", "cpu", np)


def _auctioned(costs: Costs, device: str, xp: Any) -> Found:
    """Return what an auction finds: of costs that are rounded for fewer bids, or else to all bits.

    Raises InvalidValue if there is no assignment, or costs are rounded too far.
    """
    if costs.forbids:
        _check_feasible(costs)
    size = int(np.ceil(np.log2(costs.columns + 1)))
    first = max(_FIRST_BITS, _FIRST_MORE + 2 * size) + size
    sample = costs.sample()
    fits = (costs.largest or 1.0) * (costs.columns + 1) < 2.0**_BITS
    whole = fits and costs.are_whole(sample, xp)
    if not whole:
        _check_fine(costs, sample, 1.0 / _scale_of(costs, _BITS))
        if first < _BITS:
            try:
                run = partial(_by_auction, first, False)
                return _solved(
                    costs, run, "auction", device, xp, most=_FIRST_RAISED, near=_FIRST_GAP
                )
            except _Coarse:
                pass
    return _solved(costs, partial(_by_auction, _BITS, whole), "auction", device, xp)


def _scale_of(costs: Costs, bits: int) -> float:
    """Return the power of two that costs are multiplied by, before they are rounded."""
    sizes = (costs.columns + 1, costs.largest or 1.0)
    exponent = bits - sum(int(np.ceil(np.log2(each))) for each in sizes)
    return float(np.ldexp(1.0, min(exponent, 1000)))


def _solved(
    costs: Costs,
    run: Any,
    method: str,
    device: str,
    xp: Any,
    *,
    most: int = _RAISED,
    near: float = _GAP,
) -> Found:
    """Return what a method finds, proven: cost and bound are as `near` as that.

    Dual values are raised `most` times at most. Raises Panic if cost and bound differ; InvalidValue
    if they do because an auction has rounded the costs.
    """
    column_of, v, coarse, steps = run(costs, device, xp)
    tolerance = max(coarse, _LOOSE * costs.largest)
    duals = _duals(costs, column_of, v, tolerance, most, device, xp)
    v, u, taken = map(on_host, (v, *duals))
    # A column that is left over may not have a dual value above 0.
    paid = v if costs.rows == costs.columns else np.minimum(v, 0.0)
    cost, bound = float(taken.sum()), float(u.sum() + paid.sum())
    scale, gap = float(abs(taken).sum()), abs(cost - bound)
    if not coarse:
        scale += float(abs(u).max() + abs(v).max())
    elif scale:
        # Beside large duals the bound is rounded, and a sum that is not the least might meet it.
        gap += _EPS * float(abs(u).sum() + abs(v).sum())
    if not gap <= near * scale:
        told = f"{NAME}: the sum {cost} is not proven: its bound is {bound}"
        if coarse:
            raise _Coarse(
                f"{told}. An auction rounds costs to a part of the largest, and those of this sum "
                "are too small beside it: use method='auto', inf for what must not be chosen, or "
                "integers"
            )
        raise Panic(told)
    return Found(column_of, v, u, taken, method, steps)


def _duals(
    costs: Costs, column_of: Any, v: Any, tolerance: float, most: int, device: str, xp: Any
) -> tuple[Any, Any]:
    """Return duals of rows and their costs; raises those of columns, `v`, until they meet."""
    rows = costs.rows
    u, taken, state = xp.empty(rows), xp.empty(rows), xp.zeros(3, xp.int64)
    given = (*costs.given, costs.sign, costs.columns, column_of, v, u, taken)
    room: Any = {
        "work": rows * costs.columns, "host_scratch": lambda: [(np.float64, costs.columns, None)],
    }  # fmt: skip
    most = min(rows + 1, most)
    run_loop(
        state,
        _PROVE.launch(rows, *given, **room),
        _TIGHTEN.launch(rows, tolerance, column_of, v, u, taken, state),
        _JUDGE.launch(1, most, state),
        device=device,
    )
    if int(state[2]) == most:
        # The last duals of columns are newer than those of rows.
        _PROVE(rows, *given, device=device, **room)
    return u, taken


def check_method(method: str, device: str) -> str:
    """Return the method that runs.

    Raises InvalidValue if it is unknown, or not one of the device.
    """
    if method not in METHODS:
        raise InvalidValue(f"{NAME}: method={method!r} is none of {', '.join(METHODS)}")
    is_gpu = device_traits(device).own_memory
    if method == "paths" and is_gpu:
        raise InvalidValue(
            f"{NAME}: method='paths' searches one path after the other, on hosts alone; use "
            "'auction', or costs on the cpu"
        )
    return method if method != "auto" else "auction" if is_gpu else "paths"


def _infeasible() -> InvalidValue:
    return InvalidValue(
        f"{NAME}: the cost matrix is infeasible: no assignment of all rows avoids costs that are "
        "infinite or absent"
    )


def _by_paths(costs: Costs, device: str, xp: Any) -> tuple[Any, Any, float, int]:
    """Return columns of rows, duals of columns, 0, and how many rows were looked at."""
    rows, columns = costs.rows, costs.columns
    count = min(_LISTED, columns)
    v = xp.zeros(columns)
    lists = xp.empty(rows * count, xp.int32), xp.empty(rows * count), xp.empty(rows)
    given = (*costs.given, costs.sign, columns, v, count, *lists)
    room = [(np.float64, columns, None), (np.float64, count, None)]
    _NEAREST(rows, *given, device=device, scratch=room, work=rows * columns)
    free, row_of = xp.arange(rows, dtype=xp.int32), xp.full(columns, -1, xp.int32)
    column_of, state = xp.full(rows, -1, xp.int32), xp.zeros(5, xp.int64)
    state[1] = rows
    shared = (
        *given, xp.empty(columns), xp.empty(count), free, row_of, column_of, xp.zeros(rows), state,
    )  # fmt: skip
    _BID_ONCE(1, *shared, device=device)
    search = (
        xp.empty(rows + columns, xp.int32), xp.full(rows + columns, -1, xp.int32),
        xp.full(rows + columns, np.inf), xp.empty(columns, xp.int32), xp.empty(columns),
        xp.zeros(columns, xp.int8), xp.empty(columns, xp.int32), xp.empty(rows),
    )  # fmt: skip
    waiting = int(state[1])
    for begin in range(0, waiting, _BATCH):
        end = min(begin + _BATCH, waiting)
        _AUGMENT(1, *shared, begin, end, int(_MANY * rows), *search, device=device)
        if state[2]:
            raise _infeasible()
    return column_of, v, 0.0, int(state[3])


def _by_auction(
    bits: int, whole: bool, costs: Costs, device: str, xp: Any
) -> tuple[Any, Any, float, int]:
    """Return columns of rows, duals of columns, how exact they are, and the number of bids."""
    while bits >= _LEAST_BITS:
        scale = 1.0 if whole else _scale_of(costs, bits)
        column_of, price, state = _auction(costs, scale, device, xp)
        if not state[10]:
            v = xp.asarray(_whole_duals(on_host(price)) * (1.0 / scale))
            coarse = 0.0 if whole else 1.0 / scale if bits == _BITS else _LOOSE * costs.largest
            return column_of, v, coarse, int(state[6])
        # Prices may rise by more than the span of costs where few may be chosen.
        bits, whole = bits - 8, False
    raise _Coarse(f"{NAME}: prices of the auction overflow: use method='auto'")


def _whole_duals(price: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return duals of columns from the prices of an auction of integers: integers as well.

    Prices are multiples of 1 / (n + 1), and miss the costs by 1 / (n + 1) at most. Their fractions
    have n + 1 values, of which n prices leave one out. If that is the greatest, by a shift, then no
    two fractions differ by n / (n + 1): rounded down, prices miss by less than 1, so by nothing.
    """
    unit = len(price) + 1
    used = np.zeros(unit, bool)
    used[price % unit] = True
    rounded = (price + (unit - 1 - int(used.argmin()))) // unit
    return np.asarray(rounded.min() - rounded, np.float64)


def _auction(costs: Costs, scale: float, device: str, xp: Any) -> tuple[Any, Any, Any]:
    """Return columns of rows, prices of columns, and the state, of one auction."""
    rows, columns = costs.rows, costs.columns
    span = int(costs.largest * scale) * (columns + 1)
    price, words = xp.zeros(columns, xp.int64), xp.zeros(columns, xp.int64)
    offer, mine = xp.empty(rows, xp.int64), xp.empty(rows, xp.int64)
    owner, column_of = xp.full(columns, -1, xp.int32), xp.full(rows, -1, xp.int32)
    queue, target = xp.empty(2 * rows, xp.int32), xp.empty(rows, xp.int32)
    eps, others = max(span // _FIRST, 1), columns - rows
    state = xp.asarray(np.array([0, 0, rows, eps, 0, 0, 0, 1, 0, 0, 0, others, 0]))
    mask = (1 << rows.bit_length()) - 1
    bids = [
        _BID.launch(
            rows, rows, *costs.given, -costs.sign * scale, columns, price, owner, column_of, queue,
            target, offer, mine, words, mask, state, *_lists(rows, device, xp),
            host_scratch=lambda: [(np.int64, columns, None)],
        ),
        _SETTLE.launch(
            rows, rows, price, owner, column_of, queue, target, offer, mine, words, state
        ),
    ]  # fmt: skip
    if others:
        chunks = -(-columns // _CHUNK)
        least, fitting = xp.empty(chunks, xp.int64), xp.empty(chunks, xp.int64)
        bids += [
            _COMPARE.launch(chunks, columns, price, owner, least, state),
            _COUNT.launch(chunks, chunks, columns, price, owner, least, fitting, state),
            _TAKE.launch(
                chunks, rows, chunks, columns, price, owner, column_of, queue, least, fitting, state
            ),
        ]
    last = _CLOSE.launch(rows, rows, columns, _DIVISOR, queue, target, words, state)
    run_loop(state, *bids, last, device=device)
    return column_of, price, on_host(state)


def _lists(rows: int, device: str, xp: Any) -> tuple[Any, ...]:
    """Return the lists of a GPU: best columns of rows, what they are worth, and an edge.

    Below the edge are all other columns. Last comes what each row bid for is worth.
    """
    kept = _KEPT if device_traits(device).own_memory else 0
    listed, worths = xp.full(rows * kept + 1, -1, xp.int32), xp.zeros(rows * kept + 1, xp.int64)
    edges = xp.full(2 * rows * (kept > 0) + 1, 2**62, xp.int64)
    return listed, worths, edges, xp.empty(rows, xp.int64)


def _check_fine(costs: Costs, sample: NDArray[np.float64], coarse: float) -> None:
    """Check that what costs are rounded to is little beside most of them.

    Raises InvalidValue if it is not.
    """
    if costs.rank:
        return
    sample = abs(sample)
    sample = sample[np.isfinite(sample) & (sample > 0)]
    if len(sample) and coarse > _FINE * float(np.median(sample)):
        raise _Coarse(
            f"{NAME}: an auction rounds costs to {coarse:.3g}, as one is {costs.largest:.6g}, and "
            f"half of them are below {float(np.median(sample)):.3g}: use method='auto', inf for "
            "what must not be chosen, or integers"
        )


def _check_feasible(costs: Costs) -> None:
    """Check that all rows can be assigned: an auction without an end would not tell.

    Raises InvalidValue if they cannot.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    indptr, indices, values = map(on_host, (costs.indptr, costs.indices, costs.values))
    shape = costs.rows, costs.columns
    if costs.mode == DENSE:
        graph = csr_array(np.isfinite(values[: shape[0] * shape[1]].reshape(shape)))
    else:
        graph = csr_array((np.isfinite(values), indices, indptr), shape, copy=True)
        graph.eliminate_zeros()
    if (maximum_bipartite_matching(graph, "column") < 0).any():
        raise _infeasible()
