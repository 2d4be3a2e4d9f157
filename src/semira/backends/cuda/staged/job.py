"""A statement of several launches with its objects: operands, and what its output becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from semira.backends.cuda.runtime.blocks import Block, spell_out
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector
from semira.backends.cuda.runtime.outcome import EMPTY
from semira.backends.cuda.runtime.primitives import offset_type_of
from semira.backends.cuda.runtime.scalars import CudaScalar, Literal
from semira.backends.cuda.runtime.transfer import get_scalar
from semira.backends.cuda.staged.pieces import Pieces, Stage
from semira.backends.cuda.staged.text import result_dtype
from semira.base.dtypes import DataType
from semira.base.errors import EmptyObject
from semira.contract import Statement, TraceRow


class Job:
    """A statement with its objects."""

    def __init__(self, stage: Stage, statement: Statement, things: list[Any]) -> None:
        #: `things`: what is bound to each slot.
        self.stage, self.statement, self.things = stage, statement, things
        self.out: CudaMatrix = things[statement.out]
        self.dtype = result_dtype(stage.executable.program, statement)
        self.trace: Sequence[TraceRow] = ()
        #: The result has no entry that the mask does not let through.
        self.is_masked = False
        self.numbers: tuple[Any, Any] = (None, None)
        self._enter_mask()

    def _enter_mask(self) -> None:
        mask = self.statement.mask
        if mask is not None:
            thing = self.things[mask.slot]
            is_line = isinstance(thing, CudaVector)
            self.stage.enter("mask", self.line(thing) if is_line else self.pieces_of(thing))

    def line(self, vector: CudaVector) -> Pieces:
        """Return a vector as the single row or column of the region it is assigned to."""
        stage = self.stage
        nvals, plane = vector.read_state()
        positions, wide = stage.primitives.positions(plane[1], vector.size, nvals)
        values = stage.primitives.reorder(plane[0], wide, nvals, vector.dtype.itemsize)
        is_column = self.statement.indices[1].kind == "one"
        zeros = stage.scratch.zeros(4 * max(1, nvals))
        rows, indices = (positions, zeros) if is_column else (zeros, positions)
        shape = (vector.size, 1) if is_column else (1, vector.size)
        indptr = stage.primitives.row_offsets(stage.offset_type, rows, nvals, shape[0])
        return Pieces(shape, nvals, vector.dtype, indptr, indices, rows, values)

    def widen(self) -> None:
        """Go on with 64-bit offsets; operands have to be entered again."""
        self.stage.offset_type = "long long"
        self._enter_mask()

    def widens(self, nvals: int) -> bool:
        """Go on with 64-bit offsets if `nvals` entries need them and they are shorter by now."""
        is_due = self.stage.offset_type == "int" and offset_type_of(nvals) != "int"
        if is_due:
            self.widen()
        return is_due

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output."""
        return self.out.nrows, self.out.ncols

    def matrix(self, which: int) -> CudaMatrix:
        """Return an argument that is a matrix."""
        thing: CudaMatrix = self.things[self.statement.args[which].slot]
        return thing

    def pieces_of(
        self, matrix: CudaMatrix, *, by_columns: bool = False, with_rows: bool = True
    ) -> Pieces:
        """Return the entries of a matrix in row order, or those of its transpose."""
        if self.stage.offset_type != "int":
            matrix.widen()
        orientation = "csc" if by_columns else "csr"
        matrix.need(orientation)
        indptr, indices, values = matrix.orientations[orientation]
        rows = matrix.entry_rows(orientation) if with_rows else None
        shape = (matrix.nrows, matrix.ncols)
        return Pieces(
            shape[::-1] if by_columns else shape, matrix.most, matrix.dtype, indptr, indices,
            rows, values, matrix.iso, matrix.is_exact,
        )  # fmt: skip

    def operand(
        self, which: int, name: str, *, flipped: bool = False, with_rows: bool = True
    ) -> Pieces:
        """Return an argument's entries and enter them in the table as `name`."""
        arg = self.statement.args[which]
        pieces = self.pieces_of(
            self.things[arg.slot], by_columns=arg.transposed != flipped, with_rows=with_rows
        )
        self.stage.enter(name, pieces)
        return pieces

    def scalar(self, which: int, name: str) -> None:
        """Enter a scalar argument in the table; raises EmptyObject if it is empty."""
        thing = self.things[self.statement.args[which].slot]
        if not self.has_value(thing):
            raise EmptyObject(EMPTY)
        self.stage.enter(name, thing.describe())

    def has_value(self, thing: Any) -> bool:
        """Return whether a scalar has one; waits if only the device knows."""
        if isinstance(thing, Literal):
            return thing.has
        assert isinstance(thing, CudaScalar)
        return thing.has_value or get_scalar(thing).value is not None

    def spelled(self, block: Block) -> Pieces:
        """Return a block in row order."""
        stage = self.stage
        self.widens(block.nvals)
        kind, size = stage.offset_type, self.dtype.itemsize
        indptr, indices, values, rows = spell_out(stage.runtime, block, kind, size)
        return Pieces(self.shape, block.nvals, self.dtype, indptr, indices, rows, values, block.iso)

    # the output --------------------------------------------------------------------------------
    def finish(self, result: Pieces) -> Pieces:
        """Return the new contents of the output: accumulated, masked, replaced, cast."""
        statement, stage = self.statement, self.stage
        stage.enter("t", result)
        is_assign, keeps_old = statement.op == "assign", self.keeps_old
        if self.writes_all:
            return self._cast(result)
        result = stage.operands["t"] = stage.spelled_out(result)
        if keeps_old:
            if self.widens(result.most + self.out.most):
                wide = stage.primitives.widen(result.indptr, result.shape[0] + 1)
                result = replace(result, indptr=wide)
            stage.enter("t", result)
        old = self.pieces_of(self.out) if keeps_old else self.nothing(self.out.dtype)
        stage.enter("out", old)
        extra = self.numbers if is_assign else ()
        return stage.merged("f", result, old, self.out.dtype, *extra)

    @property
    def keeps_old(self) -> bool:
        """Whether entries of the output may stay."""
        statement = self.statement
        is_new = bool(statement.param("new"))
        accum = None if is_new else statement.accum
        keeps = (
            statement.op == "assign"
            or accum is not None
            or not (statement.mask is None or statement.replace)
        )
        return keeps and not is_new and self.out.most > 0

    @property
    def writes_all(self) -> bool:
        """Whether the result, cast, is the output."""
        if self.keeps_old or self.statement.op == "assign":
            return False
        return self.statement.mask is None or self.is_masked

    def _cast(self, result: Pieces) -> Pieces:
        if result.dtype is self.out.dtype:
            return result
        count = min(1, result.most) if result.iso else result.most
        values = self.stage.runtime.allocate(self.out.dtype.itemsize * max(1, count))
        self.stage.launch("f_map", count, count, values)
        return replace(result, dtype=self.out.dtype, values=values)

    def nothing(self, dtype: DataType) -> Pieces:
        """Return a matrix of the output's shape without entries."""
        stage = self.stage
        made = stage.blank(self.shape, 0, dtype, None)
        stage.runtime.clear(made.indptr)
        return made
