"""Written by ``python -m tests.helpers.operator_names``."""

# fmt: off
from semira.frontend.namespaces import SubNamespace
from semira.ops.core import UnaryOp
from typing import Any

def from_string(text: str) -> Any: ...
numpy: SubNamespace
def register_anonymous(func: Any, name: str | None = None, *, parameterized: bool = False, is_udt: bool = False) -> Any: ...
def register_new(name: str, func: Any, *, parameterized: bool = False, is_udt: bool = False, lazy: bool = False) -> Any: ...
ss: SubNamespace

_unaryops: list[UnaryOp]
(
    abs, acos, acosh, ainv, asin, asinh, atan, atanh, bnot, carg, cbrt, ceil, cimag, conj, cos,
    cosh, creal, erf, erfc, exp, exp2, expm1, floor, frexpe, frexpx, identity, isfinite, isinf,
    isnan, lgamma, lnot, log, log10, log1p, log2, minv, one, positioni, positioni1, positionj,
    positionj1, round, signum, sin, sinh, sqrt, tan, tanh, tgamma, trunc,
) = _unaryops
