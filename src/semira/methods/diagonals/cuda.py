"""Rows as bits on the GPU: which launches read them, and the pull."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.lower import LaunchShape
from semira.backends.cuda.lower.variants import SharesWalk, VariantPull
from semira.backends.cuda.runtime.kernel_choice import Choice, LaunchFacts, is_early
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.methods.diagonals.bits import (
    DIAGONALS,
    MAKE,
    Diagonals,
    distances_of,
    make_bits,
    make_diagonals,
)
from semira.methods.diagonals.plan import ROW

HEADERS = ("pull.cuh",)
ROWS = "sum_diagonals"
WORDS = 2

#: What a program may ask for: kernels of these shapes, and these files of kernels.
SHAPES = tuple(replace(LaunchShape.for_short_rows(lanes), variant=ROW.name) for lanes in (1, 2))
MODULES = (MAKE,)


def serves(pull: VariantPull) -> bool:
    """Return whether there are kernels for a pull."""
    del pull
    return True


def write(walk: SharesWalk) -> None:
    """Write the pull."""
    walk.emit(f"spmv_pull_diagonals<{walk.lanes}>({walk.given}, {walk.counters});")


def shared_bytes(shared: int, room: int) -> int:
    """Return the dynamic shared memory of its kernels: that of the others."""
    del shared
    return room


def make(matrix: CudaMatrix, orientation: str) -> Diagonals:
    """Return the rows of a matrix as bits, if its diagonals are few."""
    return make_diagonals(matrix.runtime, matrix, orientation)


def choose(launch: LaunchFacts) -> Choice:
    """Find out whether a run can read rows as bits: if every pull that could has a copy."""
    shape = launch.shape()
    if not shape.short:
        return Choice()
    has_all, is_open = _ready(launch)
    return Choice(replace(shape, variant=ROW.name) if has_all else None, None, is_open)


def _ready(launch: LaunchFacts) -> tuple[bool, bool]:
    """Make the copies that will pay; return whether all are there, and whether a later run may."""
    runtime, pulls, things = launch.runtime, launch.pulls, launch.things
    known = [things[pull.slot].companion(DIAGONALS, pull.orientation) for pull in pulls]
    is_refused = any(found is not None and found.made is None for found in known)
    if is_refused or any(pull.reads and not things[pull.slot].iso for pull in pulls):
        return False, False
    missing = [pull for pull, found in zip(pulls, known, strict=True) if found is None]
    # Each counts its products, so all are asked.
    early = [is_early(pull, pull.figures[0], things) for pull in missing]
    if any(early) or (missing and runtime.is_capturing()):
        return False, True
    # Asked before any is made: a copy that its program cannot read is memory for nothing.
    wanted: list[tuple[CudaMatrix, str, NDArray[np.int32]]] = []
    for pull in missing:
        matrix = things[pull.slot]
        distances = distances_of(runtime, matrix, pull.orientation)
        if distances is None:
            matrix.keep_companion(DIAGONALS, pull.orientation, Diagonals())
            return False, False
        wanted.append((matrix, pull.orientation, distances))
    for matrix, orientation, distances in wanted:
        # The copy of a symmetric matrix is there for both orientations.
        found = matrix.companion(DIAGONALS, orientation) or make_bits(
            runtime, matrix, orientation, distances
        )
        if found.made is None:
            return False, False
    return True, False
