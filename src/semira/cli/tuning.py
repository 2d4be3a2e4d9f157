"""Options of single algorithms, for the commands that run one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from semira.cli.catalogue import CATALOGUE, Algorithm
from semira.cli.groups import Group

_TUNING = "Single algorithms"


def _tuning(help_text: str, **limits: Any) -> Any:
    """Return an option that only some algorithms have, without a default of its own."""
    return typer.Option(help=help_text, rich_help_panel=_TUNING, show_default=False, **limits)


#: By keyword argument of the algorithms.
_OPTIONS = {
    "damping": Annotated[float | None, _tuning("pagerank, ppr: default 0.85.")],
    "tol": Annotated[
        float | None, _tuning("pagerank, ppr, hits, embedding: where to stop; default 1e-6.")
    ],
    "max_iterations": Annotated[
        int | None, _tuning("pagerank, ppr, hits, lpa: default 100; embedding: 500.", min=1)
    ],
    "method": Annotated[
        str | None,
        _tuning(
            "sssp: auto (the default), bellman_ford, window, delta_stepping or asynchronous; "
            "cc: auto (the default), spread, sample or search; "
            "apsp: auto (the default), floyd_warshall or sources."
        ),
    ],
    "delta": Annotated[
        float | None, _tuning("sssp: width of the window, or of delta_stepping's buckets.")
    ],
    "k": Annotated[
        int | None,
        _tuning("khop: hops, default 1. ktruss: triangles of an edge + 2, default 3.", min=0),
    ],
    "sources": Annotated[
        int | None, _tuning("bc, closeness: draw so many sources; default all.", min=1)
    ],
    "batch": Annotated[int | None, _tuning("bc: sources at a time; default 32, on cuda 1.", min=1)],
    "searches": Annotated[
        int | None, _tuning("diameter: stop after so many; default: when it is known.", min=1)
    ],
    "dimensions": Annotated[int | None, _tuning("embedding: eigenpairs wanted; default 2.", min=1)],
}

#: Reaches a command as a dict; None are options that were not given.
TUNING = Group({name: (annotation, None) for name, annotation in _OPTIONS.items()}, dict)


def applicable(algorithm: Algorithm, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given, without the source.

    Parameters
    ----------
    algorithm : Algorithm
    given : dict
        Values by name, None of options that were not given. The seed is left out where the
        algorithm draws nothing; reading the graph may use it.

    Raises
    ------
    typer.BadParameter
        One of them is not for this algorithm.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    row = CATALOGUE[algorithm]
    if not row.draws(chosen):
        chosen.pop("seed", None)
    for name in chosen:
        if name not in row.options:
            users = [str(key) for key, each in CATALOGUE.items() if name in each.options]
            raise typer.BadParameter(
                f"{algorithm} has no --{name.replace('_', '-')}; it is for {', '.join(users)}"
            )
    chosen.pop("source", None)
    return chosen
