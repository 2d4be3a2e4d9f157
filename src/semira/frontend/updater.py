"""Writing into objects: ``C(mask, accum, replace) << x`` and ``C[i, j](...) << x``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira.base.errors import DimensionMismatch, DomainMismatch
from semira.engine.calls import ALL
from semira.frontend.elementwise import own_dims
from semira.frontend.expr import (
    Expression,
    Template,
    as_literal,
    emit,
    expression,
    require_operator,
)
from semira.frontend.indexing import Axis, resolve
from semira.frontend.infix import Operand
from semira.frontend.mask import Mask, as_mask, check_mask
from semira.ops import BinaryOp, Monoid, TypedMonoid, TypedOp


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

    Raises
    ------
    TypeError
        Something is given twice, is none of the three, or ``replace`` comes without a mask.
    """
    given: dict[str, Any] = {"mask": mask, "accum": accum}
    for arg in optional:
        if isinstance(arg, Replace):
            replace_flag = True
            continue
        is_accum = isinstance(arg, (BinaryOp, Monoid, TypedOp, TypedMonoid, str))
        name = "accum" if is_accum else "mask"
        if given[name] is not None:
            raise TypeError(f"got more than one {name}")
        given[name] = arg
    checked = None if given["mask"] is None else as_mask(given["mask"])
    if replace_flag and checked is None:
        raise TypeError("'replace' argument may only be True if a mask is provided")
    return checked, given["accum"], bool(replace_flag)


class Updater:
    """An object with mask, accumulator and replace chosen; ``<<`` writes into it."""

    __slots__ = ("_axes", "_outer", "_seen", "accum", "mask", "opts", "parent", "replace")

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
        self._axes = axes
        self._seen = parent.shape
        self._outer = outer

    @property
    def kwargs(self) -> dict[str, Any]:
        """Mask, accumulator and replace."""
        return {"mask": self.mask, "accum": self.accum, "replace": self.replace}

    def __getitem__(self, keys: Any) -> Updater:
        """Return ``C(mask, ...)[rows, cols]``: the mask has the shape of C."""
        return Updater(
            self.parent, self.mask, self.accum, self.replace, self.opts,
            resolve(keys, self.parent.shape), outer=True,
        )  # fmt: skip

    def __setitem__(self, keys: Any, value: Any) -> None:
        self[keys].update(value)

    def __call__(
        self,
        *optional: Any,
        mask: Any = None,
        accum: Any = None,
        replace: bool = False,
        **opts: Any,
    ) -> Updater:
        """Return ``C[rows, cols](mask, ...)``: the mask has the shape of the region."""
        if self._axes is None or self._outer:
            raise TypeError("an updater is not callable; write C(mask, accum) << x")
        checked, accum, flag = parse_call(optional, mask, accum, replace)
        return Updater(self.parent, checked, accum, flag, opts, self._axes)

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
        if isinstance(given, Expression):
            require_operator(given._template)
            template = given._template
        elif isinstance(given, Operand) and given.kind == self.parent.kind:
            template = Template(
                "copy", (given,), given.kind, given.dtype, given.shape, own_dims(given)
            )
        else:
            template = None
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


def _assign(updater: Updater, given: Any, axes: list[Axis], *, whole: bool = False) -> None:
    """Write into a region: a scalar everywhere, or an object of the region's shape."""
    parent = updater.parent
    region = tuple(axis.length for axis in axes if axis.length is not None)
    if isinstance(given, Expression):
        given = given._result()
    if not isinstance(given, Operand):
        given_arg: Any = _scalar(parent, given)
        dtype = given_arg.dtype
    else:
        given_arg, dtype = given, given.dtype
        if given.kind != "scalar" and given.shape != region:
            raise DimensionMismatch(
                f"a {given.kind} of shape {given.shape} cannot be assigned to a region of shape "
                f"{region} of {parent.name}"
            )
    submask = not whole and not updater._outer and updater.mask is not None
    if parent.kind == "scalar":
        raise DomainMismatch(f"cannot write {type(given).__name__} into a Scalar")
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


def _scalar(parent: Any, given: Any) -> Any:
    try:
        return as_literal(given)
    except DomainMismatch:
        raise TypeError(
            f"Bad type when writing into {parent.name}: expected a {type(parent).__name__}, an "
            f"expression, a Scalar or a number, got {type(given).__name__}"
        ) from None


def _in_place(dunder: str) -> Callable[[Any, Any], Any]:
    """Return the method behind ``x += y``: ``x << x + y``."""

    def update(self: Any, other: Any) -> Any:
        made = getattr(self, dunder)(other)
        if made is NotImplemented:
            return made
        self.update(made)
        return self

    return update


class Updatable(Operand):
    """Objects that can be written: Matrix, Vector and Scalar."""

    __slots__ = ()

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
        return Updater(self, checked, accum, flag, opts)

    def __lshift__(self, given: Any) -> None:
        Updater(self).update(given)

    def update(self, given: Any, **opts: Any) -> None:
        """Write like ``self(**opts) << given``."""
        Updater(self, opts=opts).update(given)

    __iadd__ = _in_place("__add__")
    __isub__ = _in_place("__sub__")
    __imul__ = _in_place("__mul__")
    __itruediv__ = _in_place("__truediv__")
    __ifloordiv__ = _in_place("__floordiv__")
    __ixor__ = _in_place("__xor__")
    __ior__ = _in_place("__or__")
    __iand__ = _in_place("__and__")
    __imatmul__ = _in_place("__matmul__")


def extract_expression(x: Any, keys: Any, one: str) -> Any:
    """Return ``x[keys]``; `one` is the kind left when every axis disappears."""
    axes = resolve(keys, x.shape)
    shape = tuple(axis.length for axis in axes if axis.length is not None)
    kind = (one, "vector", "matrix")[len(shape)]
    dims = tuple(
        (0, 1 - number if x._is_transposed else number)
        if axis.region is ALL
        else ("region", number)
        for number, axis in enumerate(axes)
        if axis.length is not None
    )
    made = expression(
        Template(
            "extract", (x,), kind, x.dtype, shape, dims, regions=tuple(axis.region for axis in axes)
        )
    )
    made._target = (x, axes)
    return made
