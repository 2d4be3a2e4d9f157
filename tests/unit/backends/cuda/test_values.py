"""Values of every kind: kernels compile for complex numbers and records, sums know their method."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.compiling import assert_all_compile, compile_only
from tests.helpers.every import every
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc
from tests.unit.backends.cuda.test_staged import needs_numba_cuda

import semira as gb
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit.accumulation import SWAPPED, accumulation
from semira.backends.cuda.jit.literals import literal
from semira.backends.cuda.jit.operators import operator_name, operator_struct
from semira.backends.cuda.jit.render import STAGED
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.runtime.scalars import scalar_image
from semira.backends.cuda.staged.statement_source import staged_source
from semira.base.dtypes import BOOL, FC32, FC64, FP32, FP64, INT8, INT64, lookup_dtype
from semira.contract import Arg, IndexSpec, Mask, Program, Slot, Statement
from semira.ops.registry import NUMPY, binary, indexunary, monoid, semiring, unary
from semira.plan import plan_program

#: 12 bytes without alignment of their own, and 24 with a gap.
SHORT = lookup_dtype([("x", np.int32), ("y", np.float64)])
LONG = lookup_dtype(np.dtype([("f", np.bool_), ("k", np.int64), ("at", np.float32, 2)], align=True))

PLAIN = Mask(4, structural=True, complement=False)


def larger(left, right):
    return left if left["k"] > right["k"] else right


def weigh(record, number):
    return record["k"] * number


def record_semiring():
    op = gb.binary.register_anonymous(larger, is_udt=True)
    of = gb.monoid.register_anonymous(op, (False, -(10**9), [0, 0]))
    return gb.semiring.register_anonymous(of, gb.binary.first)


def planned(kind, dtype, body):
    slots = (
        Slot(kind, dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("scalar", dtype), Slot("vector" if kind != "matrix" else kind, BOOL),
        Slot("vector", INT64), Slot("index", INT64), Slot("scalar", INT64),
    )  # fmt: skip
    return plan_program(Program(slots, tuple(body)), CAPABILITIES)


def vector_body(ring, equal):
    whole, part = (IndexSpec("all"),), (IndexSpec("list", 6),)
    add = ring.monoid
    return (
        Statement("vxm", 0, (Arg(1), Arg(2)), ring, mask=PLAIN, accum=add.op),
        Statement("mxv", 0, (Arg(2), Arg(1)), ring),
        Statement("ewise_add", 0, (Arg(0), Arg(1)), add, accum=add.op),
        Statement("apply", 0, (Arg(1), Arg(3)), binary["second"].typed(ring.type)),
        Statement("select", 0, (Arg(0), Arg(3)), equal),
        Statement("assign", 0, (Arg(3),), mask=PLAIN, indices=part),
        Statement("assign", 0, (Arg(1),), indices=whole),
        Statement("scatter", 0, (Arg(1), Arg(5)), params=(("dup", add),)),
        Statement("gather", 0, (Arg(1), Arg(5))),
        Statement("extract", 0, (Arg(1),), indices=part),
        Statement("reduce_rows", 0, (Arg(2),), add),
        Statement("reduce", 3, (Arg(0),), add, accum=add.op),
        Statement("select", 3, (Arg(3), Arg(3)), equal),
        Statement("reduce", 3, (Arg(2),), add, params=(("identity", True),)),
    )


def check(source, arch):
    compiled = compile_only(source, arch)
    assert compiled.log.strip("\0 \n") == ""


@needs_nvrtc
@pytest.mark.parametrize(
    ("dtype", "name", "arch"),
    [
        (FC32, "plus_times", "sm_80"),
        (FC64, "times_plus", "sm_100"),
    ],
)
def test_statements_on_complex_vectors_compile(dtype, name, arch):
    body = vector_body(semiring[name].typed(dtype), indexunary["valueeq"].typed(dtype))
    check(lower_program(planned("vector", dtype, body)).source, arch)


@needs_nvrtc
@needs_numba_cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_statements_on_records_compile(arch):
    body = vector_body(record_semiring().typed(LONG), indexunary["valueeq"].typed(LONG))
    check(lower_program(planned("vector", LONG, body)).source, arch)


def matrix_statements(ring, dtype):
    rows, both = (IndexSpec("list", 6), IndexSpec("all")), (Arg(2), Arg(2, transposed=True))
    equal = indexunary["valuene"].typed(dtype)
    yield Statement("mxm", 0, both, ring, mask=PLAIN)
    yield Statement("mxm", 0, both, ring, accum=ring.monoid.op)
    yield Statement("ewise_add", 0, both, ring.monoid)
    yield Statement("select", 0, (Arg(2), Arg(3)), equal)
    yield Statement("extract", 0, (Arg(2),), indices=rows)
    yield Statement("assign", 0, (Arg(3),), indices=rows, mask=PLAIN)


@needs_nvrtc
@needs_numba_cuda
@pytest.mark.parametrize(("dtype", "arch"), [(FC32, "sm_80"), (FC64, "sm_90"), (LONG, "sm_100")])
def test_statements_on_matrices_compile(dtype, arch):
    ring = record_semiring() if dtype is LONG else semiring["times_plus"]
    texts = {}
    for number, statement in enumerate(matrix_statements(ring.typed(dtype), dtype)):
        made = planned("matrix", dtype, [statement])
        texts[number, statement.op] = staged_source(made, made.body[0])
    assert_all_compile(texts, arch, root=STAGED)


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_records_are_moved_picked_and_compared(arch):
    ops = [binary[n].typed(SHORT) for n in ("first", "second", "any", "eq", "ne", "pair")]
    ops += [unary[n].typed(SHORT) for n in ("identity", "one", "positioni")]
    ops += [indexunary["valueeq"].typed(SHORT), indexunary["rowindex"].typed(SHORT)]
    ops += [binary["first"].typed_pair(SHORT, FP64), binary["second"].typed_pair(FP64, SHORT)]
    names = {operator_name(op): op for op in ops}
    assert len(names) == len(ops)
    operands = {"BinaryOp": "in<{0}>(p), in<{0}>(p + 1), 0, 0, 0", "UnaryOp": "in<{0}>(p), 0, 0"}
    uses = [
        f"keep({name}::apply({operands[op.opclass].format(name)}));"
        for name, op in names.items()
        if op.opclass in operands
    ]
    source = "\n".join([
        *map(operator_struct, ops),
        "template <class Op> __device__ auto in(const Record<12, 4>* p) {",
        "  return cast<typename Op::T>(*p);\n}",
        "__device__ char kept[64];",
        "template <class Z> __device__ void keep(Z z) { memcpy(kept, &z, sizeof(z)); }",
        "__global__ void all(const Record<12, 4>* p) {", *uses, "}",
    ])  # fmt: skip
    check(source, arch)


@needs_nvrtc
@needs_numba_cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_python_functions_of_complex_numbers_records_and_positions_are_linked(arch):
    def near(x, ix, jx, y, iy, jy, theta):
        return x + y if abs(ix - jy) <= theta else x

    turned = gb.unary.register_anonymous(lambda x: x * 1j + 2)
    weighed = gb.binary.register_anonymous(weigh, is_udt=True)
    located = gb.indexbinary.register_anonymous(near)
    product = gb.semiring.register_anonymous(gb.monoid.plus, located(-3))
    cases = [
        (FC64, "apply", (Arg(1),), turned.typed(FC64)),
        (FP64, "ewise_mult", (Arg(1), Arg(0)), weighed.typed_pair(LONG, FP64)),
        (FP32, "ewise_add", (Arg(0), Arg(1)), located(3)["FP32"]),
        (FP32, "vxm", (Arg(1), Arg(2)), product["FP32"]),
    ]
    programs = {}
    for dtype, op, args, operator in cases:
        given = LONG if operator.type is LONG else dtype
        slots = (Slot("vector", dtype, "inout"), Slot("vector", given), Slot("matrix", given))
        program = Program(slots, (Statement(op, 0, args, operator),))
        programs[op] = plan_program(program, CAPABILITIES)
    assert_all_compile(programs, arch)


def test_operators_that_differ_in_a_sign_have_names_that_differ():
    located = gb.indexbinary.register_anonymous(lambda x, ix, jx, y, iy, jy, t: x + y * t)
    names = {operator_name(located(theta)["INT64"]) for theta in (3, -3)}
    names |= {operator_name(gb.binary.isclose(*given)["FP64"]) for given in ((1, 0.1), (1.0, 1))}
    assert len(names) == 4


MONOIDS = [
    row.typed(dtype)
    for row in (*monoid.values(), *NUMPY["Monoid"].values())
    for dtype in row.types
]  # fmt: skip
EDGES = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3.5, -1e300, 1e-300]


METHODS = ("any", "sum", "least", "greatest", "swap", "lock")
RECORD = Path(__file__).parents[4] / "docs" / "decisions" / "0011-gpu-values.md"


def test_gaps_in_a_record_are_no_part_of_its_text():
    raw = np.zeros(2, LONG.np_type)
    raw.view(np.uint8).reshape(2, -1)[1, 1:8] = 77
    raw["k"] = 5
    first, second = (literal(LONG, value) for value in raw)
    assert raw[0].tobytes() != raw[1].tobytes()
    assert first == second == "Record<24, 8>{{0ull, 5ull, 0ull}}"


def edge_values(dtype):
    if dtype.is_complex:
        return [dtype.scalar(complex(x, y)) for x, y in itertools.product(EDGES, EDGES)]
    if dtype.is_float:
        return [dtype.scalar(x) for x in EDGES]
    limits = {0, 1, int(dtype.smallest), int(dtype.largest), int(dtype.largest) // 3}
    return [dtype.scalar(x) for x in sorted(limits)]


@every("typed", MONOIDS, ids=lambda typed: typed.key)
def test_a_first_value_added_to_the_identity_comes_out_as_it_is(typed):
    how = accumulation(typed)
    if how.method in ("any", "lock"):
        return
    with np.errstate(all="ignore"):
        for value in edge_values(typed.type):
            got = typed.op.scalar_function(how.identity, value, 0, 0, 0)
            same_sign = not typed.type.is_float or np.signbit(got) == np.signbit(value)
            exact = typed.name not in ("numpy.logaddexp", "numpy.logaddexp2")
            assert np.array_equal(got, value, equal_nan=typed.type.kind in "FC")
            assert same_sign or np.isnan(value) or not exact


@pytest.mark.parametrize(
    ("name", "dtype", "identity"),
    [("plus", "FP64", 0), ("min", "FP32", np.inf), ("max", "FP64", -np.inf), ("times", "FC64", 1),
     ("numpy.gcd", "INT64", 0), ("numpy.hypot", "FP64", 0)],
)  # fmt: skip
def test_a_monoid_made_of_one_of_our_operators_adds_up_like_ours(name, dtype, identity):
    op, ours = (
        functools.reduce(getattr, name.split("."), table) for table in (gb.binary, gb.monoid)
    )
    theirs = gb.monoid.register_anonymous(op, identity)[dtype]
    told, known = accumulation(theirs), accumulation(ours[dtype])
    assert told.method == known.method
    assert np.array_equal(told.identity, known.identity, equal_nan=True)


def test_the_table_in_the_docs_says_what_the_code_does():
    told = {}
    for line in RECORD.read_text().splitlines():
        cells = [cell.split() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3 and cells[2][0] in METHODS:
            told |= dict.fromkeys(itertools.product(cells[0], cells[1]), cells[2][0])
    assert told == {(typed.name, typed.type.name): accumulation(typed).method for typed in MONOIDS}


def test_large_values_take_locks_and_the_rest_atomics():
    methods = {typed.key: accumulation(typed).method for typed in MONOIDS}
    assert methods["Monoid.plus[FC64]"] == "sum"
    assert methods["Monoid.times[FC64]"] == methods["Monoid.times[FC32]"] == "lock"
    assert methods["Monoid.numpy.maximum[FC64]"] == "lock"
    assert (methods["Monoid.min[FP32]"], methods["Monoid.max[INT64]"]) == ("least", "greatest")
    assert methods["Monoid.min[INT8]"] == methods["Monoid.plus[INT8]"] == "swap"
    for typed in MONOIDS:
        assert methods[typed.key] in ("any", "sum", "lock") or typed.type.itemsize in SWAPPED


@pytest.mark.parametrize("dtype", [FP32, FP64])
def test_every_number_wins_against_the_bits_of_an_extreme_identity(dtype):
    # As `hardware_extreme` compares: at or above zero as signed integers, below as unsigned ones.
    numbers = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf], dtype.array_dtype)
    bits = f"i{dtype.itemsize}"
    for name, wins in (("min", np.less), ("max", np.greater)):
        at_rest = np.asarray(accumulation(monoid[name].typed(dtype)).identity)
        assert np.isnan(at_rest)
        for number in numbers:
            if number.view(bits) >= 0:
                assert wins(number.view(bits), at_rest.view(bits))
            else:
                assert not wins(number.view(bits.replace("i", "u")),
                                at_rest.view(bits.replace("i", "u")))  # fmt: skip


def test_records_take_locks():
    ring = record_semiring().typed(LONG)
    assert accumulation(ring.monoid).method == "lock"


@pytest.mark.parametrize("dtype", [BOOL, INT8, FP32, FC32, FC64, SHORT, LONG])
def test_a_cell_holds_the_bytes_of_its_value(dtype):
    value = dtype.scalar(1)
    words = np.frombuffer(scalar_image(dtype, value), np.int64)
    assert len(words) == -(-dtype.itemsize // 8) + 1
    assert words[-1] == 1
    held = words.view(np.uint8)[: dtype.itemsize].view(dtype.array_dtype)[0]
    assert held == value
    assert not any(scalar_image(dtype, None))
