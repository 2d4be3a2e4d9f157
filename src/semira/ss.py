"""The namespace ``semira.ss``: SuiteSparse's extensions that are no methods of an object."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from semira.base.dtypes import lookup_dtype
from semira.base.settings import DEVICES, settings
from semira.frontend.checks import bad_type
from semira.frontend.hints import parse_hints
from semira.frontend.ss.config import ELSEWHERE, Context, global_config
from semira.frontend.ss.lines import placed
from semira.frontend.ss.tiles import concat as tiles_together

__all__ = ["Context", "about", "concat", "config", "diag", "global_context"]

#: Options of the process, see `semira.frontend.ss.config.GlobalConfig`.
config = global_config

#: The context below all contexts: the options of the process.
global_context = global_config


class About(Mapping[str, Any]):
    """Facts about the library; read-only.

    Examples
    --------
    >>> about["library_name"], about["api_version"]
    ('Semira', (2, 1, 0))
    """

    def _facts(self) -> dict[str, Any]:
        version = sys.modules["semira"].__version__
        return {
            "api_url": "https://graphblas.org",
            "api_version": (2, 1, 0),
            "devices": DEVICES,
            "library_name": "Semira",
            "library_version": tuple(int(part) for part in version.split(".")[:3]),
            "mode": "blocking",
            "nthreads": settings().threads,
        }

    def __getitem__(self, key: str) -> Any:
        return self._facts()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts())

    def __len__(self) -> int:
        return len(self._facts())

    def __repr__(self) -> str:
        return f"About({self._facts()})"


#: Facts about the library.
about = About()


def concat(tiles: Any, dtype: Any = None, *, name: str | None = None, **opts: Any) -> Any:
    """Return objects put together: vectors and Scalars in a row, or a grid of tiles.

    Parameters
    ----------
    tiles : list of Vector and Scalar, or list of rows of tiles
        A tile of a grid is a Matrix, a Vector standing for a column, or a Scalar.
    dtype : optional
        That of the first tile if None.

    Returns
    -------
    Vector or Matrix

    Raises
    ------
    DomainMismatch
        `tiles` is not a list, or something in it is no Matrix, Vector or Scalar.
    DimensionMismatch
        A tile does not fit the others of its row and column.
    InvalidValue
        `tiles` is empty, or its rows have different lengths.

    Examples
    --------
    >>> from semira import Vector
    >>> v = Vector.from_coo([1], [7], size=2)
    >>> concat([v, v]).to_dict(), concat([[v, v]]).to_dicts()
    ({1: 7, 3: 7}, {1: {0: 7, 1: 7}})
    """
    parse_hints(opts)
    first = tiles[0] if isinstance(tiles, (list, tuple)) and tiles else None
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    wanted: Any = getattr(first, "dtype", None) if dtype is None else lookup_dtype(dtype)
    return placed(first, tiles_together(tiles, wanted), name)


def diag(x: Any, k: int = 0, dtype: Any = None, *, name: str | None = None, **opts: Any) -> Any:
    """Return the k-th diagonal of a Matrix, or the Matrix with a Vector on it.

    Parameters
    ----------
    x : Matrix or Vector
    k : int
    dtype : optional
        That of `x` if None.

    Raises
    ------
    DomainMismatch
        `x` is neither.
    """
    kind = getattr(x, "kind", None)
    if kind not in ("matrix", "vector"):
        raise bad_type(x, "Matrix, TransposedMatrix, Vector", "x", "semira.ss.diag")
    made = x.diag(k)
    return made.dup(dtype, name=name, **opts)


def __getattr__(name: str) -> Any:
    if name in ELSEWHERE or name in ("fix_jit_config", "jit_compiler_is_usable"):
        reason = ELSEWHERE.get(name, "kernels are compiled by Numba and NVRTC, see `semira doctor`")
        raise AttributeError(f"module 'semira.ss' has no {name!r}: {reason}")
    raise AttributeError(f"module 'semira.ss' has no attribute {name!r}")
