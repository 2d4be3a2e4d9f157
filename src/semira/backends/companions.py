"""What is derived from a matrix and kept beside it: one dictionary, on every device.

A kind of companion says its name, how it is made and what it depends on; what is made says its size
and how a kernel reads it (``nbytes``, ``describe``). The dictionary alone makes, shares, counts and
drops companions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal


class Kind(str):
    """A kind of companion; equal to its name.

    `make` is called with the matrix, the variant (an orientation, a dtype) and what else `need` is
    given, and returns a companion. None: whoever finds out that it pays makes it, and calls `keep`.
    A companion holds while what it `depends_on` stays the same: ``entries`` with their values, or
    their positions alone, the ``pattern``.
    """

    __slots__ = ("depends_on", "make")

    make: Callable[..., Any] | None
    depends_on: Literal["entries", "pattern"]

    def __new__(
        cls,
        name: str,
        make: Callable[..., Any] | None = None,
        *,
        depends_on: Literal["entries", "pattern"] = "entries",
    ) -> Kind:
        """Return a kind."""
        kind = super().__new__(cls, name)
        kind.make, kind.depends_on = make, depends_on
        return kind


class Companions:
    """Things derived from a matrix, by kind and variant.

    A companion is an array or a buffer, or an object with ``nbytes``: the bytes that are its own.
    Copies of a matrix share theirs.

    Parameters
    ----------
    made : mapping of (Kind, variant) to object, optional
        What is there already.

    Examples
    --------
    >>> import numpy as np
    >>> lengths = Kind("lengths", lambda indptr, _: np.diff(indptr), depends_on="pattern")
    >>> kept, indptr = Companions(), np.array([0, 2, 3], np.int32)
    >>> kept.need(lengths, indptr) is kept.need(lengths, indptr)
    True
    >>> kept.memory_usage()
    {'lengths': 8}
    """

    __slots__ = ("_made", "products")

    def __init__(self, made: Mapping[Any, Any] | None = None) -> None:
        # Names find kinds, which are equal to them.
        self._made: dict[tuple[Any, Hashable], Any] = {} if made is None else {**made}
        #: Products so far that might have used a companion if it had been there.
        self.products: dict[tuple[str, str], int] = {}

    def get(self, name: str, variant: Hashable = "") -> Any:
        """Return a companion, or None."""
        return self._made.get((name, variant))

    def need(self, kind: Kind, matrix: Any, variant: Hashable = "", *how: Any) -> Any:
        """Return a companion; it is made the first time."""
        found = self._made.get((kind, variant))
        if found is None:
            assert kind.make is not None, f"{kind} is kept, not made"
            found = self._made[kind, variant] = kind.make(matrix, variant, *how)
        return found

    def keep(self, kind: Kind, variant: Hashable, made: Any) -> Any:
        """Add a companion, or replace it; returns it."""
        self._made[kind, variant] = made
        return made

    def of(self, name: str) -> dict[Hashable, Any]:
        """Return the companions of a name, by variant."""
        return {variant: made for (kind, variant), made in self._made.items() if kind == name}

    def any_of(self, name: str) -> Any:
        """Return the companion of whichever variant has one, or None."""
        return next((made for (kind, _), made in self._made.items() if kind == name), None)

    def drop(self, name: str) -> None:
        """Forget the companions of a name."""
        self._made = {key: made for key, made in self._made.items() if key[0] != name}

    def copy(self) -> Companions:
        """Return the same things for a copy of the matrix."""
        found = Companions(self._made)
        found.products = dict(self.products)
        return found

    def of_pattern(self) -> Companions:
        """Return what holds for a matrix with the same positions and other values."""
        made = self._made.items()
        return Companions({key: each for key, each in made if key[0].depends_on == "pattern"})

    @property
    def nbytes(self) -> int:
        """Bytes of all of them."""
        return sum(self.memory_usage().values())

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each name; what two variants share counts once."""
        found: dict[str, dict[int, int]] = {}
        for (name, _), made in self._made.items():
            nbytes = getattr(made, "nbytes", None)
            # A buffer of the device has a size in bytes.
            found.setdefault(str(name), {})[id(made)] = int(made.size if nbytes is None else nbytes)
        return {name: sum(sizes.values()) for name, sizes in found.items()}
