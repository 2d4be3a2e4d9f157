"""The table of applications beside others: what their own pages say, and what `memory` says.

No number is written here: times are cells of the pages' tables, or of records.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.docs.stored import read_records

from semira import Matrix, apps
from semira.algorithms.flows.network import memory as flow_memory
from semira.apps import (
    assignment,
    classification,
    communities,
    geolocation,
    graph_matching,
    lasso,
    local_clustering,
    projections,
    sage,
    sampling,
    subgraph_matching,
    vertex_nomination,
    walks,
)
from semira.bench.report import figure, markdown_table

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "apps"
RECORDS = ROOT / "bench" / "results" / "applications.jsonl"

#: Vertices and entries of coAuthorsDBLP, and of the users of gowalla-lightgcn.
_N, _NVALS = 299_067, 1_955_352
_AUTHORS = Matrix(bool, _N, _N)
_USERS = Matrix(bool, 29_858, 40_981)
_MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Case:
    """A call that was measured, and where.

    Attributes
    ----------
    name : str
        Of the application.
    call : str
        What is not its default.
    graph : str
    row : tuple of str
        First cells of the row of a table of its page that has the time. Empty: a record of that
        call has it, and there is no peer.
    column : str
        Header of the time.
    peer : str
        Empty: there is none on the same machine.
    peer_row : tuple of str
        Row of its time, if it is another one.
    peer_column : str
    unit : str
        Of numbers that have none.
    bytes : int
        By `memory` of the application.
    each : str
        What takes so many bytes, if it is not the call.
    command : str
        What measures it; empty: the first command of the page that does.
    """

    name: str
    call: str = ""
    graph: str
    row: tuple[str, ...] = ()
    column: str = ""
    peer: str = ""
    peer_row: tuple[str, ...] = ()
    peer_column: str = ""
    unit: str = "ms"
    bytes: int
    each: str = ""
    command: str = ""

    @property
    def page(self) -> Path:
        """Of the application."""
        return PAGES / apps.rows()[self.name].page

    def cells(self) -> list[str]:
        """Return the row of the table."""
        row = apps.rows()[self.name]
        title = f"[{row.title[:1].upper()}{row.title[1:]}]({row.page})"
        if self.row:
            ours = shown(cell(self.page, self.row, self.column), self.unit)
            how = self.command or command_of(self.page)
        else:
            ours, how = recorded(self.call, self.graph)
        theirs = ""
        if self.peer:
            place = self.peer_row or self.row
            theirs = shown(cell(self.page, place, self.peer_column or self.column), self.unit)
        memory = f"{figure(self.bytes / 1e6)}{self.each and f' {self.each}'}"
        return [title, self.call, self.graph, ours, self.peer, theirs, memory, f"`{how}`"]


def cell(page: Path, row: tuple[str, ...], column: str) -> str:
    """Return the cell of a table of a page.

    Raises
    ------
    LookupError
        No table has it.
    """
    head: list[str] = []
    for line in page.read_text("utf-8").splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [each.strip() for each in line.split("|")[1:-1]]
        head = head or cells
        if column in head and cells[: len(row)] == list(row):
            return cells[head.index(column)]
    raise LookupError(f"{page.name} has no cell {column!r} in a row {row}")


def shown(text: str, unit: str) -> str:
    """Return a time in milliseconds, or a rate as the page has it."""
    found = re.match(r"([\d.,]+)(?: (s)\b)?", text)
    assert found, text
    number = float(found[1].replace(",", ""))
    unit = found[2] or unit
    if unit in ("s", "ms"):
        return figure(number * (1000 if unit == "s" else 1))
    return f"{figure(number)} {unit}"


def command_of(page: Path) -> str:
    """Return the first command of a page that measures."""
    found = re.search(r"`(python -m benchmarks\.scripts\.[^`]+)`", page.read_text("utf-8"))
    assert found, page
    return found[1]


def recorded(call: str, graph: str) -> tuple[str, str]:
    """Return the milliseconds on `cpu` of a record, which are wall time, and its command."""
    for record in read_records(RECORDS):
        if (record.kernel, record.dataset.name, record.backend) == (call, graph, "cpu"):
            _, _, *arguments = record.environment["command"]
            options = re.sub(r" --(data|out) \S+", "", shlex.join(arguments))
            return f"{figure(1e3 * min(record.warm_s))} (wall)", f"python -m {options}"
    raise LookupError(f"no record of {call} on {graph}")


CASES = (
    Case(
        name="classify", call="pattern of 10 vertices, 21 edges", graph="as rmat18",
        row=("rmat18-sized, random graph and features",), column="Semira, `cpu`",
        peer="whole arrays in NumPy", peer_column="NumPy",
        bytes=classification.memory(262_145, 2_008_660, 10, 21),
    ),
    Case(
        name="leiden", graph="coAuthorsDBLP", row=("coAuthorsDBLP, `leiden`",),
        column="processor time", peer="igraph 1.0, Leiden",
        peer_row=("coAuthorsDBLP, igraph 1.0 `community_leiden`, 2 iterations",),
        bytes=communities.memory(_N, _NVALS),
    ),
    Case(
        name="louvain", graph="coAuthorsDBLP", row=("coAuthorsDBLP, `louvain`",),
        column="processor time", bytes=communities.memory(_N, _NVALS),
    ),
    Case(
        name="geolocate", call="hide=0.2", graph="random geometric, 1,000,000 vertices",
        row=("1,000,000",), column="Semira, `cpu`", peer="whole arrays in NumPy",
        peer_column="whole arrays in NumPy", bytes=geolocation.memory(_MILLION, hide=0.2),
    ),
    Case(
        name="graph_match", call="2 % seeds", graph="random, 2,000 vertices, 5 % of all edges",
        row=("from the barycentre",), column="2,000", peer="graspologic 3.4.4",
        peer_row=("graspologic 3.4.4",), unit="s",
        bytes=graph_matching.memory(2000, 200_000, 200_000),
    ),
    Case(
        name="project", call='"rows"', graph="gowalla-lightgcn", row=("all",), column="CPU ms",
        peer="SciPy 1.17, `A @ A.T`", peer_column="peer, CPU ms",
        bytes=projections.memory(_USERS, "rows"), each="a thread",
    ),
    Case(
        name="project", call='"rows", top=10', graph="gowalla-lightgcn",
        row=("`top=10, keep_diagonal=True`",), column="CPU ms", peer="sparse_dot_topn 1.2",
        peer_column="peer, CPU ms", bytes=projections.memory(_USERS, "rows", top=10),
        each="a thread",
    ),
    Case(
        name="sage_embedding", call="64 features, 10 by 10 neighbours", graph="coAuthorsDBLP",
        row=("coAuthorsDBLP, F = 64, C = L = 10, h = 256",), column="Semira, CPU s",
        peer="PyTorch 2.14 with DGL 2.1", peer_column="PyTorch 2.14 with DGL 2.1, CPU s", unit="s",
        bytes=sage.memory(_AUTHORS),
        command="python -m benchmarks.scripts.samples_cpu coAuthorsDBLP",
    ),
    Case(
        name="linear_sum_assignment", call="uniform costs", graph="5,000 x 5,000",
        row=("uniform", "5,000"), column="`linear_sum_assignment`", peer="SciPy 1.17.1",
        peer_column="SciPy", bytes=assignment.memory(5000, 5000),
    ),
    Case(
        name="local_clusters", call="push, alpha 0.15, rho 1e-6, one seed", graph="coAuthorsDBLP",
        row=('`method="push"`, cpu',), column="ms", peer="NetworKit 11.3",
        peer_row=("NetworKit 11.3 `PageRankNibble`",), bytes=local_clustering.memory(_N, 1),
    ),
    Case(
        name="maximum_flow", graph="grid, 200 x 200 vertices", row=("200 x 200",),
        column='`"highest_label"`', peer="SciPy 1.17.1", peer_column="SciPy 1.17.1", unit="s",
        bytes=flow_memory(40_002, 4 * 200 * 199 + 2 * 200),
    ),
    Case(
        name="maximum_flow", graph="grid, 1000 x 1000 vertices", row=("1000 x 1000",),
        column='`"highest_label"`', peer="OR-tools 9.15", peer_column="OR-tools 9.15", unit="s",
        bytes=flow_memory(1_000_002, 4 * 1000 * 999 + 2 * 1000),
        command="python -m benchmarks.scripts.flows 1000 --ortools",
    ),
    Case(
        name="random_walks", call="uniform, 20,000 walks of 81 vertices", graph="coAuthorsDBLP",
        row=("uniform",), column="Semira", peer="igraph 1.0", peer_column="peer",
        unit="million steps a second", bytes=walks.memory(_AUTHORS, 20_000, 81),
    ),
    Case(
        name="sample_neighbours", call="loader, 1,024 seeds, 10 and 25", graph="coAuthorsDBLP",
        row=("1,024 seeds, 10 and 25 neighbours",), column="Semira, CPU ms", peer="DGL 2.1",
        peer_column="DGL 2.1, CPU ms",
        # Draws of both hops, and the numbers of the vertices of a batch.
        bytes=sampling.memory(_AUTHORS, 1024, 10 + 10 * 25) + 4 * _N,
    ),
    Case(
        name="sample_neighbours", call="samples, 10 by weight", graph="coAuthorsDBLP",
        # Totals of the weights as well, which the matrix without entries here has not.
        bytes=sampling.memory(_AUTHORS, 1020, 10) + 8 * _NVALS,
    ),
    Case(
        name="local_scan", graph="coAuthorsDBLP", row=("coAuthorsDBLP",), column="k = 1, CPU ms",
        peer="SciPy, `(A @ A).multiply(A)`", peer_column="SciPy, CPU ms",
        # Where two products do it, `memory` counts no neighbourhoods: 16 bytes an edge, it says.
        bytes=16 * _NVALS // 2,
    ),
    Case(
        name="fused_lasso", call="lambda2=0.3", graph="image, 1000 x 1000 pixels",
        row=("1000 x 1000", "0.3"), column='`"cuts"`', unit="s",
        bytes=lasso.memory(_MILLION, 2 * 1000 * 999),
    ),
    Case(
        name="subgraph_match", call="path of 4, labels, distinct", graph="HPRD-labelled",
        row=("path of 4, labels",), column="Semira, `cpu`", peer="igraph 1.0, VF2, not distinct",
        peer_column="igraph, VF2", bytes=subgraph_matching.memory(9460, 69_996, 4, labels=True),
    ),
    Case(
        name="nominate", call="5 seeds", graph="coAuthorsDBLP", row=("coAuthorsDBLP",),
        column="lengths, CPU ms", peer="SciPy, `dijkstra(min_only=True)`", peer_column="SciPy",
        bytes=vertex_nomination.memory(_AUTHORS),
    ),
)  # fmt: skip


def beside_others() -> str:
    """Return times on `cpu` beside those of peers on the same machine, and memory."""
    head = ["application", "call", "graph", "ms", "peer", "its ms", "MB", "measured by"]
    return markdown_table(head, [case.cells() for case in CASES])
