"""Result dtypes of Python functions, as Numba infers them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from semira.backends import kernel_files
from semira.backends.cpu.codegen import digest_of
from semira.backends.cpu.compiler.front_end import lowered, numba_version, type_of_result
from semira.base.compiling import quiet_numba
from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import DomainMismatch
from semira.base.settings import settings
from semira.ops.user import name_of

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


#: Kinds of dtypes whose functions compile if their types can be told; of complex numbers and
#: records, Numba refuses some only when it writes code.
_PLAIN = frozenset("biuf")


def infer_dtype(function: Callable[..., Any], operands: tuple[DataType, ...]) -> DataType | str:
    """Return the dtype of ``function(*operands)``, or a line that says why it does not compile.

    Dtypes are kept on disk, beside the kernels: a process that finds both does without Numba.
    """
    path = _path(function, operands)
    kept = None if path is None else kernel_files.read(path)
    if kept is not None:
        return lookup_dtype(kept.decode())
    found = _inferred(function, operands)
    if path is not None and isinstance(found, DataType) and found.kind != "V":
        kernel_files.write(path, found.name.encode())
    return found


def _path(function: Callable[..., Any], operands: tuple[DataType, ...]) -> Path | None:
    """Return where a dtype is kept; None for functions and operands that have no lasting name."""
    name = name_of(function)
    if name is None or any(dtype.kind == "V" for dtype in operands):
        return None
    digest = digest_of(kernel_files.FORMAT, numba_version(), *(dtype.name for dtype in operands))
    return settings().cache_dir / "cpu" / "dtypes" / f"{name}-{digest}"


def _inferred(function: Callable[..., Any], operands: tuple[DataType, ...]) -> DataType | str:
    import numba
    from numba.core.errors import NumbaError

    signature = tuple(numba.from_dtype(dtype.array_dtype) for dtype in operands)
    try:
        with quiet_numba():
            if all(dtype.array_dtype.kind in _PLAIN for dtype in operands):
                result = type_of_result(function, signature)
            else:
                result = lowered(function, signature).signature.return_type
        if isinstance(result, numba.types.Literal):
            result = result.literal_type
        return lookup_dtype(numba.np.numpy_support.as_dtype(result))
    # AttributeError: the function reads a name that its module lacks.
    except (NumbaError, NotImplementedError, AttributeError, DomainMismatch) as error:
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
