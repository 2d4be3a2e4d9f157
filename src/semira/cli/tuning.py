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


def _flag(name: str, help_text: str) -> Any:
    return typer.Option(name, help=help_text, rich_help_panel=_TUNING)


#: Those that are given or not, without a value.
FLAGS = ("parents", "together")

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
            "bfs: auto (the default: the planner chooses), vertex-centric-push, "
            "vertex-centric-pull, edge-centric, frontier-global-queue, frontier-block-queue or "
            "one-block-for-small-levels; "
            "sssp: auto (the default), bellman_ford, window, delta_stepping or asynchronous; "
            "cc: auto (the default), spread, sample or search; "
            "apsp: auto (the default), floyd_warshall or sources."
        ),
    ],
    "parents": Annotated[
        bool, _flag("--parents", "bfs: --out also has the vertex that each one was found from.")
    ],
    "together": Annotated[
        bool,
        _flag(
            "--together",
            "msbfs: one search from all sources, for the hops from the nearest; default: one each.",
        ),
    ],
    "max_depth": Annotated[
        int | None, _tuning("msbfs: search no further than so many hops; default: no limit.", min=0)
    ],
    "sample": Annotated[
        int | None,
        _tuning("cc: edges of a vertex that --method sample begins with; default 2.", min=1),
    ],
    "delta": Annotated[
        float | None,
        _tuning(
            "sssp: width of the window, or of delta_stepping's buckets; default: from means over "
            "the graph."
        ),
    ],
    "k": Annotated[
        int | None,
        _tuning(
            "khop: hops, default 1. ktruss: triangles of an edge + 2, default 3. kcore: the k-core "
            "itself, the neighbours that each of its vertices has inside; without it core numbers.",
            min=0,
        ),
    ],
    "sources": Annotated[
        int | None, _tuning("bc, closeness: draw so many sources; default all.", min=1)
    ],
    "batch": Annotated[
        int | None, _tuning("bc: sources at a time; default 1 on cuda, else 32.", min=1)
    ],
    "searches": Annotated[
        int | None,
        _tuning("diameter, ecc: stop after so many searches; default: when all is known.", min=1),
    ],
    "dimensions": Annotated[int | None, _tuning("embedding: eigenpairs wanted; default 2.", min=1)],
}

#: Reaches a command as a dict; None and False are options that were not given.
TUNING = Group(
    {name: (kind, False if name in FLAGS else None) for name, kind in _OPTIONS.items()}, dict
)


def applicable(algorithm: Algorithm, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given, without the source.

    Parameters
    ----------
    algorithm : Algorithm
    given : dict
        Values by name, None or False of options that were not given. The seed is left out where the
        algorithm draws nothing; reading the graph may use it.

    Raises
    ------
    typer.BadParameter
        One of them is not for this algorithm.
    """
    chosen = stated(given)
    row = CATALOGUE[algorithm]
    if not row.draws(chosen):
        chosen.pop("seed", None)
    for name in chosen:
        if name not in row.options:
            users = [str(key) for key, each in CATALOGUE.items() if name in each.options]
            own = ", ".join(map(typed, row.options)) or "none of its own"
            raise typer.BadParameter(
                f"{algorithm} has no {typed(name)}, which is for {', '.join(users)}; "
                f"options of {algorithm}: {own}"
            )
    chosen.pop("source", None)
    return chosen


def stated(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given.

    Examples
    --------
    >>> stated({"k": 0, "damping": None, "together": False})
    {'k': 0}
    """
    # By identity: 0 is a value.
    return {
        name: value for name, value in given.items() if value is not None and value is not False
    }


def typed(name: str) -> str:
    """Return an option as it is typed.

    Examples
    --------
    >>> typed("max_depth")
    '--max-depth'
    """
    return f"--{name.replace('_', '-')}"
