"""Sizes that follow from the statements of a program, and only those."""

from __future__ import annotations

import pytest

from semira.backends.cuda.lower.sizes import equal_sizes
from semira.base.dtypes import FP32, INT64
from semira.contract import Arg, IndexSpec, Loop, Mask, Program, Slot, Statement

#: Slots 0 to 5 are vectors, 6 and 7 matrices, 8 a region, 9 a scalar.
SLOTS = (
    *(Slot("vector", FP32, "inout") for _ in range(6)), Slot("matrix", FP32), Slot("matrix", FP32),
    Slot("index", INT64), Slot("scalar", FP32, "inout"),
)  # fmt: skip
ALL, PART = IndexSpec("all"), IndexSpec("range", 8)


def vxm(out: int, u: int, matrix: int = 6, *, transposed: bool = False, mask=None) -> Statement:
    return Statement("vxm", out, (Arg(u), Arg(matrix, transposed)), mask=mask)


def mxv(out: int, u: int, matrix: int = 6, *, transposed: bool = False) -> Statement:
    return Statement("mxv", out, (Arg(matrix, transposed), Arg(u)))


def classes(*body, slots=SLOTS) -> set[frozenset[int]]:
    """Return the classes of more than one vector."""
    found: dict[int, set[int]] = {}
    for slot, number in equal_sizes(Program(slots, body)).items():
        found.setdefault(number, set()).add(slot)
    return {frozenset(each) for each in found.values() if len(each) > 1}


def united(*groups) -> set[frozenset[int]]:
    return {frozenset(each) for each in groups}


def test_one_product_unites_nothing_of_a_matrix_that_may_be_rectangular():
    assert classes(vxm(0, 1)) == classes(mxv(0, 1)) == set()


def test_two_frontiers_of_one_matrix_are_of_one_size():
    assert classes(vxm(0, 0), vxm(1, 1)) == united({0, 1})
    assert classes(vxm(0, 0), mxv(1, 1)) == united({0, 1})
    # Of two matrices they need not be.
    assert classes(vxm(0, 0), vxm(1, 1, 7)) == set()
    # One square use is enough, also if it comes last or stands in a loop.
    loop = Loop(((vxm(0, 0),),), (None,), 9, explicit_limit=True)
    assert classes(vxm(2, 1), loop) == united({0, 1, 2})


def test_sides_of_a_rectangular_matrix_stay_apart():
    # Rows: 0 and 3. Columns: 1 and 2.
    assert classes(vxm(1, 0), mxv(3, 2)) == united({0, 3}, {1, 2})
    assert classes(vxm(1, 0), vxm(3, 2, transposed=True)) == united({0, 3}, {1, 2})
    assert classes(mxv(0, 1), mxv(2, 3, transposed=True)) == united({0, 3}, {1, 2})
    # And back: what came out of it went in again by the other side.
    assert classes(vxm(1, 0), mxv(0, 1)) == set()


def test_a_vector_may_tell_that_a_matrix_is_square():
    copied = Statement("copy", 1, (Arg(0),))
    assert classes(vxm(1, 0), copied, mxv(3, 2)) == united({0, 1, 2, 3})


def test_masks_have_the_size_of_the_output():
    mask = Mask(2, structural=True, complement=True)
    assert classes(vxm(0, 1, mask=mask)) == united({0, 2})
    inside = Statement("assign", 0, (Arg(9),), mask=mask, indices=(PART,))
    assert classes(inside) == united({0, 2})
    of_region = Statement(
        "assign", 0, (Arg(1),), mask=mask, indices=(PART,), params=(("submask", True),)
    )
    assert classes(of_region) == united({1, 2})


def test_regions_have_a_length():
    cut = Statement("extract", 1, (Arg(0),), indices=(PART,))
    put = Statement("assign", 2, (Arg(3),), indices=(PART,))
    assert classes(cut, put) == united({1, 3})
    assert classes(Statement("assign", 2, (Arg(3),), indices=(ALL,))) == united({2, 3})
    assert classes(Statement("extract", 2, (Arg(3),), indices=(ALL,))) == united({2, 3})


@pytest.mark.parametrize("transposed", [False, True])
def test_lines_and_sums_of_a_matrix_have_the_size_of_a_side(transposed):
    row = Statement("extract", 1, (Arg(6, transposed),), indices=(IndexSpec("one", 8), ALL))
    column = Statement("extract", 2, (Arg(6, transposed),), indices=(ALL, IndexSpec("one", 8)))
    sums = Statement("reduce_rows", 3, (Arg(6, transposed),))
    # A row is as long as what comes out of vxm, a column as what goes in.
    product = vxm(4, 5, transposed=transposed)
    assert classes(row, column, sums, product) == united({1, 4}, {2, 3, 5})


def test_gather_and_scatter():
    assert classes(Statement("gather", 0, (Arg(1), Arg(2)))) == united({0, 2})
    assert classes(Statement("scatter", 0, (Arg(1), Arg(2)))) == united({1, 2})


def test_temporaries_have_the_size_they_were_given():
    def temporary(*shape) -> Slot:
        return Slot("vector", FP32, "temp", shape)

    slots = (*SLOTS, temporary((6, 0)), temporary((6, 1)), temporary(7), temporary(7))
    assert classes(vxm(1, 0), slots=slots) == united({0, 10}, {1, 11}, {12, 13})
