"""Kernels of subgraph matching: `joins.py` for hosts, `joins.cuh` for ``cuda``."""

from __future__ import annotations

from semira.kernels import ArrayKernel

_PLACE = "semira.apps.subgraph_matching.kernels:joins"

begin = ArrayKernel(_PLACE, "begin")
extend = ArrayKernel(_PLACE, "extend", lanes=32)
