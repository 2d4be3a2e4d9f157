"""What a reader was given in place of a path: the error names the reader for it."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.helpers.every import every

import semira as gb
from semira.exceptions import DomainMismatch


class Roads(nx.DiGraph):
    """A class derived from one of a library."""


GIVEN = [
    (nx.Graph(), "got Graph; gb.io.from_networkx"),
    (Roads(), "got Roads; gb.io.from_networkx"),
    (np.eye(2), "got ndarray; gb.io.from_numpy"),
    (sp.eye_array(2), "gb.io.from_scipy_sparse"),
    (pd.DataFrame(), "gb.io.from_pandas"),
    ([(0, 1)], "gb.Matrix.from_coo"),
    (gb.Matrix(int, 2, 2), "is an object of Semira already"),
    (None, "got NoneType"),
    (3, "got int"),
]


@every("read", [gb.io.read, gb.io.read_graph, gb.io.edges_of, gb.io.mmread])
@every(("given", "words"), GIVEN)
def test_what_is_no_place_is_refused_by_name(read, given, words) -> None:
    with pytest.raises(DomainMismatch, match=f"takes a path.*{words}"):
        read(given)


TAKEN = {
    "from_networkx": (gb.io.from_networkx, "a graph of NetworkX"),
    "from_pandas": (gb.io.from_pandas, "a DataFrame"),
    "from_arrow": (gb.io.from_arrow, "a Table or a RecordBatch of Arrow"),
    "from_scipy_sparse": (gb.io.from_scipy_sparse, "a sparse array of SciPy"),
}


@pytest.mark.parametrize(("name", "convert", "takes"), [(k, *v) for k, v in TAKEN.items()])
def test_converters_say_what_they_take(name, convert, takes) -> None:
    with pytest.raises(DomainMismatch, match=f"{name} takes {takes}, got int"):
        convert(3)
    with pytest.raises(DomainMismatch, match=f"{name} takes {takes}, got ndarray; .*from_numpy"):
        convert(np.eye(2))


@pytest.mark.parametrize(
    "convert",
    [
        gb.io.to_scipy_sparse, gb.io.to_networkx, gb.io.to_pandas, gb.io.to_arrow,
        gb.io.to_dlpack, gb.io.to_awkward, gb.io.to_pydata_sparse,
    ],
)  # fmt: skip
def test_converters_of_objects_take_objects(convert) -> None:
    for given in (None, np.eye(2), gb.Scalar.from_value(3)):
        with pytest.raises(DomainMismatch, match=f"{convert.__name__} takes a Matrix"):
            convert(given)


def test_a_graph_has_a_name() -> None:
    with pytest.raises(DomainMismatch, match="a name such as 'karate', got NoneType"):
        gb.io.load_dataset(None)
