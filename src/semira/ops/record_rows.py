"""What operators mean on dtypes made of records and sub-arrays.

Few do: values can be moved, picked and compared for equality; positions do not look at them.
Everything else takes a Python function made an operator with ``is_udt=True``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from semira.base.dtypes import BOOL, BY_NUMPY, INT64, DataType
from semira.base.record_dtypes import flattened
from semira.ops.typed import TypedMonoid, TypedOp, TypedSemiring

if TYPE_CHECKING:
    from semira.ops.core import BinaryOp, IndexUnaryOp, Monoid, Semiring, UnaryOp

#: Operators that return an operand as it is, and which one.
_PICKS = {"first": 0, "second": 1, "any": 0}


def equality_text(dtype: np.dtype[Any], a: str, b: str) -> str:
    """Return the expression that compares two values field by field.

    Examples
    --------
    >>> equality_text(np.dtype([("x", np.int8), ("y", np.int8)]), "a", "b")
    "(a['x'] == b['x']) and (a['y'] == b['y'])"
    """
    if dtype.names is None or dtype.fields is None:
        return f"({a} == {b}).all()" if dtype.subdtype is not None else f"({a} == {b})"
    parts = (
        equality_text(dtype.fields[name][0], f"{a}[{name!r}]", f"{b}[{name!r}]")
        for name in dtype.names
    )
    return " and ".join(parts)


def cuda_equality_text(dtype: np.dtype[Any], a: str, b: str, offset: int = 0) -> str:
    """Return the CUDA expression that compares two values field by field.

    Examples
    --------
    >>> cuda_equality_text(np.dtype([("x", np.int8), ("y", np.float64, 2)]), "a", "b")
    'same_fields<signed char, 0, 1>(a, b) && same_fields<double, 1, 2>(a, b)'
    """
    if dtype.subdtype is not None:
        leaf, shape = flattened(dtype)
        count = math.prod(shape)
        if leaf.names is None:
            return f"same_fields<{BY_NUMPY[leaf].cuda_type}, {offset}, {count}>({a}, {b})"
        places = (offset + k * leaf.itemsize for k in range(count))
        return " && ".join(cuda_equality_text(leaf, a, b, place) for place in places)
    if dtype.names is None or dtype.fields is None:
        return f"same_fields<{BY_NUMPY[dtype].cuda_type}, {offset}, 1>({a}, {b})"
    fields = (dtype.fields[name] for name in dtype.names)
    return " && ".join(cuda_equality_text(part[0], a, b, offset + part[1]) for part in fields)


def unary_instance(op: UnaryOp, dtype: DataType) -> TypedOp:
    """Return a unary operator on records; KeyError if it has no meaning there."""
    if op.is_positional:
        return op.typed(INT64)  # type: ignore[no-any-return]
    if op.user is not None:
        _, result = op.rule(dtype)
        return TypedOp(op, op.name, dtype, result, str(op.python), "", reads_b=False)
    result = {"identity": dtype, "one": INT64}[op.name]
    return TypedOp(
        op, op.name, dtype, result, str(op.python), str(op.cuda), reads_a=op.reads_a, reads_b=False
    )


def binary_instance(op: BinaryOp, left: DataType, right: DataType) -> TypedOp:
    """Return a binary operator on dtypes of which at least one is made by the user."""
    if op.is_positional or op.name == "pair":
        return op.typed(INT64)  # type: ignore[no-any-return]
    if op.user is not None:
        result = op.rule(left)[1] if left is right else op.rule.of_pair(left, right)  # type: ignore[attr-defined]
        text, cuda = str(op.python), ""
    elif op.name in _PICKS:
        result = (left, right)[_PICKS[op.name]]
        text, cuda = str(op.python), str(op.cuda)
        if op.name == "any" and left is not right:
            raise KeyError(left)
    elif op.name in ("eq", "ne") and left is right:
        text = equality_text(left.array_dtype, "a", "b")
        cuda = cuda_equality_text(left.array_dtype, "a", "b")
        if op.name == "ne":
            text, cuda = f"not ({text})", f"!({cuda})"
        result = BOOL
    else:
        raise KeyError((left, right))
    return TypedOp(
        op, op.name, left, result, text, cuda, reads_a=op.reads_a, reads_b=op.reads_b,
        is_commutative=op.is_commutative and left is right,
        second_type=None if left is right else right,
    )  # fmt: skip


def indexunary_instance(op: IndexUnaryOp, dtype: DataType) -> TypedOp:
    """Return an index-unary or select operator on records."""
    text, cuda = op.python, op.cuda
    if op.user is not None:
        result = op.rule(dtype)[1]
    elif not op.reads_a:
        result = op.rule(INT64)[1]
    elif op.name in ("valueeq", "valuene"):
        text = equality_text(dtype.array_dtype, "a", "t")
        cuda = cuda_equality_text(dtype.array_dtype, "a", "t")
        if op.name == "valuene":
            text, cuda = f"not ({text})", f"!({cuda})"
        result = BOOL
    else:
        raise KeyError(dtype)
    return TypedOp(op, op.name, dtype, result, text, cuda, reads_a=op.reads_a, reads_b=False)


def monoid_instance(monoid: Monoid, left: DataType, right: DataType) -> TypedMonoid:
    """Return a monoid on records: ``any``, or one made of a user's function."""
    if left is not right:
        raise KeyError((left, right))
    if not monoid.is_any and monoid.binaryop.user is None:
        raise KeyError(left)
    if not monoid.is_any:
        monoid.rule(left)
    identity = left.scalar(0 if monoid.is_any else monoid.identity(left))
    return TypedMonoid(
        monoid, monoid.binaryop.typed(left), identity, None, monoid.is_any, monoid.is_idempotent
    )


def semiring_instance(semiring: Semiring, left: DataType, right: DataType) -> TypedSemiring:
    """Return a semiring whose multiplication takes records."""
    multiply = semiring.binaryop.typed_pair(left, right)
    if semiring.binaryop.name == "pair" and semiring.monoid.counts_pairs:
        return semiring.typed(INT64)  # type: ignore[no-any-return]
    if multiply.return_type.kind != "V" and multiply.return_type not in semiring.monoid:
        raise KeyError((left, right))
    add = semiring.monoid.typed(multiply.return_type)
    if add.type is not multiply.return_type:
        raise KeyError((left, right))
    return TypedSemiring(semiring, add, multiply)
