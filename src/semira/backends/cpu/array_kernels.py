"""Kernels over arrays, compiled; threads share the items."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from semira.backends.cpu import cache, threads, workspace
from semira.backends.cpu.codegen import Header, source_of
from semira.backends.cpu.compiler.kernels import Kernel
from semira.backends.renumbering.positions import names_in
from semira.contract.array_kernels import KernelText, Launch
from semira.ops import helpers

#: Entries from which on a kernel that can stop leaves the main thread free to hear of Ctrl-C: some
#: tens of milliseconds. Handing it to another thread takes up to 0.1.
_LONG = 1 << 22


@functools.cache
def _header(text: KernelText) -> Header:
    """Return the definitions of the helpers of operators that a kernel calls."""
    header = Header()
    used = names_in(source_of(text.place))
    for name in helpers.NAMES:
        if name in used:
            header.helper(name)
    return header


@functools.cache
def _function(text: KernelText) -> Any:
    """Return the compiled function of a kernel: rendering its module takes 10 ms."""
    return getattr(cache.load(text.place, _header(text), text.name), text.name)


def again(function: Any, items: int, work: Any, arguments: tuple[Any, ...]) -> bool:
    """Run a kernel on arguments of the types of one of its last calls, if one thread should.

    Returns whether it did.
    """
    if items > 1:
        if getattr(work, "ndim", 0):
            if len(work) != items + 1:
                return False
            work = int(work[-1] - work[0]) + items
        if threads.num_chunks(max(int(work), items)) > 1:
            return False
    return items > 0 and bool(function.again(0, items, *arguments))


def run(text: KernelText, launch: Launch) -> Any:
    """Run a kernel over chunks of its items; raises JitError if it does not compile.

    Returns `again` for its function; None if that was not compiled here.
    """
    function = _function(text)
    needed = launch.on_host()
    if launch.items == 1 and not needed and not launch.stops:
        function(0, 1, *launch.arguments)
        return _again_of(function)
    if not getattr(launch.work, "ndim", 0):
        total = max(int(launch.work), launch.items)
        bounds = threads.even_bounds(launch.items, min(threads.num_chunks(total), launch.items))
    else:
        total = int(launch.work[-1] - launch.work[0]) + launch.items
        bounds = threads.bounds_by_work(launch.work, threads.num_chunks(total))
    stop = (np.zeros(1, np.int64),) if launch.stops else ()

    def part_of(_part: int, low: int, high: int) -> None:
        borrowed = [workspace.buffer(each.dtype, each.length) for each in needed]
        for array, each in zip(borrowed, needed, strict=True):
            if each.fill is not None:
                array[:] = each.fill
        function(low, high, *launch.arguments, *borrowed, *stop)
        for array in borrowed:
            workspace.give_buffer(array)

    if stop and total >= _LONG:
        threads.run_watched(part_of, bounds, stop[0])
    else:
        threads.run_chunks(part_of, bounds)
    return _again_of(function)


def bind(text: KernelText, launch: Launch) -> Callable[[], Any]:
    """Return what runs a kernel over its items; its function is called as it is if it has one."""
    function = _function(text)
    if launch.items == 1 and not launch.stops and not launch.on_host():
        if isinstance(function, Kernel):
            return function.bound(0, 1, *launch.arguments)
        return functools.partial(function, 0, 1, *launch.arguments)
    return functools.partial(run, text, launch)


def _again_of(function: Any) -> Any:
    return functools.partial(again, function) if hasattr(function, "again") else None
