"""Padded lines on the GPU: made there; the host waits for the number of slots."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.lower.walks import PullWalk
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import module_of, primitives_of
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.staged.method_parts import FullLaunch, FullText
from semira.backends.cuda.staged.product_source import TILED_BYTES
from semira.backends.cuda.staged.text import kernel
from semira.contract import packs_of
from semira.methods.ell.arrays import KINDS, check_padding, most_slots

DESCRIPTOR = ("EllDescriptor", 7)
HEADERS = ("pull.cuh",)
NEEDS_LINES = True

#: Kernels that make it.
_MAKE = "semira.methods.ell.kernels:make.cuh"

#: What multiplies a full matrix, and the padded rows that a warp then takes together.
_TIMES_FULL = "semira.methods.ell.kernels:times_full.cuh"
ROWS_TOGETHER = 4

#: Lines of a slice whose width a warp finds (make.cuh).
WARP = 32


@dataclass(frozen=True, slots=True)
class Padded:
    """One orientation with its lines padded; see `semira.methods.ell.arrays.EllArrays`.

    Attributes
    ----------
    starts, indices, values : buffer
        Offsets in 64 bits.
    lengths : buffer or None
    height : int
        Lines of a slice.
    slots, nvals : int
    positions : int
        See `semira.backends.cuda.runtime.made.DeviceArrays`.
    """

    starts: Any
    indices: Any
    values: Any
    lengths: Any
    height: int
    slots: int
    nvals: int
    positions: int = 0

    def describe(self, matrix: CudaMatrix) -> list[int]:
        """Return the words of its EllDescriptor."""
        lengths = 0 if self.lengths is None else int(self.lengths.handle)
        parts = (int(part.handle) for part in (self.starts, self.indices, self.values))
        return [*parts, lengths, self.height, 0 if matrix.iso else 1, self.nvals]

    @property
    def nbytes(self) -> int:
        """Bytes of its buffers."""
        parts = (self.starts, self.indices, self.values, self.lengths)
        return sum(int(part.size) for part in parts if part is not None)


def opened(a_type: str, place: str, made: Made) -> tuple[str, str]:
    """Return the C++ type of what is walked, and the arguments that make it."""
    del made
    return f"Ell<{a_type}>", place


def pull(walk: PullWalk) -> None:
    """Write the pull."""
    walk.call("spmv_pull_padded")


def full_kernel(text: FullText) -> str:
    """Return the kernel of padded rows times a full matrix."""
    padded = (
        "const int* line_of, const long long* starts, const Index* slots, const void* held, "
        "const Index* lengths, long long height, long long value_stride, long long nrows"
    )
    a_type = text.a_type
    return f'#include "{_TIMES_FULL}"\n' + kernel(
        "t_spmm_padded",
        f"{text.given}, {padded}",
        *text.lines,
        f"const PaddedRows<{a_type}> rows{{starts, slots, static_cast<const {a_type}*>(held),",
        "    lengths, height, value_stride, nrows};",
        f"spmm_padded<{text.exits}, {text.types}>(product, rows, line_of);",
    )


def times_full(launch: FullLaunch, held: Padded, matrix: CudaMatrix) -> None:
    """Start the product: a warp a few neighbouring rows and a tile of columns."""
    tiles = -(-packs_of(launch.ncols, launch.itemsize) // WARP)
    together = ROWS_TOGETHER if launch.itemsize <= TILED_BYTES else 1
    warps = -(-launch.nrows // together) * tiles
    words = held.describe(matrix)[:-1]
    launch.start("t_spmm_padded", WARP * warps, *launch.given, launch.line_of, *words, launch.nrows)


def make(matrix: CudaMatrix, made: Made) -> Padded:
    """Return an orientation with its lines padded; waits for the number of slots."""
    runtime, primitives = matrix.runtime, primitives_of(matrix.runtime)
    storage, orientation = made.name, made.orientation
    sliced, has_lengths = KINDS[storage].get("slice_lines"), storage == "ellr"
    lines, nvals = matrix.sides(orientation)[0], matrix.nvals
    indptr, indices, values = matrix.orientations[orientation]
    height = max(1, sliced or lines)
    slices = -(-lines // height)
    starts, slots = _starts(matrix, indptr, lines, KINDS[storage])
    if slots > most_slots(nvals):
        widths = np.diff(runtime.download(starts, np.int64, slices + 1)) // height
        check_padding(
            matrix.shape, orientation, nvals, matrix.dtype, widths, sliced, lengths=has_lengths,
            iso=matrix.iso,
        )  # fmt: skip
    size = 0 if matrix.iso else matrix.dtype.itemsize
    require(runtime, slots * (4 + size) + 4 * lines, f"the {storage} of a matrix")
    padded = runtime.allocate(4 * slots)
    found = None if matrix.iso else runtime.allocate(size * slots)
    word = math.gcd(size, 8) if size else 4
    module_of(runtime, _MAKE).launch(
        matrix.c_offset, f"semira_pad_lines{word}", slots, indptr, indices, values, starts, lines,
        slices, height, size // word, padded, found,
    )  # fmt: skip
    lengths = primitives.line_lengths(matrix.c_offset, indptr, lines) if has_lengths else None
    # A single value is there already.
    return Padded(starts, padded, values if found is None else found, lengths, height, slots, nvals)


def _starts(matrix: CudaMatrix, indptr: Any, lines: int, kind: dict[str, Any]) -> tuple[Any, int]:
    """Return the first slot of each slice, and how many slots there are; waits."""
    runtime, primitives = matrix.runtime, primitives_of(matrix.runtime)
    sliced, multiple = kind.get("slice_lines"), kind.get("multiple", 1)
    if not lines:
        return runtime.zeroed(8), 0
    if sliced is None:
        longest = runtime.zeroed(4)
        primitives.module.launch(matrix.c_offset, "semira_longest", lines, indptr, lines, longest)
        width = -(-primitives.read("int", longest, 0) // multiple) * multiple
        slots = lines * width
        return runtime.upload(np.array([0, slots], np.int64)), slots
    assert (sliced, multiple) == (WARP, 1), "a warp finds the width of a slice"
    slices = -(-lines // sliced)
    starts = runtime.allocate(8 * (slices + 1))
    module_of(runtime, _MAKE).launch(
        matrix.c_offset, "semira_slice_slots", lines, indptr, lines, slices, starts
    )
    primitives.scan("long long", starts, slices)
    return starts, primitives.read("long long", starts, slices)
