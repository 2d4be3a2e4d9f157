"""Scalars: a value that may be missing, on the host, on a device, or in a recorded loop."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from semira.base.dtypes import BOOL, FP64, DataType, infer_dtype, lookup_dtype
from semira.base.errors import DomainMismatch, EmptyObject
from semira.engine import recording
from semira.engine.calls import Call, Literal
from semira.engine.values import Value
from semira.formats import ScalarArrays
from semira.frontend import elementwise, facts, reading
from semira.frontend.arithmetic import binary_dunder
from semira.frontend.call import Template, as_literal, emit, fresh_value
from semira.frontend.checks import bad_type, expect
from semira.frontend.expr import Expression
from semira.frontend.infix import Operand
from semira.frontend.kinds import EXPRESSIONS, OBJECTS
from semira.frontend.range_check import check_written
from semira.frontend.records import is_record
from semira.frontend.updater import Replace, Updatable, Updater
from semira.ops.registry import binary, unary


class ScalarOperand(Operand["ScalarExpression"]):
    """What a Scalar and a ScalarExpression can both do."""

    __slots__ = ()

    kind = "scalar"
    ndim = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """No dimensions: ``()``."""
        return ()

    @property
    def value(self) -> Any:
        """The value, None if empty. Synchronises."""
        return reading.scalar_value(self, "Scalar.value")

    @property
    def is_empty(self) -> bool:
        """Whether there is no value."""
        return self.value is None

    @property
    def nvals(self) -> Any:
        """1 if there is a value, else 0."""
        return reading.count_entries(self)

    def get(self, default: Any = None) -> Any:
        """Return the value, or `default` if empty."""
        value = self.value
        return default if value is None else value

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """Whether both are empty or hold the same value."""
        return reading.equal(self, _as_scalar(other, self), check_dtype=check_dtype)

    def isclose(
        self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False
    ) -> bool:
        """Whether both are empty or hold values that are close."""
        return reading.equal(
            self, _as_scalar(other, self), check_dtype=check_dtype, rel_tol=rel_tol, abs_tol=abs_tol
        )

    def _needed(self, what: str) -> Any:
        value = reading.scalar_value(self, what)
        if value is None:
            raise EmptyObject(f"{what} of an empty Scalar")
        return value

    @property
    def is_grbscalar(self) -> bool:
        """Opposite of `is_cscalar`."""
        return not self.is_cscalar  # type: ignore[attr-defined]

    @property
    def _is_cscalar(self) -> bool:
        # Code written for python-graphblas reads it.
        return bool(getattr(self, "is_cscalar", False))

    def __bool__(self) -> bool:
        value = reading.scalar_value(self, "bool()")
        return value is not None and bool(value)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.dtype.np_type.itemsize

    def __complex__(self) -> complex:
        return complex(self._needed("complex()"))

    def __array__(self, dtype: Any = None, *, copy: Any = None) -> Any:
        del copy
        value = self._needed("conversion to an array")
        if self.dtype.kind == "V":
            return np.array(value)
        return np.array(value, self.dtype.np_type if dtype is None else dtype)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, "eq")

    def __ne__(self, other: object) -> Any:
        return self._compared(other, "ne")

    __hash__ = None  # type: ignore[assignment]

    def _compared(self, other: Any, name: str) -> Any:
        """Compare: a bool now, a BOOL Scalar expression while a loop body is recorded."""
        if getattr(other, "kind", "scalar") != "scalar":
            return binary_dunder(name, "ewise_mult")(self, other)
        if recording.current() is not None:
            return compared(self, other, name)
        return self.isequal(other) is (name == "eq")

    def __format__(self, spec: str) -> str:
        return format(self._needed("format()"), spec) if spec else str(self)

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._needed("round()"), ndigits)

    def __int__(self) -> int:
        return int(self._needed("int()"))

    def __float__(self) -> float:
        return float(self._needed("float()"))

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise AttributeError(
                f"Scalar of {self.dtype} dtype: only has `__index__` if its dtype is integral"
            )
        return int(self._needed("indexing"))


def _as_scalar(given: Any, like: Any) -> Any:
    """Return a Scalar to compare with; a plain number has no dtype to differ in."""
    if getattr(given, "kind", None) == "scalar":
        expect(given, ("scalar",), "other", "Scalar.isequal")
        return given
    if like.dtype.kind == "V" and given is not None:
        return Scalar.from_value(given, like.dtype)
    if given is None:
        return Scalar(like.dtype)
    try:
        made = Scalar.from_value(given)
    except (TypeError, ValueError):
        raise bad_type(given, "Scalar", "other", "Scalar.isequal", literals=True) from None
    fits = made.dup(like.dtype)
    return fits if fits.value == made.value else made


def _literal(value: Any, dtype: DataType) -> Literal:
    return Literal(dtype, None) if value is None else as_literal(value, dtype)


def _any_literal(value: Any, dtype: DataType) -> Literal:
    check_written(value, dtype)
    is_kept = value is None or dtype.kind == "V"
    return _literal(value, dtype if is_kept else infer_dtype(value))


def _constant(source: Any) -> Template:
    """Return the operation that copies a literal or a Scalar."""
    return Template("copy", (source,), "scalar", source.dtype, (), ())


class Scalar(ScalarOperand, Updatable["ScalarExpression"]):
    """A single value of a dtype, possibly missing.

    Parameters
    ----------
    dtype : DataType or str
        Default FP64.
    is_cscalar : bool
        Kept for python-graphblas' signature.
    name : str, optional

    Examples
    --------
    >>> s = Scalar.from_value(3)
    >>> s << s + 1
    >>> s.value, s.dtype
    (4, INT64)
    """

    __slots__ = ("__weakref__", "_value", "is_cscalar", "name")

    _name_counter = count()

    def __init__(
        self, dtype: Any = FP64, *, is_cscalar: bool = False, name: str | None = None
    ) -> None:
        self._value = Value("scalar", lookup_dtype(dtype), ())
        self.is_cscalar = is_cscalar
        self.name = name or f"s_{next(Scalar._name_counter)}"

    @classmethod
    def _wrap(cls, value: Value, name: str | None = None) -> Scalar:
        made = cls.__new__(cls)
        made._value = value
        made.is_cscalar = False
        made.name = name or f"s_{next(Scalar._name_counter)}"
        return made

    @classmethod
    def from_value(
        cls, value: Any, dtype: Any = None, *, is_cscalar: bool = False, name: str | None = None
    ) -> Scalar:
        """Return a Scalar holding `value`: a number, a Scalar, or None for an empty one.

        Raises
        ------
        TypeError
            `value` is None and there is no `dtype`.
        InvalidValue
            `value` does not fit into `dtype`.
        """
        if getattr(value, "kind", None) == "scalar":
            return value.dup(dtype, is_cscalar=is_cscalar, name=name)  # type: ignore[no-any-return]
        if dtype is not None:
            wanted = lookup_dtype(dtype)
        else:
            if value is None:
                raise TypeError(
                    "Scalar.from_value(None) has no dtype; for an empty one write Scalar(dtype), "
                    "or Scalar.from_value(None, dtype)"
                )
            wanted = infer_dtype(value)
        literal = _literal(value, wanted)
        if recording.current() is None:
            made = cls._wrap(Value.of(ScalarArrays(wanted, literal.value)), name)
        else:
            made = cls._wrap(fresh_value("scalar", wanted, ()), name)
            emit(_constant(literal), made._value, new=True)
        made.is_cscalar = is_cscalar
        return made

    @property
    def value(self) -> Any:
        """The value, None if empty. Reading synchronises."""
        return reading.scalar_value(self, "Scalar.value")

    @value.setter
    def value(self, given: Any) -> None:
        self << given

    def clear(self) -> None:
        """Make it empty."""
        self << None

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        is_cscalar: bool | None = None,
        name: str | None = None,
    ) -> Scalar:
        """Return an independent copy, possibly in another dtype or empty."""
        wanted = self.dtype if dtype is None else lookup_dtype(dtype)
        made = Scalar._wrap(fresh_value("scalar", wanted, ()), name)
        made.is_cscalar = self.is_cscalar if is_cscalar is None else is_cscalar
        source: Any = Literal(wanted, None) if clear else self
        emit(_constant(source), made._value, new=True)
        return made

    def update(self, given: Any, **opts: Any) -> None:
        """Write an expression, a Scalar, a number, or None for "empty"."""
        if isinstance(given, Operand):
            super().update(given, **opts)
        else:
            emit(_constant(_any_literal(given, self.dtype)), self._value, options=opts)

    def __call__(
        self,
        *optional: Any,
        mask: Any = None,
        accum: Any = None,
        replace: bool = False,
        **opts: Any,
    ) -> Updater:
        """Choose an accumulator for the next ``<<``.

        Raises
        ------
        TypeError
            A mask or ``replace`` is given: a Scalar has one position.
        """
        if opts.pop("input_mask", None) is not None:
            raise TypeError("input_mask not allowed for Scalars")
        if replace or any(isinstance(arg, Replace) for arg in optional):
            raise TypeError("'replace' argument may not be True for Scalar")
        given = [arg for arg in (*optional, mask) if hasattr(arg, "kind") or hasattr(arg, "triple")]
        if given:
            raise TypeError("Mask not allowed for Scalars")
        return super().__call__(*optional, accum=accum, **opts)

    def __imatmul__(self, other: Any) -> Any:
        raise TypeError(f"`@=` is not supported for Scalars, got {type(other).__name__}")

    def __reduce__(self) -> tuple[Any, ...]:
        reading.refuse_recorded(self, "pickle")
        return _rebuild, (self.value, self.dtype, self.is_cscalar, self.name)


def _rebuild(value: Any, dtype: Any, is_cscalar: bool, name: str) -> Scalar:
    return Scalar.from_value(value, dtype, is_cscalar=is_cscalar, name=name)


class ScalarExpression(Expression[Scalar], ScalarOperand):
    """A scalar that will be computed."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The value, None if empty. Synchronises, unless it is about a matrix and known."""
        return facts.value_of(self, "Scalar.value")

    @property
    def is_cscalar(self) -> bool:
        """Whether the result is asked for as a C scalar: never unless `new` is told so."""
        return False

    def new(
        self,
        dtype: Any = None,
        *,
        is_cscalar: bool | None = None,
        name: str | None = None,
        **opts: Any,
    ) -> Scalar:
        """Run the operation into a new Scalar; see `Expression.new`."""
        made = super().new(dtype, name=name, **opts)
        made.is_cscalar = bool(is_cscalar)
        return made

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        is_cscalar: bool | None = None,
        name: str | None = None,
        **opts: Any,
    ) -> Scalar:
        """Return a new Scalar; see `new`."""
        made = super().dup(dtype, clear=clear, name=name, **opts)
        made.is_cscalar = bool(is_cscalar)
        return made


EXPRESSIONS["scalar"] = ScalarExpression
OBJECTS["scalar"] = Scalar


def compared(x: Any, other: Any, name: str) -> Any:
    """Return ``x == other`` or ``x != other`` of Scalars as a BOOL expression that has a value.

    Two empty Scalars are equal, an empty one and one with a value are not: as outside of loops.
    `name` is "eq" or "ne"; None stands for an empty Scalar.
    """
    if other is None:
        return elementwise.apply(x.nvals, binary[name], right=0)
    is_number = not hasattr(other, "_operand")
    if is_number and is_record(x.dtype):
        other, is_number = OBJECTS["scalar"].from_value(other, x.dtype), False
    if _has_value(x) and (is_number or _has_value(other)):
        return elementwise.apply(x, binary[name], right=other)
    if is_number:
        number = _number(other)
        return elementwise.filled(x, number, binary[name], _another(number), number)
    # Where both have a value they are compared; else they differ if either has one.
    differ = elementwise.ewise("ewise_mult", x, other, binary["ne"])
    either = elementwise.ewise("ewise_add", x, other, binary["first"]).nvals
    differ = elementwise.ewise("ewise_add", differ, either, binary["first"][BOOL])
    return differ if name == "ne" else elementwise.apply(differ, unary["lnot"])


def _number(given: Any) -> Literal:
    try:
        return as_literal(given)
    except DomainMismatch:
        raise bad_type(given, "Scalar", "other", "Scalar.isequal", literals=True) from None


def _another(number: Literal) -> Literal:
    """Return a number of the same dtype that is not equal to this one."""
    return Literal(number.dtype, number.dtype.scalar(0 if number.value != 0 else 1))


def _has_value(x: Any) -> bool:
    """Whether a Scalar of this recording is a count that nothing else was written to."""
    made = x._operand()[0]
    record = recording.current()
    if record is None or made.recording is not record:
        return False
    # A loop inside of the body may write to it.
    return all(
        isinstance(call, Call) and (call.out is not made or call.op == "nvals")
        for call in record.calls
    )
