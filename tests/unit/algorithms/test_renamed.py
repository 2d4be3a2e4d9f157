"""Options by the names they had before."""

from __future__ import annotations

import inspect
import warnings

import pytest
from tests.helpers.every import every

import semira as gb
from semira import algorithms
from semira.exceptions import InvalidValue, PlanError

A = gb.Matrix.from_coo([0, 1, 2, 0], [1, 2, 0, 2], [1.0, 2.0, 3.0, 9.0])

CALLS = {
    "sssp": (
        lambda **opts: algorithms.sssp(A, 0, **opts).distance.to_dict(),
        ("auto", "bellman_ford", "delta_stepping", "window", "asynchronous"),
    ),
    "connected_components": (
        lambda **opts: algorithms.connected_components(A, **opts).label.to_dict(),
        ("auto", "spread", "sample", "search"),
    ),
    "all_pairs_shortest_paths": (
        lambda **opts: algorithms.all_pairs_shortest_paths(A, **opts).distance.to_dicts(),
        ("auto", "floyd_warshall", "sources"),
    ),
}
NAMES = [(name, value) for name, (_, values) in CALLS.items() for value in values]


@every(("name", "value"), NAMES)
def test_the_old_name_works_and_warns(name, value):
    call, _ = CALLS[name]
    said = rf"^{name}\(method='{value}'\) is now algorithm='{value}'; the old name will go$"
    with pytest.warns(FutureWarning, match=said) as seen:
        before = call(method=value)
    # The line of the caller.
    assert [each.filename for each in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call(algorithm=value) == before


@pytest.mark.parametrize("name", CALLS)
def test_both_names_are_one_too_many(name):
    with pytest.raises(InvalidValue, match=f"{name}: method= is the old name of algorithm="):
        CALLS[name][0](method="auto", algorithm="auto")


@pytest.mark.parametrize("name", CALLS)
def test_signatures_have_the_new_name(name):
    parameters = inspect.signature(getattr(algorithms, name)).parameters
    assert "algorithm" in parameters
    assert "method" not in parameters


@pytest.mark.parametrize("name", ["sssp", "connected_components"])
def test_any_other_method_is_one_of_the_products(name):
    """Which take none so far, where a vector is multiplied."""
    with pytest.raises(PlanError, match="method='hash' is unknown; choose one of 'push', 'pull'"):
        CALLS[name][0](method="hash")


def test_methods_of_products_of_matrices_are_pinned():
    call, _ = CALLS["all_pairs_shortest_paths"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = algorithms.all_pairs_shortest_paths(A, algorithm="sources", method="dense")
        assert {row.method for row in found.trace} == {"dense"}
        assert found.distance.to_dicts() == call()


def test_names_in_a_graph_are_taken_under_both(tmp_path):
    cities = gb.io.Graph.from_edges(["Bern", "Thun"], ["Thun", "Brig"])
    with pytest.warns(FutureWarning, match="sssp"):
        found = algorithms.sssp(cities, "Bern", method="window")
    assert found.to_dict() == {"Bern": 0, "Thun": 1, "Brig": 2}
