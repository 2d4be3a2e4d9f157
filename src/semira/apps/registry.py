"""The applications by name, a row each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from semira.apps.row import Application

#: Folders of this package and the functions that each brings. One line a folder.
FOLDERS: dict[str, tuple[str, ...]] = {
    "communities": ("louvain", "leiden", "modularity", "contract"),
    "walks": ("random_walks",),
    "sage": ("sage_embedding",),
    "sampling": ("sample_neighbours", "sample_hops", "neighbour_loader"),
    "local_clustering": ("local_clusters",),
    "products": ("filtered_product", "product_blocks", "product_trace"),
    "projections": ("project", "project_blocks"),
    "scan_statistics": ("local_scan", "scan_series"),
    "vertex_nomination": ("nominate",),
    "geolocation": ("geolocate", "Locations"),
    "classification": ("classify", "EdgeFeatures"),
    "subgraph_matching": ("subgraph_match",),
    "assignment": ("linear_sum_assignment",),
    "graph_matching": ("graph_match",),
    "lasso": ("fused_lasso", "FusedLasso"),
}  # fmt: skip


def _row(
    name: str,
    title: str,
    folder: str,
    files: Mapping[str, str] | None = None,
    *,
    drawn: bool = False,
    **more: Any,
) -> Application:
    """Return the row of a function of a folder; readers of files are told by their folder."""
    places = {option: f"semira.apps.{reader}" for option, reader in (files or {}).items()}
    plot = f"semira.apps.{folder}.picture:draw" if drawn else ""
    module = more.pop("module", f"semira.apps.{folder}")
    return Application(name=name, title=title, module=module, files=places, plot=plot, **more)


#: Two algorithms have results of applications.
_FLOW: dict[str, Any] = {
    "module": "semira.algorithms.flows", "vertices": ("source", "sink"),
    "single": ("source", "sink"), "directed": True,
}  # fmt: skip


@cache
def rows() -> dict[str, Application]:
    """Return the row of each application, by the name of its function."""
    labels = {"initial": "communities.files:read_labels"}
    found = (
        _row("louvain", "communities by Louvain", "communities", labels, drawn=True),
        _row("leiden", "communities by Leiden", "communities", labels, drawn=True),
        _row("random_walks", "random walks", "walks",
             {"starts": "sampling.files:vertices", "scores": "sampling.files:numbers"},
             vertices=("starts",), directed=True),
        _row("sage_embedding", "GraphSAGE embedding", "sage",
             {"features": "sampling.files:matrix", "Wf1": "sampling.files:weights",
              "Wa1": "sampling.files:weights", "Wf2": "sampling.files:weights",
              "Wa2": "sampling.files:weights"},
             weighted=False),
        _row("sample_neighbours", "sample of neighbours", "sampling",
             {"vertices": "sampling.files:vertices"},
             weighted=False, vertices=("vertices",), directed=True),
        _row("local_clusters", "local clusters", "local_clustering",
             {"seeds": "local_clustering.files:read_seeds"},
             drawn=True, vertices=("seeds",), weighted=False),
        _row("project", "graph projection", "projections", drawn=True, directed=True),
        _row("local_scan", "scan statistics", "scan_statistics",
             {"them": "scan_statistics.files:read_them",
              "neighbourhoods": "scan_statistics.files:read_neighbourhoods"},
             drawn=True, weighted=False),
        _row("nominate", "vertex nomination", "vertex_nomination",
             {"seeds": "local_clustering.files:read_seeds", "content": "sampling.files:numbers",
              "weights": "vertex_nomination.files:read_weights"},
             drawn=True, vertices=("seeds",)),
        _row("geolocate", "geolocation", "geolocation", {"labels": "geolocation.files:read_labels"},
             drawn=True, weighted=False, directed=True),
        _row("classify", "application classification", "classification",
             {"vertices": "classification.files:read_vertices",
              "edges": "classification.files:read_edges",
              "pattern_vertices": "classification.files:read_table",
              "pattern_edges": "classification.files:read_pattern_edges"},
             drawn=True, weighted=False, directed=True),
        _row("subgraph_match", "subgraph matching", "subgraph_matching",
             {"pattern": "subgraph_matching.files:read_pattern",
              "labels": "subgraph_matching.files:read_labels",
              "pattern_labels": "subgraph_matching.files:read_pattern_labels"},
             directed=True),
        _row("linear_sum_assignment", "linear assignment", "assignment", directed=True),
        _row("graph_match", "graph matching", "graph_matching",
             {"other": "graph_matching.files:read_other",
              "seeds": "graph_matching.files:read_pairs",
              "soft_seeds": "graph_matching.files:read_pairs",
              "similarity": "graph_matching.files:read_similarity"},
             directed=True),
        _row("maximum_flow", "maximum flow", "", **_FLOW),
        _row("minimum_cut", "minimum cut", "", **_FLOW),
        _row("fused_lasso", "sparse fused lasso", "lasso", {"y": "lasso.files:read_values"},
             drawn=True),
    )  # fmt: skip
    return {row.name: row for row in found}


def functions() -> dict[str, str]:
    """Return the package of each function."""
    return {name: f"semira.apps.{folder}" for folder, names in FOLDERS.items() for name in names}
