"""The searches of a textbook by name: ``--method`` of bfs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import typer

from semira.algorithms.bfs_methods import BFS_METHODS
from semira.backends.registry import capabilities_of
from semira.base.errors import InvalidValue
from semira.cli.output import note
from semira.contract import Capabilities

#: What leaves the choice to the planner.
_AUTO = "auto"


#: Pins of each method of the textbook; the last one is no method but the planner's choice.
METHODS: dict[str, dict[str, Any]] = {
    **{name: dict(pins) for name, pins in BFS_METHODS.items()},
    "planner": {},
}


def pins_on(name: str, able: Capabilities) -> dict[str, Any]:
    """Return the pins of a method as far as a backend knows them.

    One that has a single way of sharing work out, or no list to ask for places in, runs what is
    left of the method: several names may then stand for the same kernels. Raises InvalidValue if
    there is no method of this name; the message lists them.

    Examples
    --------
    >>> from semira.contract import Capabilities
    >>> pins_on("frontier, block queue", Capabilities("plain", frozenset()))
    {'direction': 'push'}
    """
    if name not in METHODS:
        raise InvalidValue(f"no method is called {name!r}; choose one of {', '.join(METHODS)}")
    pins = dict(METHODS[name])
    if "policy" in pins and not able.solo:
        return {"direction": "push"}
    direction = pins.get("direction")
    known = {"balance": able.balances, "queue": able.queues}
    return {
        pin: value
        for pin, value in pins.items()
        if pin not in known or (direction, value) in known[pin]
    }


def take_search(algorithm: str, options: dict[str, Any]) -> str | None:
    """Take the name of a search out of the options of bfs; None if there is none, and for others.

    It is a key of `semira.algorithms.BFS_METHODS`. Raises typer.BadParameter if there is no search
    of this name.

    Examples
    --------
    >>> options = {"method": "frontier-block-queue", "parents": True}
    >>> take_search("bfs", options), options
    ('frontier, block queue', {'parents': True})
    """
    if algorithm != "bfs" or "method" not in options:
        return None
    named = {hyphened(name): name for name in BFS_METHODS}
    asked = options.pop("method")
    if hyphened(asked) not in (_AUTO, *named):
        raise typer.BadParameter(
            f"--method {asked}: no search of bfs has this name; choose one of "
            f"{', '.join((_AUTO, *named))}"
        )
    return named.get(hyphened(asked))


def pins_for(search: str | None, device: str) -> dict[str, Any]:
    """Return the options that a name stands for, as far as a device knows them.

    A note says what runs instead where that is not all.

    Examples
    --------
    >>> pins_for("frontier, block queue", "cuda")
    {'direction': 'push', 'balance': 'thread', 'queue': 'block'}
    >>> pins_for(None, "cpu")
    {}
    """
    if search is None:
        return {}
    pins = pins_on(search, capabilities_of(device))
    if pins != METHODS[search]:
        note(
            f"{hyphened(search)} is {_listed(METHODS[search])}, which {device} cannot do; it runs "
            f"{_listed(pins)} in its place"
        )
    return pins


def hyphened(name: str) -> str:
    """Return the words of a name as one, in small letters.

    Examples
    --------
    >>> hyphened("frontier, block queue")
    'frontier-block-queue'
    """
    return "-".join(re.findall("[a-z]+", name.lower()))


def _listed(pins: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in pins.items())
