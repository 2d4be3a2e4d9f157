"""Awkward Arrays: a record of indices and values, or a list of such records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semira.base.errors import InvalidValue
from semira.base.memory import tells_shortage
from semira.base.optional import need
from semira.frontend.objects import Matrix, Vector
from semira.io.givens import check_object

#: How a matrix is taken apart: offsets, indices, values; hypersparse formats begin with labels.
_APART: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "csr": lambda a: a.to_csr(),
    "csc": lambda a: a.to_csc(),
    "hypercsr": lambda a: a.to_dcsr(),
    "hypercsc": lambda a: a.to_dcsc(),
}


def _record(ak: Any, indices: Any, values: Any) -> Any:
    contents = [ak.contents.NumpyArray(np.ascontiguousarray(part)) for part in (indices, values)]
    return ak.contents.RecordArray(contents, ["indices", "values"])


@tells_shortage("io.to_awkward")
def to_awkward(A: Any, format: str | None = None) -> Any:  # noqa: N803 - upstream's name
    """Return an Awkward Array.

    A Vector becomes an array of records ``{indices, values}``, a Matrix a list of such records
    per row (``csr``) or column (``csc``). Hypersparse formats list only the rows (columns) with
    entries: each element is a record of its number, ``offset_labels``, and its list, ``data``.
    The parameters ``format`` and ``shape`` of the array say what it holds.

    Parameters
    ----------
    A : Matrix, TransposedMatrix or Vector
    format : "vec", "csr", "csc", "hypercsr" or "hypercsc", optional
        ``"vec"`` for a Vector and ``"csr"`` for a Matrix if None.

    Raises
    ------
    InvalidValue
        The format does not belong to the object.
    DomainMismatch
        `A` is neither a Matrix nor a Vector.
    MissingLibrary
        The library ``awkward`` is not installed.
    """
    check_object(A, "to_awkward")
    kind = A.kind
    ak = need("awkward", "to_awkward", "awkward")
    choices = ("vec",) if kind == "vector" else tuple(_APART)
    chosen = choices[0] if format is None else format.lower()
    _check_format(chosen, kind.capitalize(), choices)
    if kind == "vector":
        layout = _record(ak, *A.to_coo())
    else:
        *labels, indptr, indices, values = _APART[chosen](A)
        layout = ak.contents.ListOffsetArray(
            ak.index.Index64(np.asarray(indptr, np.int64)), _record(ak, indices, values)
        )
        if labels:
            numbers = ak.contents.NumpyArray(np.ascontiguousarray(labels[0]))
            layout = ak.contents.RecordArray([layout, numbers], ["data", "offset_labels"])
    made = ak.with_parameter(ak.Array(layout), "format", chosen)
    return ak.with_parameter(made, "shape", list(A.shape))


@tells_shortage("io.from_awkward")
def from_awkward(A: Any, *, name: str | None = None) -> Any:  # noqa: N803 - upstream's name
    """Return the Vector or Matrix that `to_awkward` made an Awkward Array of.

    Parameters
    ----------
    A : awkward.Array
        With the parameters ``format`` and ``shape``.
    name : str, optional

    Raises
    ------
    InvalidValue
        A parameter is missing or does not fit the other, or an element is None.
    MissingLibrary
        The library ``awkward`` is not installed.
    """
    ak = need("awkward", "from_awkward", "awkward")
    parameters = ak.parameters(A)
    missing = sorted({"format", "shape"} - set(parameters))
    if missing:
        raise InvalidValue(
            f"Missing parameters: {', '.join(missing)}; set them with awkward.with_parameter"
        )
    chosen, shape = parameters["format"], parameters["shape"]
    if len(shape) == 1:
        _check_format(chosen, "Vector", ("vec",))
        indices, values = (_numbers(A[part]) for part in ("indices", "values"))
        return Vector.from_coo(indices, values, size=shape[0], name=name)
    _check_format(chosen, "Matrix", tuple(_APART))
    is_hyper = chosen.startswith("hyper")
    lists = A["data"] if is_hyper else A
    indices, values = (_numbers(ak.flatten(lists[part])) for part in ("indices", "values"))
    counts = np.asarray(ak.num(lists, axis=1))
    labels = np.asarray(A["offset_labels"]) if is_hyper else np.arange(len(counts))
    majors = np.repeat(labels, counts)
    rows, cols = (majors, indices) if chosen.endswith("csr") else (indices, majors)
    return Matrix.from_coo(rows, cols, values, nrows=shape[0], ncols=shape[1], name=name)


def _numbers(part: Any) -> Any:
    try:
        return np.asarray(part)
    except ValueError as error:
        raise InvalidValue(f"from_awkward takes numbers without gaps: {error}") from None


def _check_format(format: str, what: str, choices: tuple[str, ...]) -> None:
    if format not in choices:
        raise InvalidValue(
            f"Invalid format for {what}: {format!r}; choose one of {', '.join(choices)}"
        )
