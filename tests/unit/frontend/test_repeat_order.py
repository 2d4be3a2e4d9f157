"""Recorded loops whose backend may run statements of a body in another order."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira import binary, monoid


@pytest.fixture
def on(device):
    with gb.device(device):
        yield device


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_sum_at_the_head_sees_the_iteration_before(on, limit):
    u = gb.Vector.from_coo([0, 1, 40], [1, 2, 3], size=50)
    expected = np.array([1, 2, 3])
    for _ in range(limit):
        expected = expected + (expected**2).sum() % 7

    def step():
        squares = u.ewise_mult(u, binary.times).reduce(monoid.plus)
        u(binary.plus, mask=u.S) << squares % 7

    result = gb.repeat(step, max_iterations=limit)
    assert result.iterations == limit
    assert u.to_coo()[1].tolist() == expected.tolist()
