"""Peers by name: where each one is, and the distribution it needs."""

from __future__ import annotations

import importlib
from typing import Any

from semira.base.errors import InvalidValue
from semira.bench.environment import version_of
from semira.bench.libraries import Library

#: Name to module and distribution.
PEERS = {
    "suitesparse": ("semira.bench.peers.suitesparse", "python-graphblas"),
    "scipy": ("semira.bench.peers.scipy", "scipy"),
    "networkx": ("semira.bench.peers.networkx", "networkx"),
}


def open_peer(name: str, threads: int) -> Library | None:
    """Return a peer, None if it is not installed.

    Parameters
    ----------
    name : str
        A key of `PEERS`.
    threads : int
        How many threads it may use; single-threaded peers do not care.

    Raises
    ------
    InvalidValue
        There is no such peer.
    """
    if name not in PEERS:
        raise InvalidValue(f"unknown peer {name!r}; choose among {', '.join(PEERS)}")
    module, distribution = PEERS[name]
    if version_of(distribution) is None:
        return None
    peer: Any = importlib.import_module(module)
    made: Library = peer.open_library(threads)
    return made
