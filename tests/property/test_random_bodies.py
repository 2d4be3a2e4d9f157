"""Recorded bodies of neighbouring statements mean the same on the cpu as on the reference."""

from __future__ import annotations

import pytest
from tests.helpers.random_bodies import run_body


@pytest.mark.parametrize("size", [1, 40])
@pytest.mark.parametrize("seed", range(12))
def test_the_cpu_agrees_with_the_reference(seed, size):
    assert run_body("cpu", seed, size) == run_body("reference", seed, size)
