"""How threads that run at once add values up in memory, by monoid and dtype."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira.ops import TypedMonoid
from semira.ops.registry import NUMPY, monoid

#: Sizes of values, in bytes, that compare-and-swap takes.
SWAPPED = (1, 2, 4, 8)

#: Operators whose identity does not leave every value as it is: |x| comes out for x.
_BLURRED = frozenset({NUMPY["Monoid"][name].binaryop for name in ("hypot", "gcd")})

_PLUS, _TIMES, _MIN, _MAX = (monoid[name].binaryop for name in ("plus", "times", "min", "max"))


@dataclass(frozen=True, slots=True)
class Accumulation:
    """A method, and what places without a value hold under it."""

    #: ``any``: the first writer's value stays. ``sum``, ``least``, ``greatest``: the hardware does
    #: it. ``swap``: compare-and-swap of the word that holds the value. ``lock``: one of a table of
    #: locks, hashed by the address, is held meanwhile.
    method: str
    #: A NumPy scalar; a first value added to it comes out bit by bit, NaN and -0.0 included. Not
    #: used by ``any`` and ``lock``, which store the first value instead.
    identity: Any

    @property
    def adds_to_identity(self) -> bool:
        """Whether a place without a value must hold the identity when the first one comes."""
        return self.method not in ("any", "lock")


def accumulation(typed: TypedMonoid) -> Accumulation:
    """Return the method for a monoid at a dtype.

    Examples
    --------
    >>> from semira.base.dtypes import FC64, FP32
    >>> accumulation(monoid["min"].typed(FP32))
    Accumulation(method='least', identity=np.float32(nan))
    >>> accumulation(monoid["times"].typed(FC64)).method
    'lock'
    """
    # By operator: a monoid that a user makes of one of ours adds up in the same way.
    dtype, op = typed.type, typed.op.parent
    if typed.is_any:
        return Accumulation("any", typed.identity)
    if op is _PLUS and dtype.itemsize >= 4:
        # 0.0 + -0.0 is 0.0, but -0.0 + x is x.
        zero = -0.0 if dtype.is_complex or dtype.is_float else 0
        return Accumulation("sum", dtype.scalar(complex(zero, zero) if dtype.is_complex else zero))
    blurs = op in _BLURRED or (op is _TIMES and dtype.is_complex)
    if blurs or dtype.itemsize not in SWAPPED:
        return Accumulation("lock", typed.identity)
    if op in (_MIN, _MAX) and dtype.itemsize >= 4:
        identity = typed.identity
        if dtype.is_float:
            # They drop a NaN, so only a NaN drops nothing: min(inf, NaN) is inf. Its sign is such
            # that every number wins against its bits (`hardware_extreme`).
            identity = dtype.scalar("nan" if op is _MIN else "-nan")
        return Accumulation("least" if op is _MIN else "greatest", identity)
    return Accumulation("swap", typed.identity)
