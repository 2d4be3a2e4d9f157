"""Kernels of geolocation: `spatial.py` for hosts, `spatial.cuh` for ``cuda``."""

from __future__ import annotations

from semira.kernels import ArrayKernel

_PLACE = "semira.apps.geolocation.kernels:spatial"

begin = ArrayKernel(_PLACE, "begin")
locate = ArrayKernel(_PLACE, "locate", threads=128)
distances = ArrayKernel(_PLACE, "distances")
