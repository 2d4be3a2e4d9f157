"""Recorded bodies of neighbouring statements mean the same on the cpu as on the reference."""

from __future__ import annotations

from tests.helpers.every import every
from tests.helpers.random_bodies import run_body


@every("size", [1, 40])
@every("seed", range(12))
def test_the_cpu_agrees_with_the_reference(seed, size):
    assert run_body("cpu", seed, size) == run_body("reference", seed, size)
