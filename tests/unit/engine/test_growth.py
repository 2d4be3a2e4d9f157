"""A process that runs ever new programs and kernels holds a limited number of them."""

from __future__ import annotations

import gc
import linecache
import sys
import weakref
from collections import deque
from typing import Any

import numpy as np

import semira as gb
from semira.backends.cpu import cache
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compiler import machine
from semira.backends.cpu.inference import infer_dtype
from semira.base.recent import Recent
from semira.engine import remembered, run, warm
from semira.ops import user


def shortened(table: Recent, limit: int) -> Recent:
    return Recent(limit, table.dropped)


def test_a_thousand_programs_leave_a_limited_number(monkeypatch) -> None:
    limit = 100
    assert all(type(table) is Recent for table in (warm._known, run._prepared, remembered._kept))
    monkeypatch.setattr(warm, "_known", shortened(warm._known, limit))
    monkeypatch.setattr(run, "_prepared", shortened(run._prepared, limit))
    A = gb.Matrix.from_coo([0, 1], [0, 1], [1, 2], nrows=1000, ncols=1000)
    with gb.device("reference"):
        for offset in range(1000):
            assert A.diag(offset).nvals == (2 if offset == 0 else 0)
    assert len(warm._known) == len(run._prepared) == limit


def test_an_operator_without_a_name_goes_when_nobody_has_it() -> None:
    def made() -> Any:
        function = eval("lambda x: x - 7919")
        return user.make_operator("UnaryOp", function, None, infer_dtype, anonymous=True)

    operator = made()
    assert made() is operator
    name = operator.user.name
    assert user.function_named(name) is operator.user.frozen
    assert operator in user._anonymous.values()
    del operator
    gc.collect()
    assert name not in user._functions
    assert not any(known.user.name == name for known in user._anonymous.values())


def test_kernels_that_go_are_collected(monkeypatch) -> None:
    modules = shortened(cache._modules, 2)
    monkeypatch.setattr(cache, "_modules", modules)
    monkeypatch.setattr(cache, "_gone", deque(maxlen=1))
    compiled, held = [], []
    for number in range(6):
        kernels = moves(f"unused = np.frombuffer(bytes({8 * number + 8}))")
        assert moved(kernels, int) == [0, 1, 2, 0]
        compiled.append((kernels.__name__, weakref.ref(kernels.shift)))
        held = held or [kernels]
    del kernels
    gc.collect()
    names = [name for name, _ in compiled]
    assert [name in sys.modules for name in names] == [False] * 4 + [True] * 2
    assert [f"<{name}>" in linecache.cache for name in modules] == [True] * 2
    assert len(modules) == 2
    # One is held here, one may be running.
    assert [kernel() is not None for _, kernel in compiled] == [True, False, False, *[True] * 3]
    # What somebody has goes on working, for other types too, and is kept as if it were new.
    assert moved(held[0], int) == moved(held[0], float) == [0, 1, 2, 0]
    assert names[0] in sys.modules
    assert len(modules) == 2


def test_machine_code_that_goes_is_freed(monkeypatch) -> None:
    modules = shortened(cache._modules, 2)
    monkeypatch.setattr(cache, "_modules", modules)
    compiled, held = [], []
    for number in range(6):
        kernels = moves(f"unused = {number}")
        assert moved(kernels, int) == [0, 1, 2, 0]
        compiled.append(weakref.ref(kernels.shift))
        held = held or [kernels]
    del kernels
    gc.collect()
    assert [kernel() is not None for kernel in compiled] == [True, *[False] * 3, True, True]
    assert moved(held[0], int) == moved(held[0], float) == [0, 1, 2, 0]


def moves(line: str) -> Any:
    """Return the kernels that move entries, apart from others by a line that does nothing.

    Numba compiles them if the line makes a record.
    """
    header = Header(flags={"VALUES": True})
    header.parts["unused"] = line
    return cache.load("move", header, "unused")


def moved(kernels: Any, dtype: Any) -> list[Any]:
    values = np.arange(4).astype(dtype)
    kernels.shift(values, 0, 3, 1)
    return values.tolist()


def test_what_compiled_a_kernel_is_given_back() -> None:
    managers = machine.newpassmanagers
    for passes in (managers.ModulePassManager, managers.FunctionPassManager):
        assert passes._dispose is not machine.ffi.ObjectRef._dispose
    kernels = moves("unused = np.frombuffer(bytes(96))")
    assert moved(kernels, np.int16) == [0, 1, 2, 0]
    assert [made.type_annotation for made in kernels.shift.overloads.values()] == [None]
