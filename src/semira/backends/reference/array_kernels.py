"""Kernels over arrays, run by Python itself: what they mean."""

from __future__ import annotations

import numpy as np

from semira.contract.array_kernels import KernelText, Launch


def run(text: KernelText, launch: Launch) -> None:
    """Call the function of a kernel over all of its items."""
    needed = launch.on_host()
    scratch = [np.zeros(each.length, each.dtype) for each in needed]
    for array, each in zip(scratch, needed, strict=True):
        array[:] = 0 if each.fill is None else each.fill
    if launch.stops:
        # Ctrl-C ends Python functions by itself.
        scratch.append(np.zeros(1, np.int64))
    # Integers wrap, as they do in compiled kernels.
    with np.errstate(all="ignore"):
        getattr(text.module(), text.name)(0, launch.items, *launch.arguments, *scratch)
