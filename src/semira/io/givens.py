"""Errors for what a reader was given in place of what it takes."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from semira.base.errors import DomainMismatch, InvalidValue

#: The reader that takes the objects of a library.
_READERS = {
    "awkward": "from_awkward",
    "networkx": "from_networkx",
    "numpy": "from_numpy",
    "pandas": "from_pandas",
    "pyarrow": "from_arrow",
    "scipy": "from_scipy_sparse",
    "sparse": "from_pydata_sparse",
}


def not_taken(given: Any, where: str, expected: str) -> DomainMismatch:
    """Return the error that says what `where` takes, and what takes `given`.

    Examples
    --------
    >>> import numpy as np
    >>> print(not_taken(np.eye(2), "read", "a path"))
    read takes a path, got ndarray; gb.io.from_numpy takes those
    """
    # A class of the user's own may be derived from one of a library.
    libraries = (base.__module__.partition(".")[0] for base in type(given).__mro__)
    reader = next((_READERS[name] for name in libraries if name in _READERS), None)
    if reader is not None:
        remedy = f"; gb.io.{reader} takes those"
    elif isinstance(given, (list, tuple, dict)):
        remedy = "; gb.Matrix.from_coo and from_dicts make a Matrix of entries"
    elif hasattr(given, "new"):
        remedy = "; .new() makes one of it"
    elif getattr(given, "kind", None) in ("matrix", "vector"):
        remedy = "; it is an object of Semira already"
    elif hasattr(given, "matrix"):
        remedy = "; its .matrix is one"
    else:
        remedy = ""
    return DomainMismatch(f"{where} takes {expected}, got {type(given).__name__}{remedy}")


def check_object(given: Any, where: str, kinds: tuple[str, ...] = ("matrix", "vector")) -> None:
    """Check that `where` was given an object of one of `kinds`.

    Raises DomainMismatch if it was not.
    """
    if getattr(given, "kind", None) not in kinds:
        expected = " or ".join(f"a {kind.capitalize()}" for kind in kinds)
        remedy = "; its .matrix is one" if hasattr(given, "matrix") else ""
        raise DomainMismatch(f"{where} takes {expected}, got {type(given).__name__}{remedy}")


def check_place(place: Any, where: str, expected: str) -> None:
    """Check that something can be read from `place`.

    Raises DomainMismatch if it is neither a path nor a stream.
    """
    if not isinstance(place, (str, bytes, os.PathLike)) and not hasattr(place, "read"):
        raise not_taken(place, where, expected)


def check_column(name: str, known: Any) -> None:
    """Check that a table has a column.

    Raises InvalidValue if it has not; the message has those it has.
    """
    if name not in known:
        names = ", ".join(map(str, known)) or "none"
        raise InvalidValue(f"the table has no column {name!r}; its columns are {names}")


def weight_column(frame: Any, name: str) -> Any:
    """Return the weights in a column of a DataFrame as an array.

    Raises InvalidValue if there is no such column, or a weight in it is missing.
    """
    check_column(name, frame.columns)
    weights = frame[name].to_numpy()
    missing = int(np.isnan(weights).sum()) if weights.dtype.kind == "f" else 0
    if missing:
        raise InvalidValue(
            f"column {name!r} has {missing} missing weights; leave such edges out "
            f"(frame.dropna(subset=[{name!r}])) or give them a weight (frame.fillna)"
        )
    return weights
