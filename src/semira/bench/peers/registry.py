"""Peers by name: where each one is, and the package it needs."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

from semira.backends.registry import backend_for
from semira.base.errors import InvalidValue
from semira.bench.libraries import Library

#: Name to module and the package that it imports.
PEERS = {
    "suitesparse": ("semira.bench.peers.suitesparse", "graphblas"),
    "scipy": ("semira.bench.peers.scipy", "scipy"),
    "networkx": ("semira.bench.peers.networkx", "networkx"),
    "cugraph": ("semira.bench.peers.cugraph", "pylibcugraph"),
    "cusparse": ("semira.bench.peers.cusparse", "cupy"),
}

#: Those that compute on the host.
HOST_PEERS = ("suitesparse", "scipy", "networkx")

#: Those that compute on a GPU.
GPU_PEERS = ("cugraph", "cusparse")


def open_peer(name: str, threads: int) -> Library | None:
    """Return a peer with so many threads, if it has several; None if it is not installed.

    Raises InvalidValue if there is no such peer, and DeviceUnavailable if it computes on a GPU, and
    there is none.
    """
    if name not in PEERS:
        raise InvalidValue(f"unknown peer {name!r}; choose among {', '.join(PEERS)}")
    module, package = PEERS[name]
    if find_spec(package) is None:
        return None
    if name in GPU_PEERS:
        backend_for("cuda")
    peer: Any = importlib.import_module(module)
    made: Library = peer.open_library(threads)
    return made
