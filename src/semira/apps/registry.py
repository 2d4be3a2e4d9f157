"""The applications by name."""

from __future__ import annotations

import importlib
from functools import cache

from semira.apps.row import Application

#: Folders of this package and the functions that each brings. One line a folder. Those of ``flow``
#: are algorithms.
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
    "flow": (),
    "lasso": ("fused_lasso", "FusedLasso"),
}  # fmt: skip


def functions() -> dict[str, str]:
    """Return the package of each function."""
    return {name: f"semira.apps.{folder}" for folder, names in FOLDERS.items() for name in names}


@cache
def rows() -> dict[str, Application]:
    """Return the row of each application, by the name of its function."""
    found: dict[str, Application] = {}
    for folder in FOLDERS:
        for row in importlib.import_module(f"semira.apps.{folder}.row").ROWS:
            found[row.name] = row
    return found
