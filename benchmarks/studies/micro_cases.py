"""Single operations, written once and run by Semira and by python-graphblas.

A case takes the library's module and the operands, and returns a complete object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.formats import MatrixArrays


@dataclass(slots=True, eq=False)
class Operands:
    """The operands of the cases, in one library.

    Attributes
    ----------
    A, B : Matrix, shape (n, n), FP64
        A graph, and the graph with other values where `A` has a small one.
    L : Matrix, shape (n, n), FP64
        Strictly lower triangle of `A`.
    pattern : Matrix, shape (n, n), BOOL
    dense, other : Vector, shape (n,), FP64
        Every entry present.
    sparse : Vector, shape (n,), FP64
        Every hundredth entry.
    rows, cols, values : ndarray
        Entries of `A` in random order.
    w, C, s : Vector of n, Matrix of n x n, and Scalar, FP64
        Outputs of `TINY_CASES`.
    """

    A: Any
    B: Any
    L: Any
    pattern: Any
    dense: Any
    other: Any
    sparse: Any
    rows: Any
    cols: Any
    values: Any
    w: Any
    C: Any
    s: Any


def make_operands(gb: Any, arrays: MatrixArrays) -> Operands:
    """Return equal operands for `gb`, Semira or python-graphblas.

    Parameters
    ----------
    gb : module
    arrays : MatrixArrays
        By rows.
    """
    n = arrays.nrows
    rows, cols, weights = arrays.to_coo()
    values = weights.astype(np.float64)

    def matrix(keep: Any, data: Any, dtype: str) -> Any:
        return gb.Matrix.from_coo(rows[keep], cols[keep], data, dtype, nrows=n, ncols=n)

    everywhere = np.ones(len(rows), bool)
    small, below = values <= np.median(values), rows > cols
    random = np.random.default_rng(0)
    order = random.permutation(len(rows))
    places = np.arange(0, n, 100 if n > 1000 else 2)
    return Operands(
        A=matrix(everywhere, values, "FP64"),
        B=matrix(small, values[small] + 1, "FP64"),
        L=matrix(below, values[below], "FP64"),
        pattern=matrix(small, True, "BOOL"),
        dense=gb.Vector.from_dense(random.random(n)),
        other=gb.Vector.from_dense(random.random(n)),
        sparse=gb.Vector.from_coo(places, random.random(len(places)), "FP64", size=n),
        rows=rows[order].astype(np.uint64),
        cols=cols[order].astype(np.uint64),
        values=values[order],
        w=gb.Vector("FP64", n),
        C=gb.Matrix("FP64", n, n),
        s=gb.Scalar("FP64"),
    )


def _assign(_gb: Any, o: Operands) -> Any:
    w = o.dense.dup()
    w(o.sparse.S) << 1.0
    return w


def _accumulate(gb: Any, o: Operands) -> Any:
    w = o.dense.dup()
    w(accum=gb.binary.plus) << o.other
    return w


def _masked_mxm(gb: Any, o: Operands) -> Any:
    made = gb.Matrix("FP64", *o.L.shape)
    made(o.L.S) << o.L.mxm(o.L.T, gb.semiring.plus_times)
    return made


def _masked_vxm(gb: Any, o: Operands) -> Any:
    made = gb.Vector("FP64", o.A.ncols)
    made(~o.sparse.S, replace=True) << o.sparse.vxm(o.A, gb.semiring.min_plus)
    return made


def _build(gb: Any, o: Operands) -> Any:
    shape = {"nrows": o.A.nrows, "ncols": o.A.ncols}
    return gb.Matrix.from_coo(o.rows, o.cols, o.values, dup_op=gb.binary.plus, **shape)


Case = Callable[[Any, Operands], Any]

#: Operation to case.
CASES: dict[str, Case] = {
    "mxv dense plus_times": lambda gb, o: o.A.mxv(o.dense, gb.semiring.plus_times).new(),
    "vxm dense plus_times": lambda gb, o: o.dense.vxm(o.A, gb.semiring.plus_times).new(),
    "mxv sparse min_plus": lambda gb, o: o.A.mxv(o.sparse, gb.semiring.min_plus).new(),
    "vxm sparse min_plus": lambda gb, o: o.sparse.vxm(o.A, gb.semiring.min_plus).new(),
    "vxm sparse masked": _masked_vxm,
    "mxm masked": _masked_mxm,
    "mxm": lambda gb, o: o.L.mxm(o.L, gb.semiring.plus_times).new(),
    "ewise_add matrix": lambda gb, o: o.A.ewise_add(o.B, gb.binary.plus).new(),
    "ewise_mult matrix": lambda gb, o: o.A.ewise_mult(o.B, gb.binary.times).new(),
    "ewise_add vector": lambda gb, o: o.dense.ewise_add(o.sparse, gb.binary.plus).new(),
    "ewise_mult vector": lambda gb, o: o.dense.ewise_mult(o.other, gb.binary.times).new(),
    "apply matrix": lambda gb, o: o.A.apply(gb.unary.ainv).new(),
    "reduce_rowwise": lambda gb, o: o.A.reduce_rowwise(gb.monoid.plus).new(),
    "reduce_columnwise": lambda gb, o: o.A.reduce_columnwise(gb.monoid.plus).new(),
    "reduce_scalar": lambda gb, o: o.A.reduce_scalar(gb.monoid.plus).new(),
    "reduce vector": lambda gb, o: o.dense.reduce(gb.monoid.plus).new(),
    "assign vector masked": _assign,
    "accumulate vector": _accumulate,
    "select tril": lambda gb, o: o.A.select(gb.select.tril).new(),
    "select value": lambda gb, o: o.A.select(gb.select.valuegt, 32.0).new(),
    "select mask": lambda gb, o: o.A.dup(mask=o.pattern.S),
    "build from_coo": _build,
    "transpose": lambda gb, o: o.A.T.new(),
}


def _tiny_mxv(gb: Any, o: Operands) -> Any:
    o.w << o.A.mxv(o.dense, gb.semiring.plus_times)
    return o.w


def _tiny_vxm_masked(gb: Any, o: Operands) -> Any:
    o.w(o.sparse.S, replace=True) << o.dense.vxm(o.A, gb.semiring.min_plus)
    return o.w


def _tiny_mxm(gb: Any, o: Operands) -> Any:
    o.C << o.A.mxm(o.B, gb.semiring.plus_times)
    return o.C


def _tiny_ewise_add(gb: Any, o: Operands) -> Any:
    o.w << o.sparse.ewise_add(o.dense, gb.binary.plus)
    return o.w


def _tiny_apply(gb: Any, o: Operands) -> Any:
    o.w << o.sparse.apply(gb.unary.ainv)
    return o.w


def _tiny_assign_masked(_gb: Any, o: Operands) -> Any:
    o.w(o.sparse.S) << 1.0
    return o.w


def _tiny_assign_all(_gb: Any, o: Operands) -> Any:
    o.w[:] << 0
    return o.w


def _tiny_reduce(_gb: Any, o: Operands) -> Any:
    o.s << o.dense.reduce()
    return o.s


def _tiny_nvals(_gb: Any, o: Operands) -> Any:
    _ = o.sparse.nvals
    return o.sparse


#: Operations that write into an existing object, to measure the cost of a call on tiny objects.
TINY_CASES: dict[str, Case] = {
    "tiny_mxv": _tiny_mxv,
    "tiny_vxm_masked": _tiny_vxm_masked,
    "tiny_mxm": _tiny_mxm,
    "tiny_ewise_add": _tiny_ewise_add,
    "tiny_apply": _tiny_apply,
    "tiny_assign_all": _tiny_assign_all,
    "tiny_assign_masked": _tiny_assign_masked,
    "tiny_reduce": _tiny_reduce,
    "tiny_nvals": _tiny_nvals,
}

#: Cases whose work grows with the square of degrees, too slow for the larger graphs.
HEAVY = ("mxm",)
