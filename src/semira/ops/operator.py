"""What all operators share: a name, instances by dtype, and being called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeVar, overload

import numpy as np

from semira.base.dtypes import ALL_DTYPES, INT64, DataType, lookup_dtype, unify
from semira.base.locks import cached_property


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A Python function that gives an operator its meaning."""

    #: Identifier made of what the function does and captures (see `ops.user`).
    name: str
    #: As the user wrote it.
    function: Callable[..., Any]
    #: The same with what it captured when the operator was made.
    frozen: Callable[..., Any]


@dataclass(frozen=True, eq=False, repr=False)
class Operator:
    """Common part of every operator: a name, typed instances by dtype, and being called."""

    name: str

    opclass = "Operator"

    @property
    def is_positional(self) -> bool:
        """Whether results depend on the positions of entries rather than on their values."""
        return False

    @property
    def user(self) -> UserFunction | None:
        """The Python function behind a user-defined operator."""
        return None

    @property
    def orig_func(self) -> Callable[..., Any] | None:
        """The Python function a user-defined operator was made of, None for built-in ones."""
        return None if self.user is None else self.user.function

    @property
    def key_name(self) -> str:
        """Name that no other operator of the class has, anonymous ones included."""
        return self.name if self.user is None else f"{self.name}:{self.user.name}"

    def __repr__(self) -> str:
        return f"{self.opclass.lower().removesuffix('op')}.{self.name}"

    @overload
    def __call__(self, x: Operand[Made], /, *args: Any, **kwargs: Any) -> Made: ...
    @overload
    def __call__(self, x: complex | np.generic, y: Operand[Made], /) -> Made: ...
    @overload
    def __call__(self, x: complex | np.generic, /, *args: Any) -> Any: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply to an expression: ``min_plus(A @ B)``, ``plus(v | w)``, ``sqrt(v)``."""
        return call(self, *args, **kwargs)

    def typed(self, dtype: DataType) -> Any:
        """Return the instance for `dtype`; KeyError if there is none."""
        cache: dict[DataType, Any] = self.__dict__.setdefault("_by_dtype", {})
        if dtype not in cache:
            # setdefault: threads that ask at once must get the same object.
            is_record = dtype.kind == "V"
            made = self._make_record(dtype, dtype) if is_record else self._make_typed(dtype)
            cache.setdefault(dtype, self._shared(made))
        if cache[dtype] is None:
            raise KeyError(dtype)
        return cache[dtype]

    def typed_pair(self, left: DataType, right: DataType) -> Any:
        """Return the instance for operands of two dtypes, at least one of them user-defined.

        Raises KeyError if there is none.
        """
        if left is right:
            return self.typed(left)
        if "V" not in (left.kind, right.kind):
            return self.typed(unify(left, right))
        cache: dict[Any, Any] = self.__dict__.setdefault("_by_dtype", {})
        if (left, right) not in cache:
            cache.setdefault((left, right), self._make_record(left, right))
        return cache[left, right]

    def _make_record(self, left: DataType, right: DataType) -> Any:
        """Return the instance for user-defined dtypes."""
        raise KeyError((left, right))

    def _shared(self, made: Any) -> Any:
        """Return the instance made for another dtype whose values are cast to the same one."""
        wanted = (made.type, made.type2, made.return_type)
        others = [other for other in self.__dict__["_by_dtype"].values() if other is not None]
        same = (other for other in others if (other.type, other.type2, other.return_type) == wanted)
        return next(same, made)

    def computing_in(self, dtype: DataType) -> Any:
        """Return the instance that casts its operands to `dtype`: how typed ones are unpickled."""
        if dtype not in self:
            # Only casts lead there: `ldexp` takes integers and computes in FP64.
            dtype = next(given for given, used in self.coercions.items() if used is dtype)
        return self.typed(dtype)

    def _make_typed(self, dtype: DataType) -> Any:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        """Return the instance for a dtype, or for the unification of two."""
        dtypes = [lookup_dtype(one) for one in (key if isinstance(key, tuple) else (key, key))]
        try:
            return self.typed_pair(*dtypes)
        except KeyError:
            named = " and ".join(dict.fromkeys(map(str, dtypes)))
            raise KeyError(f"{self.name} does not work with {named}") from None

    def __delitem__(self, key: Any) -> None:
        """Remove a dtype from a user-defined operator, for good.

        Raises
        ------
        KeyError
            The operator does not work with the dtype.
        TypeError
            The operator is built in.
        """
        if self.user is None:
            raise TypeError(f"{self!r} is built in; only user-defined operators lose dtypes")
        self.__dict__["_by_dtype"][self[key].type] = None
        for cached in ("types", "coercions"):
            self.__dict__.pop(cached, None)

    def __contains__(self, key: Any) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    def works(self) -> bool:
        """Return whether there is an instance for any dtype.

        Those of Python functions are made one by one, which takes a compiler's time.
        """
        return any(dtype in self for dtype in (INT64, *ALL_DTYPES))

    @cached_property
    def types(self) -> dict[DataType, DataType]:
        """Result dtype for each dtype of operands, those that are cast first included."""
        return {dtype: self.typed(dtype).return_type for dtype in ALL_DTYPES if dtype in self}

    @cached_property
    def coercions(self) -> dict[DataType, DataType]:
        """Compute dtype for each dtype whose values are cast first."""
        pairs = ((dtype, self.typed(dtype)) for dtype in ALL_DTYPES if dtype in self)
        return {dtype: typed.type for dtype, typed in pairs if typed.type is not dtype}


#: The expression that an operator makes of an operand.
Made = TypeVar("Made")
Made_co = TypeVar("Made_co", covariant=True)


class Operand(Protocol[Made_co]):
    """What operators are called with: it knows what that means; `frontend.infix.Operand` is one."""

    def _apply_operator(self, op: Any, *args: Any, **kwargs: Any) -> Made_co: ...


def call(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Return ``op(*args)``: the object among the first two arguments knows what that means.

    Raises TypeError if there is no argument, or the first is neither an object nor a number.
    """
    if not args:
        raise TypeError(f"{op!r} is called with an expression or object, such as {op!r}(x)")
    if hasattr(args[0], "_apply_operator"):
        return args[0]._apply_operator(op, *args[1:], **kwargs)
    opclass = getattr(op, "opclass", None) or op.parent.opclass
    if len(args) == 2 and opclass != "SelectOp" and hasattr(args[1], "_apply_operator"):
        return args[1]._apply_operator(op, left=args[0], **kwargs)
    # Imported here: operators know no objects, and may be all that a process has unpickled.
    scalar = import_module("semira.frontend.scalar").Scalar
    return scalar.from_value(args[0])._apply_operator(op, *args[1:], **kwargs)
