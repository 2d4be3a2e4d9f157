"""Functions of users and of NumPy: Numba compiles them to LLVM IR, and kernels link it.

With the kernel around it, a function would take Numba four to fourteen times as long. Types and
instructions of the function itself are still Numba's.
"""

from __future__ import annotations

import functools
import math
import re
from typing import Any, NamedTuple

import numpy as np

from semira.backends.cpu.compiler import front_end, machine
from semira.backends.cpu.compiler.types import Scalar, UnsupportedError, scalar_of
from semira.base.compiling import quiet_numba
from semira.base.settings import settings
from semira.ops.user import function_named

#: How rendered texts name functions of users, and of NumPy and `math`, of which this compiler knows
#: some for some types.
_FUNCTIONS = re.compile(r"function_named\(|\b(?:np|math)\.(?!u?int|float|bool|complex)\w+\(")

#: Functions of C's library, which every process has; those of Numba's own have addresses.
_IN_C = frozenset(
    f"{name}{suffix}"
    for suffix in ("", "f")
    for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "cos", "cosh",
        "erf", "erfc", "exp", "exp2", "expm1", "floor", "fmod", "frexp", "hypot", "ldexp",
        "lgamma", "log", "log10", "log1p", "log2", "nextafter", "pow", "rint", "round", "sin",
        "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
    )
) | {"memcpy", "memmove", "memset"}  # fmt: skip


def versions(text: str) -> list[str]:
    """Return the versions of what a rendered text depends on beside itself."""
    return [front_end.numba_version()] if _FUNCTIONS.search(text) else []


class UserFunction(NamedTuple):
    """A function in LLVM IR that writes its result to an address, and returns a status."""

    #: LLVM's.
    name: str
    #: LLVM's types of the parameters: the addresses of the result and of an exception, then the
    #: arguments, of which a complex number is two and a record an address.
    parameters: tuple[str, ...]
    result: Scalar
    text: str


@functools.lru_cache(maxsize=512)
def user_function(name: str, types: tuple[Scalar, ...]) -> UserFunction:
    """Return the function of an operator, or such as ``np.log``, for arguments of some types.

    Raises UnsupportedError if it does not compile, may raise, or needs more than C's library: then
    Numba has to compile the whole kernel.
    """
    function = _library_function(name, len(types)) if "." in name else function_named(name)
    code = function.__code__
    if code.co_kwonlyargcount or code.co_flags & _VARIABLE:
        raise UnsupportedError(f"the parameters of {name}")
    if settings().no_compile:
        raise UnsupportedError("nothing is to be compiled")
    from numba import types as numba_types
    from numba.np.numpy_support import as_dtype

    made = _lowered(function, types)
    context, described = made.target_context, made.fndesc
    result = made.signature.return_type
    if isinstance(result, numba_types.Literal):
        result = result.literal_type
    if not isinstance(result, numba_types.Number | numba_types.Boolean | numba_types.Record):
        raise UnsupportedError(f"{name} returns {result}")
    called = context.call_conv.get_function_type(described.restype, described.argtypes)
    texts = [str(made.library._final_module)]
    texts += [str(each._get_module_for_linking()) for each in made.library._linking_libraries]
    text, needed = machine.linked(texts, described.llvm_func_name)
    odd = [each for each in needed if not each.startswith("llvm.") and each not in _IN_C]
    if odd:
        raise UnsupportedError(f"{name} needs {', '.join(odd)}")
    return UserFunction(
        described.llvm_func_name, tuple(map(str, called.args)), scalar_of(as_dtype(result)), text
    )


def is_of_library(name: str) -> bool:
    """Return whether a name is that of a function of NumPy or of `math`."""
    module, _, function = name.partition(".")
    return callable(getattr(_MODULES.get(module), function, None))


_MODULES = {"np": np, "math": math}


def _library_function(name: str, parameters: int) -> Any:
    """Return a function of the caller's that calls one of NumPy or `math`."""
    given = ", ".join(f"a{at}" for at in range(parameters))
    return eval(f"lambda {given}: {name}({given})", dict(_MODULES))  # noqa: S307


#: Flags of code with ``*args`` or ``**kwargs``.
_VARIABLE = 0x04 | 0x08


def _lowered(function: Any, types: tuple[Scalar, ...]) -> Any:
    """Return what Numba makes of a function, of which no machine code is made."""
    import numba
    from numba.core.errors import NumbaError

    signature = tuple(numba.from_dtype(each.dtype or np.dtype(each.name)) for each in types)
    try:
        with quiet_numba():
            return front_end.lowered(function, signature)
    except (NumbaError, NotImplementedError) as error:
        raise UnsupportedError(str(error)) from error
