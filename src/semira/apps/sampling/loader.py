"""Batches of sampled neighbourhoods, as graph neural networks train on them."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira import Matrix, device_traits
from semira.algorithms.naming import vertices_or_sets
from semira.apps.arrays import check_room, on_host
from semira.apps.named import takes_graph
from semira.apps.sampling.groups import Group, Numbers, sample_group
from semira.apps.sampling.problem import check_int, keys_of, matrix_of, vertices_of
from semira.apps.sampling.result import NeighbourSample
from semira.apps.sampling.solve import draw_hops, source_of
from semira.exceptions import DimensionMismatch, InvalidValue, MissingLibrary
from semira.kernels import array_module

#: Batches sampled at once, and vertices of all of them together, at most.
_BULK, _TABLE = 64, 2**28

#: Keys of `NeighbourLoader.sample` are those of epochs from here on.
_FIRST_DRAW = 2**32


@dataclass(slots=True)
class Batch:
    """A sampled neighbourhood, with the names of PyTorch Geometric's `NeighborLoader`.

    Attributes
    ----------
    n_id : tensor or array of int64
        Vertices: the seeds first, then those first met at each hop, in the order of the draws.
    edge_index : tensor or array of int64, shape (2, edges)
        Neighbour and vertex of each entry drawn, as places in `n_id`.
    e_id : tensor or array of int64
        Positions of these entries among the stored ones of the matrix sampled.
    batch_size : int
        Number of seeds.
    input_id : tensor or array of int64
        Places of the seeds among those of the loader.
    x, y : tensor or array, optional
        Rows of the loader's `x` and `y` for `n_id`.
    num_sampled_nodes, num_sampled_edges : list of int
        How many each hop brought; the seeds first.
    """

    n_id: Any
    edge_index: Any
    e_id: Any
    batch_size: int
    input_id: Any
    x: Any
    y: Any
    num_sampled_nodes: list[int]
    num_sampled_edges: list[int]

    @property
    def num_nodes(self) -> int:
        """Number of vertices."""
        return len(self.n_id)


class NeighbourLoader:
    """Batches of sampled neighbourhoods; iterate over it once for each epoch.

    Made by `neighbour_loader`.

    Attributes
    ----------
    epoch : int
        How often it was iterated over. Each time other entries are drawn.
    """

    def __init__(self, A: Matrix, seeds: Any, fanouts: Sequence[int], **options: Any) -> None:
        self._matrix, self._fanouts = A, fanouts
        self._seeds = seeds
        self._options = options
        self.epoch = 0
        with array_module(A.device) as xp:
            self._source = source_of(A, xp, weighted=options["weighted"])

    def __len__(self) -> int:
        size = int(self._options["batch_size"])
        spare = 0 if self._options["drop_last"] else size - 1
        return (len(self._seeds) + spare) // size

    def sample(self, seeds: Any, draw: int = 0) -> tuple[NeighbourSample, ...]:
        """Draw as `sample_hops` does, from rows and running totals that the loader keeps.

        Parameters
        ----------
        seeds : sequence or array of int
        draw : int >= 0
            Each number gives other entries.

        Raises
        ------
        IndexOutOfBound
            A seed is no vertex.
        OutOfMemory
            The samples do not fit.
        """
        keys = self._keys(check_int(draw, "draw", 0) + _FIRST_DRAW)
        with array_module(self._matrix.device) as xp:
            rows = vertices_of(seeds, self._matrix.nrows, xp, "seeds")
            given = (self._matrix, self._source, rows, self._fanouts, keys, xp)
            return draw_hops(*given, replace=self._options["replace"])

    def _keys(self, epoch: int) -> list[int]:
        return keys_of((self._options["seed"], epoch), len(self._fanouts))

    def __iter__(self) -> Iterator[Batch]:
        options, size = self._options, self._options["batch_size"]
        epoch, self.epoch = self.epoch, self.epoch + 1
        order = np.arange(len(self._seeds))
        if options["shuffle"]:
            np.random.default_rng([options["seed"], epoch]).shuffle(order)
        order = order[: len(self) * size]
        keys = self._keys(epoch)
        many = max(1, min(options["bulk"], len(self)))
        with array_module(self._matrix.device) as xp:
            numbers = Numbers(self._matrix.nrows, many, self._matrix.device, xp)
        for start in range(0, len(order), size * many):
            input_id = order[start : start + size * many]
            _settle(options["torch"], self._matrix.device)
            with array_module(self._matrix.device) as xp:
                found = sample_group(
                    self._source,
                    xp.asarray(self._seeds[input_id]),
                    size,
                    self._fanouts,
                    keys,
                    start // size,
                    numbers,
                    xp,
                    replace=options["replace"],
                )
                given = (found.n_id, found.edge_index, found.e_id, xp.asarray(input_id))
                arrays = [_as_tensor(array, options["torch"]) for array in given]
            yield from self._batches(found, arrays)

    def _batches(self, group: Group, arrays: list[Any]) -> Iterator[Batch]:
        n_id, edge_index, e_id, input_id = arrays
        nodes, edges = group.nodes.sum(axis=0), group.edges.sum(axis=0)
        begins = [np.cumsum(each) - each for each in (nodes, edges, group.nodes[0])]
        for b in range(len(nodes)):
            at, edge, seed = (int(each[b]) for each in begins)
            own = n_id[at : at + int(nodes[b])]
            count = int(edges[b])
            yield Batch(
                own,
                edge_index[:, edge : edge + count],
                e_id[edge : edge + count],
                int(group.nodes[0, b]),
                input_id[seed : seed + int(group.nodes[0, b])],
                _rows(self._options["x"], own),
                _rows(self._options["y"], own),
                group.nodes[:, b].tolist(),
                group.edges[:, b].tolist(),
            )


def _rows(table: Any, places: Any) -> Any:
    if table is None:
        return None
    if getattr(table, "device", None) != getattr(places, "device", None):
        places = places.to(table.device) if hasattr(places, "to") else on_host(places)
    return table[places]


def _as_tensor(array: Any, torch: Any) -> Any:
    if torch is None:
        return array
    return torch.from_dlpack(array) if hasattr(array, "get") else torch.from_numpy(array)


def _settle(torch: Any, device: str) -> None:
    """Wait for what PyTorch still reads: its stream is not the one that reuses the memory."""
    if torch is not None and device == "cuda":
        torch.cuda.current_stream().synchronize()


def torch_for(output: str) -> Any:
    """Return PyTorch, or None for arrays.

    Raises
    ------
    InvalidValue, MissingLibrary
        There is no such output; PyTorch is not installed.

    Examples
    --------
    >>> torch_for("arrays") is None
    True
    """
    if output not in ("auto", "torch", "arrays"):
        raise InvalidValue(f"output={output!r} must be one of auto, torch, arrays")
    if output == "arrays":
        return None
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        if output == "auto":
            return None
        raise MissingLibrary("PyTorch is not installed: pip install torch") from error


@takes_graph(seeds=vertices_or_sets)
def neighbour_loader(
    A: Matrix,
    /,
    fanouts: Sequence[int] = (10, 25),
    *,
    seeds: Any = None,
    batch_size: int = 1024,
    x: Any = None,
    y: Any = None,
    replace: bool = False,
    weighted: bool = False,
    incoming: bool = True,
    shuffle: bool = False,
    drop_last: bool = False,
    seed: int = 0,
    bulk: int | None = None,
    output: str = "auto",
) -> NeighbourLoader:
    """Return batches of seeds with their sampled neighbourhoods.

    It takes the place of PyTorch Geometric's `NeighborLoader`: batches have the same attributes,
    and hold PyTorch's tensors if it is installed, on the GPU of the matrix.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j) is the edge from i to j.
    fanouts : sequence of int
        Entries drawn for each vertex, a number for each hop.
    seeds : sequence or array of int, or of names, optional
        Different vertices. None: all.
    batch_size : int >= 1
        Seeds of a batch.
    x, y : array or tensor, shape (n, ...), optional
        Features and labels, of which a batch gets the rows of its vertices.
    replace, weighted
        As of `sample_neighbours`.
    incoming : bool
        Draw from the edges that lead to a vertex, as PyTorch Geometric does, from a copy of the
        transpose. False: from the rows of `A`, which for a symmetric matrix is the same.
    shuffle : bool
        Take the seeds in another order in each epoch.
    drop_last : bool
        Leave out a last batch that is shorter.
    seed : int >= 0
        Of the random numbers and the order: the same batches on every device.
    bulk : int >= 1, optional
        Batches sampled at once; their tables take 4 n bytes each. It changes time and memory, not
        the samples. None: 1 on the host, 64 on a GPU, or fewer if n is above 4 million.
    output : {"auto", "torch", "arrays"}
        "arrays": NumPy's, or CuPy's on ``cuda``. "auto": "torch" if it is installed.

    Returns
    -------
    NeighbourLoader

    Raises
    ------
    InvalidValue
        A number is out of range; seeds repeat; `A` is not square.
    IndexOutOfBound
        A seed is no vertex.
    DimensionMismatch
        `x` or `y` has not n rows.
    NegativeWeight, InvalidWeight
        A weight is negative, or no finite number.
    OutOfMemory
        The tables do not fit.
    MissingLibrary
        ``output="torch"``, and it is not installed.

    Notes
    -----
    A hop costs its draws, and looks into a table of n numbers for each batch. The host waits once
    for each hop of a group of `bulk` batches.

    References
    ----------
    W. Hamilton, R. Ying, J. Leskovec, *Inductive representation learning on large graphs*, NeurIPS
    2017 (algorithm 2).

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0])
    >>> for batch in neighbour_loader(A, (2,), batch_size=2, output="arrays"):
    ...     print(batch.n_id.tolist(), batch.edge_index.tolist())
    [0, 1, 3] [[2, 0], [0, 1]]
    [2, 3, 1] [[2, 0], [0, 1]]
    """
    A = matrix_of(A, "neighbour_loader")
    sizes = [check_int(k, "fanouts", 1) for k in fanouts]
    if not sizes:
        raise InvalidValue("fanouts is empty: pass a number for each hop")
    keys_of(seed, 1)
    size = check_int(batch_size, "batch_size", 1)
    own = on_host(vertices_of(seeds, A.nrows, np, "seeds")).astype(np.int64)
    if len(np.unique(own)) != len(own):
        raise InvalidValue(f"{len(own)} seeds repeat: pass every vertex once")
    for name, table in (("x", x), ("y", y)):
        if table is not None and len(table) != A.nrows:
            raise DimensionMismatch(f"{name} has {len(table)} rows for {A.nrows} vertices")
    most = 1
    if device_traits(A.device).own_memory:
        most = max(1, min(_BULK, _TABLE // max(1, A.nrows)))
    # A draw of a group has a number of 31 bits.
    most = max(1, min(most, 2**30 // (size * math.prod(sizes))))
    many = most if bulk is None else check_int(bulk, "bulk", 1)
    if many * size * math.prod(sizes) >= 2**31:
        raise InvalidValue(
            f"{many} batches of {size} seeds draw up to {many * size * math.prod(sizes)} entries "
            "at once, of 2**31 at most: pass a smaller bulk, batch_size or fanouts"
        )
    check_room(4 * A.nrows * many, A.device, "neighbour_loader: the tables", "pass a smaller bulk")
    options = {
        "batch_size": size, "replace": replace, "weighted": weighted, "shuffle": shuffle,
        "drop_last": drop_last, "seed": int(seed), "bulk": many, "x": x, "y": y,
        "torch": torch_for(output),
    }  # fmt: skip
    return NeighbourLoader(A.T.new() if incoming else A, own, sizes, **options)
