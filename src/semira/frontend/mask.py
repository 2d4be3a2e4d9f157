"""Masks: ``v.S``, ``v.V``, ``~v.S``."""

from __future__ import annotations

from typing import Any

from semira.base.dtypes import BOOL
from semira.base.errors import DimensionMismatch, DomainMismatch
from semira.engine import recording
from semira.engine.values import Value
from semira.frontend.kinds import Shown
from semira.ops.registry import equivalent


class Mask(Shown):
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

    __slots__ = ("__weakref__", "complement", "parent", "structure")

    def __init__(self, parent: Any, *, structure: bool, complement: bool = False) -> None:
        if not structure and parent.dtype.kind == "V":
            raise DomainMismatch(
                f"a value mask needs values that are true or false; {parent.dtype} is "
                "user-defined: use `.S`, or compute a BOOL object"
            )
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

    def __invert__(self) -> Mask:
        return Mask(self.parent, structure=self.structure, complement=not self.complement)

    def __eq__(self, other: object) -> bool:
        raise TypeError("equality of masks is not defined; compare their parents with isequal")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("the truth of a mask is not defined; look at `mask.parent.nvals`")

    @property
    def triple(self) -> tuple[Value, bool, bool]:
        """What the engine wants: value, structural, complement."""
        return self.parent._value, self.structure, self.complement

    def new(
        self,
        dtype: Any = None,
        *,
        complement: bool = False,
        mask: Any = None,
        name: str | None = None,
        **opts: Any,
    ) -> Any:
        """Return a BOOL object with True wherever the mask lets through.

        Parameters
        ----------
        dtype : DataType or str, optional
            Other than BOOL.
        complement : bool
            True where it does not let through.
        mask : Mask, optional
            A second mask, which must let through as well (before `complement`).
        name : str, optional
        **opts
            Options of the calls.
        """
        wanted = BOOL if dtype is None else dtype
        result = self._pattern(wanted, **opts)
        if mask is not None:
            result = result.dup(mask=as_mask(mask))
        if complement:
            other = _without_entries(result, wanted)
            other(~result.S, **opts) << True
            result = other
        if name is not None:
            result.name = name
        return result

    def _pattern(self, dtype: Any, **opts: Any) -> Any:
        result = _without_entries(self.parent, dtype)
        result(self, **opts) << True
        return result

    def __or__(self, other: Any) -> Any:
        """Return the mask that lets through what either mask does."""
        second = as_mask(other)
        result = self._pattern(BOOL)
        result(second) << True
        return Mask(result, structure=True)

    def __and__(self, other: Any) -> Any:
        """Return the mask that lets through what both masks do."""
        return Mask(self._pattern(BOOL).dup(mask=as_mask(other)), structure=True)

    __ror__ = __or__
    __rand__ = __and__


def _without_entries(like: Any, dtype: Any) -> Any:
    """Return an object of a shape, in a loop body a temporary: one made there cannot be used."""
    if recording.current() is not None:
        return like.dup(dtype, clear=True)
    return type(like)(dtype, *like.shape)


def check_mask(mask: Mask | None, kind: str, shape: tuple[int, ...]) -> None:
    """Check that a mask fits an output.

    Raises DimensionMismatch if it is of another kind or shape.
    """
    if mask is not None and mask.parent.kind != kind:
        if kind == "scalar":
            raise DomainMismatch("Mask not allowed for Scalars")
        raise DomainMismatch(
            f"Mask object must be type {kind.capitalize()}; got {mask.parent.kind.capitalize()}"
        )
    if mask is not None and mask.parent.shape != shape:
        raise DimensionMismatch(
            f"mask {mask.name} of shape {mask.parent.shape} does not fit a {kind} of shape {shape}"
        )


def check_region_mask(mask: Mask, parent: Any, region: tuple[int, ...], *, submask: bool) -> None:
    """Check that a mask is of a kind that can guard the writing of a region.

    A `submask` has the region's shape (``C[...](mask)``); others have that of the whole object
    (``C(mask)[...]``), where a row or a column also takes a Vector. Raises DomainMismatch if it is
    not.
    """
    kind = mask.parent.kind
    if parent.kind == "vector" and kind == "matrix":
        raise DomainMismatch("Mask object must be type Vector; got Matrix")
    if parent.kind == "matrix" and kind == "vector" and len(region) != 1:
        what = "single element" if not region else "Matrix"
        raise DomainMismatch(f"Unable to use Vector mask on {what} assignment to a Matrix")
    if not submask:
        return
    if not region:
        raise DomainMismatch("Single element assign does not accept a submask")
    if kind == "matrix" and len(region) == 1:
        raise DomainMismatch(
            "Indices for subassign imply Vector submask, but got Matrix mask instead"
        )


def as_mask(given: Any) -> Mask:
    """Return the mask a caller passed; a BOOL object means its ``.V``.

    Raises TypeError if `given` is neither a mask nor a BOOL object.
    """
    if isinstance(given, Mask):
        return given
    dtype = getattr(given, "dtype", None)
    if dtype is BOOL and hasattr(given, "V"):
        return given.V  # type: ignore[no-any-return]
    if dtype is None:
        meant = equivalent(given, "BinaryOp").replace("use", "as accumulator use")
        raise TypeError(f"Invalid mask: {type(given)}; give M.S, M.V or a BOOL object{meant}")
    raise TypeError(
        f"Mask must be boolean objects (got {dtype or type(given).__name__}) or indicate values "
        "(M.V) or structure (M.S)"
    )
