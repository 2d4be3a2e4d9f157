"""Loops that run before their kernels are optimised."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semira as gb
from semira.backends.cuda.jit import apart, compile
from semira.backends.cuda.jit.quick import without_copies
from semira.backends.cuda.runtime.device import Runtime
from semira.base import settings

pytestmark = pytest.mark.gpu

SIZE = 300


def spread(device: str, start: int) -> list[tuple[int, int]]:
    """Return how far values come in a ring with chords, by a semiring that no other test has."""
    at = np.arange(SIZE)
    with gb.device(device):
        A = gb.Matrix.from_coo(
            np.tile(at, 2), np.concatenate(((at + 1) % SIZE, at * 7 % SIZE)), 3, "UINT16",
            nrows=SIZE, ncols=SIZE, dup_op="any",
        )  # fmt: skip
        far = gb.Vector.from_coo([start], [200], "UINT16", size=SIZE)

        def step() -> Any:
            far(gb.binary.max) << far.vxm(A, gb.semiring.max_minus)
            return far.nvals < SIZE

        gb.repeat(step, 40)
        return list(zip(*map(list, far.to("cpu").to_coo()), strict=True))


def grow(device: str, start: int) -> list[tuple[int, int]]:
    """Return values after a loop over vectors that have every entry, or lack some."""
    with gb.device(device):
        every = gb.Vector.from_coo(np.arange(SIZE), np.arange(SIZE), "INT32", size=SIZE)
        some = gb.Vector.from_coo(np.arange(start, SIZE), 2, "INT32", size=SIZE)

        def step() -> Any:
            every << every.ewise_mult(some, gb.binary.plus) if start else every + some
            some << some.apply(gb.binary.times, right=3)
            return every.reduce(gb.monoid.plus) < 10**6

        gb.repeat(step, 40)
        return list(zip(*map(list, every.to("cpu").to_coo()), strict=True))


@dataclass
class Held:
    """Takes the place of a process that compiles: it does nothing, and ends when it is told."""

    source: str
    name: str
    arch: str
    path: Path
    has_ended: bool = False

    def is_done(self) -> bool:
        return self.has_ended

    def wait(self) -> None:
        assert self.has_ended


@pytest.mark.parametrize("loop", [spread, grow])
def test_a_loop_runs_before_its_kernel_is_optimised(loop, monkeypatch, tmp_path):
    held: list[Held] = []
    loaded: list[str] = []
    load = Runtime.load

    def begin(*asked):
        held.append(Held(*asked))
        return held[-1]

    def noted(self, code, name, *args, **options):
        loaded.append(name)
        return load(self, code, name, *args, **options)

    monkeypatch.setattr(compile, "QUICK_FROM", 0)
    monkeypatch.setattr(apart, "begin", begin)
    monkeypatch.setattr(Runtime, "load", noted)
    before = settings.override(cache_dir=tmp_path, quick=True)
    try:
        expected = [loop("reference", start) for start in (0, 5)]
        assert [loop("cuda", start) for start in (0, 5)] == expected
        # Of which quick kernels leave out a part.
        assert loop is spread or any(without_copies(each.source) != each.source for each in held)
        assert held
        quick = len(loaded)
        for each in held:
            each.has_ended = True
        for _ in range(2):
            assert [loop("cuda", start) for start in (0, 5)] == expected
            assert len(loaded) == quick + len(held)
    finally:
        settings.restore(before)
