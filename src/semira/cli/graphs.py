"""From what the command line names to a graph: files, standard input, generators; vertices."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import semira
from semira.backends.registry import backend_for
from semira.base.errors import DeviceUnavailable, IndexOutOfBound, InvalidValue
from semira.base.settings import settings
from semira.base.text import did_you_mean
from semira.cli.options import Device
from semira.cli.output import note

if TYPE_CHECKING:
    from semira.formats import EdgeList, MatrixArrays


@dataclass(frozen=True, slots=True)
class Reading:
    """What the options of a command say about reading its file."""

    format: str | None = None
    symmetrise: bool = False
    drop_self_loops: bool = False
    weights: str | None = None
    seed: int | None = None
    dup_op: str | None = None
    #: As typed, such as ``0,2`` or ``from,to``.
    columns: str | None = None
    base: int | None = None
    ids: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    size: int | None = None
    #: As typed: ``drop`` or a number.
    missing: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def options(self) -> dict[str, Any]:
        """Return what `semira.io.read_graph` is given; of edge lists' own options those chosen."""
        chosen = {
            name: getattr(self, name)
            for name in ("base", "ids", "delimiter", "header", "size", "encoding", "decimal")
        }
        chosen["columns"] = None if self.columns is None else _parse_columns(self.columns)
        chosen["missing"] = None if self.missing is None else _parse_missing(self.missing)
        return {
            "format": self.format,
            "drop_self_loops": self.drop_self_loops,
            "symmetrise": self.symmetrise,
            "seed": self.seed or 0,
            **{name: value for name, value in chosen.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph ready to compute with."""

    #: As the command line named it.
    name: str
    #: Matrix, shape (n, n).
    matrix: Any
    #: The same by rows, on the host.
    arrays: MatrixArrays
    #: The file's own names of the vertices.
    labels: NDArray[Any] | None
    meta: dict[str, Any]
    #: Seconds to read or generate the edges and build the matrix.
    read_s: float

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Entries of each row: outgoing edges of each vertex."""
        return np.diff(self.arrays.ordinary().indptr).astype(np.int64)

    def component_sizes(self) -> NDArray[np.int64]:
        """Return the vertices of each component; edges count in both directions."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        csr = self.arrays.ordinary()
        pattern = np.ones(len(csr.indices), np.int8)
        shape = (csr.nrows, csr.ncols)
        count, labels = connected_components(
            csr_array((pattern, csr.indices, csr.indptr), shape=shape), directed=False
        )
        return np.bincount(labels, minlength=count)

    def label_of(self, vertex: int) -> Any:
        """Return what the file calls a vertex, its number if the file has no labels."""
        return int(vertex) if self.labels is None else self.labels[[vertex]].tolist()[0]


def _parse_columns(text: str) -> tuple[int | str, ...]:
    """Return positions if all are numbers, else names."""
    parts = text.split(",")
    return tuple(map(int, parts)) if all(map(str.isdecimal, parts)) else tuple(parts)


def _parse_missing(text: str) -> float | str:
    try:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        return text


def load_edges(path: str, reading: Reading) -> EdgeList:
    """Return the edges of a file, of standard input or of a generator, and say what was guessed.

    Repeated edges are folded if the command line says how. Raises what `semira.io.edges_of` raises.
    """
    from semira.files import as_edges, show_note

    edges = semira.io.edges_of(
        path, random_weights=reading.weights == "random", **reading.options()
    )
    show_note(edges.meta)
    if reading.dup_op is None:
        return edges
    folded = as_edges(semira.io.arrays_of(semira.io.from_edges(edges, dup_op=reading.dup_op)))
    return replace(folded, labels=edges.labels, meta=edges.meta)


def load_graph(path: str, reading: Reading) -> Graph:
    """Return the graph that the command line names, on the host; time is measured.

    Raises what `semira.io.read_graph` raises.
    """
    start_s = time.perf_counter()
    graph = semira.io.read_graph(
        path, weights=reading.weights, dup_op=reading.dup_op, **reading.options()
    )
    graph.matrix.name = path
    read_s = time.perf_counter() - start_s
    return Graph(
        path, graph.matrix, semira.io.arrays_of(graph.matrix), graph.labels, graph.meta, read_s
    )


def source_names(graph: Graph, text: str | None) -> list[str | None]:
    """Return the vertices that ``--source`` names, between commas; None: nothing was named.

    A text that is a label of the file as a whole is one name, whatever commas it has.
    """
    if text is None or (graph.labels is not None and text in graph.labels.astype(str)):
        return [text]
    return list(text.split(","))


def find_vertex(graph: Graph, text: str | None, option: str = "--source") -> int:
    """Return the vertex that a user names, or the one with most outgoing edges.

    It is a label of the file if that has labels, else a number from 0; `option` is what it was
    given for. Raises IndexOutOfBound if there is no such vertex; the message says what there is.
    Raises InvalidValue if the graph has no labels and `text` is no number, or it has no vertex at
    all.
    """
    size = graph.arrays.nrows
    if size == 0:
        raise InvalidValue(f"{graph.name} has no vertices to start from")
    if text is None:
        return int(np.argmax(graph.degrees))
    if graph.labels is not None:
        return _find_label(graph, text, option)
    try:
        vertex = int(text)
    except ValueError:
        raise InvalidValue(
            f"{option} {text!r}: {graph.name} has no labels; give a number in [0, {size})"
        ) from None
    if not 0 <= vertex < size:
        raise IndexOutOfBound(
            f"{option} {vertex} is outside [0, {size}) of {graph.name}{_numbering(graph)}"
        )
    return vertex


def _numbering(graph: Graph) -> str:
    """Return what to know of numbers, if the file's own are others."""
    if graph.meta.get("format") not in ("dimacs", "mtx"):
        return ""
    return "; vertices count from 0: the file's vertex k is k-1"


def _find_label(graph: Graph, text: str, option: str) -> int:
    labels = graph.labels
    assert labels is not None
    names = labels.astype(str)
    found = np.flatnonzero(names == text)
    if len(found) == 0:
        few = ", ".join(map(str, labels[:3].tolist()))
        raise IndexOutOfBound(
            f"{option} {text!r} is none of the {len(labels)} labels of {graph.name} ({few}, ...)"
            f"{did_you_mean(text, names[:100_000].tolist())}"
        )
    return int(found[0])


def choose_device(asked: Device | None) -> str:
    """Return the device to compute on; by default that of ``SEMIRA_DEVICE``, or the cpu.

    ``auto`` is cuda if it can be used, else cpu, with a note that says why. Raises
    DeviceUnavailable if a device was named that this machine lacks.
    """
    name = settings().device if asked is None else asked.value
    if name == "auto":
        name, why_not = "cuda", why_unusable("cuda")
        if why_not is not None:
            name = "cpu"
            note(f"device auto: cpu, because cuda cannot be used ({why_not})")
    backend_for(name)
    return name


def why_unusable(device: str) -> str | None:
    """Return why `device` cannot be used, None if it can."""
    try:
        backend_for(device)
    except (DeviceUnavailable, ImportError) as error:
        return str(error)
    return None
