"""What is made of a matrix beside its arrays: one dictionary, dropped when its entries change."""

from __future__ import annotations

from typing import Any

#: Names of companions: the row of each entry, equal shares of rows and entries, rows that have
#: entries, high-degree columns, rows as bits. Storages (`formats.need_format`) use their own names.
ENTRY_ROWS, SLICES, OCCUPIED, HOT, DIAGONALS = (
    "entry_rows",
    "slices",
    "occupied",
    "hot",
    "diagonals",
)


class Companions:
    """Things derived from the entries of a matrix, by name and orientation.

    A companion is a buffer, or an object with ``nbytes``. It holds while the entries of the matrix
    stay the same; copies of a matrix share theirs.

    Attributes
    ----------
    products : dict of (str, str) to int
        Products so far that might have used a companion if it had been there.
    """

    __slots__ = ("_made", "products")

    def __init__(self, made: dict[tuple[str, str], Any] | None = None) -> None:
        self._made = {} if made is None else made
        self.products: dict[tuple[str, str], int] = {}

    def get(self, name: str, orientation: str) -> Any:
        """Return a companion, or None."""
        return self._made.get((name, orientation))

    def keep(self, name: str, orientation: str, made: Any) -> Any:
        """Add a companion, or replace it; returns it."""
        self._made[name, orientation] = made
        return made

    def of(self, name: str) -> dict[str, Any]:
        """Return the companions of a name, by orientation."""
        return {way: made for (kind, way), made in self._made.items() if kind == name}

    def any_of(self, name: str) -> Any:
        """Return the companion of whichever orientation has one, or None."""
        return next((made for (kind, _), made in self._made.items() if kind == name), None)

    def drop(self, name: str) -> None:
        """Forget the companions of a name."""
        self._made = {key: made for key, made in self._made.items() if key[0] != name}

    def copy(self) -> Companions:
        """Return the same things for a copy of the matrix."""
        made = Companions(dict(self._made))
        made.products = dict(self.products)
        return made

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each name; what two orientations share counts once."""
        found: dict[str, dict[int, int]] = {}
        for (name, _), made in self._made.items():
            nbytes = getattr(made, "nbytes", None)
            found.setdefault(name, {})[id(made)] = int(made.size if nbytes is None else nbytes)
        return {name: sum(sizes.values()) for name, sizes in found.items()}
