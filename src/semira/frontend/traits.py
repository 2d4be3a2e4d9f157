"""What a device is good at, for algorithms that begin in another way on another kind of device."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from semira.backends.registry import backend_for
from semira.engine.values import default_device


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """What a device is good at.

    Attributes
    ----------
    own_memory : bool
        Objects lie in memory of the device: the host has to wait for what it reads, and loops run
        without the host.
    fixed_points : bool
        `Vector.fixed_point` is computed without iterations.
    lends_arrays : bool
        ``to_coo(device=...)`` and the like give arrays in its memory.
    compiled_loops : bool
        Kernels over arrays (`semira.kernels`) are compiled loops of the host: what is quickest one
        step after the other is quick there.
    block_memory : int
        Bytes of fast memory that the threads of a block of a GPU may share; 0 elsewhere.
    directions : frozenset of {"push", "pull"}
        What ``direction`` may pin a product of a matrix and a vector to.
    """

    own_memory: bool
    fixed_points: bool
    lends_arrays: bool
    compiled_loops: bool
    block_memory: int
    directions: frozenset[str]


def device_traits(device: str | None = None) -> DeviceTraits:
    """Return what a device is good at.

    Parameters
    ----------
    device : "reference", "cpu", "cuda" or "suitesparse", optional
        None: where new objects go.

    Returns
    -------
    DeviceTraits

    Raises
    ------
    DeviceUnavailable
        There is no such device, or this machine lacks it.

    Examples
    --------
    >>> import semira as gb
    >>> found = gb.device_traits("cpu")
    >>> found.own_memory, sorted(found.directions)
    (False, ['pull', 'push'])
    """
    backend: Any = backend_for(default_device() if device is None else device)
    return _traits_of(backend)


@functools.lru_cache(16)
def _traits_of(backend: Any) -> DeviceTraits:
    found = backend.capabilities()
    walks = {method for family, method in found.methods if family in ("mxv", "vxm")}
    return DeviceTraits(
        own_memory=found.own_memory,
        fixed_points=hasattr(backend, "fixed_point"),
        lends_arrays=hasattr(backend, "export"),
        compiled_loops=found.compiled_loops,
        block_memory=getattr(backend, "block_memory", 0),
        directions=frozenset(walks & {"push", "pull"}),
    )
