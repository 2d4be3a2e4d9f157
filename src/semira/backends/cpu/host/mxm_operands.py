"""Operands of mxm, and the kernels of its templates for their operators."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed
from semira.ops import TypedMonoid, TypedOp


@dataclass(frozen=True, slots=True, eq=False)
class Operands:
    """A product, transposes resolved: rows of A, rows or columns of B, the mask."""

    add: TypedMonoid
    multiply: TypedOp
    a: Compressed
    b: Compressed
    mask: Compressed | None
    complement: bool
    iso: Any

    def values(self) -> tuple[Array, Array]:
        """Return both operands' values in the compute dtype, or stand-ins for those not read."""
        op = self.multiply
        return (
            self.a.values_as(op.type) if op.reads_a else EVERYWHERE,
            self.b.values_as(op.type2) if op.reads_b else EVERYWHERE,
        )

    def strides(self) -> tuple[int, int]:
        """Return the strides that go with `values`."""
        op = self.multiply
        return self.a.stride if op.reads_a else 0, self.b.stride if op.reads_b else 0

    def room(self, length: int) -> Array:
        """Return an array for `length` values of the result; a single one if it is iso."""
        return np.empty(1 if self.iso is not None else length, self.add.type.array_dtype)


def product_kernels(
    operands: Operands, flags: dict[str, bool], template: str = "mxm"
) -> ModuleType:
    """Return the kernels of a template for the operators of a product; kept."""
    flags["ISO_RESULT"] = operands.iso is not None
    return operator_kernels(template, operands.add, operands.multiply, tuple(flags.items()))


@lru_cache(cache.KEPT_BY_HOST)
def operator_kernels(
    template: str, add: TypedMonoid, multiply: TypedOp, flags: tuple[tuple[str, bool], ...] = (),
    *, turned: bool = False,
) -> ModuleType:  # fmt: skip
    """Return the kernels of a template for two operators; `turned`: operands change places."""
    header = Header(flags=dict(flags))
    if header.flags.get("ISO_RESULT"):
        return cache.load(template, header, "structure")
    parameters, reads = ("a", "b", "i", "k", "j"), (multiply.reads_a, multiply.reads_b)
    if turned:
        parameters, reads = ("b", "a", "j", "k", "i"), reads[::-1]
    header.flags["READS_A"], header.flags["READS_B"] = reads
    if header.flags.get("EXIT_TERMINAL"):
        header.constant("TERMINAL", add.type, add.terminal)
    given = {name: f"np.int64({name})" for name in ("i", "k", "j")}
    header.function("multiply", parameters, multiply, given, add.type)
    header.function("add", ("a", "b"), add.op, {})
    return cache.load(template, header, f"{add.name}_{multiply.name}")
