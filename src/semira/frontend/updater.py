"""Writing into objects: ``C(mask, accum, replace) << x`` and ``C[i, j](...) << x``."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Self

import numpy as np

from semira.backends.registry import backend_for
from semira.base.dtypes import DataType, RecordType
from semira.base.errors import DimensionMismatch, DomainMismatch
from semira.engine import recording
from semira.engine.calls import ALL, Literal
from semira.engine.values import Value
from semira.frontend.arithmetic import in_place_infix
from semira.frontend.call import Template, as_literal, emit, require_operator
from semira.frontend.checks import bad_type
from semira.frontend.elementwise import apply, own_dims
from semira.frontend.indexing import Axis, extract_axes, output_mask, resolve
from semira.frontend.infix import Made_co, Operand
from semira.frontend.kinds import OBJECTS, PROVIDED
from semira.frontend.mask import Mask, as_mask, check_mask, check_region_mask
from semira.frontend.range_check import as_array, check_written
from semira.frontend.records import region_value
from semira.ops import BinaryOp, Monoid, TypedMonoid, TypedOp, TypedSemiring
from semira.ops.operator import Operator
from semira.ops.registry import equivalent
from semira.ops.user import Parameterized


class Replace:
    """The type of the flag object `replace`."""

    def __repr__(self) -> str:
        return "replace"

    def __bool__(self) -> bool:
        return True


#: Pass it positionally: ``C(mask, replace) << x``.
replace = Replace()


def parse_call(
    optional: tuple[Any, ...], mask: Any, accum: Any, replace_flag: bool
) -> tuple[Mask | None, Any, bool]:
    """Sort the arguments of ``C(...)``: mask, accumulator and `replace` in any order.

    Raises TypeError if something is given twice, is none of the three, or ``replace`` comes without
    a mask.
    """
    given: dict[str, Any] = {"mask": mask, "accum": accum}
    for arg in optional:
        if isinstance(arg, Replace):
            replace_flag = True
            continue
        is_accum = isinstance(arg, _OPERATORS) or arg is min or arg is max
        name = "accum" if is_accum else "mask"
        if given[name] is not None:
            raise TypeError(f"got multiple values for `{name}`")
        given[name] = arg
    if given["accum"] is not None and not _is_binary(given["accum"]):
        meant = equivalent(given["accum"], "BinaryOp")
        raise bad_type(given["accum"], f"BinaryOp, Monoid{meant}", "accum", "__call__")
    checked = None if given["mask"] is None else as_mask(given["mask"])
    if replace_flag and checked is None:
        raise TypeError("'replace' argument may only be True if a mask is provided")
    return checked, given["accum"], bool(replace_flag)


#: What is an accumulator, and not a mask, among positional arguments.
_OPERATORS = (Operator, Parameterized, TypedOp, TypedMonoid, TypedSemiring, str)


def _is_binary(op: Any) -> bool:
    parent = op.parent if isinstance(op, (TypedOp, TypedMonoid)) else op
    if parent is min or parent is max:
        return True
    return isinstance(parent, (BinaryOp, Monoid, Parameterized, FunctionType, str))


#: Numbers that need no look at their kind.
_NUMBERS = frozenset((bool, int, float))


class Updater:
    """An object with mask, accumulator and replace chosen; ``<<`` writes into it."""

    __slots__ = (
        "_axes", "_input_mask", "_outer", "_seen", "accum", "mask", "opts", "parent", "replace",
    )  # fmt: skip

    def __repr__(self) -> str:
        return PROVIDED["updater_text"](self)  # type: ignore[no-any-return]

    def __init__(
        self,
        parent: Any,
        mask: Mask | None = None,
        accum: Any = None,
        replace_flag: bool = False,
        opts: dict[str, Any] | None = None,
        axes: list[Axis] | None = None,
        *,
        outer: bool = False,
    ) -> None:
        self.parent = parent
        self.mask = mask
        self.accum = accum
        self.replace = replace_flag
        self.opts = opts or {}
        self._input_mask = self.opts.pop("input_mask", None)
        self._axes = axes
        self._seen = parent.shape
        self._outer = outer

    @property
    def kwargs(self) -> dict[str, Any]:
        """Mask, accumulator and replace."""
        return {"mask": self.mask, "accum": self.accum, "replace": self.replace}

    def __getitem__(self, keys: Any) -> Assigner:
        """Return ``C(mask, ...)[rows, cols]``: the mask has the shape of C."""
        if self._input_mask is not None:
            raise TypeError("`input_mask` argument may only be used for extract")
        if self._axes is not None:
            raise TypeError("'Assigner' object is not subscriptable: it is indexed already")
        if self.parent.kind == "scalar":
            raise TypeError("Indexing not supported for Scalars")
        return Assigner(
            self.parent, self.mask, self.accum, self.replace, self.opts,
            resolve(keys, self.parent.shape), outer=True,
        )  # fmt: skip

    def __setitem__(self, keys: Any, value: Any) -> None:
        self[keys].update(value)

    def __delitem__(self, keys: Any) -> None:
        """Delete the entries of a region, where the mask lets through."""
        recording.refuse_host_read(
            f"deleting entries of {self.parent.name}",
            "write what is to stay: `x(mask, replace=True) << x`, or `x << x.select(...)`",
        )
        self[keys].update(OBJECTS["scalar"](self.parent.dtype))

    def guarded(
        self,
        *optional: Any,
        mask: Any = None,
        accum: Any = None,
        replace: bool = False,
        **opts: Any,
    ) -> Assigner:
        """Return ``C[rows, cols](mask, ...)``: the mask has the shape of the region."""
        checked, accum, flag = parse_call(optional, mask, accum, replace)
        return Assigner(self.parent, checked, accum, flag, opts, self._axes)

    def __lshift__(self, given: Any) -> None:
        self.update(given)

    def update(self, given: Any) -> None:
        """Write an expression, an object or a scalar.

        Raises
        ------
        DimensionMismatch
            The shape does not fit the output (or the region), or the mask's does not.
        DomainMismatch
            `given` is nothing that can be written.
        """
        if self._axes is not None:
            _assign(self, given, self._axes)
            return
        check_mask(self.mask, self.parent.kind, self.parent.shape)
        if self._input_mask is not None:
            if not hasattr(given, "_template"):
                raise TypeError("`input_mask` argument may only be used for extract")
            mask = output_mask(given, self._input_mask)
            Updater(self.parent, mask, self.accum, self.replace, self.opts).update(given)
            return
        template = getattr(given, "_template", None)
        if template is not None:
            require_operator(template)
        elif given.__class__ in _NUMBERS and self.parent.kind != "scalar":
            dtype = self.parent.dtype
            check_written(given, dtype)
            self._emit_number(as_literal(given, dtype if dtype.kind == "V" else None))
            return
        elif isinstance(given, Operand) and given.kind == self.parent.kind:
            template = Template(
                "copy", (given,), given.kind, given.dtype, given.shape, own_dims(given)
            )
        elif self.parent.kind == "scalar" and not isinstance(given, Operand):
            literal = _region_value(self.parent, given, ())
            template = Template("copy", (literal,), "scalar", literal.dtype, (), ())
        if template is None or template.kind != self.parent.kind:
            everything = [Axis(ALL, size) for size in self.parent.shape]
            _assign(self, given, everything, whole=True)
            return
        if template.shape != self.parent.shape:
            raise DimensionMismatch(
                f"a {template.kind} of shape {template.shape} cannot be written into "
                f"{self.parent.name} of shape {self.parent.shape}"
            )
        self._emit(template)

    def _emit_number(self, literal: Literal) -> None:
        parent, mask = self.parent, self.mask
        if (
            mask is not None
            and mask.parent is parent
            and mask.structure
            and not mask.complement
            and self.accum is None
            and literal.dtype is parent.dtype
            and recording.current() is None
        ):
            # `x(x.S) << 1` gives every entry this value: one value is stored, and stays known.
            # (A recorded loop writes in place instead: its storage is settled beforehand.)
            template = apply(parent, "second", literal)._template
            unmasked = Updater(parent, opts=self.opts)
            unmasked._emit(template)
            return
        self._emit(_everywhere(parent, literal))

    def __bool__(self) -> bool:
        raise TypeError("the truth of an updater is not defined; write into it with `<<`")

    def __eq__(self, other: object) -> bool:
        raise TypeError("equality of updaters is not defined")

    __hash__ = None  # type: ignore[assignment]

    def _emit(self, template: Template) -> None:
        if self._axes is not None and self._seen != self.parent.shape:
            raise DimensionMismatch(
                f"{self.parent.name} had shape {self._seen} when it was indexed and has "
                f"{self.parent.shape} now; index it again"
            )
        emit(
            template,
            self.parent._value,
            mask=self.mask,
            accum=self.accum,
            replace=self.replace,
            options=self.opts,
        )


def _everywhere(parent: Any, literal: Literal) -> Template:
    shape = parent.shape
    regions = (ALL,) * len(shape)
    return Template("assign", (literal,), parent.kind, literal.dtype, shape, (), regions=regions)


class Assigner(Updater):
    """An updater of a region: ``C(mask)[rows, cols]`` or ``C[rows, cols](mask)``."""

    __slots__ = ()


def _assign(updater: Updater, given: Any, axes: list[Axis], *, whole: bool = False) -> None:
    """Write into a region: a scalar everywhere, or an object of the region's shape."""
    parent = updater.parent
    region = tuple(axis.length for axis in axes if axis.length is not None)
    if whole and hasattr(given, "_template"):
        given._require_usable("value", f"{type(parent).__name__}.update")
    submask = not whole and not updater._outer and updater.mask is not None
    if updater.mask is not None:
        check_region_mask(updater.mask, parent, region, submask=submask)
    if whole and not isinstance(given, (Operand, Literal, list, np.ndarray)):
        _check_number(parent, given)
    given_arg = _region_value(parent, given, region)
    dtype = given_arg.dtype
    if updater.mask is not None and updater.mask.parent.kind != parent.kind and not submask:
        _assign_line(updater, given_arg, axes)
        return
    mask_shape = region if submask else parent.shape
    if updater.mask is not None and updater.mask.parent.shape != mask_shape:
        raise DimensionMismatch(
            f"mask {updater.mask.name} of shape {updater.mask.parent.shape} does not fit "
            f"{'the region' if submask else parent.name} of shape {mask_shape}"
        )
    updater._emit(
        Template(
            "assign", (given_arg,), parent.kind, dtype, parent.shape, (),
            regions=tuple(axis.region for axis in axes),
            params=(("submask", True),) if submask else (),
        )
    )  # fmt: skip


def _check_number(parent: Any, given: Any) -> None:
    if parent.dtype.kind == "V":
        return
    try:
        as_literal(given)
    except DomainMismatch:
        raise DomainMismatch(
            f"Bad type for argument `value` when writing into {parent.name}: {type(given)}. "
            "Assignment value must be a valid expression, an object or a number"
        ) from None


def _region_value(parent: Any, given: Any, region: tuple[int, ...]) -> Any:
    """Return what is written into a region: an operand of its shape, or a scalar.

    Raises DomainMismatch if `given` is of a kind that cannot be written there. Raises
    DimensionMismatch if its shape is not the region's.
    """
    where = f"{type(parent).__name__}.__setitem__"
    if given is None:
        raise DomainMismatch(
            "Bad type for argument `value`. Assignment value must be a valid expression, an "
            "object or a number; to delete entries write `del x[...]`, to empty x `x.clear()`"
        )
    if hasattr(given, "_template"):
        given._require_usable("value", where)
        given = given._result()
    if not isinstance(given, Operand):
        return _scalar_or_dense(parent, given, region, where)
    if given.kind == "scalar":
        return given
    if len(given.shape) != len(region):
        raise bad_type(given, ("Scalar", "Vector", "Matrix")[len(region)], "value", where)
    if given.shape != region:
        raise DimensionMismatch(
            f"a {given.kind} of shape {given.shape} cannot be assigned to a region of shape "
            f"{region} of {parent.name}"
        )
    return given


def _scalar_or_dense(parent: Any, given: Any, region: tuple[int, ...], where: str) -> Any:
    """Return a number as a literal, a list or an array as a dense object."""
    if isinstance(given, Literal):
        return given
    if isinstance(parent.dtype, RecordType):
        made = region_value(parent.dtype, given, region)
        if isinstance(made, Literal):
            return made
        return OBJECTS[("vector", "matrix")[len(region) - 1]].from_dense(made)
    check_written(given, parent.dtype)
    try:
        return as_literal(given)
    except DomainMismatch:
        pass
    kind = ("Scalar", "Vector", "Matrix")[len(region)]
    if not isinstance(given, (list, np.ndarray)) or not region:
        raise bad_type(given, kind, "value", where, literals=True)
    recording.refuse_host_read(
        f"a {type(given).__name__} of values is copied from the host",
        f"make a {kind} of it before the loop",
    )
    array = as_array(given)
    if array.dtype.kind not in "biufc":
        raise bad_type(given, kind, "value", where, literals=True)
    if array.shape != region:
        raise DimensionMismatch(
            f"shape mismatch: values of shape {array.shape} cannot be assigned to a region of "
            f"shape {region} of {parent.name}"
        )
    return OBJECTS[kind.lower()].from_dense(array)


def _assign_line(updater: Updater, given: Any, axes: list[Axis]) -> None:
    """Write into a row or a column under a mask of that line."""
    parent = updater.parent
    fixed = 0 if axes[0].length is None else 1
    everything = Axis(ALL, parent.shape[1 - fixed])
    line_axes = [axes[0], everything] if fixed == 0 else [everything, axes[1]]
    line = extract_axes(parent, line_axes).new()
    inner = Assigner(
        line, updater.mask, updater.accum, updater.replace, updater.opts, [axes[1 - fixed]],
        outer=True,
    )  # fmt: skip
    inner.update(given if isinstance(given, Operand) else given.value)
    Assigner(parent, axes=line_axes).update(line)


def _in_place(dunder: str) -> Callable[[Any, Any], Any]:
    """Return the method behind ``x += y``: ``x << x + y``."""

    def update(self: Any, other: Any) -> Any:
        made = getattr(self, dunder)(other)
        if made is NotImplemented:
            return made
        self.update(made)
        return self

    return update


def _add_in_place(self: Any, other: Any) -> Any:
    """``x += y`` is ``x(accum="plus") << y``; with a scalar, ``x << x + y``."""
    kind = getattr(other, "kind", "scalar")
    if kind == "scalar" != self.kind and hasattr(other, "_require_usable"):
        other._require_usable("other", f"{type(self).__name__}.__iadd__")
    if kind == self.kind and self.kind != "scalar":
        Updater(self, accum="plus").update(other)
        return self
    return _in_place("__add__")(self, other)


class Updatable(Operand[Made_co]):
    """Objects that can be written: Matrix, Vector and Scalar."""

    __slots__ = ()

    _value: Value

    @property
    def dtype(self) -> DataType:
        """Dtype of the entries, or of the value."""
        return self._value.dtype

    @property
    def device(self) -> str:
        """Where the object lives (or would go first)."""
        value = self._value
        return value.device or value.where

    def _operand(self) -> tuple[Value, bool]:
        return self._value, False

    def wait(self, how: str = "materialize") -> Self:
        """Wait until everything that writes this object has run; returns it."""
        if how not in ("materialize", "complete"):
            raise ValueError(f'`how` argument must be "materialize" or "complete"; got {how!r}')
        value = self._value
        backend_for(value.device or value.where).synchronise()
        return self

    def __call__(
        self,
        *optional: Any,
        mask: Any = None,
        accum: Any = None,
        replace: bool = False,
        **opts: Any,
    ) -> Updater:
        """Choose mask, accumulator and replace for the next ``<<``."""
        checked, accum, flag = parse_call(optional, mask, accum, replace)
        if opts.get("input_mask") is not None:
            if checked is not None:
                raise TypeError("mask and input_mask arguments cannot both be given")
            opts["input_mask"] = as_mask(opts["input_mask"])
        return Updater(self, checked, accum, flag, opts)

    def __lshift__(self, given: Any) -> None:
        self.update(given)

    def update(self, given: Any, **opts: Any) -> None:
        """Write like ``self(**opts) << given``."""
        Updater(self, opts=opts).update(given)

    __iadd__ = _add_in_place
    __isub__ = _in_place("__sub__")
    __imul__ = _in_place("__mul__")
    __itruediv__ = _in_place("__truediv__")
    __ifloordiv__ = _in_place("__floordiv__")
    __imod__ = _in_place("__mod__")
    __ipow__ = _in_place("__pow__")
    __ixor__ = _in_place("__xor__")
    __ior__ = in_place_infix("|", "lor")
    __iand__ = in_place_infix("&", "land")
    __imatmul__ = _in_place("__matmul__")
