"""Operations composed of several: their intermediate results, and the compositions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from semira.base.dtypes import DataType
from semira.base.memory import raise_with_figures
from semira.engine.values import Value
from semira.frontend.call import Template, expression


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
