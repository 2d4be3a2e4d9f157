"""The folder of compiled kernels, and what an executable remembers."""

from __future__ import annotations

import os

from semira.backends.cuda.jit import cache
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.runtime.executable import CudaExecutable
from semira.base import settings
from semira.base.dtypes import FP64
from semira.contract import Arg, Program, Slot, Statement

#: What makes a file of 1,000 bytes, with the checksum.
CODE_BYTES = 968


def filled(folder, count):
    """Write files of 1,000 bytes, used one second after the other, the first one longest ago."""
    paths = [folder / f"kernel-{number}.cubin" for number in range(count)]
    for number, path in enumerate(paths):
        cache.store(path, bytes(CODE_BYTES))
        assert path.stat().st_size == 1000
        os.utime(path, (number, number))
    return paths


def test_kernels_not_used_for_longest_go_first(tmp_path):
    paths = filled(tmp_path, 5)
    assert cache.load(paths[0]) == bytes(CODE_BYTES)
    cache.drop_oldest(tmp_path, 3000)
    assert [path.exists() for path in paths] == [True, False, False, True, True]


def test_no_limit_keeps_all(tmp_path):
    paths = filled(tmp_path, 5)
    cache.drop_oldest(tmp_path, 0)
    assert all(path.exists() for path in paths)


def test_a_new_kernel_makes_room(tmp_path):
    paths = filled(tmp_path, 3)
    before = settings.override(cache_mib=1)
    try:
        cache.store(tmp_path / "new.cubin", bytes(2**20 - 1500))
    finally:
        settings.restore(before)
    assert [path.exists() for path in paths] == [False, False, True]
    assert (tmp_path / "new.cubin").exists()


def test_sizes_that_were_checked_do_not_grow_without_end():
    slots = Slot("vector", FP64), Slot("vector", FP64, "output")
    program = Program(slots, (Statement("copy", 1, (Arg(0),)),))
    checked = CudaExecutable(program, lower_program(program), "copy").checked
    for number in range(1000):
        checked[(number,), (number,)] = None
        assert ((number,), (number,)) in checked
    assert len(checked) <= 256
