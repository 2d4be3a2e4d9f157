"""Names of typed operators in the GraphBLAS C API."""

from __future__ import annotations

from semira.base.dtypes import BOOL, DataType
from semira.ops.typerules import positional

#: Operators of the specification; all others are extensions, whose names begin with GxB.
_STANDARD = {
    "UnaryOp": "identity ainv minv abs bnot",
    "BinaryOp": (
        "first second min max plus minus times cdiv truediv eq ne gt lt ge le lor land lxor "
        "lxnor band bor bxor bxnor"
    ),
    "Monoid": "plus times min max lor land lxor lxnor",
    "Semiring": (
        "plus_times plus_min min_plus min_times min_first min_second min_max max_plus max_times "
        "max_first max_second max_min lor_land land_lor lxor_land lxnor_lor"
    ),
    "IndexUnaryOp": (
        "rowindex colindex diagindex tril triu diag offdiag colle colgt rowle rowgt valueeq "
        "valuene valuelt valuele valuegt valuege"
    ),
    "SelectOp": (
        "tril triu diag offdiag colle colgt rowle rowgt valueeq valuene valuelt valuele valuegt "
        "valuege"
    ),
}
_STANDARD_NAMES = {opclass: frozenset(names.split()) for opclass, names in _STANDARD.items()}
_WORDS = {"cdiv": "div", "truediv": "div", "rtruediv": "rdiv"}
#: Where the specification has the operator for BOOL only, under a name without a dtype.
_LOGICAL = ("lnot", "lor", "land", "lxor", "lxnor")
#: Of any operand: the name carries no dtype.
_POSITIONS = ("tril", "triu", "diag", "offdiag", "colle", "colgt", "rowle", "rowgt")
#: Where two of our names are one operator in C, and where BOOL has other names.
_SAME = {"index": "rowindex", "indexgt": "rowgt", "indexle": "rowle"}
_MONOID_OF_BOOL = {"max": "lor", "min": "land", "times": "land"}
_OF_OUR_OWN = frozenset(
    ("floordiv", "rfloordiv", "absfirst", "abssecond", "rpow", "binom", "random")
)


def c_api_name(opclass: str, name: str, dtype: DataType) -> str:
    """Return the C name of operator `name` computing in `dtype`; ``name_DTYPE`` if C has none.

    Examples
    --------
    >>> from semira.base.dtypes import FP32
    >>> c_api_name("BinaryOp", "plus", FP32), c_api_name("Semiring", "min_plus", FP32)
    ('GrB_PLUS_FP32', 'GrB_MIN_PLUS_SEMIRING_FP32')
    """
    name = _SAME.get(name, name)
    if name in ("rowindex", "colindex", "diagindex"):
        dtype = positional(dtype)[1]
    if opclass == "Monoid" and dtype is BOOL:
        name = _MONOID_OF_BOOL.get(name, name)
    words = name.split("_")
    if "." in name or ":" in name or not _OF_OUR_OWN.isdisjoint(words):
        return f"{name}_{dtype.name}"
    upper = "_".join(_WORDS.get(word, word) for word in words).upper()
    is_standard = name in _STANDARD_NAMES[opclass] and not dtype.is_complex
    if opclass in ("Monoid", "Semiring"):
        kind = opclass.upper()
        if is_standard:
            return f"GrB_{upper}_{kind}_{dtype.name}"
        return f"GxB_{upper}_{dtype.name}" + ("_MONOID" if opclass == "Monoid" else "")
    if name in _POSITIONS or (name in _LOGICAL and dtype.kind == "B"):
        return f"GrB_{upper}"
    is_standard = is_standard and name not in _LOGICAL
    return f"{'GrB' if is_standard else 'GxB'}_{upper}_{dtype.name}"
