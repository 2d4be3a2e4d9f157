"""The graphs of the measurements: generators, files, and names in a folder of data."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix
from semira.base.dtypes import lookup_dtype
from semira.base.errors import InvalidValue, MissingFile
from semira.base.locks import cached_property
from semira.base.settings import settings
from semira.bench.device import free_memory
from semira.bench.drawn import draw_spec
from semira.bench.record import Dataset
from semira.engine.values import Value
from semira.files import ReadOptions, read_edges
from semira.files.clean import clean
from semira.formats import EdgeList, MatrixArrays
from semira.generators import generate, is_generator_spec
from semira.io import arrays_of, from_edges

#: Environment variable with the folder of graphs that are named without a path.
DATA_VARIABLE = "SEMIRA_TEST_DATA"

#: Kronecker graphs, two road graphs, two web graphs. Where a twentieth of the roads is missing,
#: all but a few crossings still hang together.
DEFAULT_GRAPHS = (
    "kron:16",
    "kron:18",
    "kron:20",
    "road:1000x1000,removed=0.05",
    "USA-road-d.NY",
    "web-NotreDame",
    "cnr-2000",
)

#: For the GPU: the graphs of its peers' tables whose triangles are counted in a moment, and a
#: random geometric one.
CUDA_GRAPHS = (
    "minnesota",
    "mycielskian12",
    "delaunay_n14",
    "delaunay_n16",
    "soc-Slashdot0902",
    "coAuthorsDBLP",
    "cnr-2000",
    "USA-road-NE",
    "grid4900",
    "kron21",
    "rgg_n_2_24",
)

#: Graphs that peers on the GPU were measured on, by the names their tables use. The parameters
#: are the same; the draws, and so the numbers of entries and triangles, are not.
NAMED = {
    "kron21": "kron:21,ef=44,weights=uniform",
    "rmat22_64": "rmat:22,ef=64,weights=uniform",
    "rmat23_32": "rmat:23,ef=32,weights=uniform",
    "rmat24_16": "rmat:24,ef=16,weights=uniform",
    "grid4900": "grid:4900x4900,weights=uniform",
    "kron_logn21": "kron:21,ef=48,weights=uniform",
    "rgg22": "rgg:22,weights=uniform",
    "rgg_n_2_24": "rgg:24,weights=uniform",
}

#: Entries from which a checksum is made of parts, and those of a part.
_HASHED_IN_PARTS, _HASHED_PART = 1 << 26, 1 << 24

#: Entries up to which the ends of all edges stay on the device of the checks.
_KEPT = 1 << 28

#: Generated graphs of the same kinds, each done in seconds.
QUICK_GRAPHS = ("kron:12", "road:100x100,removed=0.05", "rgg:12")


@dataclass(eq=False)
class BenchGraph:
    """A square graph with integer weights, and the forms that libraries and checks need."""

    name: str
    #: Matrix, shape (n, n). On the host, not yet on a device.
    matrix: Any
    #: The same by rows.
    arrays: MatrixArrays
    load_s: float
    build_s: float
    #: NumPy, or what computes like it on a device: results are checked with it.
    xp: Any = np

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.arrays.nrows

    @property
    def is_symmetric(self) -> bool:
        """Whether every edge is known to go both ways."""
        return self.arrays.symmetric is True

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Outgoing edges of each vertex."""
        return np.diff(self.arrays.ordinary().indptr).astype(np.int64)

    @cached_property
    def tails(self) -> Any:
        """Row of each entry, an array of `xp`."""
        if self.xp is np:
            return self.arrays.entry_major().astype(np.int32)
        return rows_of_entries(self.xp, self.xp.asarray(self.arrays.ordinary().indptr))

    @cached_property
    def heads(self) -> Any:
        """Column of each entry, an array of `xp`."""
        return self.xp.asarray(self.arrays.ordinary().indices)

    def edges_by(self, size: int) -> Iterator[tuple[Any, Any]]:
        """Yield `tails` and `heads` of so many entries at a time.

        Of a large graph they are made for each slice, and nothing of them stays.
        """
        arrays = self.arrays.ordinary()
        for first in range(0, arrays.nvals, size):
            last = min(first + size, arrays.nvals)
            if arrays.nvals <= _KEPT:
                yield self.tails[first:last], self.heads[first:last]
            else:
                rows = rows_of_slice(self.xp, arrays.indptr, first, last)
                yield rows, self.xp.asarray(arrays.indices[first:last])

    @cached_property
    def lengths(self) -> Any:
        """Value of each entry in FP64, an array of `xp`."""
        return self.xp.asarray(self.arrays.entry_values()).astype(np.float64)

    @cached_property
    def out_degrees(self) -> Any:
        """`degrees` as an array of `xp`."""
        return self.xp.asarray(self.degrees)

    @cached_property
    def weighted(self) -> Any:
        """The matrix as a SciPy array of FP64."""
        from scipy.sparse import csr_array

        arrays = self.arrays.ordinary()
        values = arrays.entry_values().astype(np.float64)
        return csr_array((values, arrays.indices, arrays.indptr), shape=(self.n, self.n))

    def matrix_in(self, dtype: str) -> Any:
        """Return the matrix on the host with values cast, and this one where it is.

        A cast by Semira would take this one to its device, and every later copy of it back.
        """
        wanted = lookup_dtype(dtype)
        values = self.arrays.values.astype(wanted.array_dtype)
        return matrix_of_arrays(replace(self.arrays, dtype=wanted, values=values), self.name)

    @cached_property
    def undirected(self) -> BenchGraph:
        """Every edge in both directions, without self-loops: for components and triangles."""
        if self.is_symmetric and not bool((self.tails == self.heads).any()):
            return self
        rows, cols, values = self.arrays.to_coo()
        edges = EdgeList(self.n, self.n, rows, cols, values, symmetric=self.is_symmetric)
        both = clean(edges, ReadOptions(symmetrise=True, drop_self_loops=True))
        return build_bench_graph(self.name, both, self.load_s, self.xp)

    @cached_property
    def checksum(self) -> str:
        """Hash of the arrays by rows, the same on every machine.

        Of a large graph it is the hash of the hashes of its parts, which threads make.
        """
        arrays = self.arrays.ordinary()
        values = arrays.values[:1] if arrays.iso else arrays.values
        parts = [(arrays.indptr, "<i8"), (arrays.indices, "<i8"), (values, "<f8")]
        if arrays.nvals < _HASHED_IN_PARTS:
            parts[-1] = arrays.entry_values(), "<f8"
            return _hash_of(np.ascontiguousarray(part, dtype).data for part, dtype in parts)
        pieces = [
            (part[first : first + _HASHED_PART], dtype)
            for part, dtype in parts
            for first in range(0, len(part), _HASHED_PART)
        ]
        with ThreadPoolExecutor(settings().threads) as pool:
            hashes = pool.map(lambda piece: _hash_of([np.ascontiguousarray(*piece).data]), pieces)
            return _hash_of(each.encode() for each in hashes)

    @property
    def dataset(self) -> Dataset:
        """What records say about it."""
        return Dataset(self.name, self.n, self.arrays.nvals, self.checksum)

    def sources(self, count: int, seed: int = 0) -> list[int]:
        """Return start vertices: `count` of them drawn, as the GAP benchmark does.

        They have outgoing edges; 0: the one with most of these. Raises InvalidValue if the graph
        has no edges to start along.
        """
        candidates = np.flatnonzero(self.degrees)
        if len(candidates) == 0:
            raise InvalidValue(f"{self.name} has no edges; benchmarks need a graph with some")
        if count == 0:
            return [int(np.argmax(self.degrees))]
        return [int(v) for v in np.random.default_rng(seed).choice(candidates, count)]


def _hash_of(parts: Iterable[Any]) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def rows_of_entries(xp: Any, indptr: Any) -> Any:
    """Return the row of each entry, an array of `xp`, from the offsets of the rows.

    Examples
    --------
    >>> rows_of_entries(np, np.array([0, 2, 2, 3]))
    array([0, 0, 2], dtype=int32)
    """
    nvals = int(indptr[-1])
    starts = indptr[1:-1]
    return _rows_from(xp, nvals, starts[starts < nvals])


def rows_of_slice(xp: Any, indptr: NDArray[Any], first: int, last: int) -> Any:
    """Return the rows of the entries from `first` to before `last`, from offsets on the host.

    Examples
    --------
    >>> rows_of_slice(np, np.array([0, 2, 2, 3]), 1, 3)
    array([0, 2], dtype=int32)
    """
    row = int(np.searchsorted(indptr, first, "right")) - 1
    behind = int(np.searchsorted(indptr, last))
    starts = xp.asarray(indptr[row + 1 : behind] - first)
    return _rows_from(xp, last - first, starts) + np.int32(row)


def _rows_from(xp: Any, count: int, starts: Any) -> Any:
    """Return, of so many entries, how many rows start at each or before."""
    rows = xp.zeros(count, np.int32)
    xp.add.at(rows, starts, 1)
    return xp.cumsum(rows, dtype=np.int32)


def data_folder() -> Path:
    """Return where named graphs are looked for: a variable, else ``shared/data`` beside."""
    named = os.environ.get(DATA_VARIABLE)
    return Path(named) if named else Path.cwd().parent / "shared" / "data"


def at_hand(names: Iterable[str], folder: Path | None = None) -> tuple[list[str], list[str]]:
    """Return the graphs that are generated or have a file, and the others.

    Examples
    --------
    >>> at_hand(["kron:4", "no-such-graph"], Path("no/folder"))
    (['kron:4'], ['no-such-graph'])
    """
    found, absent = list[str](), list[str]()
    for name in names:
        is_there = is_generator_spec(NAMED.get(name, name)) or _file_of(name, folder) is not None
        (found if is_there else absent).append(name)
    return found, absent


def load_bench_graph(
    name: str, folder: Path | None = None, xp: Any = np, *, weights: bool = True
) -> BenchGraph:
    """Return a graph for measurements; a pattern gets integer `weights` from 1 to 64, if wanted.

    It is a generator (``kron:16``), one of `NAMED`, a file, or the name of an ``.npz`` file in a
    folder, by default `data_folder`. Large Kronecker graphs are drawn on the device of `xp`
    (`semira.bench.drawn`), which is that of the checks, see `BenchGraph`. Raises MissingFile if
    there is neither a file nor a graph of that name, and InvalidValue if the matrix is not square.
    """
    start_s = time.perf_counter()
    spec = NAMED.get(name, name)
    drawn = draw_spec(spec, xp, weights=weights) if is_generator_spec(spec) else None
    if drawn is not None:
        # What was sorted is several times the graph, and would be missing to Semira.
        free_memory(xp)
        made = matrix_of_arrays(drawn, name)
        return BenchGraph(name, made, drawn, time.perf_counter() - start_s, 0.0, xp)
    edges = generate(spec) if is_generator_spec(spec) else _read(name, folder)
    load_s = time.perf_counter() - start_s
    if edges.nrows != edges.ncols:
        raise InvalidValue(f"{name} is {edges.nrows} x {edges.ncols}; graphs have square matrices")
    return build_bench_graph(name, edges, load_s, xp, weights=weights)


def matrix_of_arrays(arrays: MatrixArrays, name: str) -> Any:
    """Return the matrix of arrays that are known to be sorted, without copying them."""
    return Matrix._wrap(Value.of(arrays), name)


def _file_of(name: str, folder: Path | None) -> Path | None:
    """Return the file of a graph that is named without a path, perhaps in a folder."""
    home = folder or data_folder()
    places = (Path(name), home / name, home / f"{name}.npz")
    return next((path for path in places if path.is_file()), None)


def _read(name: str, folder: Path | None) -> EdgeList:
    path = _file_of(name, folder)
    if path is None:
        raise MissingFile(
            f"{name}: no generator and no file of this name; give its path, or its folder with "
            "--data"
        )
    return read_edges(path, progress=False)


def build_bench_graph(
    name: str, edges: EdgeList, load_s: float = 0.0, xp: Any = np, *, weights: bool = True
) -> BenchGraph:
    """Return the graph of a square list of edges; a pattern gets integer weights from 1 to 64."""
    if edges.values is None and weights:
        edges = clean(edges, ReadOptions(random_weights=True))
    start_s = time.perf_counter()
    # Of parallel edges the shortest counts; the minimum also keeps a symmetric graph symmetric.
    matrix = from_edges(edges, dup_op="min", name=name)
    build_s = time.perf_counter() - start_s
    return BenchGraph(name, matrix, arrays_of(matrix), load_s, build_s, xp)
