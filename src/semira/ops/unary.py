"""Rows of the unary operators."""

from __future__ import annotations

from semira.ops.core import UnaryOp
from semira.ops.typerules import floating, positional, same, to_bool

_INT_INVERSE = {
    "F": "1 / a",
    "I": "int_div(np.int64(1), a, {lo}, {hi})",
    "U": "uint_div(np.uint64(1), a, {hi})",
    "B": "True",
}
_INT_INVERSE_C = {
    "F": "1 / a",
    "I": "int_div<T>(1, a)",
    "U": "uint_div<T>(1, a)",
    "B": "true",
}

_FREXP_C = "[&] {{ int exponent = 0; const T fraction = frexp(a, &exponent); return {}; }}()"

_ROWS = [
    UnaryOp("identity", "a", "a", same("BIUF")),
    UnaryOp("ainv", {"B": "a", "IUF": "-a"}, {"B": "a", "IUF": "-a"}, same("BIUF")),
    UnaryOp("minv", _INT_INVERSE, _INT_INVERSE_C, same("BIUF")),
    UnaryOp(
        "abs",
        {"BU": "a", "I": "-a if a < 0 else a", "F": "abs(a)"},
        {"BU": "a", "I": "a < 0 ? -a : a", "F": "fabs(a)"},
        same("BIUF"),
    ),
    UnaryOp("one", "1", "1", same("BIUF"), reads_a=False),
    UnaryOp("lnot", "a == 0", "a == 0", same("BIUF")),
    UnaryOp("bnot", "~a", "~a", same("IU")),
    UnaryOp("signum", "np.sign(a)", "(a > 0) - (a < 0)", floating),
    UnaryOp("isnan", "a != a", "a != a", to_bool("F")),
    UnaryOp("isinf", "np.isinf(a)", "isinf(a)", to_bool("F")),
    UnaryOp("isfinite", "np.isfinite(a)", "isfinite(a)", to_bool("F")),
    # As C's round: halves go away from zero.
    UnaryOp(
        "round",
        "np.trunc(a) + np.copysign(1, a) if abs(a - np.trunc(a)) >= 0.5 else np.trunc(a)",
        "round(a)",
        floating,
    ),
    *(
        UnaryOp(name, f"np.{numpy_name}(a)", f"{name}(a)", floating)
        for name, numpy_name in [
            ("sqrt", "sqrt"),
            ("cbrt", "cbrt"),
            ("exp", "exp"),
            ("exp2", "exp2"),
            ("expm1", "expm1"),
            ("log", "log"),
            ("log2", "log2"),
            ("log10", "log10"),
            ("log1p", "log1p"),
            ("sin", "sin"),
            ("cos", "cos"),
            ("tan", "tan"),
            ("asin", "arcsin"),
            ("acos", "arccos"),
            ("atan", "arctan"),
            ("sinh", "sinh"),
            ("cosh", "cosh"),
            ("tanh", "tanh"),
            ("asinh", "arcsinh"),
            ("acosh", "arccosh"),
            ("atanh", "arctanh"),
            ("floor", "floor"),
            ("ceil", "ceil"),
            ("trunc", "trunc"),
        ]
    ),
    UnaryOp("erf", "math.erf(a)", "erf(a)", floating),
    UnaryOp("erfc", "math.erfc(a)", "erfc(a)", floating),
    UnaryOp("lgamma", "log_gamma(a)", "lgamma(a)", floating),
    UnaryOp("tgamma", "gamma(a)", "tgamma(a)", floating),
    UnaryOp("frexpx", "math.frexp(a)[0]", _FREXP_C.format("fraction"), same("F")),
    UnaryOp("frexpe", "math.frexp(a)[1]", _FREXP_C.format("exponent"), same("F")),
    UnaryOp("positioni", "i", "i", positional, positional=True),
    UnaryOp("positioni1", "i + 1", "i + 1", positional, positional=True),
    UnaryOp("positionj", "j", "j", positional, positional=True),
    UnaryOp("positionj1", "j + 1", "j + 1", positional, positional=True),
]

UNARY = {row.name: row for row in _ROWS}
