"""Kernels that algorithms are known to ask for: compiled side by side once one is missing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from semira.algorithms.registry import REGISTRY
from semira.backends.cuda.jit import compile
from semira.backends.cuda.jit.known import Known, SideBySide, known_texts
from semira.base import settings
from semira.base.errors import JitError

HERE, THERE = Path("here"), Path("there")
SHORT = Known("short", "base/sums.cuh", "int", "")
LONG = Known("long", "semira.cuh", "int", "// " + "x" * compile.QUICK_FROM)


@pytest.mark.parametrize("dtype", ["BOOL", "INT64", "FP64"])
def test_texts_of_every_algorithm_are_known(dtype):
    assert all(known_texts(name, dtype) for name in REGISTRY)


def test_of_other_dtypes_only_texts_without_values_are_known():
    found = known_texts("jaccard_similarity", "FP32")
    assert found
    assert not any(text.source for text in found)
    assert known_texts("no algorithm", "FP64") == []


def test_what_threads_have_begun_is_waited_for_and_taken_once():
    begun, may_end = threading.Event(), threading.Event()

    def task():
        begun.set()
        assert may_end.wait(60)
        return "made"

    side: SideBySide[str] = SideBySide()
    side.begin({HERE: task, THERE: lambda: "not made"}, threads=1)
    assert begun.wait(60)
    # No thread has begun with it: whoever asks makes it.
    assert side.take(THERE) is None
    may_end.set()
    assert side.take(HERE) == "made"
    assert side.take(HERE) is None


def test_what_fails_fails_where_it_is_asked_for():
    begun = threading.Event()

    def task():
        begun.set()
        raise JitError("no")

    side: SideBySide[str] = SideBySide()
    side.begin({HERE: task}, threads=1)
    assert begun.wait(60)
    with pytest.raises(JitError, match="no"):
        side.take(HERE)


def test_a_forked_child_waits_for_no_thread(monkeypatch):
    begun, may_end = threading.Event(), threading.Event()

    def task():
        begun.set()
        assert may_end.wait(60)

    side: SideBySide[None] = SideBySide()
    side.begin({HERE: task}, threads=1)
    assert begun.wait(60)
    assert HERE in side
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: -1)
        assert HERE not in side
        assert side.take(HERE) is None
    may_end.set()


ENDING = """
import sys, threading
from pathlib import Path
from semira.backends.cuda.jit.known import SideBySide
begun = threading.Event()
def first():
    begun.set()
    threading.main_thread().join()
side = SideBySide()
side.begin({Path("a"): first, Path("b"): lambda: print("begun after the end")}, threads=1)
begun.wait()
"""


def test_a_process_that_ends_waits_for_what_has_begun_alone():
    ran = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """Names of kernels that were compiled; the known texts are two."""
    made: Counter[str] = Counter()

    def compile_source(source, name, arch, kind="cubin", hurry=None):
        del source, arch, kind, hurry
        made[name] += 1
        return compile.Compiled(name.encode(), "", was_cached=False)

    monkeypatch.setattr(compile, "compile_source", compile_source)
    monkeypatch.setattr(compile, "compiler_version", lambda: "none")
    known = {"bfs": [SHORT, LONG], "inner": [SHORT]}
    # Tests that ran before in this process may have announced algorithms.
    monkeypatch.setattr(compile, "_ahead", compile.new_ahead(lambda name, _: known[name]))
    monkeypatch.setattr(compile, "_quick", lambda *_: None)
    before = settings.override(cache_dir=tmp_path, threads=2, quick=True)
    yield made
    settings.restore(before)


def asked(text):
    return compile.compile_cached(text.source, text.name, "sm_90", text.offset_type, text.root)


def test_one_missing_kernel_lets_threads_compile_all(compiled):
    compile.expect("bfs", "FP64", is_small=True)
    assert not compiled
    assert asked(SHORT).code == b"short"
    assert asked(LONG).code == b"long"
    assert compiled == {"short": 1, "long": 1}
    assert asked(LONG).was_cached


def test_an_algorithm_knows_the_kernels_of_those_that_it_calls(compiled):
    compile.expect("bfs", "FP64", is_small=True)
    compile.expect("inner", "FP64", is_small=True)
    assert asked(SHORT).code == b"short"
    assert asked(LONG).code == b"long"
    assert compiled == {"short": 1, "long": 1}


def test_large_matrices_compile_long_programs_when_they_ask_for_them(compiled):
    compile.expect("bfs", "FP64", is_small=False)
    assert asked(SHORT).code == b"short"
    assert compiled == {"short": 1}


def test_one_processor_compiles_one_after_another(compiled):
    settings.override(threads=1)
    compile.expect("bfs", "FP64", is_small=True)
    assert asked(SHORT).code == b"short"
    assert compiled == {"short": 1}


def test_kernels_in_the_cache_are_not_compiled(compiled):
    asked(LONG)
    compile.expect("bfs", "FP64", is_small=True)
    assert asked(SHORT).code == b"short"
    assert compiled == {"short": 1, "long": 1}


def test_a_kernel_that_is_not_known_starts_nothing(compiled):
    compile.expect("bfs", "FP64", is_small=True)
    other = SHORT._replace(name="other", root="base/keys.cuh")
    assert asked(other).code == b"other"
    assert compiled == {"other": 1}
    assert asked(SHORT).code == b"short"
    assert asked(LONG).was_cached or compiled["long"] == 1


def test_a_quick_kernel_is_compiled_once_and_not_for_large_matrices(
    compiled, monkeypatch, tmp_path
):
    class Better:
        def wait(self):
            """Nothing to wait for: the other process has failed."""

    better = Better()
    better.path = tmp_path / "better.cubin"
    better.source, better.name, better.arch = "", "better", "sm_90"
    made = compile.Compiled(b"quick", "", was_cached=False, better=better)
    monkeypatch.setattr(compile, "_quick", lambda *_: made)
    for _ in range(2):
        assert (
            compile.compile_cached(LONG.source, "long", "sm_90", "int", may_be_quick=True) is made
        )
    assert not compiled
    assert asked(LONG).code == b"better"
    assert compiled == {"better": 1}
