"""The namespace ``semira.unary``: operators by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semira.frontend.namespaces import install
from semira.frontend.user_operators import function_registrars
from semira.ops.registry import namespace_from_string

if TYPE_CHECKING:
    from semira.frontend.namespaces import SubNamespace
    from semira.ops import UnaryOp

from_string = namespace_from_string("unary")
register_new, register_anonymous = function_registrars("UnaryOp")

if TYPE_CHECKING:
    # Written by `python -m tests.helpers.operator_names`: the names for type checkers.
    numpy: SubNamespace
    ss: SubNamespace
    _unaryops: list[UnaryOp] = []
    (
        abs, acos, acosh, ainv, asin, asinh, atan, atanh, bnot, carg, cbrt, ceil, cimag, conj, cos,
        cosh, creal, erf, erfc, exp, exp2, expm1, floor, frexpe, frexpx, identity, isfinite, isinf,
        isnan, lgamma, lnot, log, log10, log1p, log2, minv, one, positioni, positioni1, positionj,
        positionj1, round, signum, sin, sinh, sqrt, tan, tanh, tgamma, trunc,
    ) = _unaryops  # fmt: skip
else:
    __getattr__, __dir__ = install(__name__, "UnaryOp")
