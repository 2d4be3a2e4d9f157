"""Checks of what is sampled: rows, numbers of entries, keys of random numbers."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from semira import Matrix
from semira.apps.arrays import as_given
from semira.exceptions import DomainMismatch, IndexOutOfBound, InvalidValue
from semira.kernels import placed


def matrix_of(A: Any, name: str, *, square: bool = True) -> Matrix:
    """Return `A` if it is a matrix; of the transpose of one a copy.

    Raises
    ------
    DomainMismatch, InvalidValue
        It is none; it is not square.

    Examples
    --------
    >>> matrix_of([[1]], "random_walks")
    Traceback (most recent call last):
    semira.base.errors.DomainMismatch: random_walks needs a Matrix, got list
    """
    if getattr(A, "kind", None) != "matrix":
        raise DomainMismatch(f"{name} needs a Matrix, got {type(A).__name__}")
    if square and A.nrows != A.ncols:
        raise InvalidValue(f"{name} needs a square adjacency matrix, got shape {A.shape}")
    return A if isinstance(A, Matrix) else A.new()


def check_int(value: Any, name: str, least: int, most: int = 2**31 - 1) -> int:
    """Return an integer between two limits.

    Raises
    ------
    InvalidValue
        It is none, or not between them.

    Examples
    --------
    >>> check_int(3, "k", 1)
    3
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InvalidValue(f"{name}={value!r} must be an integer") from None
    if not least <= number <= most:
        raise InvalidValue(f"{name}={value} must be from {least} to {most}")
    return number


def vertices_of(given: Any, n: int, xp: Any, name: str) -> Any:
    """Return vertices as an array of the device; None: all of them.

    Parameters
    ----------
    given : int, sequence, array of int, or None
    n : int
        Vertices of the graph.

    Raises
    ------
    InvalidValue
        They are not integers, or not a list.
    IndexOutOfBound
        One is outside of the graph.
    """
    if given is None:
        return xp.arange(n, dtype=index_dtype(n))
    if not hasattr(given, "dtype"):
        given = as_given(list(given) if isinstance(given, Iterable) else [given], name)
        given = given.astype(np.int64) if given.size == 0 else given
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise InvalidValue(
            f"{name} must be a list of vertex numbers, got dtype {given.dtype}, shape {given.shape}"
        )
    # As unsigned numbers, negative ones are above all others: one pass finds both.
    if len(given) and int(given.view(f"u{given.dtype.itemsize}").max()) >= n:
        least, most = int(given.min()), int(given.max())
        bad = least if least < 0 else most
        raise IndexOutOfBound(f"{name}: vertex {bad} is not one of the {n} vertices")
    given = given.astype(index_dtype(n), copy=False)
    if xp is np or not isinstance(given, np.ndarray):
        return xp.ascontiguousarray(xp.asarray(given))
    return placed(xp, given)


def index_dtype(n: int) -> np.dtype[Any]:
    """Return the dtype of vertex numbers.

    Examples
    --------
    >>> index_dtype(10).name
    'int32'
    """
    return np.dtype(np.int32 if n < 2**31 else np.int64)


def keys_of(seed: Any, count: int) -> list[int]:
    """Return keys of random numbers that have nothing to do with each other.

    Raises
    ------
    InvalidValue
        The seed is no integer from 0 on.

    Examples
    --------
    >>> len(keys_of(0, 2))
    2
    """
    words = seed if isinstance(seed, tuple) else (check_int(seed, "seed", 0, 2**63 - 1),)
    return list(_words(words, count))


@functools.lru_cache(256)
def _words(seed: tuple[int, ...], count: int) -> tuple[int, ...]:
    # NumPy promises the same words for a seed in every version.
    words = np.random.SeedSequence(seed).generate_state(count, np.uint64)
    return tuple(int(word) >> 1 for word in words)
