"""``kept_loop``: a loop that is recorded once for a matrix and run for each call."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from semira.base.config import config
from semira.base.errors import InvalidValue
from semira.contract import COSTED
from semira.engine import recording, remembered
from semira.engine.kept_loops import KeptLoop
from semira.engine.loops import LoopResult, prepared_loop, result_of
from semira.engine.ways import cheaper_methods
from semira.formats import VectorArrays
from semira.frontend import construct, raw
from semira.frontend.bodies import OPTIONS, describe
from semira.frontend.facts import cached
from semira.frontend.kinds import wrap
from semira.frontend.objects import Matrix, Vector
from semira.frontend.repeat import condition_of
from semira.frontend.scalar import Scalar


class Kept(NamedTuple):
    """What `kept_loop` keeps, as its first call makes it.

    Attributes
    ----------
    step : callable
        The body, as `repeat` takes it. It may use the matrix, and vectors and scalars made for it.
    given : tuple of Vector
        Those of them that get other contents in each call.
    results : tuple of Vector or Scalar
        Those of them that are returned.
    max_iterations : int
    """

    step: Callable[[], Any]
    given: tuple[Vector, ...]
    results: tuple[Vector | Scalar, ...]
    max_iterations: int


def kept_loop(
    matrix: Matrix, key: Hashable, make: Callable[[], Kept], *given: tuple[Any, Any]
) -> tuple[LoopResult, list[Any]]:
    """Run a loop that stays with a matrix, until that is written (`Matrix.derived`).

    For what is called again and again on one graph: the body is not looked at again, and its
    objects are not made in Python. Each run has vectors and scalars of its own, which begin with
    what those of `make` held; the loop that is kept is the one that `repeat` would run.

    Parameters
    ----------
    matrix : Matrix
        Not modified. The only matrix in the body.
    key : hashable
        Names the loop, with all that `make` depends on besides the matrix.
    make : callable
        Takes nothing; makes the objects and returns them as a `Kept`. Not called where the loop is
        there already.
    *given : (positions, values)
        Contents of each Vector in ``given``, as `Vector.from_coo` takes them.

    Returns
    -------
    loop : LoopResult
    results : list of Vector or Scalar

    Raises
    ------
    InvalidValue
        The body has another matrix, or something that may change from call to call.
    RecordError
        Inside a recorded loop, and where `repeat` raises it.
    IterationLimit, OutOfMemory
        As with `repeat`.

    Notes
    -----
    Options (`semira.config`) and the device are part of the key. A matrix whose memory is
    ``"lean"`` keeps nothing.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], True, nrows=4, ncols=4)
    >>> def make():
    ...     reached, front = gb.Vector(bool, 4), gb.Vector.from_coo([0], True, size=4)
    ...     def step():
    ...         reached(front.S) << True
    ...         front(~reached.S, replace=True) << front.vxm(A, gb.semiring.any_pair)
    ...         return front.nvals > 0
    ...     return gb.Kept(step, (front,), (reached,), 4)
    >>> for source in (2, 1):
    ...     loop, (reached,) = gb.kept_loop(A, "reached", make, ([source], True))
    ...     print(loop.iterations, reached.to_dict())
    2 {2: True, 3: True}
    3 {1: True, 2: True, 3: True}
    """
    recording.refuse_host_read("a kept loop runs at once", "run it before the loop")
    value = matrix._value
    methods = cheaper_methods({value: 0}, value.where) if COSTED else ()
    facts = value.where, config.read(OPTIONS), remembered.GENERATION[0], methods
    kept = cached(value, (kept_loop, key, facts), lambda: _kept(matrix, *make()))
    if len(given) != len(kept.given):
        raise InvalidValue(
            f"contents for {len(given)} of the vectors that are given to a kept loop, of which it "
            f"has {len(kept.given)}"
        )
    starts = [kept.starts[each] for each in kept.given]
    contents = [_contents(each, start) for each, start in zip(given, starts, strict=True)]
    outcome, results = kept.run(value, contents)
    return result_of(outcome), [wrap(each) for each in results]


def _kept(
    matrix: Matrix,
    step: Callable[[], Any],
    given: tuple[Vector, ...],
    results: tuple[Vector | Scalar, ...],
    max_iterations: int,
) -> KeptLoop:
    described = describe(step)
    if described is None:
        raise InvalidValue(
            "the body of a kept loop may change from call to call, or change something that "
            "outlives its call; run it with `repeat`"
        )
    found, asked = prepared_loop(step, condition_of, max_iterations, described)
    return KeptLoop.of(
        found, asked, matrix._value,
        [each._value for each in given], [each._value for each in results],
    )  # fmt: skip


def _contents(given: tuple[Any, Any], start: Any) -> VectorArrays:
    positions, values = given
    quick = construct.shared_entries(positions, values, start.dtype, start.size, raw.BUILD_FROM)
    if quick is not None:
        return quick
    made = Vector.from_coo(positions, values, start.dtype, size=start.size)
    arrays: VectorArrays = made._value.read()  # type: ignore[assignment]
    return arrays
