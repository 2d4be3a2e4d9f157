"""The namespace ``semira.io``: files, generators and other libraries in and out."""

from semira.io.awkward_arrays import from_awkward, to_awkward
from semira.io.dense_arrays import from_dlpack, from_numpy, to_dlpack
from semira.io.edges import from_edges
from semira.io.graphs import arrays_of, edges_of, load_dataset, read, read_graph, write
from semira.io.labelled import Graph
from semira.io.market import mmread, mmwrite
from semira.io.sparse_arrays import (
    from_pydata_sparse,
    from_scipy_sparse,
    to_pydata_sparse,
    to_scipy_sparse,
)
from semira.io.tables import (
    from_arrow,
    from_networkx,
    from_pandas,
    to_arrow,
    to_networkx,
    to_pandas,
)

__all__ = [
    "Graph",
    "arrays_of",
    "edges_of",
    "from_arrow",
    "from_awkward",
    "from_dlpack",
    "from_edges",
    "from_networkx",
    "from_numpy",
    "from_pandas",
    "from_pydata_sparse",
    "from_scipy_sparse",
    "load_dataset",
    "mmread",
    "mmwrite",
    "read",
    "read_graph",
    "to_arrow",
    "to_awkward",
    "to_dlpack",
    "to_networkx",
    "to_pandas",
    "to_pydata_sparse",
    "to_scipy_sparse",
    "write",
]
