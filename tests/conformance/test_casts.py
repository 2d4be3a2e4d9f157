"""Casts between dtypes against SuiteSparse: saturation, NaN, wrapping, truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.helpers.every import every
from tests.helpers.pgb import cover, mirror
from tests.helpers.strategies import DTYPES, edge_values

import semira as gb
from semira.base.dtypes import lookup_dtype


def cast_edges(dtype: str) -> Any:
    """Return edge values, and for floats those next to the limits of the integers."""
    values = edge_values(lookup_dtype(dtype))
    if values.dtype.kind != "f":
        return values
    limits = [2.0**bits + step for bits in (7, 8, 15, 16, 31, 32, 63, 64) for step in (-1, 0, 0.5)]
    return np.concatenate((values, limits, np.negative(limits))).astype(values.dtype)


def full_vector(library: Any, dtype: str) -> Any:
    values = cast_edges(dtype)
    return library.Vector.from_coo(np.arange(len(values)), values, dtype=dtype, size=len(values))


PAIRS = [(source, target) for source in DTYPES for target in DTYPES]


@every(("source", "target"), PAIRS)
def test_every_pair_means_what_suitesparse_does(source: str, target: str) -> None:
    check_copies(source, target, "reference")


@every(("source", "target"), cover(PAIRS, default=26, seed=8))
def test_pairs_of_dtypes(source: str, target: str, device: str) -> None:
    check_copies(source, target, device)


def check_copies(source: str, target: str, device: str) -> None:
    def program(library: Any) -> Any:
        x = full_vector(library, source)
        by_copy = library.Vector(target, x.size)
        by_copy << x
        return x.dup(target), by_copy

    mirror(device, program)


@every("target", ["INT8", "UINT64", "FP32", "BOOL"])
@every("source", ["FP64", "INT64", "BOOL"])
def test_casts_on_every_way_in_and_out(source: str, target: str, device: str) -> None:
    def program(library: Any) -> Any:
        x = full_vector(library, source)
        n = x.size
        assigned = library.Vector(target, n)
        assigned[:] = x
        accumulated = library.Vector.from_coo(range(0, n, 2), 1, dtype=target, size=n)
        accumulated(accum="max") << x
        reduced = library.Scalar(target)
        reduced << x.reduce(library.monoid.max)
        matrix = library.Matrix(target, n, n)
        matrix << x.diag()
        return assigned, accumulated, reduced, matrix, x.apply(library.unary.identity).new(target)

    mirror(device, program)


@every("target", DTYPES)
def test_export_casts_as_operations_do(target: str, device: str) -> None:
    with gb.device(device):
        x = full_vector(gb, "FP64")
        with_operation = x.dup(target).to_coo()[1]
        assert x.to_coo(target)[1].tolist() == with_operation.tolist() or target[0] == "F"
        positions, values = x.to_coo()
        whole = values if target[0] == "F" else np.trunc(values)
        with np.errstate(all="ignore"):
            fits = (whole == whole.astype(lookup_dtype(target).np_type)) | (target == "BOOL")
        built = gb.Vector.from_coo(positions[fits], values[fits], dtype=target, size=x.size)
        where = gb.Vector.from_coo(positions[fits], True, size=x.size)
        assert built.isequal(x.dup(target, mask=where.S), check_dtype=True)
