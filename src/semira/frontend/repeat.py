"""``repeat``: record a loop body once and run it without the host."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from semira.base.dtypes import BOOL
from semira.base.errors import RecordError
from semira.engine import recording
from semira.engine.loops import InnerLoop, LoopResult, repeat_body
from semira.engine.values import Value
from semira.frontend.bodies import describe
from semira.frontend.infix import Operand
from semira.frontend.scalar import ScalarOperand


def repeat(step: Callable[[], Any], max_iterations: Any = None) -> LoopResult | InnerLoop:
    """Run `step` until the BOOL Scalar it returns is false or empty.

    The body is recorded, not called per iteration: it may hold GraphBLAS calls, temporaries
    made with ``.new()`` (dead at the end of the iteration), nested `repeat` and Python ``for``
    (unrolled). ``nvals``, ``reduce`` and Scalars are symbolic in it. It runs at least once. A body
    of such calls alone is not recorded again for other objects of the same dtypes and shapes.

    Parameters
    ----------
    step : callable
        Takes nothing, returns a BOOL Scalar (``frontier.nvals > 0``), or None together with
        `max_iterations`. It may rebind objects (``p, q = q, p``).
    max_iterations : int or Scalar, optional
        Maximum number of iterations; reaching it is then no error.

    Returns
    -------
    LoopResult or InnerLoop
        Iterations, ``stopped_by`` ("condition" or "limit") and the trace of products; inside
        another recorded loop they are not known, and reading one is a RecordError.

    Raises
    ------
    RecordError
        The body does something that cannot be recorded; the message names file and line.
    IterationLimit
        The default limit was reached (``SEMIRA_MAX_ITERATIONS``).

    Notes
    -----
    An error or Ctrl-C takes effect at the end of an iteration: objects hold the last complete
    one.

    Examples
    --------
    >>> import semira as gb
    >>> total = gb.Scalar.from_value(0)
    >>> def step():
    ...     total << total + 3
    ...     return total < 10
    >>> gb.repeat(step).iterations, total.value
    (4, 12)
    """
    described = None if recording.current() is not None else describe(step)
    return repeat_body(step, condition_of, limit_of(max_iterations), described)


def limit_of(max_iterations: Any) -> Any:
    """Return a limit as the engine takes it."""
    if isinstance(max_iterations, ScalarOperand):
        return max_iterations._operand()[0]
    return max_iterations


def condition_of(returned: Any, where: Callable[[], str]) -> Value | None:
    """Return the value of what a body returned, None for nothing.

    Raises RecordError if it is no condition; `where` finds the line that is named.
    """
    if returned is None or isinstance(returned, InnerLoop):
        return None
    if isinstance(returned, ScalarOperand) and returned.dtype is BOOL:
        return returned._operand()[0]
    if isinstance(returned, (bool, np.bool_, Number)):
        raise RecordError(
            f"{where()}: the loop body returns {returned!r}, which is fixed when the body is "
            "recorded; return a Scalar comparison such as `frontier.nvals > 0`"
        )
    kind = type(returned).__name__
    if isinstance(returned, Operand):
        kind = f"a {kind} of {returned.dtype}"
    raise RecordError(
        f"{where()}: the loop body returns {kind}; return a BOOL Scalar such as "
        "`frontier.nvals > 0`"
    )
