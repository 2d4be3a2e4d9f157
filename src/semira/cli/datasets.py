"""``semira datasets``: named graphs from the web."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from semira import datasets
from semira.cli.options import JsonOption
from semira.cli.output import print_json, print_table

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A name of the list, or GROUP/NAME of SuiteSparse.")
]


def _facts(name: str) -> dict[str, Any]:
    found = datasets.info(name)
    target = datasets.path(name)
    return {
        "name": found.name,
        "kind": found.kind or None,
        "vertices": found.vertices,
        "entries": found.entries,
        "fetched": target.exists(),
        "url": found.url,
        "path": str(target),
    }


def show(
    source: Annotated[
        str | None, typer.Option(help="Only those of suitesparse, snap or dimacs9.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the named graphs.

    Any other matrix of the SuiteSparse collection is there as well, as GROUP/NAME.

    Examples
    --------
    semira datasets list
    semira datasets list --source dimacs9 --json
    """
    rows = [_facts(name) for name in datasets.names(source)]
    if json:
        print_json({"datasets": rows})
        return
    columns = ("name", "kind", "vertices", "entries", "fetched")
    print_table(columns, [[row[column] for column in columns] for row in rows])


def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Names of the list.")],
    force: Annotated[
        bool, typer.Option("--force", help="Download anew and forget the recorded checksum.")
    ] = False,
) -> None:
    """Download graphs once and print where their files are.

    Needs the extra "datasets". Checksums are compared at every use.

    Examples
    --------
    semira datasets fetch karate SNAP/web-Google
    semira run bfs $(semira datasets fetch karate)
    """
    for name in names:
        datasets.info(name)
    for name in names:
        typer.echo(datasets.fetch(name, force=force))


def path(name: NameArgument) -> None:
    """Print where the file of a graph is or would be; downloads nothing.

    Examples
    --------
    semira datasets path karate
    """
    typer.echo(datasets.path(name))
