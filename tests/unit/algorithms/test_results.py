"""What all results of algorithms have alike."""

from __future__ import annotations

import pytest

import semira as gb
from semira.algorithms import connected_components, sssp, strongly_connected_components
from semira.contract import LastRows

RUNS = {
    "delta_stepping": lambda A: sssp(A, 0, method="delta_stepping", delta=1.0),
    "components": connected_components,
    "components of a sample": lambda A: connected_components(A, sample=2),
    "strongly connected": strongly_connected_components,
}


@pytest.mark.parametrize("where", ["reference", "cpu"])
@pytest.mark.parametrize("name", RUNS)
def test_iterations_count_rows_that_a_long_trace_has_lost(monkeypatch, name, where):
    A = gb.Matrix.from_coo(range(30), range(1, 31), 1.0, nrows=31, ncols=31)
    with gb.device(where):
        expected = RUNS[name](A.dup()).iterations
        monkeypatch.setattr(LastRows, "most", 2)
        found = RUNS[name](A.dup())
    assert found.iterations == expected > 2
    # A sample has a loop of its own before the other.
    assert len(found.trace) == (4 if "sample" in name else 2)
