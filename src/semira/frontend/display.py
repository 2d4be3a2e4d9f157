"""Text of objects: a heading with the facts, then the first entries."""

from __future__ import annotations

from typing import Any

from semira.base.config import config
from semira.engine import recording
from semira.frontend.expr import Expression

_SHOWN = 10


def _heading(item: Any, facts: str) -> str:
    what = f"gb.{type(item).__name__}"
    name = getattr(item, "name", None)
    return f"{name} = {what}({facts})" if name else f"{what}({facts})"


def _is_symbolic(item: Any) -> bool:
    return recording.current() is not None or (
        not isinstance(item, Expression) and item._operand()[0].recording is not None
    )


def _waits(item: Any) -> bool:
    """Whether `item` is an expression that printing may not compute."""
    is_allowed = config["autocompute"] or recording.current() is not None
    return isinstance(item, Expression) and not is_allowed


def _uncomputed(item: Any) -> str:
    return _heading(item, f"not computed, shape={item.shape}, dtype={item.dtype}")


def scalar_text(item: Any) -> str:
    """Return the text of a Scalar or a scalar expression."""
    if _waits(item):
        return _uncomputed(item)
    if _is_symbolic(item):
        recording.refuse_host_read("printing a Scalar", "print it after the loop")
    return _heading(item, f"{item.value}, dtype={item.dtype}")


def vector_text(item: Any) -> str:
    """Return the text of a Vector or a vector expression."""
    if _waits(item):
        return _uncomputed(item)
    if _is_symbolic(item):
        recording.refuse_host_read("printing a Vector", "print it after the loop")
    indices, values = item.to_coo()
    heading = _heading(item, f"size={item.size}, nvals={len(indices)}, dtype={item.dtype}")
    rows = [
        f"  {index}: {value}"
        for index, value in zip(indices[:_SHOWN], values[:_SHOWN], strict=True)
    ]
    return "\n".join([heading, *rows, *_more(len(indices))])


def matrix_text(item: Any) -> str:
    """Return the text of a Matrix, a transpose or a matrix expression."""
    if _waits(item):
        return _uncomputed(item)
    if _is_symbolic(item):
        recording.refuse_host_read("printing a Matrix", "print it after the loop")
    rows, cols, values = item.to_coo()
    facts = f"nrows={item.nrows}, ncols={item.ncols}, nvals={len(rows)}, dtype={item.dtype}"
    triples = zip(rows[:_SHOWN], cols[:_SHOWN], values[:_SHOWN], strict=True)
    lines = [f"  ({i}, {j}): {value}" for i, j, value in triples]
    return "\n".join([_heading(item, facts), *lines, *_more(len(rows))])


def _more(count: int) -> list[str]:
    return [f"  ... {count - _SHOWN} more"] if count > _SHOWN else []
