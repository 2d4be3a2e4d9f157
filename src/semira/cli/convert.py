"""``semira convert``: from one file format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from semira.cli.catalogue import check_seed
from semira.cli.graphs import Reading, load_edges
from semira.cli.groups import READING, with_options
from semira.cli.options import FileArgument, option
from semira.cli.output import say
from semira.files import check_output, matrix_writer, write_edges

if TYPE_CHECKING:
    from semira.formats import EdgeList

TargetArgument = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="File to write (.mtx, .npz, .csv, .gr; text also .gz), or - for standard output.",
    ),
]

ToOption = Annotated[
    str | None,
    option("Format of TARGET: mtx, npz, csv or dimacs. Default: by its name; mtx for -.", "NAME"),
]


def _format_of(target: str, to: str | None) -> str | None:
    return "mtx" if target == "-" and to is None else to


def check_graph_target(target: str, to: str | None) -> None:
    """Refuse before the work a TARGET that cannot be written after it."""
    matrix_writer(target, _format_of(target, to))
    check_output(target)


def write_graph(target: str, edges: EdgeList, to: str | None) -> None:
    """Write edges to `target` and say so on a terminal."""
    write_edges(target, edges, format=_format_of(target, to))
    if target != "-":
        say(f"{target}: {edges.nrows:,} x {edges.ncols:,}, {edges.nnz:,} entries listed")


@with_options(reading=READING)
def convert(
    file: FileArgument, target: TargetArgument = "-", to: ToOption = None, *, reading: Reading
) -> None:
    """Read a graph and write it in another format.

    Vertex labels are kept where TARGET's format can hold them. Repeated edges are kept as they
    are listed.

    Examples
    --------
    semira convert edges.txt graph.mtx
    semira convert roads.gr - --to csv
    semira convert table.csv graph.npz --columns 2,0 --symmetrise
    """
    check_graph_target(target, to)
    check_seed(reading)
    write_graph(target, load_edges(file, reading), to)
