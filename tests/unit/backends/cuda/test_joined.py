"""Which pulls run inside of the phase behind them: bodies turned around, their text and notes."""

from __future__ import annotations

import inspect
import re

import pytest
from tests.helpers.compiling import FULL, assert_all_compile, compile_apart, compile_only
from tests.unit.backends.cuda.test_compile import needs_nvrtc

import semira as gb
from semira.backends.cuda.backend import phases_of
from semira.backends.cuda.jit.render import KERNELS
from semira.backends.cuda.lower import LaunchShape, lower_program
from semira.contract import Loop, LoopPhases, Program, barriers_in, phases_in
from semira.engine.explain import plan_for

PULL = {"direction": "pull"}


def recorded(body) -> Program:
    """Return the program of a loop whose `body` gets a matrix and vectors u, v, w, z, ..."""
    with gb.device("reference"), gb.tracing() as traced:
        A = gb.io.read("kron:4").dup("FP32")
        wanted = len(inspect.signature(body).parameters) - 1
        vectors = [gb.Vector.from_scalar(float(k), A.nrows, dtype="FP32") for k in range(wanted)]
        gb.repeat(lambda: body(A, *vectors), max_iterations=2)
    (program,) = (p for p in traced.programs if any(isinstance(item, Loop) for item in p.body))
    return plan_for(program, "cuda")


def accumulated(A, u, v, w, z) -> None:
    v(accum=gb.binary.plus, **PULL) << A.mxv(u, "plus_times")


def anew(A, u, v, w, z) -> None:
    w << v
    accumulated(A, u, v, w, z)
    u << v.ewise_mult(w, gb.binary.times)


def counted(A, u, v, w, z) -> None:
    w << v
    v(accum=gb.binary.plus, **PULL) << A.mxv(u, "plus_pair")
    u << v.ewise_mult(w, gb.binary.times)


def elsewhere(A, u, v, w, z) -> None:
    w << v
    accumulated(A, u, v, w, z)
    z << v.ewise_mult(w, gb.binary.times)


def masked(A, u, v, w, z) -> None:
    w << v
    v(z.S, accum=gb.binary.plus, **PULL) << A.mxv(u, "plus_times")
    u << v.ewise_mult(w, gb.binary.times)


def partly(A, u, v, w, z) -> None:
    w << v
    accumulated(A, u, v, w, z)
    u(z.S) << v


def twice(A, u, v, w, z) -> None:
    anew(A, u, v, w, z)
    z << A.mxv(u, "plus_times").new(**PULL)
    u << z


def shut(A, u, v, w, z) -> None:
    w << v
    v(z.V, accum=gb.binary.plus, **PULL) << A.mxv(u, "plus_times")
    z << v


def pushed(A, u, v, w, z) -> None:
    w << v
    v(accum=gb.binary.plus) << A.mxv(u, "plus_times")
    u << v.ewise_mult(w, gb.binary.times)


def after_another(A, u, v, w, z) -> None:
    z << A.mxv(w, "plus_times").new(**PULL)
    w << v
    accumulated(A, u, v, w, z)
    u << v.ewise_mult(w, gb.binary.times)


def chained(A, u, v, w, z) -> None:
    for _ in range(2):
        for x, y in ((u, v), (v, w), (w, u)):
            z << 1
            z(accum=gb.binary.plus, **PULL) << A.mxv(x, "min_plus")
            y << z.apply(gb.binary.times, right=0.5)


def behind_a_search(A, u, v, w, z, seen, front) -> None:
    def search() -> None:
        seen(front.S) << 3
        front(~seen.S, replace=True) << front.vxm(A, "any_first")

    gb.repeat(search, max_iterations=6)
    for x, total, y in ((u, v, w), (w, z, u)):
        total << 7
        total(accum=gb.binary.plus, **PULL) << A.mxv(x, "min_plus")
        y << total.apply(gb.binary.plus, right=1)


def is_joined(program: Program, **shape) -> bool:
    source = lower_program(program, **shape).source
    return re.search("(sum|count)_(all|short)_rows<", source) is not None


@pytest.mark.parametrize("body", [accumulated, anew, counted, elsewhere, masked])
def test_a_pull_joins_the_phase_that_takes_its_result(body):
    program = recorded(body)
    source = lower_program(program).source
    assert is_joined(program)
    # Nothing is left of its own phase.
    assert re.search("spmv_pull_(tiles|lengths)<", source) is None
    assert source.count("barrier.wait()") == 2
    (loop,) = (step for step in phases_of(program) if isinstance(step, LoopPhases))
    assert (phases_in(loop.bodies[0]), barriers_in(loop.bodies[0])) == (1, 1)
    assert phases_in(loop.bodies[0], conditional=True) == 0


def test_what_a_walk_over_an_operand_without_gaps_counts_is_counted_once():
    once, each = lower_program(recorded(anew)).source, lower_program(recorded(masked)).source
    (number,) = re.findall(r"same(\d+) = known\1 && gather.present == nullptr;", once)
    assert f"if (!same{number}) now{number} = last_of(" in once
    assert once.count(f"if (same{number}) tally{number} = Tally{{}};") == 1
    assert "known" not in each


def test_lengths_of_rows_go_to_the_phase_that_takes_them():
    source = lower_program(recorded(counted)).source
    assert "count_all_rows<" in source
    assert "sum_full_rows<" not in source
    short = lower_program(recorded(counted), LaunchShape.for_short_rows(2)).source
    assert "count_short_rows<2>(" in short


def test_an_operand_that_is_made_anew_gets_the_other_plane_and_leaves_an_empty_one():
    program = recorded(anew)
    lowered = lower_program(program)
    (operand,) = re.findall(r"v(\d+)\.turn_over\(\)", lowered.source)
    assert int(operand) in lowered.swapped
    assert f"store_behind(team, v{operand}.spare" in lowered.source
    end = lowered.source[lowered.source.index("  run();") :]
    assert f"if (behind{operand}) wipe_spare(team, v{operand});" in end
    assert end.index("wipe_spare") < end.index("barrier.wait()")
    assert "turn_over" not in lower_program(recorded(elsewhere)).source


@pytest.mark.parametrize("body", [partly, twice, shut, pushed, after_another])
def test_a_pull_keeps_its_phase_where_somebody_would_notice(body):
    """Operand or mask change in place, another method may run, others wait for its barrier."""
    assert not is_joined(recorded(body))


@pytest.mark.parametrize(
    "shape", [LaunchShape(threads=1024, variant="hot_columns"), LaunchShape.for_many_gathers()]
)
def test_kernels_of_few_registers_keep_the_phases_apart(shape):
    assert is_joined(recorded(anew))
    assert not is_joined(recorded(anew), shape=shape)


@pytest.mark.parametrize("lanes", [1, 2])
def test_short_rows_need_few_registers(lanes):
    lowered = lower_program(recorded(anew), LaunchShape.for_short_rows(lanes))
    assert f"sum_short_rows<{lanes}>(" in lowered.source
    assert lowered.room == 0


def test_rows_are_kept_for_one_walk_of_a_kernel():
    """More would not fit the shared memory of a block."""
    source = lower_program(recorded(chained)).source
    assert source.count("sum_full_rows<") > 2
    assert source.count("__shared__ KeptRows ") == 1
    assert source.count("&has_rows") == 1


def test_blocks_that_wait_for_one_keep_their_own_rows():
    source = lower_program(recorded(behind_a_search)).source
    begin = source.index("struct Alike {")
    assert "KeptRows" not in source[begin : source.index("};", begin)]
    assert "__shared__ KeptRows " in source


def measured(A, u, v, w, z) -> None:
    w << v
    w(accum=gb.binary.plus, **PULL) << A.mxv(u, "plus_times")
    moved = w.ewise_mult(z, gb.binary.minus).new()
    z << w
    u << moved.ewise_mult(z, gb.binary.times)


def lowered_min(A, u, v, w, z) -> None:
    w << v
    w(accum=gb.binary.plus, **PULL) << A.mxv(u, "plus_times")
    z << z.ewise_mult(w, gb.binary.min)
    u << z.ewise_mult(w, gb.binary.times)


def test_a_value_that_is_read_and_replaced_has_arrived_before_it_is_stored():
    """What is stored says so itself where it is computed from what was read."""
    replaced = r"fetch_replaced\(c_v(\d+), v\1\.here, i\)"
    found = re.findall(replaced, lower_program(recorded(measured)).source)
    assert len(set(found)) == 1
    assert not re.findall(replaced, lower_program(recorded(lowered_min)).source)
    cells = (KERNELS / "ewise" / "cells.cuh").read_text()
    stored = cells[cells.index("void store_word(") :].split("\n}\n")[0]
    assert "in_global(plane.values)[i] = once_arrived(cell.values.value, cell.before);" in stored


@needs_nvrtc
@pytest.mark.parametrize("offset", ["int", "long long"])
def test_they_compile_without_a_warning(offset):
    bodies = (anew, behind_a_search, counted, masked, measured)
    assert_all_compile({body.__name__: recorded(body) for body in bodies}, "sm_90", offset)


@needs_nvrtc
def test_a_chain_compiles_without_a_warning():
    # To machine code it takes 24 s; wide offsets are what the compiler once refused.
    compiled = (compile_apart if FULL else compile_only)(recorded(chained), "sm_90", "long long")
    assert compiled.log.strip("\0 \n") == ""
