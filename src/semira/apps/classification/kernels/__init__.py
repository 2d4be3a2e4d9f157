"""Kernels of classification: `messages.py` for hosts, `messages.cuh` for ``cuda``."""

from __future__ import annotations

from semira.kernels import ArrayKernel

_PLACE = "semira.apps.classification.kernels:messages"

distances = ArrayKernel(_PLACE, "distances", lanes=32)
pull = ArrayKernel(_PLACE, "pull", lanes=32)
weigh = ArrayKernel(_PLACE, "weigh", lanes=32)
close = ArrayKernel(_PLACE, "close")
clear = ArrayKernel(_PLACE, "clear")
advance = ArrayKernel(_PLACE, "advance")
columns = ArrayKernel(_PLACE, "columns", lanes=32)
total = ArrayKernel(_PLACE, "total", lanes=256)
send = ArrayKernel(_PLACE, "send", lanes=32)
settle = ArrayKernel(_PLACE, "settle", lanes=256)
receive = ArrayKernel(_PLACE, "receive", lanes=32)
