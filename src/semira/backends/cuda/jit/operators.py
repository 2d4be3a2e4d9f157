"""Operators as CUDA C++ text."""

from __future__ import annotations

import hashlib
import re

from semira.backends.cuda.jit.accumulation import accumulation
from semira.backends.cuda.jit.linking import linked_function
from semira.backends.cuda.jit.literals import literal
from semira.base.dtypes import INT64
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
    """Return `key` as a C++ identifier; keys with signs that are lost end in a digest.

    Examples
    --------
    >>> identifier("BinaryOp.plus[FP32]"), identifier("BinaryOp.isclose(1.0, -1)")
    ('BinaryOp_plus_FP32', 'BinaryOp_isclose_1_0_1_3e1004')
    """
    plain = re.sub(r"\W+", "_", key).strip("_")
    if re.fullmatch(r"[\w.:]+(\[\w+\])?", key):
        return plain
    return f"{plain}_{hashlib.sha256(key.encode()).hexdigest()[:6]}"


def operator_name(op: TypedOp) -> str:
    """Return the name of the struct of `op`."""
    tags = [dtype.tag for dtype in dict.fromkeys((op.type, op.type2)) if dtype.kind == "V"]
    if not tags:
        # A second operand of another dtype than the first means that one is a record.
        return identifier(op.key)
    # The name of a record is a label; the tag tells layouts apart.
    parts = [f"{op.parent.opclass}.{op.parent.key_name}", op.type.tag, op.type2.tag]
    return identifier("_".join(parts))


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
        for name, flag in (("kReadsA", op.reads_a), ("kReadsB", op.reads_b), ("kAccumulates", True))
    )
    declaration = "" if linked is None else linked.declaration()
    text = op.cuda if linked is None else linked.call()
    operands, parameters, sides = op.type.cuda_type, _PARAMETERS[opclass], ""
    if op.type2 is not op.type:
        operands = f"Mixed<{operands}, {op.type2.cuda_type}>"
        parameters = parameters.replace("T a, T b", "T x, T y")
        unused = "    [[maybe_unused]] auto"
        sides = f"{unused} a = x.first;\n{unused} b = y.second;\n"
    return (
        f"{declaration}struct {operator_name(op)} {{\n"
        f"  using T = {operands};\n"
        f"  using R = {op.return_type.cuda_type};\n{thunk}{flags}\n"
        f"  static __device__ __forceinline__ R apply({parameters}) {{\n{sides}"
        f"    return static_cast<R>({text});\n"
        "  }\n};\n"
    )


def monoid_name(monoid: TypedMonoid) -> str:
    """Return the name of the struct of `monoid`."""
    if monoid.type.kind != "V":
        return identifier(monoid.key)
    return identifier(f"Monoid.{monoid.parent.key_name}_{monoid.type.tag}")


#: `Method` of kernels/common/atomics.cuh, by name of the accumulation.
_METHODS = {
    "any": "kAny", "sum": "kSum", "least": "kLeast", "greatest": "kGreatest", "swap": "kSwap",
    "lock": "kLock",
}  # fmt: skip


def monoid_struct(monoid: TypedMonoid) -> str:
    """Return the struct of `monoid`: its operator, identity, terminal value and kind."""
    dtype = monoid.type
    has_terminal = monoid.terminal is not None
    how = accumulation(monoid)
    identity = literal(dtype, how.identity)
    stops = f"x == {literal(dtype, monoid.terminal)}" if has_terminal else "false"
    return (
        f"struct {monoid_name(monoid)} {{\n"
        f"  using T = {dtype.cuda_type};\n"
        f"  static constexpr bool kIsAny = {str(monoid.is_any).lower()};\n"
        f"  static constexpr bool kHasTerminal = {str(has_terminal).lower()};\n"
        f"  static constexpr Method kMethod = Method::{_METHODS[how.method]};\n"
        f"  static __device__ __forceinline__ T identity() {{ return {identity}; }}\n"
        f"  static __device__ __forceinline__ bool is_terminal(T x) {{ return {stops}; }}\n"
        "  static __device__ __forceinline__ T apply(T a, T b) {\n"
        f"    return static_cast<T>({operator_name(monoid.op)}::apply(a, b, 0, 0, 0));\n"
        "  }\n};\n"
    )


def semiring_name(semiring: TypedSemiring, *, vector_first: bool) -> str:
    """Return the name of the struct of `semiring` in ``vxm`` or in ``mxv``."""
    side = "vxm" if vector_first else "mxv"
    if "V" in (semiring.type.kind, semiring.type2.kind, semiring.monoid.type.kind):
        parts = monoid_name(semiring.monoid), operator_name(semiring.binaryop)
        return f"Semiring_{'_'.join(parts)}_{side}"
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
