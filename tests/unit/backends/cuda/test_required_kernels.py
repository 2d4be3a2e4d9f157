"""The list of kernels: it is whole and reads back; `make kernels` compiles it."""

from __future__ import annotations

import pytest
from tests.helpers import compile_kernels, kernels
from tests.helpers.program_text import HasNoText, from_line, to_line
from tests.unit.backends.cuda.test_compile import needs_nvrtc

import semira as gb
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit import compile
from semira.backends.cuda.jit.render import BASE, PROGRAM
from semira.base.dtypes import FP32
from semira.contract import Arg, IndexSpec, Loop, Mask, Program, Slot, Statement
from semira.contract.program import OPS
from semira.methods.sorted_push.cuda import ROOT
from semira.methods.sorted_push.sorts import KERNELS
from semira.ops.registry import binary, monoid, unary
from semira.plan import Facts, plan_program

#: Kernels the suite may ask for. Each drawn case adds some: draw fewer before raising this. Some
#: 200 are products by themselves in one of the ways that they may go, which run most often.
MOST_KERNELS = 2_750


def a_loop() -> Program:
    slots = (
        Slot("vector", FP32, "inout"), Slot("vector", FP32), Slot("scalar", FP32),
        Slot("index", gb.dtypes.INT64), Slot("vector", FP32, "temp", ((0, 0), 7)),
    )  # fmt: skip
    mask = Mask(1, structural=True, complement=True)
    body = (
        Statement("apply", 0, (Arg(1),), unary["sqrt"].typed(FP32), mask=mask, replace=True),
        Statement("scatter", 0, (Arg(1), Arg(1)), params=(("dup", monoid["min"].typed(FP32)),)),
        Statement("assign", 0, (Arg(2),), accum=binary["plus"].typed(FP32),
                  indices=(IndexSpec("range", 3),)),
    )  # fmt: skip
    return Program(slots, (Loop((body,), (None,), 2, explicit_limit=True),))


def test_programs_read_back_as_they_were_written():
    facts = Facts(frozenset({0}), frozenset({2}))
    assert from_line(to_line(a_loop(), facts)) == (a_loop(), facts)


def test_python_functions_have_no_text():
    grown = gb.unary.register_anonymous(lambda x: 3 * x + 1)
    slots = (Slot("vector", FP32, "inout"), Slot("vector", FP32))
    with pytest.raises(HasNoText):
        to_line(Program(slots, (Statement("apply", 0, (Arg(1),), grown[FP32]),)), Facts())


def test_the_list_is_there_and_not_too_long():
    of_programs = [each for each in kernels.required_kernels() if each.root not in BASE]
    assert 1_000 < len(of_programs) <= MOST_KERNELS


def test_every_kind_of_statement_is_in_the_list():
    found = {
        statement.op
        for program in kernels.listed_programs()
        for statement in program.body
        if isinstance(statement, Statement)
    }
    assert found == set(OPS)


def test_a_program_of_the_list_is_inside_and_another_is_not():
    recorder = kernels.Recorder()
    with kernels.watched(recorder) as asked:
        recorder.note(*from_line(min(kernels.listed_lines())))
        recorder.note(a_loop(), Facts())
    assert [one.source for one in asked] == [to_line(a_loop(), Facts())]
    assert kernels.outside(asked) == [to_line(a_loop(), Facts())]


def test_the_guard_lets_listed_programs_pass_only():
    guard = kernels.Guard()
    guard.note(*from_line(min(kernels.listed_lines())))
    with pytest.raises(kernels.NotListed, match="scatter"):
        guard.note(a_loop(), Facts())


def test_recording_sees_what_the_engine_plans(tmp_path):
    recorder = kernels.Recorder()
    facts = Facts(frozenset({0}))
    assert recorder.plan(a_loop(), CAPABILITIES, facts=facts) == plan_program(
        a_loop(), CAPABILITIES, facts=facts
    )
    path = tmp_path / "list.gz"
    recorder.write(path)
    first = path.read_bytes()
    recorder.write(path)
    assert path.read_bytes() == first
    assert list(recorder.lines) == [to_line(a_loop(), facts)]


@needs_nvrtc
def test_the_witness_sees_kernels_from_the_cache_too(tmp_path):
    from semira.base import settings

    source = 'extern "C" __global__ void probe(int* p) { *p = 1; }'
    before = settings.override(cache_dir=tmp_path)
    try:
        with kernels.watched(None) as asked:
            for _ in range(2):
                compile.compile_cached(source, "probe", "sm_90", "int")
    finally:
        settings.restore(before)
    assert asked == [kernels.Kernel(PROGRAM, "int", source)] * 2
    assert not compile.witnesses


@needs_nvrtc
def test_every_kernel_is_compiled_and_each_architecture_gets_some():
    listed = kernels.required_kernels()
    full = [one for batch in compile_kernels.chosen(listed, compile_kernels.FULL) for one in batch]
    assert sorted(map(id, full)) == sorted(map(id, listed))
    for arch in {*compile_kernels.ARCHITECTURES} - {compile_kernels.FULL}:
        some = [one for batch in compile_kernels.chosen(listed, arch) for one in batch]
        share = len(listed) / compile_kernels.SHARE
        assert share - compile_kernels.BATCH < len(some) < share + 2 * compile_kernels.BATCH
        assert {one.root for one in some} >= {kernels.PROGRAM, kernels.STAGED}


def test_kernels_with_hot_columns_are_compiled_too():
    found = kernels.hot_kernels()
    assert 15 < len(found) < 50
    assert all("gather_hot(" in one.source for one in found)
    assert any("while (" in one.source for one in found)
    assert not set(found) & set(kernels.required_kernels())


def test_kernels_for_large_matrices_are_compiled_too():
    found = kernels.gathering_kernels()
    assert 20 < len(found) < 120
    assert all("__launch_bounds__(512, 2)" in one.source for one in found)
    assert not set(found) & set(kernels.required_kernels())
    assert kernels.outside(found) == []


def test_kernels_that_read_rows_as_bits_are_compiled_too():
    found = kernels.diagonal_kernels()
    assert 15 < len(found) < 50
    assert all("_diagonals<" in one.source for one in found)
    assert not set(found) & {*kernels.required_kernels(), *kernels.gathering_kernels()}
    assert kernels.outside(found) == []


def test_pushes_that_list_their_products_are_compiled_too():
    found = kernels.merged_kernels()
    own = [one.source for one in found if one.root == ROOT]
    assert 20 < len(own) < 80
    for name in ("p_mark", "p_fold_items", "enter_heads", "gather_products<true>"):
        assert any(name in source for source in own)
    assert [one.offset_type for one in found if one.root == KERNELS] == ["int", "long long"]


@needs_nvrtc
def test_the_kernel_that_the_compiler_complains_of_is_named():
    good = kernels.Kernel(PROGRAM, "int", "__device__ int f() { return 1; }")
    warned = kernels.Kernel(PROGRAM, "int", "__device__ int f() { int unused = 1; return 2; }")
    (text,) = compile_kernels.complaints([good, warned], "sm_90")
    assert "unused" in text
