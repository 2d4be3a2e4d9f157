"""Masks: ``v.S``, ``v.V``, ``~v.S``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semira.base.dtypes import BOOL
from semira.base.errors import DimensionMismatch

if TYPE_CHECKING:
    from semira.engine.values import Value


class Mask:
    """Where an operation may write.

    Attributes
    ----------
    parent : Matrix or Vector
        The object whose entries are the mask.
    structure : bool
        Presence of an entry counts (``.S``); otherwise it must also be true (``.V``).
    complement : bool
        The mask is inverted (``~``).
    """

    __slots__ = ("complement", "parent", "structure")

    def __init__(self, parent: Any, *, structure: bool, complement: bool = False) -> None:
        self.parent = parent
        self.structure = structure
        self.complement = complement

    @property
    def value(self) -> bool:
        """Whether the values count, not only presence."""
        return not self.structure

    @property
    def name(self) -> str:
        """Such as ``~v_0.S``."""
        suffix = "S" if self.structure else "V"
        return f"{'~' if self.complement else ''}{self.parent.name}.{suffix}"

    def __repr__(self) -> str:
        return f"Mask({self.name})"

    def __invert__(self) -> Mask:
        return Mask(self.parent, structure=self.structure, complement=not self.complement)

    def __eq__(self, other: object) -> bool:
        raise TypeError("masks are not compared; compare their parents with isequal")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("the truth of a mask is not defined; look at `mask.parent.nvals`")

    @property
    def triple(self) -> tuple[Value, bool, bool]:
        """What the engine wants: value, structural, complement."""
        return self.parent._value, self.structure, self.complement

    def new(self, dtype: Any = None, *, name: str | None = None) -> Any:
        """Return a BOOL object with True wherever the mask lets through."""
        result = type(self.parent)(BOOL if dtype is None else dtype, *self.parent.shape, name=name)
        result(self) << True
        return result


def check_mask(mask: Mask | None, kind: str, shape: tuple[int, ...]) -> None:
    """Check that a mask fits an output.

    Raises
    ------
    DimensionMismatch
        It is of another kind or shape.
    """
    if mask is not None and (mask.parent.kind != kind or mask.parent.shape != shape):
        raise DimensionMismatch(
            f"mask {mask.name} of shape {mask.parent.shape} does not fit a {kind} of shape {shape}"
        )


def as_mask(given: Any) -> Mask:
    """Return the mask a caller passed; a BOOL object means its ``.V``.

    Raises
    ------
    TypeError
        `given` is neither a mask nor a BOOL object.
    """
    if isinstance(given, Mask):
        return given
    dtype = getattr(given, "dtype", None)
    if dtype is BOOL and hasattr(given, "V"):
        return given.V  # type: ignore[no-any-return]
    raise TypeError(
        f"Mask must be boolean objects (got {dtype or type(given).__name__}) or indicate values "
        "(M.V) or structure (M.S)"
    )
