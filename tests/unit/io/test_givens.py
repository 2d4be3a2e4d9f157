"""What a reader was given in place of a path: the error names the reader for it."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

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


@pytest.mark.parametrize("read", [gb.io.read, gb.io.read_graph, gb.io.edges_of, gb.io.mmread])
@pytest.mark.parametrize(("given", "words"), GIVEN)
def test_what_is_no_place_is_refused_by_name(read, given, words) -> None:
    with pytest.raises(DomainMismatch, match=f"takes a path.*{words}"):
        read(given)
