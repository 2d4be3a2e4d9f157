"""Result dtypes of Python functions, as Numba infers them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from semira.base.compiling import quiet_numba
from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import DomainMismatch

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@functools.lru_cache(maxsize=128)
def _compiled(function: Callable[..., Any]) -> Any:
    import numba

    return numba.njit(nogil=True, error_model="numpy")(function)


def infer_dtype(function: Callable[..., Any], operands: tuple[DataType, ...]) -> DataType | str:
    """Return the dtype of ``function(*operands)``, or a line that says why it does not compile."""
    import numba
    from numba.core.errors import NumbaError

    signature = tuple(numba.from_dtype(dtype.array_dtype) for dtype in operands)
    dispatcher = _compiled(function)
    try:
        with quiet_numba():
            dispatcher.compile(signature)
        result = dispatcher.overloads[signature].signature.return_type
        if isinstance(result, numba.types.Literal):
            result = result.literal_type
        return lookup_dtype(numba.np.numpy_support.as_dtype(result))
    except (NumbaError, NotImplementedError, DomainMismatch) as error:
        return _one_line(error)


def _one_line(error: Exception) -> str:
    """Return the sentence of a compiler's report that says what is wrong."""
    lines = [line.strip() for line in _COLOURS.sub("", str(error)).splitlines() if line.strip()]
    telling = [
        line
        for line in lines
        if not line.startswith(("Failed in", "File", "During:", ">>>", "-", "^", "def ", "<source"))
    ]
    return (telling or lines or [type(error).__name__])[0]
