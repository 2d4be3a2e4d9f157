"""The operations other than products, one function each, on `Entries`.

Every function takes the statement, the operands (already transposed) and the output's
entries before the statement, and returns the result before accumulation and mask.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from semira.backends.interpreter import MaskData
from semira.backends.reference.objects import ENTRY_BYTES, Entries, Position
from semira.base.dtypes import BOOL
from semira.base.errors import EmptyObject, IndexOutOfBound, OutOfMemory, Panic
from semira.base.memory import is_free, require_bytes
from semira.contract import PRODUCTS, Statement
from semira.formats.index import WIDE
from semira.ops import TypedSemiring
from semira.ops.meaning import cast_scalar, mode_of


def _value(scalar: Entries) -> Any:
    if () not in scalar.items:
        raise EmptyObject("an empty Scalar was used where a value is needed")
    return scalar.items[()]


def _place(at: Position) -> tuple[int, int]:
    """Return the i and j an operator sees: a vector's entries are in column 0."""
    padded = (*at, 0, 0)
    return padded[0], padded[1]


def product(statement: Statement, args: list[Any], out: Entries) -> Entries:
    """mxv, vxm and mxm."""
    return fold(statement.op, statement.operator, args[0], args[1], out.shape)


def ewise_mult(statement: Statement, args: list[Any], _out: Entries) -> Entries:
    """Intersection."""
    op = statement.operator
    left = args[0].operand(op.type, is_read=op.reads_a)
    right = args[1].operand(op.type2, is_read=op.reads_b)
    items = {
        at: op.meaning(value, right.items[at], _place(at)[0], _place(at)[1], _place(at)[1])
        for at, value in left.sorted()
        if at in right.items
    }
    return Entries(left.shape, op.return_type, items)


def ewise_add(statement: Statement, args: list[Any], out: Entries) -> Entries:
    """Union; an entry of one side only passes through, cast to the result's dtype."""
    both = ewise_mult(statement, args, out)
    items = dict(both.items)
    for side in args[:2]:
        alone = side.cast(both.dtype).items
        items |= {at: value for at, value in alone.items() if at not in both.items}
    return Entries(both.shape, both.dtype, items)


def ewise_union(statement: Statement, args: list[Any], out: Entries) -> Entries:
    """Union; a missing entry takes its side's default."""
    left, right, left_default, right_default = args[:4]
    op = statement.operator
    positions = left.items.keys() | right.items.keys()
    filled = []
    for side, default, dtype, is_read in (
        (left, left_default, op.type, op.reads_a),
        (right, right_default, op.type2, op.reads_b),
    ):
        held, missing = side.operand(dtype, is_read=is_read), _value(default)
        if is_read:
            missing = cast_scalar(missing, dtype.array_dtype)
        items = {at: held.items.get(at, missing) for at in positions}
        filled.append(Entries(side.shape, held.dtype, items))
    return ewise_mult(statement, filled, out)


def apply(statement: Statement, args: list[Any], _out: Entries) -> Entries:
    """Unary; binary with a bound scalar (parameter ``side``); index-unary with a thunk."""
    op, x, opclass = statement.operator, args[0], statement.operator.parent.opclass
    is_left = opclass == "BinaryOp" and statement.param("side") == "left"
    dtype, is_read, b = op.type, op.reads_a, None
    if is_left:
        x, b, dtype, is_read = args[1], _bound(op, args[0], first=True), op.type2, op.reads_b
    elif opclass != "UnaryOp":
        b = _bound(op, args[1], first=False) if opclass == "BinaryOp" else _thunk(op, args[1])

    def call(a: Any, i: int, j: int) -> Any:
        if opclass == "BinaryOp":
            return op.meaning(*((b, a) if is_left else (a, b)), i, j, j)
        return op.meaning(a, i, j) if opclass == "UnaryOp" else op.meaning(a, i, j, b)

    x = x.operand(dtype, is_read=is_read)
    items = {at: call(value, *_place(at)) for at, value in x.sorted()}
    return Entries(x.shape, op.return_type, items)


def _bound(op: Any, scalar: Entries, *, first: bool) -> Any:
    """Return the bound operand of a binary operator; as it is if the operator ignores it."""
    value = _value(scalar)
    if not (op.reads_a if first else op.reads_b):
        return value
    return cast_scalar(value, (op.type if first else op.type2).array_dtype)


def _thunk(op: Any, scalar: Entries) -> Any:
    target = op.type.array_dtype if op.parent.thunk_is_value else np.dtype(np.int64)
    return cast_scalar(_value(scalar), target)


def select(statement: Statement, args: list[Any], _out: Entries) -> Entries:
    """Keep the entries for which the operator is true."""
    op, x, thunk = statement.operator, args[0], _thunk(statement.operator, args[1])
    seen = x.operand(op.type, is_read=op.reads_a)
    items = {
        at: value for at, value in x.items.items() if op.meaning(seen.items[at], *_place(at), thunk)
    }
    return Entries(x.shape, x.dtype, items)


def select_k(statement: Statement, args: list[Any], _out: Entries) -> Entries:
    """Keep the first k entries of each row, or the k largest."""
    x, k = args[0], statement.param("k")
    items: dict[Position, Any] = {}
    for i, row in by_row(x).items():
        # NaN differs from itself, and is sorted last.
        order = (
            sorted(row, key=lambda entry: (entry[1] == entry[1], entry[1]), reverse=True)
            if statement.param("largest")
            else row
        )
        items |= {(i, j): value for j, value in order[:k]}
    return Entries(x.shape, x.dtype, items)


def reduce_rows(statement: Statement, args: list[Any], out: Entries) -> Entries:
    """w_i = the monoid over row i; rows without entries stay empty."""
    monoid = statement.operator
    add = monoid.op.meaning
    items: dict[Position, Any] = {}
    for (i, _), value in args[0].cast(monoid.type).sorted():
        items[(i,)] = add(items[(i,)], value, 0, 0, 0) if (i,) in items else value
    return Entries(out.shape, monoid.type, items)


def mode_rows(statement: Statement, args: list[Any], out: Entries) -> Entries:
    """w_i = the key u_j of which row i has the largest sum of A_ij."""
    monoid, keys, others = statement.operator, args[1], args[2:]
    preferred = others.pop(0).items if statement.param("prefers") else {}
    seed = _value(others.pop(0)) if statement.param("draws") else None
    sums: dict[int, dict[int, Any]] = {}
    counts = bool(statement.param("counts"))
    matrix = args[0] if counts else args[0].cast(monoid.type)
    for (i, j), entry in matrix.sorted():
        if (j,) in keys.items:
            value = monoid.type.scalar(1) if counts else entry
            row, key = sums.setdefault(i, {}), int(keys.items[(j,)])
            row[key] = monoid.op.meaning(row[key], value, 0, 0, 0) if key in row else value
    items: dict[Position, Any] = {
        (i,): keys.dtype.scalar(mode_of(row, i, preferred.get((i,)), seed))
        for i, row in sums.items()
    }
    return Entries(out.shape, keys.dtype, items)


def reduce(statement: Statement, args: list[Any], _out: Entries) -> Entries:
    """Fold all entries; empty, or the identity if asked, without entries."""
    monoid = statement.operator
    add = monoid.op.meaning
    total = None
    for _, value in args[0].cast(monoid.type).sorted():
        total = value if total is None else add(total, value, 0, 0, 0)
    if total is None and statement.param("identity"):
        total = monoid.identity
    return Entries((), monoid.type, {} if total is None else {(): total})


def copy(_statement: Statement, args: list[Any], _out: Entries) -> Entries:
    """Return the operand itself; `finish` casts."""
    operand: Entries = args[0]
    return operand


#: For one axis, the positions that matter; None if all of them do.
Touched = set[int] | None


def _positions(region: Any, length: int, touched: Touched) -> list[tuple[int, int]]:
    """Return (number in the region, position) of what a region names along an axis.

    Of a whole axis or a range only the positions in `touched`: it may have 2**60 of them. Raises
    OutOfMemory if all of 2**31 positions or more matter, or more than fit.
    """
    if region is not None and not isinstance(region, tuple):
        return [(number, int(position)) for number, position in enumerate(region)]
    named = range(length) if region is None else range(*region)
    if touched is not None:
        return [(named.index(position), position) for position in touched if position in named]
    if len(named) >= WIDE:
        raise OutOfMemory(
            f"a value for {len(named)} positions along one axis (limit: fewer than 2**31); "
            "name the positions, or use a mask that lists them"
        )
    _require(len(named))
    return list(enumerate(named))


def _require(count: int) -> None:
    require_bytes(
        count * ENTRY_BYTES,
        f"a value at {count} positions",
        "write it under a mask that names fewer, or use the device 'cpu'",
    )


Axes = list[list[tuple[int, int]]]


def _axes(regions: list[Any], shape: Position, touched: list[Touched]) -> Axes:
    parts = zip(regions, shape, touched, strict=True)
    return [_positions(region, length, wanted) for region, length, wanted in parts]


def _touched(
    statement: Statement, args: list[Any], out: Entries, mask: MaskData | None
) -> list[Touched]:
    """Return the positions along each axis of the output that an assign can change."""
    touched: list[Touched] = [{at[axis] for at in out.items} for axis in range(len(out.shape))]
    x, regions, kept = args[0], args[1:], _kept_axes(statement)
    source, inside = x.items, True
    if not x.shape:
        if x.value is None:
            return touched
        if mask is None or mask.complement:
            return [None] * len(touched)
        source, inside = mask.data.items, bool(statement.param("submask"))
    for axis, positions in enumerate(touched):
        if positions is None or (inside and axis not in kept):
            continue
        region = regions[axis]
        named = range(*region) if inside and isinstance(region, tuple) else None
        if inside and region is not None and named is None:
            continue
        numbers = {at[kept.index(axis) if inside else axis] for at in source}
        positions.update(numbers if named is None else (named[number] for number in numbers))
    return touched


def _kept_axes(statement: Statement) -> list[int]:
    return [axis for axis, spec in enumerate(statement.indices) if spec.kind != "one"]


def _region(statement: Statement, axes: Axes) -> list[tuple[Position, Position]]:
    """Return (position in the object, position in the region) for every pair of indices.

    Axes indexed by a single position are missing from the position in the region.
    """
    kept = _kept_axes(statement)
    _require(math.prod(map(len, axes)))
    pairs: list[tuple[Position, Position]] = [((), ())]
    for axis, positions in enumerate(axes):
        pairs = [
            ((*at, position), inside + ((number,) if axis in kept else ()))
            for at, inside in pairs
            for number, position in positions
        ]
    return pairs


def extract(statement: Statement, args: list[Any], out: Entries) -> Entries:
    """Return the region of the operand named by the indices."""
    x = args[0]
    touched: list[Touched] = [{at[axis] for at in x.items} for axis in range(len(x.shape))]
    region = _region(statement, _axes(args[1:], x.shape, touched))
    items = {inside: x.items[at] for at, inside in region if at in x.items}
    return Entries(out.shape, x.dtype, items)


def assign(
    statement: Statement, args: list[Any], out: Entries, mask: MaskData | None = None
) -> Entries:
    """Overwrite a region of the output with the operand, or accumulate into it.

    Entries of the region that the operand lacks are deleted unless there is an accumulator.
    """
    x, accum = args[0], statement.accum
    if accum is None:
        x = x.cast(out.dtype)  # all values at once
    result = dict(out.items)
    for at, inside in region_of(statement, args, out, mask):
        given = x.value if not x.shape else x.items.get(inside)
        if given is None:
            if accum is None:
                result.pop(at, None)
        else:
            result[at] = accumulate(accum, out.items.get(at), given, out)
    return Entries(out.shape, out.dtype, result)


def accumulate(accum: Any, before: Any, given: Any, out: Entries) -> Any:
    """Return accum(before, given), or `given` if there is no accumulator or nothing before."""
    if accum is not None and before is not None:
        left = cast_scalar(before, accum.type.array_dtype)
        right = cast_scalar(given, accum.type.array_dtype)
        given = accum.meaning(left, right, 0, 0, 0)
    return cast_scalar(given, out.dtype.array_dtype)


def gather(_statement: Statement, args: list[Any], out: Entries) -> Entries:
    """w_i = u[index_i], wherever index has an entry and u has one there."""
    u, index = args[0], args[1]
    items = {}
    for at, position in index.items.items():
        _check_position(int(position), u.shape[0])
        if (int(position),) in u.items:
            items[at] = u.items[(int(position),)]
    return Entries(out.shape, u.dtype, items)


def scatter(statement: Statement, args: list[Any], out: Entries) -> Entries:
    """w[index_i] = u_i; several values for one position are folded in index order."""
    u, index, dup = args[0], args[1], statement.param("dup")
    u = u.cast(dup.type)
    items: dict[Position, Any] = {}
    for at, position in index.sorted():
        target = (int(position),)
        _check_position(target[0], out.shape[0])
        if at in u.items:
            value = u.items[at]
            items[target] = (
                dup.op.meaning(items[target], value, 0, 0, 0) if target in items else value
            )
    return Entries(out.shape, dup.type, items)


def _check_position(position: int, size: int, what: str = "gather / scatter index") -> None:
    if not 0 <= position < size:
        raise IndexOutOfBound(f"{what} {position} is outside [0, {size})")


def nvals(_statement: Statement, args: list[Any], out: Entries) -> Entries:
    """Count the entries."""
    return Entries((), out.dtype, {(): out.dtype.scalar(len(args[0].items))})


def diag(statement: Statement, args: list[Any], out: Entries) -> Entries:
    """Put a vector on the k-th diagonal of a matrix, or take that of a matrix."""
    x, k = args[0], statement.param("k", 0)
    down, right = max(-k, 0), max(k, 0)
    items: dict[Position, Any]
    if statement.param("by_value"):
        for value in x.items.values():
            _check_position(int(value), out.shape[1], "one_hot value")
        items = {(i, int(value)): True for (i,), value in x.items.items()}
        return Entries(out.shape, BOOL, items)
    if len(x.shape) == 1:
        items = {(i + down, i + right): value for (i,), value in x.items.items()}
    else:
        items = {(i - down,): value for (i, j), value in x.items.items() if j - i == k}
    return Entries(out.shape, x.dtype, items)


#: By name; each function has the name of what it means, but products.
_OPERATIONS: dict[str, Callable[[Statement, list[Any], Entries], Entries]] = {
    **dict.fromkeys(PRODUCTS, product),
    **{
        meaning.__name__: meaning
        for meaning in (
            ewise_add, ewise_mult, ewise_union, apply, select, select_k, reduce_rows, mode_rows,
            reduce, copy, extract, gather, scatter, nvals, diag,
        )
    },
}  # fmt: skip


def run(statement: Statement, args: list[Any], out: Entries) -> Entries:
    """Return the result of one statement before accumulation and mask."""
    if statement.op not in _OPERATIONS:
        raise Panic(f"the reference backend does not know {statement.op!r}")
    return _OPERATIONS[statement.op](statement, args, out)


def region_of(
    statement: Statement, args: list[Any], out: Entries, mask: MaskData | None
) -> list[tuple[Position, Position]]:
    """Return, for an assign, each position it can change with its position in the region."""
    touched = _touched(statement, args, out, mask)
    return _region(statement, _axes(args[1:], out.shape, touched))


#: One multiplication: where its result goes, both values, and the positions i, k, j.
Meeting = tuple[Position, Any, Any, int, int, int]


def by_row(matrix: Entries) -> dict[int, list[tuple[int, Any]]]:
    """Return the entries of each non-empty row, columns increasing."""
    rows: dict[int, list[tuple[int, Any]]] = {}
    for (i, j), value in matrix.sorted():
        rows.setdefault(i, []).append((j, value))
    return rows


def meetings_mxv(matrix: Entries, vector: Entries) -> Iterator[Meeting]:
    """Yield A_ik meeting u_k."""
    for (i, k), value in matrix.sorted():
        if (k,) in vector.items:
            yield (i,), value, vector.items[(k,)], i, k, 0


def meetings_vxm(vector: Entries, matrix: Entries) -> Iterator[Meeting]:
    """Yield u_k meeting A_kj."""
    for (k, j), value in matrix.sorted():
        if (k,) in vector.items:
            yield (j,), vector.items[(k,)], value, 0, k, j


def meetings_mxm(left: Entries, right: Entries) -> Iterator[Meeting]:
    """Yield A_ik meeting B_kj."""
    rows = by_row(right)
    for (i, k), value in left.sorted():
        for j, other in rows.get(k, ()):
            yield (i, j), value, other, i, k, j


MEETINGS = {"mxv": meetings_mxv, "vxm": meetings_vxm, "mxm": meetings_mxm}


def _check_least(left: Entries, right: Entries) -> None:
    """Refuse a product that cannot fit, by a lower bound of its entries.

    A row of the result has at least as many entries as the longest row of `right` that it meets.
    Raises OutOfMemory if the lower bound does not fit.
    """
    if is_free(len(left.items) * len(right.items) * ENTRY_BYTES):
        return
    lengths = Counter(k for k, _ in right.items)
    longest: Counter[int] = Counter()
    for i, k in left.items:
        longest[i] = max(longest[i], lengths[k])
    least = longest.total()
    require_bytes(
        least * ENTRY_BYTES,
        f"a product with at least {least} entries",
        "use smaller operands, or the device 'cpu'",
    )


def fold(
    op: str, semiring: TypedSemiring, left: Entries, right: Entries, shape: Position
) -> Entries:
    """Return the product: multiply every meeting pair and add up what lands on one position.

    ``any`` keeps the first in index order, one of the admissible values.
    """
    multiply, add = semiring.binaryop.meaning, semiring.monoid.op.meaning
    op_typed = semiring.binaryop
    left = left.operand(op_typed.type, is_read=op_typed.reads_a)
    right = right.operand(op_typed.type2, is_read=op_typed.reads_b)
    if op == "mxm":
        _check_least(left, right)
    items: dict[Position, Any] = {}
    for at, a, b, i, k, j in MEETINGS[op](left, right):
        product, before = multiply(a, b, i, k, j), items.get(at)
        items[at] = product if before is None else add(before, product, 0, 0, 0)
    return Entries(shape, semiring.return_type, items)
