"""What all algorithms check of their arguments."""

from __future__ import annotations

import inspect

import pytest

import semira as gb
from semira import algorithms
from semira.exceptions import InvalidValue

#: Arguments beside the matrix, of those that take some.
MORE = {
    "bfs": (0,), "sssp": (0,), "widest_path": (0,), "k_hop": (0,), "k_core": (1,),
    "multi_source_bfs": ([0],), "personalised_pagerank": ([0],),
}  # fmt: skip

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


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("option", ["mask", "accum", "replace", "input_mask", "name", "dtype"])
def test_what_belongs_to_statements_is_no_option(name, option) -> None:
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    algorithm, mask = getattr(algorithms, name), gb.Vector.from_coo([1], True, size=3).S
    value = {"accum": "plus", "replace": True, "name": "w", "dtype": "FP32"}.get(option, mask)
    if option == "dtype" and name in HAVE_A_DTYPE:
        pytest.skip("a parameter of its own")
    with pytest.raises(InvalidValue, match=f"unknown option '{option}': neither a parameter of"):
        algorithm(A, *MORE.get(name, ()), **{option: value})
