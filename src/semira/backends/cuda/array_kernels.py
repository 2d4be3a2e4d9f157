"""Kernels over arrays on the GPU: a launch of their own each."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from semira.backends.cuda.jit.compile import named
from semira.backends.cuda.lower.program import KERNEL
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.primitives import (
    BLOCKS_PER_SM,
    Module,
    address,
    array_library,
    primitives_of,
)
from semira.contract.array_kernels import ARRAY_DTYPES, KernelText, Launch

#: What the texts may call.
ROOT = "array.cuh"

_ENTRY = "semira_array_kernel"

#: Blocks of a multiprocessor in a loop: more of them make barriers slower.
LOOP_BLOCKS = 4


def run(runtime: Runtime, text: KernelText, launch: Launch) -> None:
    """Start a kernel; its arrays are CuPy's, on the runtime's stream.

    Raises JitError if it does not compile.
    """
    blocks = -(-launch.items * text.lanes // text.threads)
    blocks = max(1, min(blocks, BLOCKS_PER_SM * runtime.multiprocessors))
    types = tuple(map(_type_of, launch.arguments))
    scratch = tuple(ARRAY_DTYPES[np.dtype(each.dtype)] for each in launch.scratch)
    module = _module_of(runtime, text, types, scratch)
    words: list[Any] = [launch.items, *map(_word_of, launch.arguments)]
    held = []
    for each in launch.scratch:
        array = _array(runtime, each, blocks)
        held.append(array)
        words += [int(array.data.ptr), each.length]
    how = {"threads": text.threads, "shared": launch.shared}
    module.launch_blocks("int", _ENTRY, blocks, *words, **how)


def run_loop(runtime: Runtime, state: Any, launches: Sequence[tuple[KernelText, Launch]]) -> None:
    """Start one cooperative launch that runs kernels in turn until ``state[0]`` is not 0.

    Raises JitError if it does not compile.
    """
    texts = tuple(text for text, _ in launches)
    types = tuple(tuple(map(_type_of, launch.arguments)) for _, launch in launches)
    kernel, barrier = _loop_of(runtime, texts, types)
    threads = texts[0].threads
    wanted = max(-(-launch.items * text.lanes // threads) for text, launch in launches)
    most = min(kernel.fitting, LOOP_BLOCKS) * runtime.multiprocessors
    words = [address(barrier), int(state.data.ptr)]
    for _, launch in launches:
        words += [launch.items, *map(_word_of, launch.arguments)]
    count = len(words)
    values = (ctypes.c_int64 * count)(*words)
    first = ctypes.addressof(values)
    places = (ctypes.c_int64 * count)(*range(first, first + 8 * count, 8))
    runtime.launch(kernel, max(1, min(wanted, most)), threads, ctypes.addressof(places))


def _loop_of(
    runtime: Runtime, texts: tuple[KernelText, ...], types: tuple[tuple[str, ...], ...]
) -> tuple[Any, Any]:
    """Return the kernel of a loop, and the counter of its barrier, which launches count on with."""
    loops = primitives_of(runtime).loops
    key = texts, types
    if key not in loops:
        source, name = loop_source_of(texts, types), "_".join(text.name for text in texts)
        code = runtime.compile(source, named(name, source), "int", ROOT)
        kernel = runtime.load(code, name, KERNEL, texts[0].threads)
        loops[key] = kernel, runtime.zeroed(8)
    return loops[key]


def loop_source_of(texts: tuple[KernelText, ...], types: tuple[tuple[str, ...], ...]) -> str:
    """Return the C++ of kernels that run in turn, with barriers between them.

    Examples
    --------
    >>> texts = KernelText("package", "file", "move"), KernelText("package", "file", "stop")
    >>> print(loop_source_of(texts, (("int*",), ("double",))))
    #include "package:file.cuh"
    extern "C" __global__ void __launch_bounds__(256) semira_program(
        long long counter, long long state, long long a, long long a0, long long b, long long b0) {
      GridBarrier all(reinterpret_cast<BarrierCounter*>(counter));
      while (*reinterpret_cast<volatile long long*>(state) == 0) {
        move(a, reinterpret_cast<int*>(a0));
        all.wait();
        stop(b, __longlong_as_double(b0));
        all.wait();
      }
      all.close(whole_grid());
    }
    """
    includes = dict.fromkeys(f'#include "{text.place}.cuh"\n' for text in texts)
    names, calls = ["counter", "state"], ""
    for number, (text, kinds) in enumerate(zip(texts, types, strict=True)):
        letter = chr(ord("a") + number)
        own = [f"{letter}{at}" for at in range(len(kinds))]
        names += [letter, *own]
        given = [_CASTS.get(kind, _POINTER).format(name, kind)
                 for name, kind in zip(own, kinds, strict=True)]  # fmt: skip
        calls += f"    {text.name}({', '.join([letter, *given])});\n    all.wait();\n"
    parameters = ", ".join(f"long long {name}" for name in names)
    return (
        f"{''.join(includes)}"
        f'extern "C" __global__ void __launch_bounds__({texts[0].threads}) {KERNEL}(\n'
        f"    {parameters}) {{\n"
        "  GridBarrier all(reinterpret_cast<BarrierCounter*>(counter));\n"
        f"  while (*reinterpret_cast<volatile long long*>(state) == 0) {{\n{calls}  }}\n"
        "  all.close(whole_grid());\n"
        "}"
    )


def _array(runtime: Runtime, scratch: Any, blocks: int) -> Any:
    xp = array_library()
    with primitives_of(runtime).cupy_stream():
        if scratch.fill is None:
            return xp.empty(blocks * scratch.length, scratch.dtype)
        return xp.full(blocks * scratch.length, scratch.fill, scratch.dtype)


def _type_of(argument: Any) -> str:
    """Return what stands for a type: ``dtype*`` of arrays, ``double``, ``bool``, ``long long``."""
    if bool(getattr(argument, "shape", ())):
        return f"{ARRAY_DTYPES[argument.dtype]}*"
    if isinstance(argument, bool | np.bool_):
        return "bool"
    return "double" if isinstance(argument, float | np.floating) else "long long"


def _word_of(argument: Any) -> int:
    if bool(getattr(argument, "shape", ())):
        return int(argument.data.ptr)
    if isinstance(argument, float | np.floating):
        return int(struct.unpack("q", struct.pack("d", float(argument)))[0])
    return int(argument)


def source_of(text: KernelText, types: tuple[str, ...], scratch: tuple[str, ...]) -> str:
    """Return the C++ of a kernel for arguments of some types.

    Examples
    --------
    >>> text = KernelText("package", "file", "move")
    >>> print(source_of(text, ("int*", "double"), ()))
    #include "package:file.cuh"
    extern "C" __global__ void __launch_bounds__(256) semira_array_kernel(
        long long items, long long a0, long long a1) {
      move(items, reinterpret_cast<int*>(a0), __longlong_as_double(a1));
    }
    """
    names = [f"a{number}" for number in range(len(types))]
    given = [_CASTS.get(kind, _POINTER).format(name, kind)
             for name, kind in zip(names, types, strict=True)]  # fmt: skip
    for number, kind in enumerate(scratch):
        names += [f"s{number}", f"n{number}"]
        given.append(f"reinterpret_cast<{kind}*>(s{number}) + n{number} * block_number()")
    parameters = "".join(f", long long {name}" for name in names)
    return (
        f'#include "{text.place}.cuh"\n'
        f'extern "C" __global__ void __launch_bounds__({text.threads}) {_ENTRY}(\n'
        f"    long long items{parameters}) {{\n"
        f"  {text.name}(items, {', '.join(given)});\n"
        "}"
    )


_POINTER = "reinterpret_cast<{1}>({0})"
_CASTS = {"double": "__longlong_as_double({0})", "bool": "{0} != 0", "long long": "{0}"}


def _module_of(
    runtime: Runtime, text: KernelText, types: tuple[str, ...], scratch: tuple[str, ...]
) -> Module:
    modules = primitives_of(runtime).modules
    key = text, types, scratch
    if key not in modules:
        source = source_of(text, types, scratch)
        modules[key] = Module(runtime, named(text.name, source), source, ROOT)
    return modules[key]
