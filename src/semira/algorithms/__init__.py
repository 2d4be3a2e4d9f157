"""Graph algorithms as short programs in linear algebra, on the public API only.

Their names are those of `semira.algorithms.registry`; type checkers read them in ``__init__.pyi``.
A module is loaded when one of its names is first used.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from types import ModuleType
from typing import Any

from semira.algorithms.registry import homes

#: Public names that are not in the registry.
_OTHERS = {
    "BFS_METHODS": f"{__name__}.bfs_methods",
    "linear_sum_assignment": "semira.apps.assignment",
    # Their two ends are more than a row of the registry knows.
    **dict.fromkeys(
        ("maximum_flow", "minimum_cut", "MaximumFlowResult", "MinimumCutResult"),
        f"{__name__}.flows",
    ),
}

#: What other libraries call our algorithms.
_SYNONYMS = {
    "bellman_ford": "sssp",
    "clustering": "local_clustering_coefficient",
    "dijkstra": "sssp",
    "floyd_warshall": "all_pairs_shortest_paths",
    "graph_match": "semira.apps.graph_match",
    "greedy_color": "graph_colouring",
    "leiden": "semira.apps.leiden",
    "louvain": "semira.apps.louvain",
    "max_flow": "maximum_flow",
    "maxflow": "maximum_flow",
    "min_cut": "minimum_cut",
    "min_weight_full_bipartite_matching": "linear_sum_assignment",
    "mincut": "minimum_cut",
    "minimum_spanning_tree": "minimum_spanning_forest",
    "shortest_path": "sssp",
    "shortest_path_length": "sssp",
    "triangles": "triangle_count",
    "weakly_connected_components": "connected_components",
}


def __getattr__(name: str) -> Any:
    names = homes() | _OTHERS
    if name == "__all__":
        return sorted(names)
    if name not in names:
        meant = _SYNONYMS.get(name)
        near = [meant] if meant else difflib.get_close_matches(name, names, 1)
        hint = f"; did you mean {near[0]!r}?" if near and not name.startswith("_") else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    found = getattr(importlib.import_module(names[name]), name)
    if names[name].startswith(__name__):
        globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *homes(), *_OTHERS})


class _Package(ModuleType):
    """A package in which a name is what its module defines, not the module of that name."""

    def __setattr__(self, name: str, value: Any) -> None:
        # An import binds the module that it has loaded to its name in the package.
        is_module = isinstance(value, ModuleType) and homes().get(name) == value.__name__
        super().__setattr__(name, getattr(value, name) if is_module else value)


sys.modules[__name__].__class__ = _Package
