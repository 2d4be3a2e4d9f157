"""NumPy's names: most are our operators under another name, the rest have rows of their own.

Names and result dtypes are those of python-graphblas' ``numpy`` sub-namespaces; where that
library compiles a function whose integer remainder or sign is wrong for some values (NumPy's
own is right), the meaning here is NumPy's.
"""

from __future__ import annotations

from typing import Any

from semira.base.dtypes import DataType
from semira.ops.binary import BINARY
from semira.ops.core import BinaryOp, Monoid, UnaryOp
from semira.ops.monoid import MONOID, greatest, least, zero
from semira.ops.typerules import floating, floor_division, same, to_bool, true_division
from semira.ops.unary import UNARY

_UNARY_NAMES = {
    "abs": "abs", "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh", "bitwise_not": "bnot",
    "cbrt": "cbrt", "ceil": "ceil", "conj": "conj", "conjugate": "conj", "cos": "cos",
    "cosh": "cosh", "exp": "exp", "exp2": "exp2",
    "expm1": "expm1", "floor": "floor", "invert": "bnot", "isfinite": "isfinite",
    "isinf": "isinf", "isnan": "isnan", "log": "log", "log10": "log10", "log1p": "log1p",
    "log2": "log2", "logical_not": "lnot", "negative": "ainv", "positive": "identity",
    "rint": "round", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
    "trunc": "trunc",
}  # fmt: skip
_BINARY_NAMES = {
    "add": "plus", "arctan2": "atan2", "bitwise_and": "band", "bitwise_or": "bor",
    "bitwise_xor": "bxor", "copysign": "copysign", "divide": "truediv", "equal": "eq",
    "floor_divide": "floordiv", "fmax": "max", "fmin": "min", "greater": "gt",
    "greater_equal": "ge", "ldexp": "ldexp", "less": "lt",
    "less_equal": "le", "logical_and": "land", "logical_or": "lor", "logical_xor": "lxor",
    "multiply": "times", "not_equal": "ne", "power": "pow", "subtract": "minus",
    "true_divide": "truediv",
}  # fmt: skip
_MONOID_NAMES = {
    "add": "plus", "bitwise_and": "band", "bitwise_or": "bor", "bitwise_xor": "bxor",
    "equal": "eq", "fmax": "max", "fmin": "min", "logical_and": "land", "logical_or": "lor",
    "logical_xor": "lxor", "multiply": "times",
}  # fmt: skip

_SIGN = {
    "C": "complex_sign(a)",
    "F": "np.sign(a)",
    "I": "1 if a > 0 else (-1 if a < 0 else 0)",
    "U": "1 if a > 0 else 0",
}
_SIGN_C = {
    "C": "complex_sign(a)",
    "F": "a > 0 ? static_cast<T>(1) : (a < 0 ? static_cast<T>(-1) : a)",
    "I": "a > 0 ? 1 : (a < 0 ? -1 : 0)",
    "U": "a > 0 ? 1 : 0",
}
_RECIPROCAL = {
    "C": "complex_div(complex(1.0, 0.0), a)",
    "F": "1 / a",
    "I": "1 if a == 1 else (-1 if a == -1 else 0)",
    "U": "1 if a == 1 else 0",
}
_RECIPROCAL_C = {
    "C": "complex_div(T(1), a)",
    "F": "1 / a",
    "I": "a == 1 ? 1 : (a == -1 ? -1 : 0)",
    "U": "a == 1 ? 1 : 0",
}
_SPACING_C = (
    "copysign(nextafter(fabs(a), static_cast<T>(__int_as_float(0x7f800000))) - fabs(a), "
    "a == 0 ? static_cast<T>(1) : a)"
)


def _narrow(dtype: DataType) -> tuple[DataType, DataType]:
    """Every number in its own dtype, BOOL in INT8."""
    return (dtype, dtype) if dtype.is_complex else floor_division(dtype)


def _unary() -> list[UnaryOp]:
    rows = [
        UnaryOp("numpy.fabs", "abs(a)", "fabs(a)", floating),
        UnaryOp("numpy.sign", _SIGN, _SIGN_C, _narrow),
        UnaryOp("numpy.reciprocal", _RECIPROCAL, _RECIPROCAL_C, _narrow),
        UnaryOp("numpy.square", "a * a", "a * a", _narrow),
        UnaryOp(
            "numpy.signbit",
            {"F": "np.signbit(a)", "I": "a < 0", "BU": "False"},
            {"F": "signbit(a)", "I": "a < 0", "BU": "false"},
            to_bool("BIUF"),
        ),
        UnaryOp("numpy.spacing", "np.spacing(abs(a) if a == 0 else a)", _SPACING_C, floating),
    ]
    for names, factor in (
        (("deg2rad", "radians"), "0.017453292519943295"),
        (("rad2deg", "degrees"), "57.29577951308232"),
    ):
        text = f"a * static_cast<T>({factor})"
        rows += [UnaryOp(f"numpy.{name}", f"np.{name}(a)", text, floating) for name in names]
    return rows


def _integers(dtype: DataType) -> tuple[DataType, DataType]:
    """Integers in their own dtype, BOOL in INT8."""
    if dtype.is_float:
        raise KeyError(dtype)
    return floor_division(dtype)


_ZERO_C = "(b == 0 || b == static_cast<T>(-1)) ? static_cast<T>(0) : "
_FMOD = {"F": "np.fmod(a, b)", "I": "int_fmod(a, b)", "U": "uint_mod(a, b)"}
_FMOD_C = {
    "F": "fmod(a, b)",
    "I": _ZERO_C + "static_cast<T>(a % b)",
    "U": "b == 0 ? static_cast<T>(0) : static_cast<T>(a % b)",
}
_MOD = {"F": "np.mod(a, b)", "I": "int_mod(a, b)", "U": "uint_mod(a, b)"}
_MOD_C = {
    "F": "[&] { T rest = fmod(a, b); if (rest != 0 && (rest < 0) != (b < 0)) rest += b; "
    "return rest == 0 ? copysign(static_cast<T>(0), b) : rest; }()",
    "I": _ZERO_C + "static_cast<T>((a % b != 0 && (a < 0) != (b < 0)) ? a % b + b : a % b)",
    "U": _FMOD_C["U"],
}


def _gcd_text(rest: str, tail: str) -> str:
    """Return CUDA text that leaves the divisor in ``x`` and goes on with `tail`."""
    return (
        "[&]() -> T {{ T x = a, y = b; while (y != 0) {{ "
        f"const T rest = {rest}; x = y; y = rest; }}}} {tail} }}}}()"
    )


def _gcd_texts(signed_tail: str, unsigned_tail: str) -> dict[str, str]:
    guarded = "y == static_cast<T>(-1) ? static_cast<T>(0) : static_cast<T>(x % y)"
    return {
        "I": _gcd_text(guarded, signed_tail),
        "U": _gcd_text("static_cast<T>(x % y)", unsigned_tail),
    }


_MULTIPLE_C = "if (x == 0) return 0; const T multiple = static_cast<T>(a / x * b); "
_LCM = {
    "I": "a * b if (a == 0 or b == 0) else abs(np.int64(a) // int_gcd(a, b) * np.int64(b))",
    "U": "a * b if (a == 0 or b == 0) else np.uint64(a) // uint_gcd(a, b) * np.uint64(b)",
}
_LEFT = {
    "I": "np.int64(a) << np.int64(b) if 0 <= b < {bits} else np.int64(0)",
    "U": "np.uint64(a) << np.uint64(b) if b < {bits} else np.uint64(0)",
}
_RIGHT = {
    "I": "np.int64(a) >> np.int64(b) if 0 <= b < {bits} else np.int64(-1 if a < 0 else 0)",
    "U": "np.uint64(a) >> np.uint64(b) if b < {bits} else np.uint64(0)",
}
_LEFT_C = "{} ? static_cast<T>(static_cast<unsigned long long>(a) << b) : static_cast<T>(0)"
_RIGHT_C = "{} ? static_cast<T>(a >> b) : static_cast<T>({})"
_IN_WORD_C = {"I": "(b >= 0 && b < {bits})", "U": "b < {bits}"}
_LOG_ADD_C = (
    "[&] {{ if (a == b) return a + static_cast<T>({equal}); const T gap = a - b; "
    "if (gap > 0) return a + {rest}(-gap)); if (gap <= 0) return b + {rest}(gap)); "
    "return gap; }}()"
)
_PER_LOG2 = "static_cast<T>(1.4426950408889634)"
_POWER = BINARY["pow"]


def _binary() -> list[BinaryOp]:
    number, bounded = same("BIUFC"), floor_division
    return [
        BinaryOp("numpy.fmod", _FMOD, _FMOD_C, bounded),
        BinaryOp("numpy.mod", _MOD, _MOD_C, bounded),
        BinaryOp("numpy.remainder", _MOD, _MOD_C, bounded),
        BinaryOp(
            "numpy.gcd", {"I": "int_gcd(a, b)", "U": "uint_gcd(a, b)"},
            _gcd_texts("return x < 0 ? -x : x;", "return x;"), _integers, is_commutative=True,
        ),
        BinaryOp("numpy.lcm", _LCM, _gcd_texts(
                _MULTIPLE_C + "return multiple < 0 ? -multiple : multiple;",
                _MULTIPLE_C + "return multiple;",
            ), _integers, is_commutative=True),
        BinaryOp(
            "numpy.left_shift", _LEFT,
            {kind: _LEFT_C.format(test) for kind, test in _IN_WORD_C.items()}, _integers,
        ),
        BinaryOp(
            "numpy.right_shift", _RIGHT,
            {
                kind: _RIGHT_C.format(test, "a < 0 ? -1 : 0" if kind == "I" else "0")
                for kind, test in _IN_WORD_C.items()
            },
            _integers,
        ),
        BinaryOp(
            "numpy.logaddexp", "log_add(a, b)",
            _LOG_ADD_C.format(equal="0.6931471805599453", rest="log1p(exp"),
            floating, is_commutative=True,
        ),
        BinaryOp(
            "numpy.logaddexp2", "log_add2(a, b)",
            _LOG_ADD_C.format(equal="1", rest=_PER_LOG2 + " * log1p(exp2"),
            floating, is_commutative=True,
        ),
        BinaryOp(
            "numpy.maximum", {"BIUF": "a if (a >= b or a != a) else b", "C": "complex_max(a, b)"},
            {"BIUF": "(a >= b || a != a) ? a : b", "C": "complex_max(a, b)"},
            number, is_commutative=True, on_bool=("a or b", "a || b"),
        ),
        BinaryOp(
            "numpy.minimum", {"BIUF": "a if (a <= b or a != a) else b", "C": "complex_min(a, b)"},
            {"BIUF": "(a <= b || a != a) ? a : b", "C": "complex_min(a, b)"},
            number, is_commutative=True, on_bool=("a and b", "a && b"),
        ),
        BinaryOp(
            "numpy.hypot", "np.hypot(a, b)", "hypot(a, b)", floating, is_commutative=True
        ),
        BinaryOp("numpy.nextafter", "np.nextafter(a, b)", "nextafter(a, b)", floating),
        BinaryOp("numpy.float_power", _POWER.python, _POWER.cuda, true_division),
    ]  # fmt: skip


NUMPY_UNARY = {name: UNARY[ours] for name, ours in _UNARY_NAMES.items()}
NUMPY_UNARY |= {row.name.removeprefix("numpy."): row for row in _unary()}
NUMPY_BINARY = {name: BINARY[ours] for name, ours in _BINARY_NAMES.items()}
NUMPY_BINARY |= {row.name.removeprefix("numpy."): row for row in _binary()}


def _unless_float(value: Any) -> Any:
    # A NaN outweighs every number.
    return lambda dtype: None if dtype.kind in "FC" else value(dtype)


def _monoids() -> list[Monoid]:
    def row(name: str, identity: Any, kinds: str, **facts: Any) -> Monoid:
        return Monoid(f"numpy.{name}", NUMPY_BINARY[name], identity, same(kinds), **facts)

    return [
        row("hypot", zero, "F"),
        row("gcd", zero, "IU", is_idempotent=True),
        row("logaddexp", least, "F"),
        row("logaddexp2", least, "F"),
        row("maximum", least, "BIUFC", is_idempotent=True, terminal=_unless_float(greatest)),
        row("minimum", greatest, "BIUFC", is_idempotent=True, terminal=_unless_float(least)),
    ]


NUMPY_MONOID: dict[str, Monoid] = {name: MONOID[ours] for name, ours in _MONOID_NAMES.items()} | {
    row.name.removeprefix("numpy."): row for row in _monoids()
}

for _row in NUMPY_MONOID.values():
    _row.claim()


def split_semiring(name: str) -> tuple[str, str] | None:
    """Return the NumPy names of the monoid and the multiplication in ``add_multiply``."""
    for at, sign in enumerate(name):
        if sign == "_" and name[:at] in NUMPY_MONOID and name[at + 1 :] in NUMPY_BINARY:
            return name[:at], name[at + 1 :]
    return None
