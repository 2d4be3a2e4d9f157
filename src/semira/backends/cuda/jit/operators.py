"""Operators and literals as CUDA C++ text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from semira.backends.cuda.jit.linking import linked_function
from semira.base.dtypes import INT64, DataType
from semira.base.errors import NotImplementedException
from semira.ops import TypedMonoid, TypedOp, TypedSemiring

#: Parameters of `apply`, by class of operator; ``T`` is the compute type.
_PARAMETERS = {
    "UnaryOp": "T a, long long i, long long j",
    "BinaryOp": "T a, T b, long long i, long long k, long long j",
    "IndexUnaryOp": "T a, long long i, long long j, Thunk t",
    "SelectOp": "T a, long long i, long long j, Thunk t",
}


def identifier(key: str) -> str:
    """Return `key` as a C++ identifier."""
    return re.sub(r"\W+", "_", key).strip("_")


def literal(dtype: DataType, value: Any) -> str:
    """Return the C++ expression of a NumPy scalar of `dtype`, exact to the bit.

    Examples
    --------
    >>> from semira.base.dtypes import FP32
    >>> literal(INT64, np.int64(-3)), literal(FP32, np.float32(np.inf))
    ('static_cast<long long>(-3ll)', '__int_as_float(2139095040)')
    """
    scalar = dtype.np_type.type(value)
    if dtype.name == "FP32":
        return f"__int_as_float({int(scalar.view(np.int32))})"
    if dtype.name == "FP64":
        return f"__longlong_as_double({int(scalar.view(np.int64))}ll)"
    if dtype.kind == "B":
        return "true" if scalar else "false"
    if dtype.kind == "U":
        return f"static_cast<{dtype.cuda_type}>({int(scalar)}ull)"
    number = int(scalar)
    text = "(-9223372036854775807ll - 1)" if number == -(2**63) else f"{number}ll"
    return f"static_cast<{dtype.cuda_type}>({text})"


def operator_name(op: TypedOp) -> str:
    """Return the name of the struct of `op`."""
    return identifier(op.key)


def operator_struct(op: TypedOp) -> str:
    """Return the struct of `op`: operand type, result type and ``apply``."""
    opclass = op.parent.opclass
    linked = linked_function(op)
    if linked is None and not op.cuda:
        raise NotImplementedException(f"{op!r} has no CUDA spelling yet; run it with device='cpu'")
    thunk = ""
    if opclass in ("IndexUnaryOp", "SelectOp"):
        by_value = getattr(op.parent, "thunk_is_value", False)
        thunk = f"  using Thunk = {(op.type if by_value else INT64).cuda_type};\n"
    flags = "\n".join(
        f"  static constexpr bool {name} = {str(flag).lower()};"
        for name, flag in (
            ("kReadsA", op.reads_a),
            ("kReadsB", op.reads_b),
            ("kAccumulates", True),
        )
    )
    declaration = "" if linked is None else linked.declaration()
    text = op.cuda if linked is None else linked.call()
    return (
        f"{declaration}struct {operator_name(op)} {{\n"
        f"  using T = {op.type.cuda_type};\n"
        f"  using R = {op.return_type.cuda_type};\n{thunk}{flags}\n"
        f"  static __device__ __forceinline__ R apply({_PARAMETERS[opclass]}) {{\n"
        f"    return static_cast<R>({text});\n"
        "  }\n};\n"
    )


def monoid_name(monoid: TypedMonoid) -> str:
    """Return the name of the struct of `monoid`."""
    return identifier(monoid.key)


def monoid_struct(monoid: TypedMonoid) -> str:
    """Return the struct of `monoid`: its operator, identity, terminal value and kind."""
    dtype = monoid.type
    has_terminal = monoid.terminal is not None
    is_sum = monoid.name == "plus" and dtype.itemsize >= 4
    identity = literal(dtype, monoid.identity)
    terminal = literal(dtype, monoid.terminal) if has_terminal else "T{}"
    return (
        f"struct {monoid_name(monoid)} {{\n"
        f"  using T = {dtype.cuda_type};\n"
        f"  static constexpr bool kIsAny = {str(monoid.is_any).lower()};\n"
        f"  static constexpr bool kHasTerminal = {str(has_terminal).lower()};\n"
        f"  static constexpr bool kIsPlainSum = {str(is_sum).lower()};\n"
        f"  static __device__ __forceinline__ T identity() {{ return {identity}; }}\n"
        f"  static __device__ __forceinline__ bool is_terminal(T x) {{ return x == {terminal}; }}\n"
        "  static __device__ __forceinline__ T apply(T a, T b) {\n"
        f"    return static_cast<T>({operator_name(monoid.op)}::apply(a, b, 0, 0, 0));\n"
        "  }\n};\n"
    )


def semiring_name(semiring: TypedSemiring, *, vector_first: bool) -> str:
    """Return the name of the struct of `semiring` in ``vxm`` or in ``mxv``."""
    side = "vxm" if vector_first else "mxv"
    return f"{identifier(semiring.key)}_{semiring.monoid.type.tag}_{side}"


def semiring_struct(semiring: TypedSemiring, *, vector_first: bool) -> str:
    """Return the struct that names a semiring's parts for the product kernels."""
    return (
        f"struct {semiring_name(semiring, vector_first=vector_first)} {{\n"
        f"  using Add = {monoid_name(semiring.monoid)};\n"
        f"  using Multiply = {operator_name(semiring.binaryop)};\n"
        f"  static constexpr bool kVectorFirst = {str(vector_first).lower()};\n"
        "};\n"
    )
