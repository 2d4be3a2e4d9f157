"""The second orientation of a small matrix, made on the host.

Sorting a few entries there takes less time than the launches and waits of sorting them on the
device, and the first such call of a process does not import CuPy, which takes half a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.parts import Buffer, upload_parts
from semira.formats import MatrixArrays

#: Matrices with at most so many entries, rows and columns together are turned on the host.
FEW = 1 << 15


@dataclass(frozen=True, slots=True)
class Turned:
    """The other orientation."""

    #: (indptr, indices, values).
    parts: tuple[Any, Any, Any]
    #: Row of every entry, if the orientation is by rows; else its column.
    rows: Buffer


def turn(runtime: Runtime, arrays: MatrixArrays, values: Any) -> Turned | None:
    """Upload the other orientation of a matrix; None if it holds the same bytes: it is symmetric.

    `arrays` are the first one, with indices of 32 bits; `values` are its values on the device,
    which an iso matrix shares.
    """
    majors = np.repeat(np.arange(arrays.nmajor, dtype=np.int32), np.diff(arrays.indptr))
    # The entries are in order of their rows, and a stable sort by column keeps it.
    order = np.argsort(arrays.indices, kind="stable")
    rows, indices = arrays.indices[order], majors[order]
    indptr = np.zeros(arrays.nminor + 1, arrays.indptr.dtype)
    np.cumsum(np.bincount(arrays.indices, minlength=arrays.nminor), out=indptr[1:])
    made = (indptr, indices) if arrays.iso else (indptr, indices, arrays.values[order])
    found = arrays.indptr, arrays.indices, arrays.values
    if all(one.tobytes() == other.tobytes() for one, other in zip(made, found, strict=False)):
        return None
    *sent, sent_rows = upload_parts(runtime, *made, rows)
    if arrays.iso:
        sent.append(values)
    return Turned((sent[0], sent[1], sent[2]), sent_rows)
