"""What all algorithms check of their arguments."""

from __future__ import annotations

import inspect

import pytest
from tests.helpers.arguments import needed_by
from tests.helpers.every import every

import semira as gb
from semira import algorithms
from semira.algorithms.registry import REGISTRY
from semira.exceptions import InvalidValue

HAVE_A_DTYPE = {
    "all_pairs_shortest_paths", "hits", "pagerank", "personalised_pagerank", "sssp",
}  # fmt: skip


def takes_options(algorithm) -> bool:
    parameters = inspect.signature(algorithm).parameters.values()
    return any(each.kind is each.VAR_KEYWORD for each in parameters)


ALGORITHMS = sorted(
    name
    for name in algorithms.__all__
    if inspect.isfunction(getattr(algorithms, name)) and takes_options(getattr(algorithms, name))
)


@every("name", ALGORITHMS)
@every("option", ["mask", "accum", "replace", "input_mask", "name", "dtype"])
def test_what_belongs_to_statements_is_no_option(name, option) -> None:
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    algorithm, mask = getattr(algorithms, name), gb.Vector.from_coo([1], True, size=3).S
    value = {"accum": "plus", "replace": True, "name": "w", "dtype": "FP32"}.get(option, mask)
    if option == "dtype" and name in HAVE_A_DTYPE:
        pytest.skip("a parameter of its own")
    with pytest.raises(InvalidValue, match=f"unknown option '{option}'.*: .*its products take "):
        algorithm(A, *needed_by(REGISTRY[name], lambda _: 0), **{option: value})


TRIANGLE = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])


@every(
    ("name", "option", "meant"),
    [
        ("pagerank", "alpha", "damping"),
        ("pagerank", "dampin", "damping"),
        ("pagerank", "max_iter", "max_iterations"),
        ("pagerank", "tolerance", "tol"),
        ("pagerank", "personalization", "personalisation"),
        ("hits", "maxiter", "max_iterations"),
        ("betweenness_centrality", "normalised", "normalized"),
        ("connected_components", "symetric", "symmetric"),
        ("bfs", "directon", "direction"),
    ],
)
def test_unknown_options_are_told_the_parameters(name, option, meant) -> None:
    parameters = ", ".join(list(inspect.signature(getattr(algorithms, name)).parameters)[1:-1])
    said = rf"unknown option '{option}' \(did you mean '{meant}'\?\): {name} takes {parameters};"
    with pytest.raises(InvalidValue, match=said):
        getattr(algorithms, name)(TRIANGLE, *needed_by(REGISTRY[name], lambda _: 0), **{option: 1})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("dijkstra", "sssp"),
        ("shortest_path", "sssp"),
        ("louvain", "semira.apps.louvain"),
        ("minimum_spanning_tree", "minimum_spanning_forest"),
        ("triangles", "triangle_count"),
        ("pgerank", "pagerank"),
    ],
)
def test_names_of_other_libraries_lead_to_ours(name, meant) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; did you mean '{meant}'"):
        getattr(algorithms, name)
    assert meant in algorithms.__all__ or meant.startswith("semira.apps.")


def test_options_of_calls_are_taken_in_any_case() -> None:
    assert "direction" in gb.CALL_OPTIONS
    plain = algorithms.bfs(TRIANGLE, 0).level
    assert algorithms.bfs(TRIANGLE, 0, Direction="pull", nthreads=2).level.isequal(plain)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Bern", "got 'Bern'; a gb.io.Graph knows its vertices by name"),
        (1.0, "got 1.0; write 1"),
        (1.5, "got 1.5$"),
        (None, "got None$"),
        (True, "got True$"),
        ([0], r"got \[0\]; it is one vertex, not a list of them"),
        (gb.Vector.from_coo([0], [1]), "got Vector; it is one vertex"),
    ],
)
def test_sources_of_another_type(source, said) -> None:
    for call in (algorithms.bfs, algorithms.sssp, algorithms.widest_path):
        with pytest.raises(gb.exceptions.InvalidIndex, match=said):
            call(TRIANGLE, source)


def test_values_of_sources_are_not_dropped() -> None:
    for call in (algorithms.personalised_pagerank, algorithms.multi_source_bfs, algorithms.k_hop):
        with pytest.raises(gb.exceptions.InvalidIndex, match="vertices without values, got a dict"):
            call(TRIANGLE, {0: 0.5, 1: 0.5})


@every("name", sorted(name for name, row in REGISTRY.items() if row.every_vertex))
def test_a_value_for_every_vertex_has_a_limit(name) -> None:
    A = gb.Matrix.from_coo([0], [1], 1.0, nrows=2**40, ncols=2**40)
    with pytest.raises(gb.exceptions.OutOfMemory, match=rf"{name}: .* 8,192 GiB .*2\*\*31"):
        getattr(algorithms, name)(A, *needed_by(REGISTRY[name], lambda _: 0))


def test_weights_that_are_no_numbers_are_not_called_negative() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], [float("nan"), 1.0])
    for call in (
        lambda: algorithms.sssp(A, 0),
        lambda: algorithms.pagerank(A, weighted=True),
        lambda: algorithms.widest_path(A, 0),
        lambda: algorithms.all_pairs_shortest_paths(A),
    ):
        with pytest.raises(gb.exceptions.InvalidWeight, match="nan") as caught:
            call()
        assert not isinstance(caught.value, gb.exceptions.NegativeWeight)
    assert issubclass(gb.exceptions.NegativeWeight, gb.exceptions.InvalidWeight)


@every("weight", [2**53, 2**53 + 1, 2**62, -(2**53) - 1])
@every("name", ["sssp", "all_pairs_shortest_paths"])
def test_integer_weights_that_distances_cannot_hold(name, weight) -> None:
    algorithm, more = getattr(algorithms, name), needed_by(REGISTRY[name])

    def last(weights, **options):
        A = gb.Matrix.from_coo([0, 1], [1, 2], weights, nrows=3, ncols=3)
        found = algorithm(A, *more, **options).distance
        return (found[2] if found.ndim == 1 else found[0, 2]).value

    with pytest.raises(InvalidValue, match=rf"{name}: a weight is {weight}, .*2\*\*53 only"):
        last([weight, 1])
    assert last([weight, 1], dtype="FP64") == float(weight) + 1
    sign = 1 if weight > 0 else -1
    edge = sign * (2**53 - 1)
    assert int(last([edge, -sign])) == edge - sign
    with pytest.raises(InvalidValue, match=rf"{name}: a distance is {sign * 2**53}"):
        last([edge, sign])
