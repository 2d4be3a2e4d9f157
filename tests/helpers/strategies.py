"""Operands as descriptions: drawn by hypothesis, built alike in any GraphBLAS library.

A description is small and printable; its entries follow from its seed. So a failing example
says all there is to know, and both libraries get the same numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.helpers.pairwise import Row, pairwise

from semira.base.dtypes import ALL_DTYPES, DataType, lookup_dtype

DTYPES = tuple(dtype.name for dtype in ALL_DTYPES)
SIZES = (0, 1, 2, 3, 5, 8)
VECTOR_PATTERNS = ("empty", "full", "half", "few")
MATRIX_PATTERNS = ("empty", "full", "half", "few", "dense_row", "empty_rows", "diagonal")
MASK_FORMS = ("S", "V", "~S", "~V")

#: Multiples of 1/4: sums of a few are exact in FP32, so the order of summation does not show.
_FLOATS = (0.0, -0.0, 0.25, -0.5, 1.0, -1.0, 1.75, 2.0, -3.0, 4.0)
_SPECIAL_FLOATS = (np.inf, -np.inf, np.nan)
#: Sums and products of a few parts are exact in FC32.
_COMPLEX = (
    0j, complex(-0.0, 0.0), 1 + 0j, -1 + 0j, 1j, -1j, 0.5 + 2j, -1.5 - 0.25j, 2 - 3j, -3 + 1.75j,
)  # fmt: skip
_SPECIAL_COMPLEX = (
    complex(np.inf, 1), complex(-np.inf, 0), complex(2, np.inf), complex(np.nan, 1),
    complex(0, np.nan), complex(1e10, -2e10), complex(2.5, -2.5),
)  # fmt: skip
_INTEGERS = (0, 1, 2, 3, 5, 7)


def edge_values(dtype: DataType) -> Any:
    """Return the values at which operators usually break."""
    if dtype.kind == "B":
        return np.array([False, True])
    if dtype.kind == "F":
        tiny, huge = np.finfo(dtype.np_type).tiny, np.finfo(dtype.np_type).max / 2
        plain = [0.0, -0.0, 0.5, -0.5, 1, -1, 1.5, -1.5, 2.5, -2.5, 2, 3, -3, 7.25, 1e-5, np.pi]
        more = [tiny, -tiny, huge, -huge, 0.49999997, 1e10, -1e10, *_SPECIAL_FLOATS]
        return np.array(plain + more, dtype.np_type)
    if dtype.kind == "C":
        return np.array(_COMPLEX + _SPECIAL_COMPLEX, dtype.np_type)
    low, high = int(dtype.smallest), int(dtype.largest)
    numbers = {low, low + 1, high, high - 1, high // 2, *_INTEGERS}
    if dtype.kind == "I":
        numbers |= {-1, -2, -3, -7}
    return np.array(sorted(numbers), dtype.np_type)


def draw_values(dtype: DataType, rng: np.random.Generator, count: int, *, special: bool) -> Any:
    """Return values of a dtype: harmless ones, and with `special` extreme ones too."""
    if dtype.kind == "B":
        return rng.random(count) < 0.6
    if dtype.kind == "F":
        pool = _FLOATS + (_SPECIAL_FLOATS if special else ())
        return rng.choice(np.array(pool, dtype.np_type), count)
    if dtype.kind == "C":
        complexes = _COMPLEX + (_SPECIAL_COMPLEX if special else ())
        return rng.choice(np.array(complexes, dtype.np_type), count)
    pool = edge_values(dtype) if special else np.array(_INTEGERS, dtype.np_type)
    return rng.choice(pool, count)


@dataclass(frozen=True)
class VectorSpec:
    """A vector: `pattern` says where entries are, `seed` which and what they hold."""

    size: int
    dtype: str
    pattern: str = "half"
    seed: int = 0
    iso: bool = False
    special: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size,)

    def entries(self) -> tuple[Any, Any]:
        """Return indices and values (one value if iso)."""
        return tuple(part.copy() for part in _entries(self))

    def drawn(self) -> tuple[Any, Any]:
        rng = np.random.default_rng([self.seed, self.size])
        share = {"empty": 0.0, "full": 1.0, "half": 0.5, "few": 0.2}[self.pattern]
        indices = np.flatnonzero(rng.random(self.size) < share)
        dtype = lookup_dtype(self.dtype)
        values = draw_values(dtype, rng, 1 if self.iso else len(indices), special=self.special)
        return indices, values[0] if self.iso else values

    def build(self, library: Any) -> Any:
        indices, values = self.entries()
        values = _spread(values, len(indices), library)
        return library.Vector.from_coo(indices, values, dtype=self.dtype, size=self.size)


@dataclass(frozen=True)
class MatrixSpec:
    """A matrix; `by_columns` builds it from compressed columns."""

    nrows: int
    ncols: int
    dtype: str
    pattern: str = "half"
    seed: int = 0
    iso: bool = False
    special: bool = False
    by_columns: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.nrows, self.ncols)

    def present(self, rng: np.random.Generator) -> Any:
        """Return where entries are, as a dense bool array."""
        chances = rng.random(self.shape)
        if self.pattern == "diagonal":
            return np.eye(*self.shape, dtype=bool)
        if self.pattern == "dense_row" and self.nrows:
            chances[rng.integers(self.nrows)] = 0
            return chances < 0.15
        if self.pattern == "empty_rows":
            chances[rng.random(self.nrows) < 0.6] = 1
        share = {"empty": 0.0, "full": 1.0, "few": 0.2}.get(self.pattern, 0.5)
        return chances < share

    def entries(self) -> tuple[Any, Any, Any]:
        """Return rows, columns and values (one value if iso)."""
        return tuple(part.copy() for part in _entries(self))

    def drawn(self) -> tuple[Any, Any, Any]:
        rng = np.random.default_rng([self.seed, *self.shape])
        rows, cols = np.nonzero(self.present(rng))
        dtype = lookup_dtype(self.dtype)
        values = draw_values(dtype, rng, 1 if self.iso else len(rows), special=self.special)
        return rows, cols, values[0] if self.iso else values

    def build(self, library: Any) -> Any:
        rows, cols, values = self.entries()
        values = _spread(values, len(rows), library)
        if not self.by_columns:
            return library.Matrix.from_coo(
                rows, cols, values, dtype=self.dtype, nrows=self.nrows, ncols=self.ncols
            )
        order = np.lexsort((rows, cols))
        indptr = np.concatenate(([0], np.cumsum(np.bincount(cols, minlength=self.ncols))))
        values = values[order] if np.ndim(values) else values
        return library.Matrix.from_csc(
            indptr.astype(np.uint64), rows[order].astype(np.uint64), values,
            dtype=self.dtype, nrows=self.nrows,
        )  # fmt: skip


Spec = VectorSpec | MatrixSpec


@functools.lru_cache(maxsize=64)
def _entries(spec: Spec) -> tuple[Any, ...]:
    # Each is asked for by both libraries, and often more than once.
    return spec.drawn()


def _spread(values: Any, count: int, library: Any) -> Any:
    # Iso objects are ours to test; python-graphblas refuses one value above 2**63.
    return np.full(count, values) if library.__name__ == "graphblas" else values


_seeds = st.integers(0, 2**16)
sizes = st.sampled_from(SIZES)


# Strategies are kept: those made anew for each example would be checked anew by hypothesis.
@functools.cache
def vectors(
    dtype: str | st.SearchStrategy[str], size: Any = sizes, *, special: bool = False
) -> st.SearchStrategy[VectorSpec]:
    """Return the strategy of vectors of a dtype (or of dtypes) and size (or sizes)."""
    return st.builds(
        VectorSpec, _lifted(size), _lifted(dtype), st.sampled_from(VECTOR_PATTERNS), _seeds,
        iso=st.sampled_from((False, False, True)), special=st.just(special),
    )  # fmt: skip


@functools.cache
def matrices(
    dtype: str | st.SearchStrategy[str],
    nrows: Any = sizes,
    ncols: Any = sizes,
    *,
    special: bool = False,
) -> st.SearchStrategy[MatrixSpec]:
    """Return the strategy of matrices of a dtype and shape."""
    return st.builds(
        MatrixSpec, _lifted(nrows), _lifted(ncols), _lifted(dtype),
        st.sampled_from(MATRIX_PATTERNS), _seeds, iso=st.sampled_from((False, False, True)),
        special=st.just(special), by_columns=st.booleans(),
    )  # fmt: skip


def shaped(
    dtype: str | st.SearchStrategy[str], shape: tuple[int, ...], *, special: bool = False
) -> st.SearchStrategy[Spec]:
    """Return the strategy of vectors or matrices of one shape."""
    make = vectors if len(shape) == 1 else matrices
    return make(dtype, *shape, special=special)


def _lifted(given: Any) -> st.SearchStrategy[Any]:
    return given if isinstance(given, st.SearchStrategy) else st.just(given)


def covered(
    where: tuple[str, Hashable] | None = None, **axes: Iterable[Hashable]
) -> st.SearchStrategy[Row]:
    """Return the strategy of a few rows in which every two values of different axes meet.

    For what decides about kernels: independent draws would ask for nearly every combination.
    Where a test has one value of an axis at a time, `where` says which: (axis, value).
    """
    return _covered(where, tuple((name, tuple(values)) for name, values in axes.items()))


_Axes = tuple[tuple[str, tuple[Hashable, ...]], ...]


@functools.cache
def _covered(where: tuple[str, Hashable] | None, axes: _Axes) -> st.SearchStrategy[Row]:
    rows = _rows(axes)
    return st.sampled_from([row for row in rows if where is None or row[where[0]] == where[1]])


@functools.cache
def _rows(axes: _Axes) -> list[Row]:
    return pairwise({name: tuple(dict.fromkeys(values)) for name, values in axes}, seed=1)


@dataclass(frozen=True)
class Write:
    """How a result is written: ``out(mask, accum, replace) << result``."""

    out: Spec
    mask: Spec | None = None
    form: str = "S"
    accum: str | None = None
    replace: bool = False

    def mask_of(self, built: Any) -> Any:
        """Return ``.S``, ``.V`` or a complement of the built mask."""
        mask = built.S if self.form.endswith("S") else built.V
        return ~mask if self.form.startswith("~") else mask

    def build(self, library: Any) -> tuple[Any, dict[str, Any]]:
        """Return the output and the keyword arguments of its call."""
        keywords: dict[str, Any] = {"accum": self.accum, "replace": self.replace}
        if self.mask is not None:
            keywords["mask"] = self.mask_of(self.mask.build(library))
        return self.out.build(library), keywords


@st.composite
def writes(
    draw: Any,
    shape: tuple[int, ...],
    dtypes: tuple[str, ...],
    accums: tuple[str, ...] = (),
    *,
    special: bool = False,
) -> Write:
    """Draw an output of one of `dtypes`, a mask or none, an accumulator or none, replace."""
    return draw(written(shape, draw(covered(**write_axes(dtypes, accums))), special=special))


def write_axes(
    dtypes: tuple[str, ...], accums: tuple[str, ...] = ()
) -> dict[str, tuple[Hashable, ...]]:
    """Return the axes of a cover that decide about the kernels of a write."""
    return {
        "dtype": dtypes,
        "form": (None, *MASK_FORMS),
        "accum": (None, *accums),
        "replace": (False, True),
    }


@st.composite
def written(draw: Any, shape: tuple[int, ...], row: Row, *, special: bool = False) -> Write:
    """Draw the output and the mask of a row over `write_axes`."""
    out = draw(shaped(row["dtype"], shape, special=special))
    if row["form"] is None:
        return Write(out, accum=row["accum"])
    mask = draw(shaped("BOOL", shape))
    return Write(out, mask, row["form"], row["accum"], row["replace"])
