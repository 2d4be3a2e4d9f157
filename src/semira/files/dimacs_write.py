"""Writing DIMACS shortest-path graphs (``.gr``)."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import FileWriteError
from semira.base.log import logger
from semira.formats import EdgeList

#: Arcs turned into text at a time.
_CHUNK = 1 << 16


def write_dimacs(stream: BinaryIO, edges: EdgeList) -> None:
    """Write a problem line and an arc ``a tail head weight`` for each entry of a square list.

    Without values every weight is 1. Labels are not written (a warning is logged). Raises
    FileWriteError if a weight is no whole number below 2**63.
    """
    if edges.labels is not None:
        logger.warning("DIMACS files hold no labels; write csv or npz to keep them")
    weights = _whole(edges.values, len(edges.rows))
    stream.write(f"p sp {edges.nrows} {len(edges.rows)}\n".encode())
    for at in range(0, len(edges.rows), _CHUNK):
        part = slice(at, at + _CHUNK)
        ends = (each[part].astype(np.int64) + 1 for each in (edges.rows, edges.cols))
        arcs = zip(*(each.tolist() for each in (*ends, weights[part])), strict=True)
        stream.write("".join(f"a {tail} {head} {weight}\n" for tail, head, weight in arcs).encode())


def _whole(values: NDArray[Any] | None, count: int) -> NDArray[np.int64]:
    if values is None:
        return np.ones(count, np.int64)
    is_real = values.dtype.kind in "biuf"
    whole = np.zeros(count, np.int64)
    if is_real:
        with np.errstate(invalid="ignore"):
            whole = values.astype(np.int64)
    wrong = np.flatnonzero((whole != values) | ((whole < 0) != (values < 0))) if is_real else [0]
    if len(wrong):
        raise FileWriteError(
            f"the weight {values[wrong[0]]} is no whole number below 2**63, which DIMACS files "
            "hold; write mtx, npz or csv"
        )
    return whole
