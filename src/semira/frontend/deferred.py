"""Operations composed of several: their intermediate results, and the compositions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira.base.dtypes import DataType
from semira.base.memory import raise_with_figures
from semira.engine.values import Value
from semira.frontend.call import Template, expression


class Deferred:
    """An intermediate result: computed whenever the expression around it is."""

    __slots__ = ("_make", "call", "dtype", "kind", "shape", "source")

    _is_transposed = False

    def __init__(
        self,
        kind: str,
        dtype: DataType,
        shape: tuple[int, ...],
        make: Callable[[], Any],
        source: Any = None,
    ) -> None:
        self.kind = kind
        self.dtype = dtype
        self.shape = shape
        self._make = make
        #: The expression it is the result of, if it is of a single one.
        self.source = source
        #: The method, its operands and its operator, as they are printed.
        self.call: tuple[str, tuple[Any, ...], Any] | None = None

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
    later = Deferred(kind, dtype, shape, make)
    later.call = call
    if dims is None:
        dims = tuple((0, axis) for axis in range(len(shape)))
    return expression(Template("copy", (later,), kind, dtype, shape, dims))
