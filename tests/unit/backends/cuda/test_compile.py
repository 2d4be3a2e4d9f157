"""Every program the skeleton can run compiles and links without a GPU, and without a warning."""

from __future__ import annotations

import pytest
from tests.helpers.bfs_program import bfs_program
from tests.helpers.compiling import FULL, assert_all_compile, compile_only

from semira.backends.cuda import layout
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit import cache
from semira.backends.cuda.jit.compile import compile_cached, compiler_version
from semira.base import settings
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, UINT8
from semira.base.errors import DeviceUnavailable, JitError
from semira.contract import Arg, IndexSpec, Mask, Program, Slot, Statement
from semira.ops.registry import binary, indexunary, monoid, semiring, unary
from semira.plan import plan_program


def has_nvrtc() -> bool:
    try:
        return bool(compiler_version())
    except DeviceUnavailable:
        return False


needs_nvrtc = pytest.mark.skipif(
    not has_nvrtc(), reason="NVRTC is not installed (pip install 'semira[test]')"
)

#: One unless all are asked for: `make kernels` compiles for the others as well.
ARCHITECTURES = ["sm_80", "sm_90", "sm_100"] if FULL else ["sm_90"]


def product(name, dtype, mask, *, op="vxm", out=None, accum=None, replace=False):
    """One product w<mask, replace> accum= u (+).(*) A, planned."""
    typed = semiring[name].typed(dtype)
    slots = (
        Slot("vector", out or typed.return_type, "inout"),
        Slot("vector", dtype),
        Slot("matrix", dtype),
        Slot("vector", INT64),
    )
    args = (Arg(1), Arg(2)) if op == "vxm" else (Arg(2), Arg(1))
    body = (Statement(op, 0, args, typed, mask=mask, accum=accum, replace=replace),)
    return plan_program(Program(slots, body), CAPABILITIES)


STRUCTURE = Mask(3, structural=True, complement=False)
NOT_STRUCTURE = Mask(3, structural=True, complement=True)
VALUE = Mask(3, structural=False, complement=False)
NOT_VALUE = Mask(3, structural=False, complement=True)

PRODUCTS = {
    "any_pair-bool": product("any_pair", BOOL, NOT_STRUCTURE, replace=True),
    "any_secondi": product("any_secondi", INT64, NOT_VALUE, replace=True),
    "lor_land-bool": product("lor_land", BOOL, VALUE),
    "min_plus-fp32": product("min_plus", FP32, None, accum=binary["min"].typed(FP32)),
    "min_plus-int64": product("min_plus", INT64, STRUCTURE, replace=True),
    "max_times-int8": product("max_times", INT8, NOT_VALUE),
    "plus_times-fp64": product("plus_times", FP64, None, op="mxv"),
    "plus_second-fp32": product("plus_second", FP32, STRUCTURE, op="mxv", out=FP64),
    "plus_pair-int32": product("plus_pair", INT32, VALUE, op="mxv"),
    "times_plus-uint8": product("times_plus", UINT8, None),
}


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_bfs_compiles_without_warning(arch):
    compiled = compile_only(bfs_program(CAPABILITIES), arch)
    assert compiled.log.strip("\0 \n") == ""


@needs_nvrtc
def test_a_table_too_long_for_a_parameter_compiles_as_a_pointer(monkeypatch):
    monkeypatch.setattr(layout, "MOST_PARAMETER_BYTES", 0)
    compiled = compile_only(bfs_program(CAPABILITIES), "sm_90")
    assert compiled.log.strip("\0 \n") == ""


@needs_nvrtc
def test_products_compile_without_warning():
    for offset, wide in (("int", False), ("long long", True)):
        given = {name: each for name, each in PRODUCTS.items() if name.endswith("fp64") is wide}
        assert_all_compile(given, "sm_90", offset)


def all_operators():
    """Every built-in operator at every dtype it takes."""
    for row in (row for named in (unary, binary, indexunary) for row in named.values()):
        for dtype in row.types:
            yield row.typed(dtype)


@needs_nvrtc
def test_every_operator_has_cuda_text_that_compiles():
    from semira.backends.cuda.jit.operators import operator_struct

    structs = dict.fromkeys(operator_struct(op) for op in all_operators())
    compiled = compile_only("\n".join(structs), "sm_80")
    assert len(structs) > 600
    assert compiled.log.strip("\0 \n") == ""


@needs_nvrtc
def test_every_monoid_compiles_in_push_pull_and_reduce():
    from semira.backends.cuda.jit.operators import monoid_struct, operator_struct

    text, uses = {}, []
    for row in monoid.values():
        for dtype in row.types:
            typed = row.typed(dtype)
            text[typed.op.key] = operator_struct(typed.op)
            text[typed.key] = monoid_struct(typed)
            name = typed.key.replace(".", "_").replace("[", "_").replace("]", "")
            place = f"static_cast<{typed.type.cuda_type}*>(p)"
            uses.append(f"atomic_accumulate<{name}>({place}, {name}::identity());")
    body = "\n".join(uses)
    source = "\n".join(text.values()) + f"\n__global__ void uses(void* p) {{\n{body}\n}}\n"
    assert compile_only(source, "sm_90").log.strip("\0 \n") == ""


@needs_nvrtc
def test_elementwise_reduce_and_scalars_compile_in_one_program():
    slots = (
        Slot("vector", FP32, "inout"), Slot("vector", FP32), Slot("vector", INT32),
        Slot("vector", INT64), Slot("scalar", FP64, "output"), Slot("scalar", INT64),
        Slot("vector", FP32, "temp", ((0, 0),)),
    )  # fmt: skip
    everything = (IndexSpec("all"),)
    body = (
        Statement("ewise_mult", 6, (Arg(1), Arg(2)), binary["times"].typed(FP64),
                  params=(("new", True),)),
        Statement("ewise_add", 0, (Arg(6), Arg(1)), binary["minus"].typed(FP32), mask=VALUE,
                  accum=binary["plus"].typed(FP32)),
        Statement("apply", 0, (Arg(0),), unary["sqrt"].typed(FP32), mask=NOT_VALUE, replace=True),
        Statement("apply", 0, (Arg(0), Arg(5)), binary["plus"].typed(FP32)),
        Statement("apply", 0, (Arg(0), Arg(5)), indexunary["rowindex"].typed(FP32)),
        Statement("select", 0, (Arg(0), Arg(5)), indexunary["valuegt"].typed(FP32)),
        Statement("assign", 0, (Arg(2),), mask=STRUCTURE, indices=everything),
        Statement("reduce", 4, (Arg(0),), monoid["plus"].typed(FP32),
                  accum=binary["plus"].typed(FP64)),
    )  # fmt: skip
    program = plan_program(Program(slots, body), CAPABILITIES)
    assert compile_only(program, "sm_90").log.strip("\0 \n") == ""


@needs_nvrtc
def test_a_broken_operator_is_a_jit_error_with_the_compilers_log():
    with pytest.raises(JitError, match="identifier"):
        compile_only("__device__ int f() { return no_such_thing; }", "sm_90")


@needs_nvrtc
def test_second_time_comes_from_the_cache_and_no_compile_forbids_the_first(tmp_path):
    source = 'extern "C" __global__ void probe(int* p) { *p = 1; }'
    before = settings.override(cache_dir=tmp_path, no_compile=True)
    try:
        with pytest.raises(JitError, match="SEMIRA_NO_COMPILE"):
            compile_cached(source, "probe", "sm_90", "int")
        settings.override(no_compile=False)
        first = compile_cached(source, "probe", "sm_90", "int")
        settings.override(no_compile=True)
        second = compile_cached(source, "probe", "sm_90", "int")
    finally:
        settings.restore(before)
    assert (first.was_cached, second.was_cached) == (False, True)
    assert first.code == second.code
    assert [path.suffix for path in (tmp_path / "cuda").iterdir()] == [".cubin"]


def test_a_cache_that_cannot_be_written_is_only_a_warning(tmp_path, caplog):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with caplog.at_level("WARNING", logger="semira"):
        cache.store(blocked / "kernel.cubin", b"code")
    assert "SEMIRA_CACHE_DIR" in caplog.text
