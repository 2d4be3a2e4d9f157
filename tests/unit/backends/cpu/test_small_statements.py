"""Statements on small objects: the same entries as the reference finds, by the same method."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.engine import trace, warm

N = 10


@pytest.fixture(autouse=True)
def _on_cpu() -> Iterator[None]:
    with gb.device("cpu"):
        yield


def _vector(kind: str, dtype: str, seed: int) -> gb.Vector:
    if kind == "empty":
        return gb.Vector(dtype, N)
    if kind == "iso":
        return gb.Vector.from_scalar(1, N, dtype)
    share = {"single": 0.1, "sparse": 0.4, "full": 1.0}[kind]
    return gb.Vector.from_coo(*_entries(share, seed), dtype, size=N)


@functools.cache
def _entries(share: float, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    places = rng.permutation(N)[: max(1, int(share * N))]
    return places, rng.integers(0, 3, len(places))


def _matrix(seed: int, dtype: str = "INT64", *, iso: bool = False) -> gb.Matrix:
    rows, cols, values = _places(seed)
    return gb.Matrix.from_coo(rows, cols, 1 if iso else values, dtype, nrows=N, ncols=N)


@functools.cache
def _places(seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random((N, N)) < 0.3)
    return rows, cols, rng.integers(0, 4, len(rows))


OPERATIONS: dict[str, Callable[[gb.Matrix, gb.Vector, gb.Vector], Any]] = {
    "mxv": lambda A, u, v: A.mxv(u, "plus_times"),
    "mxv transposed": lambda A, u, v: A.T.mxv(u, "min_plus"),
    "vxm": lambda A, u, v: u.vxm(A, "min_plus"),
    "vxm any_pair": lambda A, u, v: u.vxm(A, "any_pair"),
    "vxm positional": lambda A, u, v: u.vxm(A, "min_secondi"),
    "ewise_add": lambda A, u, v: u.ewise_add(v, "minus"),
    "ewise_mult": lambda A, u, v: u.ewise_mult(v, "times"),
    "apply": lambda A, u, v: u.apply("ainv"),
    "assign": lambda A, u, v: 2,
}

#: Storages of the operand and of the output.
STORAGES = (
    ("empty", "sparse"), ("single", "empty"), ("sparse", "full"), ("full", "sparse"),
    ("full", "empty"), ("iso", "iso"),
)  # fmt: skip

MASKS: dict[str, Callable[[gb.Vector], Any]] = {
    "none": lambda m: None,
    "S": lambda m: m.S,
    "~S": lambda m: ~m.S,
    "V": lambda m: m.V,
    "~V": lambda m: ~m.V,
}


def _written(
    operation: str, operand: str, form: str, accum: str | None, out: str, *, replace: bool
) -> tuple[Any, list[Any]]:
    """Return the entries of the output, and the methods of products with their frontiers."""
    a, u, v = _matrix(1), _vector(operand, "INT64", 2), _vector("sparse", "FP64", 3)
    w, mask = _vector(out, "FP64", 4), MASKS[form](_vector("sparse", "INT64", 5))
    keywords: dict[str, Any] = {"accum": accum}
    if mask is not None:
        keywords |= {"mask": mask, "replace": replace}
    with trace.tracing() as traced:
        w(**keywords) << OPERATIONS[operation](a, u, v)
    return w.to_dict(), [(row.method, row.frontier) for row in traced.rows]


@every("replace", [False, True])
@every("accum", [None, "plus"])
@every("form", MASKS)
@every("operation", OPERATIONS)
def test_same_as_the_reference(operation: str, form: str, accum: str | None, replace: bool) -> None:
    for operand, out in STORAGES:
        given = (operation, operand, form, accum, out)
        with gb.device("reference"):
            expected = _written(*given, replace=replace)
        assert _written(*given, replace=replace) == expected, given


@every("semiring", ["plus_times", "any_pair", "lor_land", "min_firstj"])
@every("iso", [False, True])
def test_mxm_same_as_the_reference(semiring: str, iso: bool) -> None:
    for flips in ((False, False), (True, False), (False, True)):
        found = []
        for device in ("reference", "cpu"):
            with gb.device(device):
                pair = (_matrix(1, iso=iso), _matrix(2, iso=iso))
                left, right = (x.T if flip else x for x, flip in zip(pair, flips, strict=True))
                again = gb.Matrix("INT32", N, N)
                again << left.mxm(right, semiring)
                made = left.mxm(right, semiring).new()
                found.append((made.dtype, made.to_dicts(), again.to_dicts()))
        assert found[0] == found[1]


def test_operands_are_untouched_and_not_shared() -> None:
    u, m = _vector("full", "FP64", 2), _vector("sparse", "FP64", 3)
    before_u, before_m = u.to_dict(), m.to_dict()
    w = gb.Vector("FP64", N)
    w << u.apply("ainv")
    w(m.S) << 7
    w << w.ewise_add(u, "plus")
    w(w.S) << w.ewise_mult(w, "times")
    assert u.to_dict() == before_u
    assert m.to_dict() == before_m


def test_output_that_is_mask_and_operand() -> None:
    a = _matrix(1)
    w = _vector("sparse", "INT64", 2)
    expected = w.vxm(a, "any_pair").new(mask=~w.S)
    w(~w.S, replace=True) << w.vxm(a, "any_pair")
    assert w.to_dict() == expected.to_dict()


def test_released_object_is_refused() -> None:
    v = gb.Vector.from_coo([1], [2.0], size=N)
    _ = v.apply("ainv").new()
    v._value._handle.data = None
    with pytest.raises(gb.exceptions.GraphblasException):
        v.apply("ainv").new()


def test_one_look_up_serves_other_sizes_and_values() -> None:
    _ = gb.Vector.from_coo([1], [2.0], size=N).apply("exp").new()
    known = len(warm._known)
    _ = gb.Vector.from_coo([3, 4], [2.0, 5.0], size=2 * N).apply("exp").new()
    assert len(warm._known) == known
