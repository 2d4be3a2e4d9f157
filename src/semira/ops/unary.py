"""Rows of the unary operators."""

from __future__ import annotations

from semira.ops.core import UnaryOp
from semira.ops.typerules import analytic, floating, magnitude, parts, positional, same, to_bool

_INT_INVERSE = {
    "C": "complex_div(complex(1.0, 0.0), a)",
    "F": "1 / a",
    "I": "int_div(np.int64(1), a, {lo}, {hi})",
    "U": "uint_div(np.uint64(1), a, {hi})",
    "B": "True",
}
_INT_INVERSE_C = {
    "C": "complex_div(T(1), a)",
    "F": "1 / a",
    "I": "int_div<T>(1, a)",
    "U": "uint_div<T>(1, a)",
    "B": "true",
}

_FREXP_C = "[&] {{ int exponent = 0; const T fraction = frexp(a, &exponent); return {}; }}()"

_ROWS = [
    UnaryOp("identity", "a", "a", same("BIUFC")),
    UnaryOp("ainv", {"B": "a", "IUFC": "-a"}, {"B": "a", "IUFC": "-a"}, same("BIUFC")),
    UnaryOp("minv", _INT_INVERSE, _INT_INVERSE_C, same("BIUFC")),
    UnaryOp(
        "abs",
        {"BU": "a", "I": "-a if a < 0 else a", "FC": "abs(a)"},
        {"BU": "a", "I": "a < 0 ? -a : a", "F": "fabs(a)", "C": "magnitude(a)"},
        magnitude,
    ),
    UnaryOp("one", "1", "1", same("BIUFC"), reads_a=False),
    UnaryOp("lnot", "a == 0", "a == 0", same("BIUF")),
    UnaryOp("bnot", "~a", "~a", same("IU")),
    UnaryOp(
        "signum",
        {"F": "np.sign(a)", "C": "complex_sign(a)"},
        {"F": "(a > 0) - (a < 0)", "C": "complex_sign(a)"},
        analytic,
    ),
    UnaryOp("isnan", "a != a", "a != a", to_bool("FC")),
    UnaryOp("isinf", "np.isinf(a)", "isinf(a)", to_bool("FC")),
    UnaryOp("isfinite", "np.isfinite(a)", "isfinite(a)", to_bool("FC")),
    # As C's round: halves go away from zero.
    UnaryOp(
        "round",
        {
            "F": "np.trunc(a) + np.copysign(1, a) if abs(a - np.trunc(a)) >= 0.5 else np.trunc(a)",
            "C": "complex_round(a)",
        },
        "round(a)",
        analytic,
    ),
    UnaryOp("cbrt", "np.cbrt(a)", "cbrt(a)", floating),
    *(
        UnaryOp(name, f"np.{numpy_name}(a)", f"{name}(a)", analytic)
        for name, numpy_name in [
            *((name, name) for name in ("sqrt", "exp", "log", "log10", "sin", "cos", "tan")),
            *((f"a{name}", f"arc{name}") for name in ("sin", "cos", "tan")),
            *((name, name) for name in ("sinh", "cosh")),
            *((f"a{name}", f"arc{name}") for name in ("sinh", "cosh", "tanh")),
        ]
    ),
    # For complex numbers NumPy and Numba lack these, or lose them to overflow.
    *(
        UnaryOp(name, {"F": f"np.{name}(a)", "C": text}, f"{name}(a)", analytic)
        for name, text in [
            ("tanh", "complex_tanh(a)"),
            ("exp2", "complex_exp2(a)"),
            ("expm1", "complex_expm1(a)"),
            ("log2", "complex_log2(a)"),
            ("log1p", "np.log(a + 1)"),
            ("floor", "complex(np.floor(a.real), np.floor(a.imag))"),
            ("ceil", "complex(np.ceil(a.real), np.ceil(a.imag))"),
            ("trunc", "complex(np.trunc(a.real), np.trunc(a.imag))"),
        ]
    ),
    UnaryOp("creal", "a.real", "a.real", parts),
    UnaryOp("cimag", "a.imag", "a.imag", parts),
    UnaryOp("carg", "math.atan2(a.imag, a.real)", "atan2(a.imag, a.real)", parts),
    UnaryOp("conj", "a.conjugate()", "conjugate(a)", same("C")),
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
