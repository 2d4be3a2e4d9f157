"""Expressions: what an operation will compute, before it runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Self

import numpy as np

from semira.base.config import config
from semira.base.dtypes import FP64, DataType, infer_dtype, lookup_dtype
from semira.base.errors import DimensionMismatch, DomainMismatch, DtypeUnsupported
from semira.contract import PRODUCTS
from semira.contract.hints import NO_HINTS, Hints
from semira.engine import recording
from semira.engine.calls import Call, Literal, Region
from semira.engine.lean import lean_hints
from semira.engine.run import submit
from semira.engine.values import Value
from semira.frontend.checks import bad_type, is_composing, require_autocompute
from semira.frontend.fits import as_fitting
from semira.frontend.hints import parse_hints
from semira.frontend.kinds import EXPRESSIONS, OBJECTS, wrap
from semira.frontend.mask import Mask, as_mask, check_mask
from semira.frontend.operators import as_accum, fitted
from semira.frontend.records import fitted_source

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from semira.frontend.infix import Operand
    from semira.frontend.updater import Assigner

    #: The class of the object that an expression makes.
    Result = TypeVar("Result", default=Any)
else:
    from typing import TypeVar

    Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class Template:
    """One operation without its output; nothing changes it once it is made.

    Attributes
    ----------
    op : str
        One of `contract.program.OPS`.
    args : tuple of Operand or Literal
    kind, dtype, shape
        Of the result.
    dims : tuple
        Where each dimension of the result comes from (see `engine.calls.Call.shape`).
    operator : TypedOp, TypedMonoid, TypedSemiring or None
    infix : str or None
        ``matmul``, ``add`` or ``mult`` for ``@ | &``, whose operator may still change.
    seen : tuple of shapes
        Of the operands when the expression was written.
    inner : bool
        A step of a composition: computed whatever the option ``autocompute`` says.
    """

    op: str
    args: tuple[Any, ...]
    kind: str
    dtype: DataType
    shape: tuple[int, ...]
    dims: tuple[Any, ...]
    operator: Any = None
    regions: tuple[Region, ...] = ()
    params: tuple[tuple[str, Any], ...] = ()
    infix: str | None = None
    seen: tuple[tuple[int, ...], ...] | None = None
    inner: bool = field(default_factory=is_composing)

    def __post_init__(self) -> None:
        if self.seen is None:
            self.seen = _shapes(self.args)

    def check_fresh(self) -> None:
        """Check that no operand was resized since the expression was written.

        Raises
        ------
        DimensionMismatch
            One was; the message has both shapes.
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

    Raises
    ------
    DomainMismatch
        It is not a number.
    InvalidValue
        It does not fit into the dtype.
    """
    if value.__class__ is float and (dtype is None or dtype is FP64):
        return Literal(FP64, np.float64(value))
    if dtype is None and (value.__class__ is int or value.__class__ is bool):
        return _whole_literal(value)
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
def _whole_literal(value: int) -> Literal:
    """Return an integer or truth value as a literal; nothing changes one, so it may be shared."""
    dtype = infer_dtype(value)
    return Literal(dtype, dtype.scalar(value))


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


class Expression(Generic[Result]):
    """Base of Matrix-, Vector- and ScalarExpression: `new`, retyping, being used as operand."""

    __slots__ = ()

    kind: str
    _template: Template
    _computed: Any

    def __init__(self, template: Template) -> None:
        raise NotImplementedError

    @property
    def dtype(self) -> DataType:
        """Dtype of the result."""
        return self._template.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result."""
        return self._template.shape

    @property
    def op(self) -> Any:
        """The operator."""
        return self._template.operator

    def new(
        self, dtype: Any = None, *, mask: Any = None, name: str | None = None, **opts: Any
    ) -> Result:
        """Run the operation into a new object.

        Parameters
        ----------
        dtype : DataType or str, optional
            Dtype of the new object; that of the expression if None.
        mask : Mask or BOOL object, optional
            Only entries it lets through are made.
        name : str, optional
        **opts
            Options of the call, see `frontend.hints`.
        """
        mask = self._mask_of(mask, opts)
        cached = self._cached()
        if cached is not None and not opts:
            return cached.dup(dtype, mask=mask, name=name)  # type: ignore[no-any-return]
        dtype = self.dtype if dtype is None else lookup_dtype(dtype)
        value = fresh_value(self._template.kind, dtype, self.shape)
        checked = None if mask is None else as_mask(mask)
        check_mask(checked, self._template.kind, self.shape)
        require_operator(self._template)
        made: Result = wrap(value, name)
        emit(self._template, value, mask=checked, options=opts, new=True)
        return made

    def _mask_of(self, mask: Any, options: dict[str, Any]) -> Any:
        """Return the mask of the result; an ``input_mask`` is indexed like the operand."""
        given = options.pop("input_mask", None)
        if given is None:
            return mask
        from semira.frontend.input_mask import output_mask

        if mask is not None:
            raise TypeError("mask and input_mask arguments cannot both be given")
        return output_mask(self, given)

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        mask: Any = None,
        name: str | None = None,
        **opts: Any,
    ) -> Result:
        """Return a new object; see `new`. With `clear` it has no entries."""
        if clear:
            wanted = self.dtype if dtype is None else dtype
            empty: Result = OBJECTS[self._template.kind](wanted, *self.shape, name=name)
            return empty
        return self.new(dtype, mask=mask, name=name, **opts)

    def wait(self, how: str = "materialize") -> Self:
        """Compute, and wait until it is done; returns the expression."""
        self._result().wait(how)
        return self

    def _cached(self) -> Any:
        """Return the result computed before: eagerly, or in the recording in progress."""
        if self._computed is None:
            return None
        maker = self._computed._operand()[0].recording
        return self._computed if maker in (None, recording.current()) else None

    def _require_usable(self, argument: str, where: str) -> None:
        """Check that the expression may stand where an object is asked for."""
        is_enabled = config["autocompute"] or recording.current() is not None
        if is_enabled or argument == "self":
            require_operator(self._template)
        if not is_enabled and not self._template.inner:
            raise bad_type(self, self._template.kind.capitalize(), argument, where)

    def _result(self, what: str = "being used as an object") -> Any:
        if not self._template.inner:
            require_autocompute(self, what)
        found = self._cached()
        if found is None:
            found = self._computed = self.new()
        return found

    def update(self, given: Any, **opts: Any) -> None:
        """Write into the region that the expression names: ``A[i, j].update(x)``."""
        self._located().guarded(**opts).update(given)

    def _located(self) -> Assigner:
        """Return the updater of ``x[...]``."""
        from semira.frontend.updater import Assigner

        target = getattr(self, "_target", None)
        if target is None:
            raise TypeError(f"only ``x[...]`` can be written; this is a computed {self.kind}")
        if target[0]._is_transposed:
            raise TypeError(
                "a TransposedMatrix is read-only: it does not support item assignment, and what "
                "it is indexed to is not callable"
            )
        return Assigner(target[0], axes=target[1])

    def __call__(self, *args: Any, **kwargs: Any) -> Assigner:
        """Choose mask and accumulator for writing ``x[...](mask) << y``."""
        return self._located().guarded(*args, **kwargs)

    def __lshift__(self, given: Any) -> None:
        self._located().update(given)

    def _operand(self) -> tuple[Value, bool]:
        return self._result()._value, False

    @property
    def _value(self) -> Value:
        return self._result()._value  # type: ignore[no-any-return]

    def _refuse_in_place(self, other: Any) -> Any:
        del other
        raise TypeError(
            f"in-place operators are not supported for {type(self).__name__}; call .new() first"
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = _refuse_in_place
    __imod__ = __ipow__ = __ixor__ = __ior__ = __iand__ = __imatmul__ = _refuse_in_place

    def _with(self, **changes: Any) -> Any:
        return type(self)(replace(self._template, **changes))


def require_operator(template: Template) -> None:
    """Check that an infix expression was given its operator.

    Raises
    ------
    TypeError
        ``x | y`` of non-BOOL operands is to be computed without an operator.
    DtypeUnsupported
        So is ``x @ y`` of BOOL or records.
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


def operand_or_literal(given: Any) -> Operand | Literal:
    """Return `given` if it can be an operand, else as a literal scalar."""
    is_usable = isinstance(given, Literal) or hasattr(given, "_operand")
    return given if is_usable else as_literal(given)
