"""Lists whose elements have different shapes are named in every application."""

import pytest

import semira as gb
from semira import apps
from semira.exceptions import InvalidValue

RAGGED = [1, [2], 3]
CALLS = {
    "costs": lambda A: gb.algorithms.linear_sum_assignment([[1, 2], [3]]),
    "vertices": lambda A: apps.classify(A, RAGGED, [[1.0]] * 3, [[1.0]], ([0], [0], [[1.0]])),
    "features": lambda A: apps.sage_embedding(A, [[1, 2], [3]]),
    "y": lambda A: apps.fused_lasso(A, RAGGED),
    "latitude": lambda A: apps.geolocate(A, RAGGED, [1, 2, 3]),
    "labels": lambda A: apps.contract(A, RAGGED),
    "seeds": lambda A: apps.graph_match(A, A, seeds=[[1, 2], [0]]),
    "initial": lambda A: apps.graph_match(A, A, initial=RAGGED),
    "content": lambda A: apps.nominate(A, [0], content=RAGGED),
    "starts": lambda A: apps.random_walks(A, RAGGED, 5),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_ragged_list_is_named(name):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], 1.0, nrows=3, ncols=3)
    with pytest.raises(InvalidValue, match=rf"{name}: element 1 has shape"):
        CALLS[name](A)
