"""EdgeList: counts and checks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from semira.base.errors import InvalidObject
from semira.formats import EdgeList

EDGES = EdgeList(3, 4, np.array([0, 2, 2]), np.array([3, 0, 0]), np.array([1, 2, 3]))


def test_edge_list_counts_repeats():
    EDGES.validate()
    assert EDGES.nnz == 3


def test_edge_list_meta_is_not_shared():
    first, second = (EdgeList(0, 0, np.empty(0, int), np.empty(0, int)) for _ in range(2))
    first.validate()
    first.meta["name"] = "first"
    assert second.meta == {}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rows": np.array([0])}, "1 rows for 3 columns"),
        ({"values": np.array([1])}, "1 values for 3 entries"),
        ({"rows": np.array([0, 3, 0])}, r"row index lies outside \[0, 3\)"),
        ({"cols": np.array([0, -1, 0])}, r"column index lies outside \[0, 4\)"),
    ],
)
def test_validate_finds_broken_lists(changes, reason):
    with pytest.raises(InvalidObject, match=reason):
        replace(EDGES, **changes).validate()
