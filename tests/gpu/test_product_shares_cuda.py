"""Products of matrices in equal shares of the partial products, against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gpu.test_matrices_cuda import MASKS, iso_matrix
from tests.gpu.test_products_cuda import (
    COLUMNS,
    LENGTHS,
    NAMED,
    SEMIRINGS,
    of_lengths,
    of_lists,
    product,
    replaced,
    slots_of,
    transposed,
)
from tests.gpu.test_statements_cuda import compare, mask_of, run

import semira as gb
from semira import semiring as public_semiring
from semira.base.dtypes import FC64, FP64, INT8, INT64
from semira.base.errors import PlanError
from semira.contract import Arg, Statement
from semira.contract.hints import Hints
from semira.formats import MatrixArrays
from semira.methods.equal_shares.cuda import SHARE
from semira.ops.registry import binary, semiring

pytestmark = pytest.mark.gpu

EDGES = Hints(balance="edges")


@pytest.mark.parametrize(
    ("name", "dtype"), [*SEMIRINGS, ("plus_times", FC64), ("any_firsti", INT64)]
)
def test_rows_of_every_length(name, dtype):
    """Rows without products, short ones, and some that hundreds of shares add to."""
    typed = semiring[name].typed(dtype)
    a, b = of_lists(NAMED, len(LENGTHS), dtype, 1), of_lengths(LENGTHS, COLUMNS, dtype, 2)
    product(typed, a, b, hints=EDGES)


@pytest.mark.parametrize("around", [-1, 0, 1])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_rows_end_at_about_the_border_of_a_share(rows, around):
    typed = semiring["plus_times"].typed(INT64)
    length = rows * SHARE + around
    lengths = [length // rows] * (rows - 1) + [length - (rows - 1) * (length // rows)]
    # Row 0 of A names all of B's rows, the next ones a row each: short and long ones in turn.
    lists = [range(rows), [], *([k] for k in range(rows)), range(rows)]
    b = of_lengths(lengths, 4000, INT64, 2)
    product(typed, of_lists(lists, rows, INT64, 1), b, hints=EDGES)


def test_all_products_of_a_share_meet_in_one_place():
    typed = semiring["plus_times"].typed(INT64)
    column = of_lists([[7]] * 5000, 9, INT64, 2)
    a = of_lists([range(5000), range(900), [3], range(0, 5000, 2)], 5000, INT64, 1)
    product(typed, a, column, hints=EDGES)


def test_operands_may_be_transposed_and_of_one_value():
    typed = semiring["plus_times"].typed(INT64)
    a, b = of_lists(NAMED, len(LENGTHS), INT64, 1), of_lengths(LENGTHS // 3, 500, INT64, 2)
    for left, right in ((False, True), (True, False), (True, True)):
        product(typed, a, b, left=left, right=right, hints=EDGES)
    product(typed, iso_matrix(60, 80, INT64, 1), iso_matrix(80, 300, INT64, 2), hints=EDGES)


def test_a_sum_of_one_product_is_that_product():
    # The identity of gcd leaves |x| of x.
    typed = public_semiring.numpy.gcd_multiply["INT64"]
    a, b = of_lists(NAMED, len(LENGTHS), INT64, 1), of_lengths(LENGTHS, COLUMNS, INT64, 2)
    rng = np.random.default_rng(3)
    b = replaced(b, -rng.integers(1, 99, b.nvals))
    product(typed, replaced(a, rng.integers(1, 9, a.nvals)), b, hints=EDGES)


@pytest.mark.parametrize("flags", MASKS[1:])
@pytest.mark.parametrize("accum", [None, "plus"])
def test_under_a_mask(flags, accum):
    """What a mask forbids by positions takes no place in a share."""
    typed, rng = semiring["plus_times"].typed(INT64), np.random.default_rng(3)
    a, b = of_lists(NAMED, len(LENGTHS), INT64, 1), of_lengths(LENGTHS, COLUMNS, INT64, 2)
    lists = [
        np.sort(rng.choice(COLUMNS, n, replace=False)) for n in (9, 9, 0, 90, 900, *5 * [9000])
    ]
    body = Statement(
        "mxm", 0, (Arg(1), Arg(2)), typed, mask=mask_of(flags, 3), hints=EDGES,
        accum=accum and binary[accum].typed(INT64),
    )  # fmt: skip
    out = of_lengths([30] * a.nrows, COLUMNS, INT64, 5)
    given = [out, a, b, of_lists(lists, COLUMNS, INT8, 4)]
    compare(slots_of(typed, INT64, INT64, INT8), (body,), given)


def test_without_entries_and_with_full_operands():
    typed = semiring["plus_times"].typed(FP64)
    some = of_lengths([3] * 30, 20, FP64, 1)
    product(typed, MatrixArrays.empty(40, 30, FP64), some, hints=EDGES)
    product(typed, some, MatrixArrays.empty(20, 10, FP64), hints=EDGES)
    full = of_lists([range(30)] * 6, 30, FP64, 2)
    product(typed, full, some, hints=EDGES)
    product(typed, transposed(some), transposed(full), hints=EDGES)
    product(typed, transposed(some), transposed(full), hints=Hints(method="equal_shares"))


def test_rows_are_the_bins_by_another_name():
    typed = semiring["plus_times"].typed(INT64)
    a, b = of_lists(NAMED, len(LENGTHS), INT64, 1), of_lengths(LENGTHS, COLUMNS, INT64, 2)
    product(typed, a, b, hints=Hints(balance="rows"))


def test_a_fixed_order_and_wide_values_are_refused():
    typed = semiring["plus_times"].typed(FP64)
    some = of_lengths([3] * 30, 30, FP64, 1)
    body = Statement(
        "mxm", 0, (Arg(1), Arg(2)), typed, hints=Hints(balance="edges", deterministic=True)
    )
    given = [MatrixArrays.empty(30, 30, FP64), some, some]
    with pytest.raises(PlanError, match="fixed order"):
        run("cuda", slots_of(typed, FP64, FP64), (body,), given)
    with gb.device("cuda"):
        pair = gb.dtypes.register_anonymous(np.dtype((np.float64, 3)), "three_numbers")
        left = gb.Matrix.from_coo([0], [0], [[1.0, 2.0, 3.0]], dtype=pair, nrows=4, ncols=4)
        out = gb.Matrix(pair, 4, 4)
        with pytest.raises(PlanError, match="24 bytes"):
            out(balance="edges") << left.mxm(left, gb.semiring.any_first[pair])


def test_wide_offsets():
    from semira.backends.registry import backend_for
    from semira.contract import Program
    from semira.plan import plan_program

    backend, typed = backend_for("cuda"), semiring["plus_times"].typed(INT64)
    a, b = of_lists(NAMED, len(LENGTHS), INT64, 1), of_lengths(LENGTHS, COLUMNS, INT64, 2)
    body = Statement("mxm", 0, (Arg(1), Arg(2)), typed, hints=EDGES)
    program = Program(slots_of(typed, INT64, INT64), (body,))
    given = [MatrixArrays.empty(10, COLUMNS, INT64), a, b]
    expected = run("cuda", program.slots, program.body, given)
    bound = [backend.put(arrays) for arrays in given]
    bound[1].widen()
    backend.execute(backend.prepare(plan_program(program, backend.capabilities())), bound)
    rows, columns, values = backend.get(bound[0]).to_coo()
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == expected[0]
    np.testing.assert_array_equal(values, expected[1])
