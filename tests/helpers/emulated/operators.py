"""Python operators in kernels of the host: Numba compiles them, kernels call them by address.

A library has, for each function that its source asks to be linked, a variable ``emulated_at_NAME``
for the address and a function NAME, with the types of the GPU's, that calls it. The variable is set
when the library is loaded: the address is another one in every process.

What Numba refuses to compile for a GPU is refused here too, by its own compiler, where that is
installed: on the host a function may raise, and would leave its result undefined.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from semira.backends.cuda.jit import linking
from semira.backends.cuda.jit.linking import Linked, _passed, _returned, functions_in
from semira.base.errors import DeviceUnavailable
from semira.ops.user import function_named

#: A GPU for which functions have to compile; they do or do not for all of them.
_ARCH = "sm_90"


def definitions(source: str) -> str:
    """Return the C++ text of the functions that a source asks for, and of the list of them.

    Raises
    ------
    JitError
        A function does not compile for a GPU.
    """
    functions = functions_in(source)
    if not functions:
        return ""
    if _has_compiler_for_gpus():
        for function in functions:
            linking.compile_function(function, _ARCH)
    asked = "".join(line + "\n" for line in source.splitlines() if line.startswith("// link ["))
    listed = f'extern "C" const char emulated_links[] = R"====({asked})====";'
    return "\n".join([listed, *map(_definition, functions)])


@functools.cache
def _has_compiler_for_gpus() -> bool:
    try:
        return bool(linking.compiler_version())
    except DeviceUnavailable:
        return False


def _definition(function: Linked) -> str:
    """Return a function that passes the addresses of a result and of its operands on."""
    given, copies, places = [], [], []
    for k, dtype in enumerate(function.parameters):
        name = f"a{k}"
        if dtype.is_complex:
            part = dtype.part.cuda_type
            given.append(f"{part} {name}_real, {part} {name}_imag")
            copies.append(f"{part} {name}[2] = {{{name}_real, {name}_imag}};")
        else:
            given.append(f"{_passed(dtype)} {name}")
        places.append(name if dtype.is_complex or dtype.kind == "V" else f"&{name}")
    result, kind = function.result, _returned(function.result)
    if result.kind == "V":
        copies.append(f"static thread_local unsigned char found[{result.itemsize}];")
    else:
        copies.append(f"{kind} found;")
    places.insert(0, "found" if result.kind == "V" else "&found")
    types = ", ".join(["void*"] * len(places))
    at, symbol = f"emulated_at_{function.symbol}", function.symbol
    return (
        f'extern "C" {{ void (*{at})({types}); }}\n'
        f'extern "C" {kind} {symbol}({", ".join(given)}) {{\n'
        f"  {' '.join(copies)}\n  {at}({', '.join(places)});\n  return found;\n}}"
    )


def connect(library: ctypes.CDLL) -> None:
    """Let a loaded library call the Python functions that it needs."""
    try:
        asked = ctypes.c_char.in_dll(library, "emulated_links")
    except ValueError:
        return
    for function in functions_in(ctypes.string_at(ctypes.addressof(asked)).decode()):
        place = ctypes.c_void_p.in_dll(library, f"emulated_at_{function.symbol}")
        place.value = _compiled(function).address


@functools.cache
def _compiled(function: Linked) -> Any:
    """Return a C function that takes addresses: of the result, then of the operands."""
    import numba
    from numba import types

    names = [f"a{k}" for k in range(len(function.parameters))]
    values = ", ".join(f"carray({name}, 1)[0]" for name in names)
    text = f"def call(found, {', '.join(names)}):\n    carray(found, 1)[0] = operator({values})\n"
    known = {
        "carray": numba.carray,
        "operator": numba.njit(error_model="numpy")(function_named(function.name)),
    }
    exec(text, known)
    places = [types.CPointer(each.numba_type) for each in (function.result, *function.parameters)]
    return numba.cfunc(types.void(*places))(known["call"])
