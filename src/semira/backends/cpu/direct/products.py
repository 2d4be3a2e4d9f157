"""Small matrix-vector products: the rule on counts, one kernel, the end."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed
from semira.backends.cpu.direct import SMALL, SMALL_ENTRIES, Direct
from semira.backends.cpu.direct.ending import Ending, Tests, by_position
from semira.backends.cpu.host import mxv
from semira.backends.cpu.masks import UNMASKED
from semira.backends.cpu.storage import CpuMatrix, CpuVector, bitmap_vector
from semira.backends.rules import render_python
from semira.contract import Method, Program, Rule, Statement, TraceRow
from semira.contract.backend import Outcome
from semira.ops.meaning import cast_array

_DUMMY = np.zeros(1, np.int32)

_ALL_COUNTS = (
    "n", "rows", "nnz", "frontier", "frontier_edges", "open_rows", "open_edges",
    "previous_frontier",
)  # fmt: skip


def product(program: Program, statement: Statement) -> Direct | None:
    """Return the direct way of an ``mxv`` or ``vxm``."""
    plan = statement.plan
    assert plan is not None
    if any(method.operand_reuse or method.name not in _WAYS for method in plan.methods):
        return None
    if any(method.storage != "compressed" for method in plan.methods):
        return None
    found = _Product(program, statement, plan.methods, plan.rule)
    return found.run


class _Product:
    """What is fixed about one product, and the kernels that its bindings have needed."""

    def __init__(
        self, program: Program, statement: Statement, methods: tuple[Method, ...], rule: Rule
    ) -> None:
        self.vector_first = statement.op == "vxm"
        at = 1 if self.vector_first else 0
        self.matrix_slot, self.vector_slot = statement.args[at].slot, statement.args[1 - at].slot
        self.out_slot = statement.out
        self.op = statement.operator
        self.add, self.multiply = self.op.monoid, self.op.binaryop
        self.reads = (self.multiply.reads_a, self.multiply.reads_b)
        self.reads_vector = self.reads[0 if self.vector_first else 1]
        self.reads_edges = self.reads[1 if self.vector_first else 0]
        self.may_be_iso = self.add.is_idempotent and not self.multiply.is_positional
        # vxm pushes along rows and pulls along columns; mxv the other way round.
        transposed = statement.args[at].transposed
        self.push_by_columns = self.vector_first == transposed
        self.methods = methods
        self.ends = tuple(
            Ending(program, statement, self.add.type, exact=method.mask_order != "after")
            for method in methods
        )
        self.name = statement.op
        self.rule: Callable[..., float] | None = None
        self.counts: tuple[str, ...] = ()
        if len(methods) > 1:
            self.rule, self.counts = _compiled(rule)
        self.kernels: dict[tuple[Any, ...], Any] = {}
        self.fixed_iso: Any = None

    def run(self, bindings: list[Any]) -> Outcome | None:
        """Run on bindings; None if they are not small."""
        cell, driver = bindings[self.out_slot], bindings[self.vector_slot]
        matrix, vector, out = bindings[self.matrix_slot].data, driver.data, cell.data
        if matrix.__class__ is not CpuMatrix or vector.__class__ is not CpuVector or matrix.lean:
            return None
        if not (0 < vector.size <= SMALL and 0 < out.size <= SMALL):
            return None
        frontier, nnz = vector.nvals, matrix.nvals
        if frontier == 0 or not 0 < nnz <= SMALL_ENTRIES:
            return None
        start_ns = time.perf_counter_ns()
        tests = self.ends[0].tests(bindings, out.size)
        chosen = 0
        if self.rule is not None:
            counts = [_COUNTS[name](self, matrix, driver, out, tests) for name in self.counts]
            chosen = int(self.rule(driver.method, *counts))
        method, end = self.methods[chosen], self.ends[chosen]
        by_columns = self.push_by_columns != (method.name == "pull")
        edges = matrix.oriented(by_columns=by_columns)
        asked = tests if end.exact else UNMASKED
        result, touched = _WAYS[method.name](self, method, edges, vector, out.size, asked)
        produced = result.nvals
        new = end.finished(out, result, tests)
        driver.method, driver.frontier = chosen, frontier
        cell.data = new
        cell.method, cell.frontier = chosen, frontier
        elapsed_ns = time.perf_counter_ns() - start_ns
        row = TraceRow(0, self.name, method.name, frontier, touched, produced, elapsed_ns)
        return Outcome((), (row,))

    def iso_value(self, edges: Compressed, vector: CpuVector) -> Any:
        """Return the one value of every entry of the result, or None if they may differ."""
        if not self.may_be_iso or (self.reads_edges and not edges.iso):
            return None
        if self.reads_vector and not vector.iso:
            return None
        if self.fixed_iso is not None:
            return self.fixed_iso
        e, x = (edges.values, edges.iso), (vector.values, vector.iso)
        a, b = (x, e) if self.vector_first else (e, x)
        value = mxv.iso_product(self.add, self.multiply, a, b)
        if not (self.reads_edges or self.reads_vector):
            self.fixed_iso = value
        return value

    def kernel(self, key: tuple[Any, ...], flags: tuple[tuple[str, bool], ...]) -> Any:
        """Return the kernels of a template (``key[0]``) with flags."""
        blank = Compressed(0, 0, _DUMMY, _DUMMY, EVERYWHERE)
        operand = CpuVector(0, self.add.type, "full", EVERYWHERE)
        asked = mxv.Product(self.add, self.multiply, self.vector_first, blank, operand, 0)
        found = self.kernels[key] = mxv.kernel_of(key[0], asked, flags)
        return found

    def edge_values(self, edges: Compressed) -> tuple[Array, int]:
        """Return the matrix values in the compute dtype, with their stride."""
        if not self.reads_edges:
            return EVERYWHERE, 0
        return edges.values_as(mxv.edge_dtype(self)), edges.stride

    def vector_values(self, values: Array) -> Array:
        """Return vector values in the compute dtype."""
        if not self.reads_vector:
            return EVERYWHERE
        dtype = mxv.vector_dtype(self).array_dtype
        return values if values.dtype is dtype else cast_array(values, dtype)

    def result(self, size: int, present: Array, values: Array, num: int, iso: Any) -> CpuVector:
        """Return what a kernel found as a vector."""
        dtype = self.add.type
        if iso is not None:
            values = np.full(size, iso, dtype.array_dtype)
        return bitmap_vector(dtype, present, values, num)


def _push(
    product: _Product, method: Method, edges: Compressed, vector: CpuVector, size: int, tests: Tests
) -> tuple[CpuVector, int]:
    del method
    iso = product.iso_value(edges, vector)
    masked = tests is not UNMASKED
    key = ("push", masked, iso is not None)
    kernels = product.kernels.get(key)
    if kernels is None:
        kernels = product.kernel(key, (("MASKED", masked), ("ISO_RESULT", iso is not None)))
    frontier = vector.entry_indices()
    values, stride = vector.entry_values()
    edge_values, e_stride = product.edge_values(edges)
    mark = np.zeros(size, np.bool_)
    acc = _DUMMY if iso is not None else np.zeros(size, product.add.type.array_dtype)
    num, work = kernels.push(
        0, len(frontier), frontier, product.vector_values(values), stride,
        edges.indptr, edges.indices, edge_values, e_stride, *tests,
        mark, acc, np.empty(size, frontier.dtype),
    )  # fmt: skip
    return product.result(size, mark, acc, int(num), iso), int(work)


def _pull(
    product: _Product, method: Method, edges: Compressed, vector: CpuVector, size: int, tests: Tests
) -> tuple[CpuVector, int]:
    iso = product.iso_value(edges, vector)
    masked, full = tests is not UNMASKED, vector.storage == "full"
    key = ("pull", masked, full, iso is not None, method.early_exit)
    kernels = product.kernels.get(key)
    if kernels is None:
        kernels = product.kernel(key, _pull_flags(product, method, masked, full, iso is not None))
    operand = by_position(vector, values=product.reads_vector)
    edge_values, e_stride = product.edge_values(edges)
    present = np.zeros(size, np.bool_)
    values = _DUMMY if iso is not None else np.zeros(size, product.add.type.array_dtype)
    num, work = kernels.pull(
        0, size, _DUMMY, edges.indptr, edges.indices, edge_values, e_stride,
        operand.presence()[0], product.vector_values(operand.values),
        operand.stride if product.reads_vector else 0,
        *tests, EVERYWHERE, 0, present, values,
    )  # fmt: skip
    return product.result(size, present, values, int(num), iso), int(work)


def _pull_flags(
    product: _Product, method: Method, masked: bool, full: bool, iso: bool
) -> tuple[tuple[str, bool], ...]:
    add = product.add
    stops = method.early_exit
    return (
        ("MASKED", masked),
        ("LISTED", False),
        ("FULL", full),
        ("ISO_RESULT", iso),
        ("EXIT_FIRST", stops and (add.is_any or iso)),
        ("EXIT_TERMINAL", stops and not iso and not add.is_any and add.terminal is not None),
    )


_WAYS: dict[str, Callable[..., tuple[CpuVector, int]]] = {"push": _push, "pull": _pull}


def _compiled(rule: Rule) -> tuple[Callable[..., float], tuple[str, ...]]:
    """Return a rule as a function of ``previous`` and the counts that it names."""
    text = render_python(rule)
    names = tuple(name for name in _ALL_COUNTS if f"count({name!r})" in text)
    text = re.sub(r"count\('(\w+)'\)", r"\1", text)
    function: Callable[..., float] = eval(f"lambda {', '.join(('previous', *names))}: {text}")  # noqa: S307
    return function, names


def _frontier_edges(
    product: _Product, matrix: CpuMatrix, driver: Any, out: CpuVector, tests: Tests
) -> int:
    del out, tests
    edges, vector = matrix.oriented(by_columns=product.push_by_columns), driver.data
    if vector.storage == "full":
        return edges.nvals
    where = vector.present if vector.indices is None else vector.indices
    return int(np.add.reduce(edges.degrees()[where]))


def _open_edges(
    product: _Product, matrix: CpuMatrix, driver: Any, out: CpuVector, tests: Tests
) -> int:
    del driver, out
    edges = matrix.oriented(by_columns=not product.push_by_columns)
    may, _, complement = tests
    if tests is UNMASKED:
        return edges.nvals
    inside = int(np.add.reduce(edges.degrees()[may]))
    return edges.nvals - inside if complement else inside


def _open_rows(
    product: _Product, matrix: CpuMatrix, driver: Any, out: CpuVector, tests: Tests
) -> int:
    del product, matrix, driver
    may, _, complement = tests
    if tests is UNMASKED:
        return out.size
    num_set = int(np.count_nonzero(may))
    return out.size - num_set if complement else num_set


#: The counts of `contract.rule.COUNTS`, of (product, matrix, cell of the vector, output, mask).
_COUNTS: dict[str, Callable[..., int]] = {
    "n": lambda product, matrix, driver, out, tests: driver.data.size,
    "rows": lambda product, matrix, driver, out, tests: out.size,
    "nnz": lambda product, matrix, driver, out, tests: matrix.nvals,
    "frontier": lambda product, matrix, driver, out, tests: driver.data.nvals,
    "frontier_edges": _frontier_edges,
    "open_rows": _open_rows,
    "open_edges": _open_edges,
    "previous_frontier": lambda product, matrix, driver, out, tests: driver.frontier,
}
