"""Kernels over arrays on the GPU: a launch of their own each."""

from __future__ import annotations

import struct
import textwrap
from array import array
from collections.abc import Sequence
from itertools import islice
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

#: A kernel, and the types of its arguments.
Call = tuple[KernelText, tuple[str, ...]]

#: Blocks of a multiprocessor in a loop: more of them make barriers slower.
LOOP_BLOCKS = 4


def run(runtime: Runtime, text: KernelText, launch: Launch) -> None:
    """Start a kernel; its arrays are CuPy's, on the runtime's stream.

    Raises JitError if it does not compile.
    """
    blocks = -(-launch.items * text.lanes // text.threads)
    blocks = max(1, min(blocks, BLOCKS_PER_SM * runtime.multiprocessors))
    described = [*map(_described, launch.arguments)]
    types = tuple([kind for kind, _ in described])
    scratch = tuple(ARRAY_DTYPES[np.dtype(each.dtype)] for each in launch.scratch)
    module = _module_of(runtime, text, types, scratch)
    words: list[Any] = [launch.items, *[word for _, word in described]]
    held = []
    for each in launch.scratch:
        array = _array(runtime, each, blocks)
        held.append(array)
        words += [int(array.data.ptr), each.length]
    how = {"threads": text.threads, "shared": launch.shared}
    module.launch_blocks("int", _ENTRY, blocks, *words, **how)


def run_loop(
    runtime: Runtime,
    state: Any,
    launches: Sequence[tuple[KernelText, Launch]],
    before: Sequence[tuple[KernelText, Launch]],
    most_blocks: int | None,
) -> None:
    """Start one cooperative launch that runs kernels in turn until ``state[0]`` is not 0.

    Raises JitError if it does not compile.
    """
    # Kernels share most of their arrays, and those that stand `beside` another all arguments.
    known: dict[int, tuple[str, int]] = {}
    together: dict[int, list[tuple[str, int]]] = {}
    kinds: list[str] = []
    words = [0, int(state.data.ptr)]
    calls, wanted = (*before, *launches), 1
    for text, launch in calls:
        words.append(launch.items)
        described = together.get(id(launch.arguments))
        if described is None:
            described = together[id(launch.arguments)] = []
            for argument in launch.arguments:
                found = known.get(id(argument))
                if found is None:
                    found = known[id(argument)] = _described(argument)
                described.append(found)
        kinds += [kind for kind, _ in described]
        words += [word for _, word in described]
        wanted = max(wanted, -(-launch.items * text.lanes // text.threads))
    kernel, words[0] = _loop_of(runtime, calls, tuple(kinds), len(before))
    most = min(kernel.fitting, LOOP_BLOCKS) * runtime.multiprocessors
    blocks = min(wanted, most, most_blocks or most)
    given = array("q", words)
    first = given.buffer_info()[0]
    places = array("q", range(first, first + 8 * len(words), 8))
    threads, started = calls[0][0].threads, runtime.mark()
    runtime.launch(kernel, blocks, threads, places.buffer_info()[0])
    runtime.note_launch(started, kernel.name, kernel.loaded, None, blocks, threads)


def _loop_of(
    runtime: Runtime, launches: Sequence[tuple[KernelText, Launch]], kinds: tuple[str, ...],
    before: int,
) -> tuple[Any, int]:  # fmt: skip
    """Return the kernel of a loop, and where it counts blocks: in its barrier, `is_last_block`.

    Launches of the barrier count on.
    """
    loops = primitives_of(runtime).loops
    key = tuple([text for text, _ in launches]), kinds, before
    if key not in loops:
        rest = iter(kinds)
        calls = [(text, tuple(islice(rest, len(launch.arguments)))) for text, launch in launches]
        name, source = _named_loop(calls, before)
        code = runtime.compile(source, name, "int", ROOT)
        kernel, counters = runtime.load(code, name, KERNEL, calls[0][0].threads), runtime.zeroed(16)
        loops[key] = kernel, address(counters), counters
    return loops[key][:2]


def loop_source_of(calls: Sequence[Call], before: int = 0) -> str:
    """Return the C++ of kernels that run in turn, with barriers between them.

    Examples
    --------
    >>> begin, move = (KernelText("package", "file", name, blocks=4) for name in ("begin", "move"))
    >>> stop = KernelText("package", "file", "stop", lanes=0)
    >>> print(loop_source_of([(begin, ()), (move, ("int*",)), (stop, ("double",))], before=1))
    #include "package:file.cuh"
    extern "C" __global__ void __launch_bounds__(256, 4) semira_program(
        long long counter, long long state, long long a, long long b, long long b0, long long c,
        long long c0) {
      GridBarrier all(reinterpret_cast<BarrierCounter*>(counter));
      begin(a);
      all.wait();
      while (*reinterpret_cast<volatile long long*>(state) == 0) {
        move(b, reinterpret_cast<int*>(b0));
        if (is_last_block(counter)) stop(c, __longlong_as_double(c0));
        all.wait();
      }
      all.close(whole_grid());
    }
    """
    includes = dict.fromkeys(f'#include "{text.place}.cuh"\n' for text, _ in calls)
    names = ["counter", "state"]
    lines: list[str] = []
    for number, (text, kinds) in enumerate(calls):
        letter = chr(ord("a") + number)
        own = [f"{letter}{at}" for at in range(len(kinds))]
        names += [letter, *own]
        given = [_CASTS.get(kind, _POINTER).format(name, kind)
                 for name, kind in zip(own, kinds, strict=True)]  # fmt: skip
        call = f"{text.name}({', '.join([letter, *given])});\n"
        if text.lanes == 0:
            # The state is read at the start of a round, and the blocks behind the kernel before.
            if number not in (0, before) and calls[number - 1][0].lanes:
                lines[-1] = lines[-1].removesuffix(_WAIT)
            call = f"if (is_last_block(counter)) {call}"
        lines.append(call + _WAIT)
    first = textwrap.indent("".join(lines[:before]), "  ")
    body = textwrap.indent("".join(lines[before:]), "    ")
    parameters = textwrap.fill(", ".join(f"long long {name}" for name in names), 96)
    text = calls[0][0]
    bounds = f"{text.threads}, {text.blocks}" if text.blocks else str(text.threads)
    return (
        f"{''.join(includes)}"
        f'extern "C" __global__ void __launch_bounds__({bounds}) {KERNEL}(\n'
        f"{textwrap.indent(parameters, '    ')}) {{\n"
        "  GridBarrier all(reinterpret_cast<BarrierCounter*>(counter));\n"
        f"{first}"
        f"  while (*reinterpret_cast<volatile long long*>(state) == 0) {{\n{body}  }}\n"
        "  all.close(whole_grid());\n"
        "}"
    )


def _array(runtime: Runtime, scratch: Any, blocks: int) -> Any:
    xp = array_library()
    with primitives_of(runtime).cupy_stream():
        if scratch.fill is None:
            return xp.empty(blocks * scratch.length, scratch.dtype)
        return xp.full(blocks * scratch.length, scratch.fill, scratch.dtype)


def _described(argument: Any) -> tuple[str, int]:
    """Return what stands for the type, ``dtype*`` of arrays, and the word of an argument."""
    if argument.__class__ is int:
        return "long long", argument
    if getattr(argument, "shape", ()):
        return _POINTERS[argument.dtype], argument.data.ptr
    if isinstance(argument, bool | np.bool_):
        return "bool", int(argument)
    if isinstance(argument, float | np.floating):
        return "double", struct.unpack("q", struct.pack("d", float(argument)))[0]
    return "long long", int(argument)


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


def text_of(text: KernelText, launch: Launch) -> tuple[str, str]:
    """Return the name and the C++ of a kernel for such arguments, whatever device has them."""
    scratch = tuple(ARRAY_DTYPES[np.dtype(each.dtype)] for each in launch.scratch)
    source = source_of(text, tuple(map(_kind, launch.arguments)), scratch)
    return named(text.name, source), source


def loop_text_of(
    launches: Sequence[tuple[KernelText, Launch]], before: Sequence[tuple[KernelText, Launch]]
) -> tuple[str, str]:
    """Return the name and the C++ of kernels that run in turn, whatever device has the arrays."""
    calls = [(text, tuple(map(_kind, launch.arguments))) for text, launch in (*before, *launches)]
    return _named_loop(calls, len(before))


def _named_loop(calls: Sequence[Call], before: int) -> tuple[str, str]:
    source = loop_source_of(calls, before)
    return named("_".join(text.name for text, _ in calls), source), source


def _kind(argument: Any) -> str:
    if getattr(argument, "shape", ()):
        return _POINTERS[argument.dtype]
    return _described(argument)[0]


_POINTERS = {dtype: f"{text}*" for dtype, text in ARRAY_DTYPES.items()}
_WAIT = "all.wait();\n"
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
