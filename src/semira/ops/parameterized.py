"""Built-in operators with parameters."""

from __future__ import annotations

import math

from semira.base.errors import InvalidValue
from semira.ops.core import BinaryOp
from semira.ops.typerules import to_bool
from semira.ops.user import Parameterized


def _isclose(rel_tol: float = 1e-7, abs_tol: float = 0.0) -> BinaryOp:
    """Return the operator |a - b| <= max(rel_tol * max(|a|, |b|), abs_tol), in double precision."""
    rel, least = float(rel_tol), float(abs_tol)
    if not (rel >= 0 and least >= 0 and math.isfinite(rel + least)):
        raise InvalidValue(
            f"rel_tol={rel_tol} and abs_tol={abs_tol} must be finite and not negative"
        )
    real = (
        "a == b or abs(np.float64(a) - np.float64(b)) <= "
        f"max({rel!r} * max(abs(np.float64(a)), abs(np.float64(b))), {least!r})"
    )
    plain = f"a == b or abs(a - b) <= max({rel!r} * max(abs(a), abs(b)), {least!r})"
    python = {"BIUF": real, "C": plain}
    real_cuda = (
        "a == b || fabs(static_cast<double>(a) - static_cast<double>(b)) <= "
        f"fmax({rel!r} * fmax(fabs(static_cast<double>(a)), fabs(static_cast<double>(b))), "
        f"{least!r})"
    )
    plain_cuda = (
        "a == b || static_cast<double>(magnitude(a - b)) <= "
        f"fmax({rel!r} * static_cast<double>(fmax(magnitude(a), magnitude(b))), {least!r})"
    )
    cuda = {"BIUF": real_cuda, "C": plain_cuda}
    return BinaryOp(f"isclose({rel!r}, {least!r})", python, cuda, to_bool("BIUFC"), True)


PARAMETERIZED = {
    "BinaryOp": {"isclose": Parameterized("BinaryOp", "isclose", _isclose, is_commutative=True)}
}
