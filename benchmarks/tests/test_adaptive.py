"""Adaptive PageRank compared with the plain one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.studies.adaptive import STUDY, AdaptiveOptions, adaptive_table

from semira.bench.record import Record


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    return STUDY.run(AdaptiveOptions(("kron:9",), trials=1, seconds=0.1))


def test_both_ways_are_right_and_close(measured: list[Record]) -> None:
    plain, adaptive = measured
    assert (plain.verified, adaptive.verified) == (True, True)
    assert (plain.options, adaptive.options) == ({"policy": "auto"}, {"adaptive": True})
    assert plain.facts == {"largest": 0.0, "sum": 0.0}
    assert 0 < adaptive.facts["sum"] < 1e-5
    assert 0 < adaptive.facts["largest"] < 1e-3
    # The plain variant reads every entry in every iteration, and in one product before the loop.
    per_iteration = plain.touched / plain.iterations
    assert per_iteration >= plain.dataset.nvals
    assert adaptive.touched / adaptive.iterations < per_iteration


def test_ratios_stand_in_the_table(measured: list[Record]) -> None:
    plain, adaptive = (replace(each, device_s=[1e-3]) for each in measured)
    head, rows = adaptive_table([plain, replace(adaptive, device_s=[2e-3], touched=plain.touched)])
    cells = [dict(zip(head, row, strict=True)) for row in rows]
    assert [each["way"] for each in cells] == ["plain", "adaptive"]
    assert [each["times faster"] for each in cells] == ["1", "0.5"]
    assert cells[1]["part of plain"] == "1"
