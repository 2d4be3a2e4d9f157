"""An object may be input, output and mask of one statement; SuiteSparse says what comes out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.pgb import examples, mirror
from tests.helpers.strategies import MASK_FORMS, covered, matrices, sizes, vectors

ACCUMS = (None, "plus", "second")

VECTOR_STATEMENTS = {
    "vxm": lambda gb, v, A: v.vxm(A, gb.semiring.plus_times),
    "mxv": lambda gb, v, A: A.mxv(v, gb.semiring.min_plus),
    "mxv.T": lambda gb, v, A: A.T.mxv(v, gb.semiring.max_first),
    "ewise_add": lambda gb, v, A: v.ewise_add(v, gb.binary.plus),
    "ewise_mult": lambda gb, v, A: v.ewise_mult(v, gb.binary.minus),
    "ewise_union": lambda gb, v, A: v.ewise_union(v, gb.binary.times, 2, 3),
    "apply": lambda gb, v, A: v.apply(gb.unary.ainv),
    "select": lambda gb, v, A: v.select(gb.select.valuegt, 1),
    "extract": lambda gb, v, A: v[::-1],
    "reduce": lambda gb, v, A: A.reduce_rowwise(gb.monoid.max),
    "copy": lambda gb, v, A: v,
}
MATRIX_STATEMENTS = {
    "mxm": lambda gb, A: A.mxm(A, gb.semiring.plus_times),
    "mxm.T": lambda gb, A: A.mxm(A.T, gb.semiring.min_plus),
    "transpose": lambda gb, A: A.T,
    "ewise_add": lambda gb, A: A.ewise_add(A.T, gb.binary.minus),
    "ewise_mult": lambda gb, A: A.ewise_mult(A.T, gb.binary.first),
    "apply": lambda gb, A: A.T.apply(gb.unary.ainv),
    "select": lambda gb, A: A.select(gb.select.tril, 0),
    "extract": lambda gb, A: A[::-1, :],
}


def updated(built: Any, form: str | None, accum: Any, replace: bool) -> Any:
    """Return the updater of an object that is its own mask."""
    if form is None:
        return built(accum=accum)
    mask = built.S if form.endswith("S") else built.V
    return built(~mask if form.startswith("~") else mask, accum=accum, replace=replace)


def drawn_options(data: Any, statement: str, among: Iterable[str]) -> tuple[Any, Any, bool]:
    axes = {"form": (None, *MASK_FORMS), "accum": ACCUMS, "replace": (False, True)}
    row = data.draw(covered(("statement", statement), **axes, statement=among))
    return row["form"], row["accum"], row["replace"]


@pytest.mark.parametrize("statement", VECTOR_STATEMENTS)
@examples(14)
@given(data=st.data())
def test_vectors(statement: str, device: str, data: Any) -> None:
    n = data.draw(sizes)
    a, u = data.draw(matrices("INT32", n, n)), data.draw(vectors("INT32", n))
    options = drawn_options(data, statement, VECTOR_STATEMENTS)

    def program(library: Any) -> Any:
        matrix, v = a.build(library), u.build(library)
        updated(v, *options) << VECTOR_STATEMENTS[statement](library, v, matrix)
        return v, matrix

    mirror(device, program)


@pytest.mark.parametrize("statement", MATRIX_STATEMENTS)
@examples(14)
@given(data=st.data())
def test_matrices(statement: str, device: str, data: Any) -> None:
    n = data.draw(sizes)
    a = data.draw(matrices("INT32", n, n))
    options = drawn_options(data, statement, MATRIX_STATEMENTS)

    def program(library: Any) -> Any:
        matrix = a.build(library)
        updated(matrix, *options) << MATRIX_STATEMENTS[statement](library, matrix)
        return matrix

    mirror(device, program)


@examples(40)
@given(data=st.data())
def test_assigning_to_itself(device: str, data: Any) -> None:
    n = data.draw(sizes)
    a, u = data.draw(matrices("INT32", n, n)), data.draw(vectors("INT32", n))
    accum = data.draw(st.sampled_from(ACCUMS))

    def program(library: Any) -> Any:
        matrix, v = a.build(library), u.build(library)
        v[::-1](v.S, accum=accum) << v
        matrix[::-1, :](accum=accum) << matrix
        matrix[:, ::-1](matrix.V, replace=True) << matrix
        if n:
            matrix[0, :] = matrix[:, n - 1].new()
        return v, matrix

    mirror(device, program)


@examples(30)
@given(data=st.data())
def test_infix_updates_in_place(device: str, data: Any) -> None:
    n = data.draw(sizes)
    u, w = data.draw(vectors("INT32", n)), data.draw(vectors("INT32", n))

    def program(library: Any) -> Any:
        v, x = u.build(library), w.build(library)
        v(accum="plus") << v
        v(x.S) << v.ewise_add(x, library.binary.max)
        x(~x.S, replace=True) << v
        v << v.apply(library.binary.plus, right=1)
        return v, x

    mirror(device, program)


@examples(20)
@given(data=st.data())
def test_copies_are_independent(device: str, data: Any) -> None:
    u, a = data.draw(vectors("INT32", 5)), data.draw(matrices("INT32", 3, 5))

    def program(library: Any) -> Any:
        v, matrix = u.build(library), a.build(library)
        before, other = v.dup(), matrix.dup()
        v << 7
        matrix.clear()
        other[0, 0] = 4
        return v, before, matrix, other

    mirror(device, program)
