"""Kernels that are hardly optimised until a process has compiled them for good."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from tests.helpers.recorded_loops import looping_program

from semira.backends.cuda.jit import apart, compile, into_cache
from semira.backends.cuda.lower import LaunchShape, lower_program
from semira.backends.cuda.runtime.kernels import Kernels
from semira.base import settings
from semira.base.errors import DeviceUnavailable, JitError

LONG = "// " + "x" * compile.QUICK_FROM


class Compiler:
    """Takes the place of NVRTC."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []
        self.fails = False

    def __call__(self, source, name, arch, kind="cubin", hurry=None):
        del source, arch, kind
        self.asked.append(hurry)
        if hurry and self.fails:
            raise JitError("too much shared memory")
        return compile.Compiled(f"{name} {hurry}".encode(), "", was_cached=False)


class Process:
    """Takes the place of the process that compiles for good."""

    def __init__(self) -> None:
        self.has_ended = False

    def poll(self) -> int | None:
        return 0 if self.has_ended else None

    def wait(self) -> int:
        self.has_ended = True
        return 0


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    made = Compiler()
    made.process = Process()
    monkeypatch.setattr(compile, "compile_source", made)
    monkeypatch.setattr(compile, "compiler_version", lambda: "none")
    monkeypatch.setattr(apart.subprocess, "Popen", lambda *_, **__: made.process)
    before = settings.override(cache_dir=tmp_path, quick=True)
    yield made
    settings.restore(before)


def asked(text=LONG, **options):
    return compile.compile_cached(text, "probe", "sm_90", "int", **options)


def test_a_kernel_is_quick_at_first_and_kept_as_it_is_for_good(compiler, tmp_path):
    quick = asked(may_be_quick=True)
    assert (quick.code, compiler.asked, quick.better.is_done()) == (b"probe max", ["max"], False)
    assert not list(tmp_path.rglob("*.cubin"))
    # What the other process is given, and what it does.
    (given,) = tmp_path.rglob("*.cu")
    into_cache.main(given, "probe", "sm_90", quick.better.path)
    assert not given.exists()
    assert compile.finish(quick.better) == b"probe None"
    again = asked(may_be_quick=True)
    assert (again.code, again.was_cached, again.better) == (b"probe None", True, None)


def test_what_the_other_process_failed_at_is_compiled_here(compiler):
    quick = asked(may_be_quick=True)
    assert compile.finish(quick.better) == b"probe None"
    assert compiler.asked == ["max", None]
    assert asked().was_cached


def test_what_has_no_quick_kernel_is_compiled_for_good(compiler, monkeypatch):
    compiler.fails = True
    found = asked(may_be_quick=True)
    assert (found.code, found.better) == (b"probe None", None)
    # Nor where no process starts, or the cache cannot be written.
    for name, broken in (("Popen", OSError), ("Popen", PermissionError)):

        def refuse(*_, broken=broken, **__):
            raise broken

        monkeypatch.setattr(apart.subprocess, name, refuse)
        found = asked(LONG + broken.__name__, may_be_quick=True)
        assert (found.code, found.better) == (b"probe None", None)
    monkeypatch.setattr(sys, "executable", None)
    assert asked(LONG + "none", may_be_quick=True).better is None


def test_who_measures_waits_for_all_that_was_begun(compiler):
    asked(may_be_quick=True)
    apart.wait_for_all()
    assert compiler.process.has_ended


def test_which_texts_may_be_quick(compiler):
    del compiler
    assert compile.can_be_quick(LONG)
    assert not compile.can_be_quick("// short")
    pytest.importorskip("numba")
    assert not compile.can_be_quick('// link ["f", "FP64", []]\n' + LONG)
    settings.override(quick=False)
    assert not compile.can_be_quick(LONG)


class Gpu:
    """As much of a runtime as loading takes: two threads, which need a kilobyte each."""

    shared, multiprocessors = 1 << 20, 1
    device = SimpleNamespace(properties=SimpleNamespace(max_threads_per_multiprocessor=2))

    def __init__(self, free: int) -> None:
        self._driver = SimpleNamespace(cuMemGetInfo=lambda: (0, free, 1 << 30))

    def compile_program(self, source, name, offset_type, *, may_be_quick):
        return compile.compile_cached(source, name, "sm_90", offset_type, may_be_quick=may_be_quick)

    def load(self, code: bytes, **_: object) -> SimpleNamespace:
        attributes = SimpleNamespace(local_size_bytes=1 << 10)
        return SimpleNamespace(code=code, loaded=SimpleNamespace(attributes=attributes))


class Loading:
    """A GPU, and the kernels of a program, of which one is asked for."""

    def __init__(self, free: int = 1 << 20) -> None:
        lowered = SimpleNamespace(shape=LaunchShape(), source=LONG, room=0, kept_room=0)
        self.gpu = Gpu(free)
        self.kernels = Kernels(None, lowered, "probe")

    def __call__(self, *, is_small: bool) -> tuple[bytes, bool]:
        key = "int", LaunchShape()
        kernel, is_open = self.kernels.get(self.gpu, key, is_small=is_small)
        return kernel.code, is_open


def test_the_better_kernel_takes_its_place_when_it_is_there(compiler):
    load = Loading()
    assert load(is_small=True) == load(is_small=True) == (b"probe max", True)
    compiler.process.has_ended = True
    assert load(is_small=True) == load(is_small=True) == (b"probe None", False)
    assert load.kernels.code_bytes == len("probe max" + "probe None")


def test_a_launch_of_much_work_waits_for_the_better_one(compiler):
    load = Loading()
    assert load(is_small=True) == (b"probe max", True)
    assert load(is_small=False) == (b"probe None", False)
    assert compiler.process.has_ended


def test_no_kernel_is_quick_where_much_is_to_do_or_memory_is_short(compiler):
    assert Loading()(is_small=False) == (b"probe None", False)
    assert compiler.asked == [None]
    settings.override(cache_dir=settings.settings().cache_dir / "other")
    assert Loading(free=4 << 10)(is_small=True) == (b"probe None", False)
    assert compiler.asked == [None, "max", None]


def _has_nvrtc() -> bool:
    try:
        return bool(compile.compiler_version())
    except DeviceUnavailable:
        return False


#: Begins to compile a text for good, and ends.
BEGINS = """
import sys
from pathlib import Path
from semira.backends.cuda.jit import apart
assert apart.begin(Path(sys.argv[1]).read_text(), "probe", "sm_90", Path(sys.argv[2])) is not None
"""


@pytest.mark.skipif(not _has_nvrtc(), reason="NVRTC is not installed (pip install 'semira[test]')")
def test_a_process_ends_although_another_one_compiles_for_it(tmp_path):
    text, path = tmp_path / "text.cu", tmp_path / "cache" / "probe-2.cubin"
    generated = lower_program(looping_program("bfs", parents=False)).source
    text.write_text(compile.render_source(generated, "int"))
    command = [sys.executable, "-c", BEGINS, str(text), str(path)]
    ran = subprocess.run(
        command, env=os.environ, capture_output=True, text=True, timeout=100, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert not path.exists()
    end = time.monotonic() + 100
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    assert compile.cache.load(path)
    assert [each.name for each in path.parent.iterdir()] == [path.name]
