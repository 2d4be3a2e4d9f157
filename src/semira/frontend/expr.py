"""Expressions: what an operation will compute, before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Self

from semira.base.config import config
from semira.base.dtypes import DataType, lookup_dtype
from semira.engine import recording
from semira.engine.values import Value
from semira.frontend.call import Template, emit, fresh_value, require_operator
from semira.frontend.checks import bad_type, require_autocompute
from semira.frontend.indexing import output_mask
from semira.frontend.kinds import OBJECTS, wrap
from semira.frontend.mask import Mask, as_mask, check_mask
from semira.frontend.updater import Assigner

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    #: The class of the object that an expression makes.
    Result = TypeVar("Result", default=Any)
else:
    from typing import TypeVar

    Result = TypeVar("Result")


class Expression(Generic[Result]):
    """Base of Matrix-, Vector- and ScalarExpression: `new`, retyping, being used as operand."""

    __slots__ = ("__weakref__", "_computed", "_target", "_template")

    kind: str

    def __init__(self, template: Template) -> None:
        self._template = template
        self._computed: Any = None
        #: Object and axes of ``x[...]``.
        self._target: Any = None

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
        target = self._target
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


class CollectionExpression(Expression[Result]):
    """Base of Matrix- and VectorExpression."""

    __slots__ = ()

    @property
    def S(self) -> Mask:  # noqa: N802 - GraphBLAS' name
        """The structural mask of the result."""
        return self._result().S  # type: ignore[no-any-return]

    @property
    def V(self) -> Mask:  # noqa: N802 - GraphBLAS' name
        """The value mask of the result."""
        return self._result().V  # type: ignore[no-any-return]

    @property
    def ss(self) -> Any:
        """The extensions of the result."""
        return self._result().ss
