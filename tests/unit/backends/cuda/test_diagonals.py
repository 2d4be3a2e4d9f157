"""Rows as bits: who asks when, what is generated, and what the host makes; without a GPU."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.compiling import assert_all_compile, compile_only
from tests.helpers.numpy_shop import HostRuntime, items
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit.render import KERNELS
from semira.backends.cuda.lower import LaunchShape, lower_program
from semira.backends.cuda.lower.variants import VariantPull
from semira.backends.cuda.runtime.kernel_choice import LaunchFacts
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.base.dtypes import BOOL, FC64, FP32, FP64, INT8, INT32, INT64
from semira.base.errors import OutOfMemory
from semira.contract import Arg, Hints, Loop, Mask, Program, Slot, Statement
from semira.methods.diagonals import bits, cuda
from semira.methods.diagonals.bits import Diagonals, copy_bytes
from semira.ops.registry import semiring
from semira.plan import plan_program

PULL = Hints(direction="pull")
SHAPES = [replace(LaunchShape.for_short_rows(lanes), variant="diagonals") for lanes in (1, 2)]
ROWS = 70


def program(name, dtype, hints=PULL, *, mask=None, limit=False, op="mxv") -> Program:
    """Return w<mask> = A u or u A, planned; in a loop to the limit in slot 4, or by itself."""
    ring = semiring[name].typed(dtype)
    slots = (
        Slot("vector", ring.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", INT64), *([Slot("scalar", INT64)] if limit else []),
    )  # fmt: skip
    args = (Arg(2), Arg(1)) if op == "mxv" else (Arg(1), Arg(2))
    statement = Statement(op, 0, args, ring, mask=mask, hints=hints)
    body = Loop(((statement,),), (None,), 4, explicit_limit=True) if limit else statement
    return plan_program(Program(slots, (body,)), CAPABILITIES)


def bits_of(given):
    """Return the pulls of a program that may have the variant."""
    return tuple(pull for pull in lower_program(given).variants if pull.variant == "diagonals")


# what is generated ---------------------------------------------------------------------------
@pytest.mark.parametrize("shape", SHAPES)
def test_kernels_of_one_program_have_one_table(shape):
    for given in (program("plus_second", FP32), program("min_second", INT64, limit=True)):
        plain, short = lower_program(given), lower_program(given, replace(shape, variant=""))
        found = lower_program(given, shape)
        assert plain.table.declaration() == found.table.declaration()
        assert plain.variants == found.variants
        assert bits_of(given)
        assert f"spmv_pull_diagonals<{shape.short}>" in found.source
        assert "spmv_pull_short" not in found.source
        assert "diagonals<" not in plain.source + short.source


def test_what_is_joined_walks_bits_too():
    """In a loop the statements behind a pull take its rows over."""
    ring = semiring["plus_second"].typed(FP32)
    slots = (
        Slot("vector", FP32, "inout"), Slot("vector", FP32, "inout"), Slot("matrix", BOOL),
        Slot("scalar", INT64),
    )  # fmt: skip
    plus = ring.monoid.op
    body = (
        Statement("mxv", 0, (Arg(2), Arg(1)), ring, accum=plus, hints=PULL),
        Statement("copy", 1, (Arg(0),)),
    )
    given = plan_program(
        Program(slots, (Loop((body,), (None,), 3, explicit_limit=True),)), CAPABILITIES
    )
    for shape in SHAPES:
        text = lower_program(given, shape).source
        assert f"sum_diagonals<{shape.short}, true>(team, gather.of_full()" in text
        assert re.search(rf"sum_diagonals<{shape.short}>\(team, gather, .*, done\);", text)
        assert "short_rows<" not in text


@pytest.mark.parametrize(
    ("name", "dtype", "hints"),
    [
        ("plus_pair", INT64, PULL), ("any_second", FP32, PULL), ("plus_second", FC64, Hints(
            direction="pull", balance="warp")),
        ("plus_second", FP32, Hints(direction="push")),
        ("plus_second", FP32, Hints(direction="pull", diagonals=False)),
    ],
)  # fmt: skip
def test_products_without_a_use_for_bits_have_one_kernel(name, dtype, hints):
    given = program(name, dtype, hints)
    assert bits_of(given) == ()
    texts = {lower_program(given, s).source for s in (SHAPES[0], LaunchShape.for_short_rows(1))}
    assert len(texts) == 1


def test_what_is_noted_for_the_host():
    (alone,) = bits_of(program("plus_second", FP32))
    (looped,) = bits_of(program("plus_second", FP32, limit=True))
    (switching,) = bits_of(program("plus_second", FP32, Hints(), limit=True))
    assert alone == replace(pull_of(2, "csr", 4, False, (None,)), alone=True)
    assert (looped.limits, switching.limits) == ((4,), (None,))
    # What is read of the matrix depends on the side on which it stands.
    for op, reading, orientation in (("mxv", "plus_first", "csr"), ("vxm", "plus_second", "csc")):
        (pull,) = bits_of(program(reading, FP32, op=op))
        assert (pull.reads, pull.orientation) == (True, orientation)
    both = alone.joined(replace(alone, figures=(0,), reads=True, limits=(4,)))
    assert both == replace(pull_of(2, "csr", 0, True, (None, 4)), alone=True)


def test_host_and_kernels_agree():
    header = (Path(bits.__file__).parent / "kernels" / "bits.cuh").read_text()
    assert f"kMostDiagonals = {bits.MOST}, kNarrowDiagonals = {bits.NARROW};" in header
    header = (KERNELS / "common" / "matrix.cuh").read_text()
    found = re.search(r"struct CompressedDescriptor \{(.*?)\};", header, re.DOTALL)
    assert re.findall(r"(\w+)[,;]", found.group(1))[-2:] == ["diagonals", "num_diagonals"]
    made = Diagonals((-1, 1), SimpleNamespace(handle=64, size=192))
    assert (made.describe(), made.nbytes) == ([64, 2], 192)
    assert (Diagonals().describe(), Diagonals().nbytes) == ([0, 0], 0)


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_kernels_compile_without_warning(arch):
    mask = Mask(3, structural=True, complement=False)
    rings = [
        ("plus_second", FP32), ("plus_second", FP64), ("min_second", INT32), ("plus_times", FC64),
        ("max_secondi", INT64), ("lor_land", BOOL), ("times_second", INT8),
    ]  # fmt: skip
    rings = rings if arch == "sm_90" else rings[::3]
    for wide, offset in enumerate(("int", "long long")):
        texts = {}
        for number, (name, dtype) in enumerate(rings):
            given = program(name, dtype, mask=(None, mask)[number % 2], limit=number % 3 == 0)
            texts[name, dtype] = lower_program(given, SHAPES[(number + wide) % 2]).source
        assert_all_compile(texts, arch, offset)
        assert compile_only("", arch, offset, bits.MAKE).log.strip("\0 \n") == ""


# who asks, and when --------------------------------------------------------------------------
class Module:
    """What the kernels compute, on the host."""

    def __init__(self) -> None:
        self.started: list[str] = []

    def launch(self, offset_type, kernel, count, indptr, indices, rows, *more) -> None:
        self.started.append(kernel)
        offsets = items(indptr, {"int": np.int32, "long long": np.int64}[offset_type], rows + 1)
        owners = np.repeat(np.arange(rows), np.diff(offsets))
        found = items(indices, np.int32, offsets[-1]) - owners
        assert count == rows
        if kernel == "semira_distances":
            names = np.unique(found)
            place = items(more[0], np.int32, bits.MOST + 1)
            place[: len(names[: bits.MOST])] = names[: bits.MOST][::-1]
            if len(names) > bits.MOST:
                place[bits.MOST] = 0
            return
        assert kernel == "semira_diagonals"
        most, made = more
        names = items(made, np.int32, bits.MOST)
        assert not names[most:].any()
        dtype, padded = (np.uint8, np.uint32)[most > bits.NARROW], -(-rows // 32) * 32
        marks = items(made, np.uint8, made.size)[4 * bits.MOST :].view(dtype)
        assert len(marks) == padded
        marks[:] = 0
        np.bitwise_or.at(marks, owners, (1 << np.searchsorted(names[:most], found)).astype(dtype))


def downloaded(place, dtype, count, at=0):
    """Return items of a buffer from a byte on."""
    kind = np.dtype(dtype)
    first = at // kind.itemsize
    return items(place, kind.type, first + count)[first:].copy()


def pull_of(slot, side, products, reads, limits):
    """Return a pull that may read rows as bits."""
    return VariantPull("diagonals", slot, side, (products,), 4, reads, limits)


def choose(runtime, pulls, things):
    """Return whether a launch of the shape for short rows reads bits, and whether it may later."""
    shape = LaunchShape.for_short_rows(1)
    found = cuda.choose(LaunchFacts(runtime, pulls, things, lambda: shape))
    assert found.shape in (None, replace(shape, variant="diagonals"))
    assert found.shared is None
    return found.shape is not None, found.is_open


class Host:
    """A runtime whose kernels run on the host."""

    def __init__(self, monkeypatch) -> None:
        self.runtime, self.module = HostRuntime(), Module()
        self.captures = False
        self.runtime.is_capturing = lambda: self.captures
        self.runtime.download = downloaded
        monkeypatch.setattr(bits, "module_of", lambda *_: self.module)

    def matrix(self, distances, *, iso=True, symmetric=False, wide=False, rows=ROWS) -> CudaMatrix:
        """Return a square matrix of such rows."""
        columns = np.arange(rows)[:, None] + np.array(distances, np.int64).reshape(1, -1)
        there = (columns >= 0) & (columns < rows)
        dtype = np.dtype(np.int64 if wide else np.int32)
        offsets = np.append(0, np.cumsum(there.sum(axis=1))).astype(dtype)
        parts = [self.runtime.upload(p) for p in (offsets, columns[there].astype(np.int32))]
        held = dict.fromkeys(("csr", "csc"), (*parts, None))
        return CudaMatrix(
            self.runtime, rows, rows, int(offsets[-1]), FP32, iso, symmetric, held, dtype
        )

    def choose(self, matrix, *, products=0, reads=False, side="csr", limits=(None,), things=()):
        """Return what a run with one pull finds out."""
        return choose(self.runtime, [pull_of(0, side, products, reads, limits)], [matrix, *things])


@pytest.fixture
def host(monkeypatch) -> Host:
    return Host(monkeypatch)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("distances", [(0,), (-9, -1, 1, 9), (-3, *range(20, 28)), range(-16, 16)])
def test_the_copy(host, distances, wide):
    matrix = host.matrix(distances, wide=wide)
    assert host.choose(matrix) == (True, False)
    found = matrix.companions.get("diagonals", "csr")
    assert found.distances == tuple(distances)
    assert found.made.size == copy_bytes(ROWS, len(distances))
    assert matrix.memory_usage()["diagonals"] == found.made.size
    assert host.module.started == ["semira_distances", "semira_diagonals"]
    assert host.choose(matrix) == (True, False)
    assert len(host.module.started) == 2


@pytest.mark.parametrize("distances", [(), range(-17, 17)])
def test_what_is_refused_is_refused_for_good(host, distances):
    matrix = host.matrix(distances)
    stamp = matrix.stamp
    for _ in range(2):
        assert host.choose(matrix) == (False, False)
        assert host.module.started == ["semira_distances"]
    assert matrix.memory_usage()["diagonals"] == 0
    assert matrix.stamp != stamp
    assert host.choose(matrix, products=100) == (False, False)


def test_diagonals_must_be_few_for_the_entries(host):
    matrix = host.matrix((-1, 1, 30, 40))
    matrix.most = ROWS - 1
    assert host.choose(matrix) == (False, False)
    matrix = host.matrix((-1, 1, 30, 40))
    matrix.most = ROWS
    assert host.choose(matrix) == (True, False)


@pytest.mark.parametrize("wide", [False, True])
def test_a_bound_is_not_taken_for_entries(host, wide):
    matrix = host.matrix((-1, 1, 99, -99), rows=100, wide=wide)
    assert matrix.most == 200
    matrix.most, matrix.is_exact = 10_000, False
    stray = host.matrix(tuple(range(85, 99)), rows=100, wide=wide)
    assert 4 * stray.most < 14 * 100
    stray.most, stray.is_exact = 10_000, False
    assert (host.choose(matrix), host.choose(stray)) == ((True, False), (False, False))
    assert (matrix.is_exact, stray.is_exact) == (False, False)


def test_the_fourth_product_asks_and_a_long_loop_at_once(host):
    matrix = host.matrix((1,))
    for _ in range(3):
        assert host.choose(matrix, products=4) == (False, True)
    assert host.choose(matrix, products=4) == (True, False)
    limit = SimpleNamespace(has=True, cell=None, word=20)
    assert host.choose(host.matrix((1,)), products=4, limits=(1,), things=[limit]) == (True, False)


def test_nothing_is_asked_while_a_graph_is_captured(host):
    matrix = host.matrix((1,))
    host.captures = True
    assert host.choose(matrix) == (False, True)
    assert host.module.started == []
    host.captures = False
    assert host.choose(matrix) == (True, False)
    host.captures = True
    assert host.choose(matrix) == (True, False)


def test_values_that_are_read_must_be_one(host):
    for iso in (False, True):
        matrix = host.matrix((1,), iso=iso)
        assert host.choose(matrix, reads=True) == (iso, False)
        assert bool(host.module.started) == iso


def test_short_memory_is_told(host, monkeypatch, caplog):
    def refuse(*_):
        raise OutOfMemory("9 bytes")

    monkeypatch.setattr(bits, "require_spare", refuse)
    matrix = host.matrix((1,))
    assert host.choose(matrix) == (False, False)
    assert "rows are not kept as bits: 9 bytes" in caplog.text
    assert host.choose(matrix) == (False, False)


def test_all_pulls_have_copies_or_none(host):
    first, second, refused = (host.matrix(each) for each in ((1,), (2,), ()))
    pulls = [pull_of(slot, "csr", 0, False, (None,)) for slot in (0, 1)]
    assert choose(host.runtime, pulls, [first, second]) == (True, False)
    assert choose(host.runtime, pulls, [refused, host.matrix((3,))]) == (False, False)
    # Nor is one kept that nobody could read beside another, or asked for while that one is early.
    other, refused = host.matrix((3,)), host.matrix(())
    assert choose(host.runtime, pulls, [other, refused]) == (False, False)
    assert other.memory_usage()["diagonals"] == 0
    late = [pulls[0], pull_of(1, "csr", 4, False, (None,))]
    both, started = [host.matrix((5,)), host.matrix((6,))], len(host.module.started)
    for _ in range(3):
        assert choose(host.runtime, late, both) == (False, True)
    assert len(host.module.started) == started
    assert choose(host.runtime, late, both) == (True, False)
    # Where one is known to be refused nobody looks at another.
    started = len(host.module.started)
    assert choose(host.runtime, pulls, [host.matrix((4,)), refused]) == (False, False)
    assert len(host.module.started) == started


def test_orientations_of_a_symmetric_matrix_share_a_copy(host):
    matrix = host.matrix((-1, 1), symmetric=True)
    pulls = [pull_of(0, side, 0, False, (None,)) for side in ("csr", "csc")]
    assert choose(host.runtime, pulls, [matrix]) == (True, False)
    assert len(matrix.companions.of("diagonals")) == 1
    assert matrix.companion("diagonals", "csc") is matrix.companion("diagonals", "csr")
    other = host.matrix((-1, 1))
    assert choose(host.runtime, pulls, [other]) == (True, False)
    assert len(other.companions.of("diagonals")) == 2


def test_copies_and_what_replaces_a_matrix(host):
    matrix = host.matrix((1,))
    host.choose(matrix)
    other = matrix.duplicate()
    assert other.companions.of("diagonals") == matrix.companions.of("diagonals")
    matrix.release()
    assert matrix.companions.of("diagonals") == {}
    again = host.matrix((2,))
    again.become(other)
    assert again.companion("diagonals", "csr").distances == (1,)
