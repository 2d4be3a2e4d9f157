"""Writing comma-separated values."""

from __future__ import annotations

import csv
import io
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import FileWriteError
from semira.base.log import logger
from semira.files.numbering import are_names
from semira.formats import EdgeList

#: Rows turned into text at a time.
_CHUNK = 1 << 16


def write_rows(stream: BinaryIO, names: tuple[str, ...], columns: list[NDArray[Any]]) -> None:
    """Write a header and one line for each row; text is quoted, numbers are exact.

    Nothing is put before a text that a spreadsheet takes for a formula (``=1+1``): programs that
    read data would take it for part of the text. Raises FileWriteError if a text cannot be encoded
    as UTF-8 (a lone surrogate).
    """
    heading = io.StringIO()
    csv.writer(heading, lineterminator="\n").writerow(names)
    stream.write(heading.getvalue().encode())
    for start in range(0, len(columns[0]), _CHUNK):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        parts = [_python_values(column[start : start + _CHUNK]) for column in columns]
        writer.writerows(zip(*parts, strict=True))
        try:
            stream.write(text.getvalue().encode())
        except UnicodeEncodeError as error:
            raise FileWriteError(f"a label is not valid text: {error}") from error


def _python_values(column: NDArray[Any]) -> list[Any]:
    return list((column.astype(np.int8) if column.dtype.kind == "b" else column).tolist())


def _check_labels(labels: NDArray[Any]) -> None:
    for label in labels.tolist():
        if isinstance(label, str) and (not label or "\r" in label or "\0" in label):
            raise FileWriteError(
                f"the label {label!r} could not be read back from csv; write npz, which keeps it"
            )


def write_csv(stream: BinaryIO, edges: EdgeList) -> None:
    """Write ``source,target[,weight]`` lines; vertices by their labels if they have any.

    Both directions of a symmetric list are written; bool values become 0 and 1. Vertices without an
    edge are not recorded. A warning is logged where a reader would take another size, or the
    numbers of the others as names: read the file back with ``size=...``. Raises FileWriteError if a
    value is complex, or a label is not valid text or could not be read back: it is empty or holds a
    carriage return or a NUL character.
    """
    if edges.values is not None and edges.values.dtype.kind == "c":
        raise FileWriteError(
            f"csv holds no complex weights such as these of dtype {edges.values.dtype}; write mtx "
            "or npz"
        )
    ends: list[NDArray[Any]] = [edges.rows, edges.cols]
    if edges.labels is not None:
        _check_labels(edges.labels)
        ends = [np.asarray(edges.labels)[end] for end in ends]
    else:
        used = max((int(end.max()) + 1 for end in ends if len(end)), default=0)
        if used < edges.nrows or are_names(np.concatenate(ends)):
            logger.warning(
                "csv does not record vertices without an edge; read it with size=%d", edges.nrows
            )
    names: tuple[str, ...] = ("source", "target")
    if edges.values is not None:
        names, ends = (*names, "weight"), [*ends, edges.values]
    write_rows(stream, names, ends)
