"""Calls: one operation without its output, its literals, and sending it to the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from semira.base.dtypes import FP64, DataType, infer_dtype
from semira.base.errors import DimensionMismatch, DomainMismatch, DtypeUnsupported
from semira.base.memory import raise_with_figures
from semira.contract import PRODUCTS
from semira.contract.hints import NO_HINTS, Hints
from semira.engine import recording
from semira.engine.calls import Call, Literal, Region, lean_hints
from semira.engine.run import submit
from semira.engine.values import Value
from semira.frontend.checks import is_composing
from semira.frontend.hints import parse_hints
from semira.frontend.kinds import EXPRESSIONS
from semira.frontend.mask import Mask
from semira.frontend.operators import as_accum, fitted
from semira.frontend.range_check import as_fitting
from semira.frontend.records import fitted_source


@dataclass(slots=True, eq=False)
class Template:
    """One operation without its output; nothing changes it once it is made."""

    #: One of `contract.program.OPS`.
    op: str
    #: Each an Operand or a Literal.
    args: tuple[Any, ...]
    #: Of the result.
    kind: str
    dtype: DataType
    shape: tuple[int, ...]
    #: Where each dimension of the result comes from (see `engine.calls.Call.shape`).
    dims: tuple[Any, ...]
    #: A TypedOp, TypedMonoid or TypedSemiring.
    operator: Any = None
    regions: tuple[Region, ...] = ()
    params: tuple[tuple[str, Any], ...] = ()
    #: ``matmul``, ``add`` or ``mult`` for ``@ | &``, whose operator may still change.
    infix: str | None = None
    #: Shapes of the operands when the expression was written.
    seen: tuple[tuple[int, ...], ...] | None = None
    #: A step of a composition: computed whatever the option ``autocompute`` says.
    inner: bool = field(default_factory=is_composing)

    def __post_init__(self) -> None:
        if self.seen is None:
            self.seen = _shapes(self.args)

    def check_fresh(self) -> None:
        """Check that no operand was resized since the expression was written.

        Raises DimensionMismatch if one was; the message has both shapes.
        """
        if _shapes(self.args) == self.seen:
            return
        for arg, before in zip(self.args, self.seen or (), strict=True):
            if not isinstance(arg, Literal) and tuple(arg.shape) != before:
                raise DimensionMismatch(
                    f"a {arg.kind} had shape {before} when the {self.op} expression was written "
                    f"and has {tuple(arg.shape)} now; write the expression again"
                )


def _shapes(args: tuple[Any, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple([() if arg.__class__ is Literal else arg.shape for arg in args])


def as_literal(value: Any, dtype: DataType | None = None) -> Literal:
    """Return a Python or NumPy scalar as a literal.

    Raises DomainMismatch if it is not a number. Raises InvalidValue if it does not fit into the
    dtype.
    """
    if value.__class__ is float and (dtype is None or dtype is FP64):
        return Literal(FP64, np.float64(value))
    is_whole = value.__class__ is int or value.__class__ is bool
    if is_whole and (dtype is None or dtype.kind != "V"):
        return _whole_literal(value, dtype)
    if dtype is None and isinstance(value, np.void):
        dtype = infer_dtype(value)
    if dtype is not None and dtype.kind == "V":
        return Literal(dtype, dtype.scalar(value))
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        meant = ""
        if isinstance(value, (list, tuple, np.ndarray)):
            meant = "; make an object of it first, with Vector.from_dense or Matrix.from_dense"
        raise DomainMismatch(
            f"expected a Scalar or a Python number, got {type(value).__name__}{meant}"
        )
    dtype = infer_dtype(value) if dtype is None else dtype
    return Literal(dtype, as_fitting(value, dtype)[()])


@lru_cache(maxsize=1024, typed=True)
def _whole_literal(value: int, dtype: DataType | None) -> Literal:
    """Return an integer or truth value as a literal; nothing changes one, so it may be shared."""
    if dtype is None:
        dtype = infer_dtype(value)
        return Literal(dtype, dtype.scalar(value))
    return Literal(dtype, as_fitting(value, dtype)[()])


def emit(
    template: Template,
    out: Value,
    *,
    mask: Mask | None = None,
    accum: Any = None,
    replace: bool = False,
    options: dict[str, Any] | None = None,
    new: bool = False,
    regions: tuple[Region, ...] | None = None,
) -> None:
    """Submit an operation into `out`."""
    template.check_fresh()
    if template.dtype.kind == "V" or out.dtype.kind == "V":
        template = fitted_source(template, out.dtype)
    args = tuple(
        [(arg, False) if arg.__class__ is Literal else arg._operand() for arg in template.args]
    )
    hints = _hints(template, mask, options)
    if template.op in PRODUCTS:
        hints = lean_hints(template.op, args, hints)
    submit(
        Call(
            template.op,
            out,
            args,
            fitted(template.operator, out.dtype),
            None if mask is None else mask.triple,
            as_accum(accum, out.dtype),
            replace,
            template.regions if regions is None else regions,
            template.params,
            hints,
            new,
            template.dims if new else None,
        )
    )


def _hints(template: Template, mask: Mask | None, options: dict[str, Any] | None) -> Hints:
    if not options:
        return NO_HINTS
    can_dot = mask is not None and not mask.complement
    hints = parse_hints(options, template.op, can_dot=can_dot)
    if hints.operand_reuse and template.op in ("mxv", "vxm") and mask is not None:
        vector = template.args[1 if template.op == "mxv" else 0]
        if vector.shape != mask.parent.shape:
            raise DimensionMismatch(
                f"operand_reuse reads the mask in the operand's place: they must have one shape, "
                f"got {mask.parent.shape} and {vector.shape}"
            )
    return hints


def fresh_value(kind: str, dtype: DataType, shape: tuple[int, ...]) -> Value:
    """Return a value for a new result: a temporary while recording."""
    record = recording.current()
    if record is not None:
        return record.temporary(kind, dtype, shape)
    made = Value(kind, dtype, shape)
    # A result goes where its operands are, whatever device new objects are placed on here.
    made.device = None
    return made


def require_operator(template: Template) -> None:
    """Check that an infix expression was given its operator.

    Raises TypeError if ``x | y`` of non-BOOL operands is to be computed without an operator, and
    DtypeUnsupported if ``x @ y`` of BOOL or records is.
    """
    if template.infix is not None and template.operator is None:
        sign = {"add": "|", "mult": "&", "matmul": "@"}[template.infix]
        dtypes = " and ".join(str(arg.dtype) for arg in template.args[:2])
        if sign == "@":
            raise DtypeUnsupported(
                f"Bad dtypes for `x @ y`: {dtypes}. Automatic computation of it is plus_times, "
                "which does not work with them; name a semiring, such as semiring.lor_land(x @ y)"
            )
        raise TypeError(
            f"Bad dtypes for `x {sign} y`: {dtypes}. Automatic computation of `x {sign} y` is "
            f"only valid for BOOL; name the operator, such as binary.plus(x {sign} y)"
        )


def expression(template: Template) -> Any:
    """Return the expression object of a template."""
    return EXPRESSIONS[template.kind](template)


def operand_or_literal(given: Any) -> Any:
    """Return `given` if it can be an operand, else as a literal scalar."""
    is_usable = isinstance(given, Literal) or hasattr(given, "_operand")
    return given if is_usable else as_literal(given)


@dataclass(eq=False, slots=True)
class Deferred:
    """An intermediate result: computed whenever the expression around it is."""

    kind: str
    dtype: DataType
    shape: tuple[int, ...]
    _make: Callable[[], Any]
    #: The expression it is the result of, if it is of a single one.
    source: Any = None
    #: The method, its operands and its operator, as they are printed.
    call: tuple[str, tuple[Any, ...], Any] | None = None

    _is_transposed: ClassVar[bool] = False

    @classmethod
    def of(cls, source: Any) -> Deferred:
        """Return the future result of an expression."""
        return cls(source.kind, source.dtype, source.shape, source.new, source)

    def _operand(self) -> tuple[Value, bool]:
        try:
            return self._make()._value, False
        except MemoryError as error:
            raise_with_figures(error, self.call[0] if self.call else "a composed operation")


def composed(
    kind: str,
    dtype: DataType,
    shape: tuple[int, ...],
    make: Callable[[], Any],
    dims: Any = None,
    *,
    call: tuple[str, tuple[Any, ...], Any] | None = None,
) -> Any:
    """Return an expression whose value is what `make` returns when it is computed."""
    later = Deferred(kind, dtype, shape, make, call=call)
    if dims is None:
        dims = tuple((0, axis) for axis in range(len(shape)))
    return expression(Template("copy", (later,), kind, dtype, shape, dims))
