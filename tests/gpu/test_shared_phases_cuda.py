"""Neighbouring statements that share a phase or barriers on the GPU mean what they mean alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.random_bodies import PRODUCTS, run_body

import semira as gb

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("size", [1, 40, 3000])
@pytest.mark.parametrize("seed", range(40))
def test_drawn_bodies_agree_with_the_reference(seed, size):
    assert run_body("cuda", seed, size) == run_body(
        "reference" if size < 100 else "cpu", seed, size
    )


@pytest.mark.parametrize("size", [1, 40, 3000])
@pytest.mark.parametrize("seed", range(60))
def test_products_that_fill_together_agree_with_the_reference(seed, size):
    other = "reference" if size < 100 else "cpu"
    expected = run_body(other, seed, size, kinds=PRODUCTS)
    assert run_body("cuda", seed, size, kinds=PRODUCTS) == expected


def test_a_product_does_not_change_what_an_earlier_statement_reads():
    """The statement waits to be written out; the product replaces the vector that drives it."""
    for n in (40, 5000):
        around = np.arange(n)
        A = gb.Matrix.from_coo(around, (around + 1) % n, True, nrows=n, ncols=n).to("cuda")
        front = gb.Vector.from_coo([0], True, size=n).to("cuda")
        seen, values = gb.Vector("INT64", n).to("cuda"), gb.Vector.from_dense(around).to("cuda")

        def step(seen=seen, front=front, values=values, A=A):
            seen(front.S) << values
            front << front.vxm(A, "any_pair")

        gb.repeat(step, max_iterations=5)
        assert seen.to_dict() == {k: k for k in range(5)}
        assert list(front.to_dict()) == [5]
