"""Named graphs from the web: the SuiteSparse collection, SNAP and the DIMACS challenges.

`fetch` returns the path of a graph's file and downloads it the first time; `semira.io.read`
reads it, `semira.io.load_dataset` does both.
"""

from semira.datasets.catalogue import Dataset, info, names
from semira.datasets.store import checksum, fetch, path

__all__ = ["Dataset", "checksum", "fetch", "info", "names", "path"]
