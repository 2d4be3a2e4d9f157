"""``semira generate``: write a generated graph to a file."""

from __future__ import annotations

from typing import Annotated

import typer

from semira.base.errors import InvalidValue
from semira.cli.convert import TargetArgument, ToOption, check_graph_target, write_graph
from semira.cli.output import print_table
from semira.generators import GENERATORS, is_generator_spec, nearest_generator
from semira.generators import generate as make


def _list_generators(wanted: bool) -> None:
    if not wanted:
        return

    rows = [
        (name, row.example, row.size, ", ".join(row.options), row.summary)
        for name, row in GENERATORS.items()
    ]
    print_table(("name", "example", "size is the", "options", "what"), rows)
    raise typer.Exit


def generate(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="SPEC",
            help="name:size[,option=value]..., such as kron:16,ef=8,seed=3.",
            show_default=False,
        ),
    ] = None,
    target: TargetArgument = "-",
    to: ToOption = None,
    listing: Annotated[
        bool,
        typer.Option(
            "--list",
            callback=_list_generators,
            is_eager=True,
            help="List the generators and their options.",
        ),
    ] = False,
) -> None:
    """Generate a graph and write it to a file.

    The same SPEC gives the same graph on every machine. Every command that reads FILE takes a
    SPEC as well, so a file is only needed for other programs.

    Examples
    --------
    semira generate kron:16 kron.mtx.gz
    semira generate road:300x200 road.npz
    semira generate er:1000,degree=4 - --to csv
    semira generate --list
    """
    del listing
    if spec is None:
        raise typer.BadParameter("give a SPEC, such as kron:16; --list shows the generators")
    if not is_generator_spec(spec):
        meant = nearest_generator(spec) or f"{spec!r} is no generator, which has a name and a size"
        raise InvalidValue(f"{meant}; semira generate --list shows them all")
    check_graph_target(target, to)
    write_graph(target, make(spec), to)
