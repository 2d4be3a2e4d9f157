"""What this backend brings to the interpreter: operations by name, and their end."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from semira.backends.cpu.exchange import empty_data
from semira.backends.cpu.host import blocks, finish, mxm, mxv, walks
from semira.backends.cpu.host.structure import count_entries
from semira.backends.cpu.host.update import Result, Update
from semira.backends.cpu.masks import matrix_mask, vector_mask
from semira.backends.cpu.storage import CpuMatrix, CpuVector, shape_of
from semira.backends.interpreter import MaskData, Produced, Undo
from semira.base.errors import Panic
from semira.contract import Method, Slot, Statement
from semira.formats import ScalarArrays
from semira.ops.meaning import cast_scalar

#: Operations computed by ``host.<module>.<function>(statement, args, mask, out) -> Result``;
#: modules are imported when first needed, so that a traversal loads only what it runs.
_OPERATIONS = {
    "assign": ("assign", "compute"),
    "apply": ("apply", "compute"),
    "copy": ("structure", "copy"),
    "diag": ("structure", "diag"),
    "ewise_add": ("ewise", "compute"),
    "ewise_mult": ("ewise", "compute"),
    "ewise_union": ("ewise", "compute"),
    "extract": ("extract", "compute"),
    "gather": ("gather", "gather"),
    "nvals": ("structure", "nvals"),
    "reduce": ("reduce", "reduce"),
    "reduce_rows": ("reduce", "reduce_rows"),
    "mode_rows": ("mode", "mode_rows"),
    "scatter": ("gather", "scatter"),
    "select": ("select", "compute"),
    "select_k": ("select", "first_of_rows"),
}

_found: dict[str, Callable[..., Result]] = {}


def _operation(name: str) -> Callable[..., Result]:
    if name not in _found:
        if name not in _OPERATIONS:
            raise Panic(f"the cpu backend does not know the operation {name!r}")
        module, function = _OPERATIONS[name]
        _found[name] = getattr(
            importlib.import_module(f"semira.backends.cpu.host.{module}"), function
        )
    return _found[name]


class CpuKernels:
    """The interpreter's hooks on `CpuVector`, `CpuMatrix` and `ScalarArrays`."""

    def scalar(self, arrays: ScalarArrays) -> ScalarArrays:
        """Return the data of a scalar."""
        return arrays

    def empty(self, slot: Slot, shape: tuple[int, ...]) -> Any:
        """Return data without entries for a temporary."""
        return empty_data(shape, slot.dtype)

    def shape(self, data: Any) -> tuple[int, ...]:
        """Return ``()``, ``(size,)`` or ``(nrows, ncols)``."""
        return shape_of(data)

    def nvals(self, data: Any) -> int:
        """Return the number of entries."""
        return int(data.nvals)

    def counts(
        self, name: str, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
    ) -> float:
        """Return one of `contract.rule.COUNTS` for a product."""
        if statement.op != "mxm":
            return float(_COUNTS[name](statement, args, mask, out))
        return blocks.count(name, statement, args, mask, out)

    def compute(
        self, statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: Any
    ) -> Produced:
        """Return ``op(args)`` as a `Result`."""
        if statement.op in ("mxv", "vxm"):
            result, touched = walks.compute(statement, method, args, mask, out)
            return Produced(result, touched)
        if statement.op == "mxm":
            matrix, exact, touched = mxm.compute(statement, method, args, mask, out)
            return Produced(Result(matrix, exact), touched)
        return Produced(_operation(statement.op)(statement, args, mask, out))

    def finish(
        self,
        statement: Statement,
        result: Result,
        mask: MaskData | None,
        out: Any,
        journal: list[Undo] | None,
    ) -> Any:
        """Accumulate, apply the mask, replace, cast."""
        if isinstance(out, ScalarArrays):
            return _finish_scalar(statement, result.data, out)
        submask = result.has_submask and result.region is not None
        if submask:
            test = result.submask
        elif isinstance(out, CpuVector):
            test = vector_mask(mask, out.size)
        else:
            test = matrix_mask(mask)
        update = Update(
            out, result.data, test,
            complement=mask is not None and mask.complement,
            accum=statement.accum,
            union=(statement.accum is not None and not result.accumulated)
            or (result.assigned and result.region is not None and result.covers),
            replace=statement.replace and test is not None,
            region=result.region,
            submask=submask,
            storage="auto" if statement.plan is None else statement.plan.out_storage,
        )  # fmt: skip
        if isinstance(out, CpuMatrix):
            return finish.finish_matrix(update, exact=result.exact).kept_lean(out.lean)
        return finish.finish_vector(
            update, exact=result.exact, shared=result.shared, journal=journal
        )


def _finish_scalar(statement: Statement, result: ScalarArrays, out: ScalarArrays) -> ScalarArrays:
    accum, value = statement.accum, result.value
    if accum is not None and out.value is not None:
        if value is None:
            return out
        left = cast_scalar(out.value, accum.type.array_dtype)
        right = cast_scalar(value, accum.type.array_dtype)
        value = accum.scalar_function(left, right, 0, 0, 0)
    if value is not None and value.__class__ is not out.dtype.array_dtype.type:
        value = cast_scalar(value, out.dtype.array_dtype)
    if value is not None and out.dtype.kind == "V":
        # A record may be a view of a vector that is written in place.
        value = value.copy()
    return ScalarArrays(out.dtype, value)


def _driving(statement: Statement, args: list[Any]) -> CpuVector:
    vector: CpuVector = args[1 if statement.op == "mxv" else 0]
    return vector


def _nnz(statement: Statement, args: list[Any]) -> int:
    return int(args[0 if statement.op == "mxv" else 1].nvals)


def _frontier_edges(statement: Statement, args: list[Any]) -> int:
    vector = _driving(statement, args)
    if vector.storage == "full":
        # Without asking for the orientation that push walks: it may have to be made first.
        return _nnz(statement, args)
    return count_entries(mxv.edges_of(statement, "push", args), vector)


def _open_rows(mask: MaskData | None, out: Any) -> int:
    test = vector_mask(mask, out.size)
    return int(out.size) if test is None else test.num_open()


def _open_edges(statement: Statement, args: list[Any], mask: MaskData | None, out: Any) -> float:
    edges = mxv.edges_of(statement, "pull", args)
    test = vector_mask(mask, out.size)
    if test is None:
        return float(edges.nvals)
    degrees = edges.degrees()
    if test.listed is not None:
        inside = float(degrees[test.listed].sum())
    else:
        assert test.may is not None
        inside = float(degrees.sum(where=test.may))
    return edges.nvals - inside if test.complement else inside


_COUNTS: dict[str, Callable[..., float]] = {
    "n": lambda statement, args, mask, out: _driving(statement, args).size,
    "rows": lambda statement, args, mask, out: shape_of(out)[0],
    "nnz": lambda statement, args, mask, out: _nnz(statement, args),
    "frontier": lambda statement, args, mask, out: _driving(statement, args).nvals,
    "frontier_edges": lambda statement, args, mask, out: _frontier_edges(statement, args),
    "open_rows": lambda statement, args, mask, out: _open_rows(mask, out),
    "open_edges": _open_edges,
}
