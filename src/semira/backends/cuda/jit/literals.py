"""Values as CUDA C++ text, exact to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.dtypes import DataType

#: Unsigned words that a record is made of, by its alignment.
_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def literal(dtype: DataType, value: Any) -> str:
    """Return the C++ expression of a NumPy scalar of `dtype`.

    Examples
    --------
    >>> from semira.base.dtypes import FC32, FP32, INT64
    >>> literal(INT64, np.int64(-3)), literal(FP32, np.float32(np.inf))
    ('static_cast<long long>(-3ll)', '__int_as_float(2139095040)')
    >>> literal(FC32, np.complex64(1j))
    'Complex<float>(__int_as_float(0), __int_as_float(1065353216))'
    """
    if dtype.kind == "V":
        return _record(dtype, value)
    scalar = dtype.np_type.type(value)
    if dtype.kind == "C":
        parts = (literal(dtype.part, part) for part in (scalar.real, scalar.imag))
        return f"{dtype.cuda_type}({', '.join(parts)})"
    if dtype.name == "FP32":
        return f"__int_as_float({int(scalar.view(np.int32))})"
    if dtype.name == "FP64":
        return f"__longlong_as_double({int(scalar.view(np.int64))}ll)"
    if dtype.kind == "B":
        return "true" if scalar else "false"
    if dtype.kind == "U":
        return f"static_cast<{dtype.cuda_type}>({int(scalar)}ull)"
    number = int(scalar)
    text = "(-9223372036854775807ll - 1)" if number == -(2**63) else f"{number}ll"
    return f"static_cast<{dtype.cuda_type}>({text})"


def _record(dtype: DataType, value: Any) -> str:
    held = dtype.scalar(value).tobytes()
    words = np.frombuffer(held, _WORDS[int(np.gcd(len(held), 8))])
    return f"{dtype.cuda_type}{{{{{', '.join(f'{int(word)}ull' for word in words)}}}}}"
