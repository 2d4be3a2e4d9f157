"""Operators, declared once: meaning in Python, spelling in CUDA, types and algebra.

Every backend and the planner read these rows; adding an operator is adding a row.
"""

from semira.ops.core import BinaryOp, IndexUnaryOp, Monoid, Semiring, UnaryOp
from semira.ops.operator import Operator
from semira.ops.typed import TypedMonoid, TypedOp, TypedSemiring

__all__ = [
    "BinaryOp",
    "IndexUnaryOp",
    "Monoid",
    "Operator",
    "Semiring",
    "TypedMonoid",
    "TypedOp",
    "TypedSemiring",
    "UnaryOp",
]
