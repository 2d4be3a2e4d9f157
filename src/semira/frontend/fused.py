"""``fused``: run a few statements once, as one program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira.base.errors import RecordError
from semira.engine import recording
from semira.engine.loops import InnerLoop, LoopResult, repeat_body
from semira.frontend.bodies import describe


def fused(step: Callable[[], None]) -> LoopResult | InnerLoop:
    """Run the statements of `step` once, now, as one program.

    The statements are recorded, as those of a loop body are (see `repeat`), so that temporaries
    need not be written and a GPU runs what it can in one launch: all statements on vectors and
    scalars, and loops of `repeat` among them. A statement that writes a matrix is a launch of its
    own.

    Parameters
    ----------
    step : callable
        Takes nothing and returns nothing. What a loop body may do, it may do.

    Returns
    -------
    LoopResult or InnerLoop
        One iteration and the trace of products; inside a recorded loop body they are not known,
        and reading one is a RecordError.

    Raises
    ------
    RecordError
        `step` does something that cannot be recorded, or returns something; the message names file
        and line.

    Notes
    -----
    `explain` shows the plan as ``explain(step, max_iterations=1)``. After an error or Ctrl-C every
    object is as it was before.

    Examples
    --------
    >>> import semira as gb
    >>> x, norm = gb.Vector.from_dense([3.0, 4.0]), gb.Scalar("FP64")
    >>> def normalise():
    ...     norm << x.ewise_mult(x, "times").reduce("plus")
    ...     norm << norm.apply("sqrt")
    ...     x << x.apply("truediv", right=norm)
    >>> gb.fused(normalise).iterations, x.to_dense().tolist()
    (1, [0.6, 0.8])
    """
    described = None if recording.current() is not None else describe(step)
    if described is not None:
        # A loop body may return a condition, this one may not.
        described.key.append("fused")
    return repeat_body(step, _nothing, 1, described)


def _nothing(returned: Any, where: Callable[[], str]) -> None:
    if returned is not None and not isinstance(returned, InnerLoop):
        raise RecordError(
            f"{where()}: `fused` runs its statements once, so nothing may be returned, but this "
            f"returns a {type(returned).__name__}; a condition belongs to `repeat`"
        )
