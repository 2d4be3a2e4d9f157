"""Neighbouring statements that share a phase on the GPU mean what they mean one by one."""

from __future__ import annotations

import pytest
from tests.helpers.random_bodies import run_body

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("size", [1, 40, 3000])
@pytest.mark.parametrize("seed", range(40))
def test_drawn_bodies_agree_with_the_reference(seed, size):
    assert run_body("cuda", seed, size) == run_body(
        "reference" if size < 100 else "cpu", seed, size
    )
