"""Checks of arguments that the algorithms share."""

from __future__ import annotations

import difflib
import inspect
import operator
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from semira import (
    CALL_OPTIONS,
    Matrix,
    Vector,
    device,
    dtypes,
    methods,
    monoid,
    select,
    semiring,
    unary,
)
from semira.algorithms.registry import REGISTRY
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    IndexOutOfBound,
    InvalidIndex,
    InvalidValue,
    InvalidWeight,
    NegativeWeight,
    OutOfMemory,
)

#: Graphs with fewer vertices have 32-bit vertex numbers and levels.
_WIDE = 2**31

#: FP64 has every integer up to here.
_EXACT = 2**53

#: The public algorithms that were loaded, by name; `naming.takes_graph` enters them.
KNOWN: dict[str, Callable[..., Any]] = {}

#: What other libraries call our parameters.
_SYNONYMS = {
    "alpha": "damping", "max_iter": "max_iterations",
    "maxiter": "max_iterations",
    "eps": "tol", "epsilon": "tol", "tolerance": "tol", "niter": "max_iterations",
    "personalization": "personalisation",
    "root": "source", "start": "source", "weight": "weighted", "weights": "weighted",
}  # fmt: skip


def check_square(A: Any, name: str, options: Mapping[str, Any] | None = None) -> int:
    """Return the number of vertices of an adjacency matrix.

    `options` are what the caller passes on to products: pins, nothing that changes their results.
    Raises DomainMismatch if `A` is no Matrix, DimensionMismatch if it is not square, InvalidValue
    if an option is none of a product, and OutOfMemory if the result has a value for every vertex of
    2**31 or more.
    """
    if not isinstance(A, Matrix):
        if getattr(A, "kind", None) == "matrix":
            raise DomainMismatch(
                f"{name} needs a Matrix, got {type(A).__name__}; make one of it with .new()"
            )
        raise DomainMismatch(
            f"{name} needs a Matrix or a gb.io.Graph, got {type(A).__name__}; "
            "gb.io.Graph.from_networkx and the readers of gb.io make one"
        )
    n, ncols = A.shape
    if n != ncols:
        raise DimensionMismatch(
            f"{name} needs a square adjacency matrix, got shape {A.shape}; entry (i, j) is the "
            "edge from vertex i to vertex j"
        )
    given = options or {}
    for option in given:
        if option.lower() not in CALL_OPTIONS and not _is_parameter(option.lower(), given):
            raise _unknown_option(option, name)
    if n >= _WIDE and name in REGISTRY and REGISTRY[name].every_vertex:
        check_every(n, f"{name}: a value for every vertex")
    return n


def _unknown_option(option: str, name: str) -> InvalidValue:
    """Return the error for a keyword that is neither a parameter nor an option of products."""
    parameters = [
        each.name
        for each in inspect.signature(KNOWN[name]).parameters.values()
        if each.kind is not each.VAR_KEYWORD and each.name != "A"
    ]
    meant = _SYNONYMS.get(option.lower())
    known = [*parameters, *CALL_OPTIONS]
    near = [meant] if meant in parameters else difflib.get_close_matches(option, known, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    takes = f"{name} takes {', '.join(parameters)}; " if parameters else ""
    return InvalidValue(
        f"unknown option {option!r}{hint}: {takes}its products take {', '.join(CALL_OPTIONS)}"
    )


def check_vertex(vertex: Any, size: int, what: str = "source") -> int:
    """Return a vertex as an int.

    Raises InvalidIndex if it is no integer, and IndexOutOfBound if the graph of `size` vertices
    does not have it.
    """
    number = _integer(vertex)
    if number is None:
        raise _no_vertex(vertex, what)
    if not 0 <= number < size:
        raise IndexOutOfBound(f"{what} {number} is outside [0, {size}), the graph's vertices")
    return number


def _no_vertex(given: Any, what: str) -> InvalidIndex:
    if isinstance(given, str):
        remedy = "; a gb.io.Graph knows its vertices by name"
    elif isinstance(given, float) and given.is_integer():
        remedy = f"; write {int(given)}"
    elif isinstance(given, Iterable):
        remedy = "; it is one vertex, not a list of them"
    else:
        remedy = ""
    shown = type(given).__name__ if hasattr(given, "nvals") else repr(given)
    return InvalidIndex(f"{what} must be the number of a vertex, got {shown}{remedy}")


def check_count(value: Any, what: str, least: int = 0) -> int:
    """Return an integer >= `least` as an int.

    Raises InvalidValue if it is smaller or no integer.
    """
    number = value if value.__class__ is int else _integer(value)
    if number is None or number < least:
        raise InvalidValue(f"{what}={value!r} must be an integer >= {least}")
    return number


def _integer(value: Any) -> int | None:
    """Return an integer as an int, None for anything else."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def check_weights(A: Matrix, name: str) -> None:
    """Check that none of the values of `A` is negative or NaN.

    Raises NegativeWeight if one is negative, InvalidWeight if one is NaN, and DomainMismatch if
    values are complex numbers or records. At most two passes over the values, each read on the
    host: two synchronisations, until the matrix is written not again.
    """
    _check_no_nan(A, name, "weight")
    least = _least_weight(A)
    if least < 0:
        raise NegativeWeight(
            f"{name} needs weights that are not negative, but one is {least}; remove such edges, "
            "or apply a function such as unary.abs first"
        )


def check_lengths(
    A: Matrix,
    name: str,
    number: Any,
    *,
    allow_negative: bool = False,
    instead: str = "sssp(..., algorithm='bellman_ford') takes negative weights",
) -> None:
    """Check that lengths of paths over the values of `A` make sense in a dtype, FP32 or FP64.

    `instead` says what to do about negative values. Raises NegativeWeight if a value is negative,
    unless `allow_negative`, InvalidWeight if one is NaN or minus infinity, and DomainMismatch if
    values are complex numbers or records. Raises InvalidValue if one is beyond the numbers of the
    dtype, or a path may be below them: inf - inf is NaN. As many passes as `check_weights`; for
    lengths in FP32 over FP64 weights one more.
    """
    _check_no_nan(A, name, "length")
    least = 0 if allow_negative and A.dtype.is_integer else _least_weight(A)
    if least < 0 and not allow_negative:
        raise NegativeWeight(
            f"{name} needs weights that are not negative, but one is {least}; {instead}"
        )
    if least == -np.inf:
        raise InvalidWeight(f"{name}: a weight is {least}; give that edge a finite length")
    if A.dtype.kind != "F":
        return
    limit = float(np.finfo(number.np_type).max)
    remedy = "divide all weights by a number"
    if number is dtypes.FP32:
        remedy = f"ask for dtype='FP64', or {remedy}"
    most = 0.0
    if number.np_type.itemsize < A.dtype.itemsize:
        most = A.derived("greatest finite value", lambda: _greatest_finite(A))
    for extreme in (least, most):
        if abs(extreme) > limit:
            raise InvalidValue(
                f"{name}: a weight is {extreme:g}, but {number}, the dtype of the distances, ends "
                f"at {limit:g}; {remedy}"
            )
    if least * A.nrows < -limit:
        raise InvalidValue(
            f"{name}: a weight is {least:g}, so that paths over {A.nrows} vertices may be shorter "
            f"than {-limit:g}, where {number}, the dtype of the distances, ends; {remedy}"
        )


def _check_no_nan(A: Matrix, name: str, meaning: str) -> None:
    """Check that values can be compared, and are numbers; see `check_weights`."""
    check_ordered(A, name)
    if has_nan(A):
        raise InvalidWeight(f"{name}: a weight is nan; remove such edges or give them a {meaning}")


def _least_weight(A: Matrix) -> Any:
    """Return the least value of `A`; 0 if there is none, and for unsigned numbers."""
    if A.dtype.kind in "BU":
        return 0
    return A.derived("least value", lambda: A.reduce_scalar(monoid.min).get(0))


def _greatest_weight(A: Matrix) -> Any:
    """Return the greatest value of `A`; 0 if there is none."""
    return A.derived("greatest value", lambda: A.reduce_scalar(monoid.max).get(0))


def _greatest_finite(A: Matrix) -> float:
    most = A.reduce_scalar(monoid.max).get(0.0)
    if most == np.inf:
        most = A.select(select.valuelt, np.inf).reduce_scalar(monoid.max).get(0.0)
    return float(most)


def check_sums(A: Matrix, name: str, number: Any) -> None:
    """Check that weights, none of them negative, can be added up and divided by in a dtype.

    Raises InvalidWeight if a weight is infinite, and InvalidValue if one is positive but below the
    least normal number, or all together are beyond the largest one. Two passes over values that are
    floating-point numbers, each read on the host, until the matrix is written.
    """
    if A.dtype.kind != "F":
        return
    limits = np.finfo(number.np_type)
    most, normal = float(limits.max), float(limits.tiny)
    total, least = A.derived("sum and least positive value", lambda: _sum_and_least(A))
    if np.isinf(total) and A.reduce_scalar(monoid.max).value == np.inf:
        raise InvalidWeight(
            f"{name}: a weight is inf, beside which no other counts; give that edge a "
            "finite weight, or remove it"
        )
    if total > most:
        raise InvalidValue(
            f"{name}: the weights add up to {total:g}, but {number} ends at {most:g}; divide "
            "them all by a number"
        )
    if least < normal:
        raise InvalidValue(
            f"{name}: the least positive weight is {least:g}, but numbers of {number} lose digits "
            f"below {normal:g}; multiply all weights by a number, or remove such edges"
        )


def _sum_and_least(A: Matrix) -> tuple[float, float]:
    positive = A.select(select.valuegt, 0)
    least = positive.reduce_scalar(monoid.min[dtypes.FP64]).get(1.0)
    return A.reduce_scalar(monoid.plus[dtypes.FP64]).get(0.0), least


def has_negative(A: Matrix) -> bool:
    """Return whether a value of `A` is negative, as `check_weights` finds out."""
    return A.dtype.kind in "IF" and bool(_least_weight(A) < 0)


def longest_row(A: Matrix) -> int:
    """Return the entries of the row of `A` that has most of them. Synchronises."""
    number = vertex_dtype(A.ncols)
    with device(A.device):
        everyone = Vector.from_scalar(1, A.ncols, number)
    # A pull reads the rows that are there; a push would make columns first. A matrix that keeps
    # columns alone has nothing to choose.
    way = {} if A.memory == "lean" else {"direction": "pull"}
    lengths = A.mxv(everyone, semiring.plus_pair[number]).new(**way)
    return int(lengths.reduce(monoid.max, allow_empty=False).value)


def has_nan(A: Matrix) -> bool:
    """Return whether a value of `A` is NaN. Synchronises, until the matrix is written not again."""
    if A.dtype.kind != "F":
        return False
    return A.derived("has nan", lambda: bool(A.apply(unary.isnan).reduce_scalar(monoid.lor).value))


def check_no_nan(A: Matrix, name: str) -> None:
    """Check that the values of `A` can be compared; raises InvalidWeight if one is NaN.

    One pass over values that are floats, read on the host: a synchronisation, until the matrix is
    written not again.
    """
    if has_nan(A):
        raise InvalidWeight(f"{name}: a value is nan; remove such edges or give them a number")


def check_ordered(A: Matrix, name: str) -> Any:
    """Return the dtype of `A`, which has an order.

    Raises DomainMismatch if it is complex or a dtype of the user.
    """
    if A.dtype.kind not in "BIUF":
        raise DomainMismatch(
            f"{name} compares values, which dtype {A.dtype} does not allow; apply a function that "
            "makes numbers of them first"
        )
    return A.dtype


def distance_dtype(A: Matrix, wanted: Any, name: str) -> Any:
    """Return the dtype of lengths of paths: `wanted`, or FP32 for FP32 weights, else FP64.

    Raises DomainMismatch if `wanted` is no floating-point dtype, and InvalidValue if None is
    wanted, and an integer weight is beyond those that FP64 has all of. For weights of 64-bit
    integers two passes over the values, each read on the host: two synchronisations, until the
    matrix is written not again.
    """
    if wanted is None:
        if A.dtype in (dtypes.INT64, dtypes.UINT64):
            _check_exact(A, name)
        return dtypes.FP32 if A.dtype is dtypes.FP32 else dtypes.FP64
    chosen = dtypes.lookup_dtype(wanted)
    if not chosen.is_float:
        raise DomainMismatch(f"{name}: dtype={chosen}, but distances are FP32 or FP64")
    return chosen


def _check_exact(A: Matrix, name: str) -> None:
    for extreme in (_least_weight(A), _greatest_weight(A)):
        if abs(int(extreme)) >= _EXACT:
            raise InvalidValue(
                f"{name}: a weight is {extreme}, but FP64, the dtype of the distances, has every "
                "integer below 2**53 only; divide all weights by a number, or round them with "
                'A.dup("FP64")'
            )


def check_exact_sums(A: Matrix, extremes: Callable[[], Iterable[float]], name: str) -> None:
    """Check that no distance over 64-bit integers was rounded.

    `extremes` returns the largest and the least distance; it is called only where one may be beyond
    2**53. Raises InvalidValue if a distance is 2**53 or more, or -2**53 or less.
    """
    if A.dtype not in (dtypes.INT64, dtypes.UINT64):
        return
    weights = _least_weight(A), _greatest_weight(A)
    if max(abs(int(each)) for each in weights) * max(A.nrows - 1, 0) < _EXACT:
        return
    for found in extremes():
        if np.isfinite(found) and abs(found) >= _EXACT:
            raise InvalidValue(
                f"{name}: a distance is {found:.0f}, but FP64, the dtype of the distances, has "
                "every integer below 2**53 only; divide all weights by a number, or make them "
                'floating-point numbers with A.dup("FP64")'
            )


def check_number(value: Any, what: str, largest: float = np.inf) -> float:
    """Return a number in [0, largest] as a float.

    Raises InvalidValue if it is outside, NaN, or no number.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else np.nan
    except OverflowError:  # an integer beyond the floating-point numbers
        number = np.inf if value > 0 else -np.inf
    if not 0 <= number <= largest:
        raise InvalidValue(f"{what}={value!r} must be a number in [0, {largest}]")
    return number


def vertex_dtype(size: int) -> Any:
    """Return the dtype of vertex numbers and levels of a graph with `size` vertices."""
    return dtypes.INT32 if size < _WIDE else dtypes.INT64


def check_vertices(vertices: Any, size: int, what: str = "source") -> np.ndarray[Any, Any]:
    """Return one vertex or a sequence of them as an array.

    Raises InvalidIndex if one of them is no integer, and IndexOutOfBound if the graph of `size`
    vertices does not have it.
    """
    if vertices.__class__ is int and 0 <= vertices < size:
        return np.array([vertices])
    is_array = isinstance(vertices, np.ndarray) and vertices.ndim == 1
    # All at once; one that is wrong is named below.
    if is_array and vertices.dtype.kind in "iu" and ((vertices >= 0) & (vertices < size)).all():
        return np.array(vertices, np.int64)
    if isinstance(vertices, Mapping):
        raise InvalidIndex(f"{what} takes vertices without values, got a dict; write list(...)")
    is_one = _integer(vertices) is not None or isinstance(vertices, (str, bytes))
    if is_one or not isinstance(vertices, Iterable):
        return np.array([check_vertex(vertices, size, what)], np.int64)
    return np.array([check_vertex(each, size, what) for each in vertices], np.int64)


def check_every(size: int, what: str) -> None:
    """Check that a graph is one whose vertices may all be listed.

    Raises OutOfMemory if it has 2**31 vertices or more.
    """
    if size >= _WIDE:
        raise OutOfMemory(
            f"{what} of {size:,} takes {8 * size / 2**30:,.0f} GiB (limit: fewer than 2**31 "
            "vertices); extract the part of the matrix that has edges first, or name fewer vertices"
        )


def check_sources(sources: Any, size: int, seed: Any) -> np.ndarray[Any, Any]:
    """Return the sources of a sum over searches: all vertices, drawn ones, or the given ones.

    None stands for all; a number for as many distinct vertices of `size`, drawn with `seed`, in
    increasing order. Raises InvalidIndex or IndexOutOfBound if one of a sequence is no vertex,
    InvalidValue if the number is not in [1, size], the sequence is empty, or `seed` is no integer
    >= 0, and OutOfMemory if all vertices of a graph of 2**31 or more are asked for.
    """
    seed = check_count(seed, "seed")
    if sources is None:
        check_every(size, "a search from every vertex")
        return np.arange(size)
    count = _integer(sources)
    if count is None:
        if not isinstance(sources, Iterable) or isinstance(sources, (str, bytes)):
            raise InvalidValue(f"sources={sources!r} must be None, a number, or vertices")
        vertices = check_vertices(sources, size)
        if len(vertices) == 0:
            raise InvalidValue("sources is empty; name at least one vertex, or None for all")
        return vertices
    if not 1 <= count <= size:
        raise InvalidValue(f"sources={count} must be in [1, {size}], the number of vertices")
    drawn = np.random.default_rng(seed).choice(size, count, replace=False)
    return np.sort(drawn)


def _is_parameter(option: str, given: Mapping[str, Any]) -> bool:
    """Return whether an option belongs to the method that is pinned, or to one method alone."""
    method = given.get("method") or methods.method_with(option)
    return option in methods.parameters_of(method)
