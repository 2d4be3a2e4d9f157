"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

#: Where the help has the options of reading.
READING_PANEL = _READING = "Reading"

FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A graph file, - for standard input, or a generator such as kron:16.",
        show_default=False,
    ),
]

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel="Output")
]


class Device(StrEnum):
    """Where to compute."""

    auto = "auto"
    reference = "reference"
    cpu = "cpu"
    cuda = "cuda"
    suitesparse = "suitesparse"


DeviceOption = Annotated[
    Device | None,
    typer.Option(
        help="Where to compute: reference, cpu, cuda, suitesparse, or auto, which is cuda if it "
        "can be used, else cpu. Default: SEMIRA_DEVICE, or cpu.",
        show_default=False,
        rich_help_panel="Running",
    ),
]

SourceOption = Annotated[
    str | None,
    typer.Option(
        metavar="VERTEX",
        help="The vertex that has an entry. Default: the one with most outgoing edges.",
        show_default=False,
    ),
]

FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format of FILE: mtx, npz, csv, dimacs or edgelist. Default: by content and name.",
        rich_help_panel=_READING,
        show_default=False,
    ),
]

SymmetriseOption = Annotated[
    bool,
    typer.Option(
        "--symmetrise",
        "--symmetrize",
        help="Add the reverse of every edge.",
        rich_help_panel=_READING,
    ),
]

DropLoopsOption = Annotated[
    bool,
    typer.Option(
        "--drop-self-loops",
        help="Leave out edges from a vertex to itself.",
        rich_help_panel=_READING,
    ),
]


class Weights(StrEnum):
    """Which weights to put in place of those of the file."""

    random = "random"


WeightsOption = Annotated[
    Weights | None,
    typer.Option(
        help="random: integers from 1 to 64 in place of the file's weights.",
        rich_help_panel=_READING,
        show_default=False,
    ),
]

SeedOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Seed of --weights random, of --sources, and of mis, colouring, lpa and embedding; "
        "default 0. "
        "That of a generator belongs to its name, as in kron:16,seed=3.",
        rich_help_panel=_READING,
        show_default=False,
    ),
]

ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="I,J[,W]",
        help="Edge lists: which columns, from 0, are source, target and weight.",
        rich_help_panel=_READING,
        show_default=False,
    ),
]

DelimiterOption = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="Edge lists: what separates columns. Default: found in the first line.",
        rich_help_panel=_READING,
        show_default=False,
    ),
]

BaseOption = Annotated[
    int,
    typer.Option(
        min=0,
        max=1,
        help="Edge lists: the least vertex number, 0 or 1.",
        rich_help_panel=_READING,
    ),
]

HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Edge lists: whether the first line names the columns. Default: where it has known "
        "names.",
        rich_help_panel=_READING,
        show_default=False,
    ),
]

RelabelOption = Annotated[
    bool | None,
    typer.Option(
        "--relabel/--no-relabel",
        help="Edge lists: number vertices as they first appear and keep their names as labels, or "
        "take them as numbers. Default: by what they are.",
        rich_help_panel=_READING,
        show_default=False,
    ),
]

SizeOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        help="Edge lists: number of vertices. Default: the largest one and 1 more.",
        rich_help_panel=_READING,
        show_default=False,
    ),
]
