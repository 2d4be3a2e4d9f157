"""Hot columns: what fits, who asks when, and what is generated; without a GPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.helpers.bfs_program import iso_graph
from tests.helpers.compiling import assert_all_compile
from tests.helpers.every import every
from tests.helpers.fake_cuda import FakeBuffer, FakeCuda, fake_cuda
from tests.helpers.numpy_shop import HostPrimitives, items
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc

from semira.backends.cuda import layout
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit.render import KERNELS
from semira.backends.cuda.lower import LaunchShape, lower_program
from semira.backends.cuda.lower.program import TILE_ROOM
from semira.backends.cuda.lower.variants import VariantPull
from semira.backends.cuda.runtime import objects
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.kernel_choice import LaunchFacts
from semira.backends.cuda.runtime.parts import MadeRows
from semira.backends.cuda.runtime.primitives import Module
from semira.base.dtypes import BOOL, FC32, FC64, FP32, FP64, INT8, INT16, INT32, INT64, DataType
from semira.base.errors import OutOfMemory
from semira.contract import Arg, Hints, Loop, Mask, Program, Slot, Statement
from semira.formats import VectorArrays
from semira.methods.hot_columns import cuda, table
from semira.methods.hot_columns.table import Hot, slots_that_fit, table_bytes
from semira.ops.registry import semiring
from semira.plan import plan_program

__all__ = ["fake_cuda"]

HOT = cuda.SHAPE
# These matrices say that their rows are short: what else such a one is asked is not of these tests.
ALWAYS = Hints(direction="pull", hot_columns=True, diagonals=False)
PULL = Hints(direction="pull", diagonals=False)
SIZE = 40


def program(name, dtype, hints=ALWAYS, *, mask=None, limit=False) -> Program:
    """Return w<mask> = A u, planned; in a loop to the limit in slot 4, or by itself."""
    ring = semiring[name].typed(dtype)
    slots = (
        Slot("vector", ring.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", INT64), *([Slot("scalar", INT64)] if limit else []),
    )  # fmt: skip
    statement = Statement("mxv", 0, (Arg(2), Arg(1)), ring, mask=mask, hints=hints)
    body = Loop(((statement,),), (None,), 4, explicit_limit=True) if limit else statement
    return plan_program(Program(slots, (body,)), CAPABILITIES)


# what fits -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("shared", "four", "eight"), [(228 << 10, 46_080, 23_552), (164 << 10, 30_208, 15_360)]
)
def test_a_table_leaves_memory_to_l1_and_the_program(shared, four, eight):
    assert (slots_that_fit(4, shared), slots_that_fit(8, shared)) == (four, eight)
    for width in (1, 2, 4, 8):
        count = slots_that_fit(width, shared)
        assert count % 32 == 0
        assert table_bytes(count, width) <= shared - (41 << 10)
        assert table_bytes(count + 1024, width) > shared - (41 << 10)


def test_no_table_fits_where_shared_memory_is_small():
    assert slots_that_fit(8, 32 << 10) == 0


def hot_of(given):
    """Return the pulls of a program that may have the variant."""
    return tuple(pull for pull in lower_program(given).variants if pull.variant == "hot_columns")


# what is generated ---------------------------------------------------------------------------
def test_two_kernels_have_one_table():
    for given in (program("plus_second", FP32), program("min_plus", INT64, limit=True)):
        plain, hot_one = lower_program(given), lower_program(given, HOT)
        assert plain.table.declaration() == hot_one.table.declaration()
        assert plain.variants == hot_one.variants
        assert "__launch_bounds__(1024, 1)" in hot_one.source
        assert "spmv_pull_merge<false, true>" in hot_one.source
        gathers = hot_one.source.index("gather_hot(")
        assert "barrier.wait();" in hot_one.source[gathers:].splitlines()[1]
        for word in ("gather_hot", "1024", "<false, true>"):
            assert word not in plain.source


@every(
    ("name", "dtype", "hints"),
    [
        ("plus_pair", INT64, ALWAYS), ("min_firsti", INT64, ALWAYS), ("max_secondj", INT64, ALWAYS),
        ("plus_first", FP64, ALWAYS), ("plus_times", FC64, ALWAYS),
        ("plus_times", FP32, Hints(direction="push", hot_columns=True)),
        ("plus_times", FP32, Hints(direction="pull", balance="warp", hot_columns=True)),
        ("plus_times", FP32, Hints(direction="pull", hot_columns=False)),
        ("any_second", FP32, ALWAYS),
    ],
)  # fmt: skip
def test_products_without_a_use_for_hot_columns_have_one_kernel(name, dtype, hints):
    assert hot_of(program(name, dtype, hints)) == ()


def test_what_reads_the_matrix_alone_is_not_hot():
    # mxv: the second operand is the vector's.
    assert hot_of(program("plus_second", FP32))
    assert not hot_of(program("plus_first", FP32))


def test_a_loop_that_always_pulls_counts_to_its_limit():
    (alone,) = hot_of(program("plus_second", FP32, PULL))
    (looped,) = hot_of(program("plus_second", FP32, PULL, limit=True))
    (switching,) = hot_of(program("plus_second", FP32, Hints(), limit=True))
    assert (alone.limits, looped.limits, switching.limits) == ((None,), (4,), (None,))
    assert (alone.slot, alone.orientation, alone.width) == (2, "csr", 4)


def test_two_products_over_a_matrix_ask_together():
    slots = (
        Slot("vector", FP64, "inout"), Slot("vector", FP32), Slot("matrix", BOOL),
        Slot("vector", FP32, "inout"), Slot("vector", FP64),
    )  # fmt: skip
    body = tuple(
        Statement("mxv", out, (Arg(2), Arg(u)), semiring["plus_second"].typed(dtype), hints=hints)
        for out, u, dtype, hints in ((3, 1, FP32, PULL), (0, 4, FP64, ALWAYS))
    )
    (pull,) = hot_of(plan_program(Program(slots, body), CAPABILITIES))
    assert pull.width == 8
    assert pull.limits == (None, None)
    assert pull.figures[0] == 0


def test_the_descriptor_has_words_for_hot_columns():
    assert layout.WORDS["MatrixDescriptor"] == 27
    header = (KERNELS / "common" / "matrix.cuh").read_text()
    found = re.search(r"struct CompressedDescriptor \{(.*?)\};", header, re.DOTALL)
    names = re.findall(r"(\w+)[,;]", found.group(1))
    assert names[-6:-2] == ["coded", "hot", "num_hot", "num_listed"]
    buffers = SimpleNamespace(handle=16, size=64), SimpleNamespace(handle=32, size=128)
    made = Hot(4, 7, 9, 0.5, *buffers)
    assert made.describe() == [32, 16, 7, 9]
    assert made.nbytes == 192
    assert Hot().describe() == [0, 0, 0, 0]


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_hot_kernels_compile_without_warning(arch):
    mask = Mask(3, structural=True, complement=False)
    rings = [
        ("plus_second", FP32), ("plus_times", FP64), ("min_plus", INT64), ("min_plus", INT32),
        ("lor_land", BOOL), ("plus_times", INT8), ("plus_times", INT16), ("plus_times", FC32),
    ]  # fmt: skip
    rings = rings if arch == "sm_90" else rings[::3]
    for masked, offset in enumerate(("int", "long long")):
        given = {
            f"{name} {dtype}": program(name, dtype, mask=(None, mask)[masked], limit=bool(masked))
            for name, dtype in rings[masked::2]
        }
        texts = {name: lower_program(each, HOT).source for name, each in given.items()}
        # A file that says what a template is cannot stand in the namespace of one text.
        plain = {name: texts.pop(name) for name in list(texts) if "#include" not in texts[name]}
        assert_all_compile(texts, arch, offset)
        assert_all_compile(plain, arch, offset)


# who asks, and when --------------------------------------------------------------------------
@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the next questions are answered with; the kernels that would find out do nothing."""
    given: list[Any] = []

    def built(*_: object) -> Hot | None:
        answer = given.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(table, "_built", built)
    # Of rows that are no longer a product alone needs no table.
    monkeypatch.setattr(cuda, "LONGEST_MIDDLING", 0)
    monkeypatch.setattr(objects.CudaMatrix, "knows_longest", lambda *_: True)
    monkeypatch.setattr(objects.CudaMatrix, "longest_line", lambda *_: 1)
    monkeypatch.setattr(Module, "launch_blocks", lambda *given, **how: None)
    return given


def copy_of(width: int, count: int = 32) -> Hot:
    """Return hot columns that no kernel has made."""
    listed = FakeBuffer(4 * count + table_bytes(count, width))
    return Hot(width, count, count, 0.9, listed, FakeBuffer(160))


class Runs:
    """Programs over one matrix that says it has so many entries."""

    def __init__(self, fake: FakeCuda, most: int = 10_000_000, lines: int = SIZE) -> None:
        self.fake = fake
        indptr = np.arange(lines + 1, dtype=np.int32)
        self.matrix = fake.backend.put(iso_graph(indptr, np.arange(lines, dtype=np.int32)))
        self.matrix.most, self.matrix.symmetric, self.lines = most, True, lines

    def prepare(self, given: Program, *numbers: int) -> Callable[[], list[str]]:
        """Return what runs a program; numbers are bound behind the vectors and the matrix."""
        executable = self.fake.backend.prepare(given)
        vectors = [self._vector(given.slots[slot].dtype) for slot in (0, 1, 3)]
        bound = [*vectors[:2], self.matrix, vectors[2], *map(np.int64, numbers)]
        return lambda: self.fake.run(executable, bound)

    def _vector(self, dtype: DataType) -> Any:
        values = np.ones(self.lines, dtype.np_type)
        indices = np.arange(self.lines, dtype=np.int32)
        return self.fake.backend.put(VectorArrays.sparse(self.lines, dtype, indices, values))

    @property
    def last(self) -> tuple[int, int]:
        """Threads and bytes of shared memory of the last launch."""
        launch = self.fake.driver.launches[-1]
        return launch.threads, launch.shared


def test_an_eager_product_asks_at_its_fourth_run(fake_cuda, answers):
    runs = Runs(fake_cuda)
    run = runs.prepare(program("plus_second", FP32, PULL))
    for _ in range(3):
        run()
        assert runs.last == (512, 0)
    answers.append(copy_of(4))
    run()
    assert runs.last == (1024, table_bytes(32, 4))
    assert run() == ["launch"]
    assert runs.last == (1024, table_bytes(32, 4))
    assert runs.matrix.memory_usage()["hot_columns"] == 160 + 128 + 144


def test_a_product_alone_asks_not_where_no_row_is_long(fake_cuda, answers, monkeypatch):
    monkeypatch.setattr(cuda, "LONGEST_MIDDLING", 1)
    runs = Runs(fake_cuda)
    run = runs.prepare(program("plus_second", FP32, PULL))
    for _ in range(5):
        run()
        assert runs.last == (512, 0)


def test_programs_share_what_a_matrix_knows(fake_cuda, answers):
    runs = Runs(fake_cuda)
    first = runs.prepare(program("plus_second", FP32, PULL))
    other = runs.prepare(program("min_second", INT32, PULL))
    first(), first(), first()
    answers.append(copy_of(4))
    other()
    assert runs.last[0] == 1024
    first()
    assert runs.last[0] == 1024
    assert not answers


def test_a_loop_asks_at_once_if_its_limit_is_high_enough(fake_cuda, answers):
    runs = Runs(fake_cuda)
    run = runs.prepare(program("plus_second", FP32, PULL, limit=True), 3)
    run()
    assert runs.last == (512, 0)
    answers.append(copy_of(4))
    run()
    assert runs.last[0] == 1024
    runs = Runs(fake_cuda)
    answers.append(copy_of(4))
    runs.prepare(program("plus_second", FP32, PULL, limit=True), 20)()
    assert runs.last[0] == 1024


def test_a_small_matrix_pays_nothing(fake_cuda, answers):
    runs = Runs(fake_cuda, 7_999_999)
    run = runs.prepare(program("plus_second", FP32, PULL, limit=True), 100)
    run()
    assert run() == ["launch"]
    assert runs.last == (512, 0)
    assert runs.matrix.companions.products == {}
    # Nor does one with short rows.
    runs = Runs(fake_cuda, 8_000_000, lines=1_000_001)
    run = runs.prepare(program("plus_second", FP32, PULL))
    run()
    assert run() == ["launch"]


def test_the_question_is_asked_once(fake_cuda, answers):
    runs = Runs(fake_cuda)
    run = runs.prepare(program("plus_second", FP32, PULL, limit=True), 100)
    answers.append(None)
    run()
    assert run() == ["launch"]
    runs.prepare(program("min_second", FP32, PULL, limit=True), 100)()
    assert runs.last == (512, 0)
    assert runs.matrix.memory_usage()["hot_columns"] == 0
    # Whoever asks for less may still have it.
    answers.append(copy_of(4))
    runs.prepare(program("min_second", FP32))()
    assert runs.last[0] == 1024


def test_wider_values_replace_the_copy_and_serve_narrower_ones(fake_cuda, answers):
    runs = Runs(fake_cuda)
    narrow = runs.prepare(program("plus_second", FP32))
    answers += [copy_of(4, 64), copy_of(8)]
    narrow()
    words = fake_cuda.table.copy()
    assert runs.last == (1024, table_bytes(64, 4))
    runs.prepare(program("plus_second", FP64))()
    assert runs.last == (1024, table_bytes(32, 8))
    # The first program's words named the copy that is gone.
    assert narrow() == ["launch"]
    assert runs.last == (1024, table_bytes(32, 4))
    assert not np.array_equal(fake_cuda.table, words)
    assert not answers


def test_a_copy_for_narrow_values_stays_where_wider_ones_get_none(fake_cuda, answers):
    runs = Runs(fake_cuda)
    answers += [copy_of(4), None]
    narrow = runs.prepare(program("plus_second", FP32))
    narrow()
    wide = runs.prepare(program("plus_second", FP64))
    wide()
    assert runs.last == (512, 0)
    narrow()
    assert runs.last[0] == 1024
    runs.prepare(program("min_second", FP64))()
    assert runs.last == (512, 0)


def test_short_memory_costs_the_copy_and_not_the_call(fake_cuda, answers, caplog):
    runs = Runs(fake_cuda)
    answers.append(OutOfMemory("9 bytes"))
    run = runs.prepare(program("plus_second", FP32))
    run()
    assert runs.last == (512, 0)
    assert "hot columns are left out: 9 bytes" in caplog.text
    assert run() == ["launch"]


def test_nothing_is_asked_while_the_stream_is_captured(fake_cuda, answers):
    runs = Runs(fake_cuda)
    run = runs.prepare(program("plus_second", FP32))
    fake_cuda.driver.captures = True
    run()
    assert runs.last == (512, 0)
    fake_cuda.driver.captures = False
    answers.append(copy_of(4))
    run()
    assert runs.last[0] == 1024


def test_a_new_matrix_in_its_place_is_asked_anew(fake_cuda, answers):
    runs = Runs(fake_cuda)
    run = runs.prepare(program("plus_second", FP32))
    answers += [copy_of(4), None]
    run()
    copied = runs.matrix.duplicate()
    assert copied.companions.of("hot_columns") == runs.matrix.companions.of("hot_columns")
    parts = runs.matrix.orientations["csr"]
    runs.matrix.take(MadeRows(parts, None, SIZE, True, SIZE, True, False))
    runs.matrix.symmetric = True
    assert (runs.matrix.companions.of("hot_columns"), runs.matrix.companions.products) == ({}, {})
    run()
    assert runs.last == (512, TILE_ROOM)
    runs.matrix.become(copied)
    run()
    assert runs.last[0] == 1024
    runs.matrix.release()
    assert runs.matrix.memory_usage()["hot_columns"] == 0


def test_a_kernel_that_does_not_fit_leaves_the_ordinary_one(fake_cuda, answers, monkeypatch):
    load = Runtime.load

    def refuse(runtime, code, name, entry, threads, shared=0):
        made = load(runtime, code, name, entry, threads, shared)
        return replace(made, fitting=0, shared=0) if shared else made

    monkeypatch.setattr(Runtime, "load", refuse)
    runs = Runs(fake_cuda)
    answers.append(copy_of(4))
    run = runs.prepare(program("plus_second", FP32))
    run()
    assert runs.last == (512, 0)
    assert run() == ["launch"]


# the copy ------------------------------------------------------------------------------------
class HotPrimitives(HostPrimitives):
    """What the kernels of hot columns compute, on the host."""

    def __init__(self) -> None:
        super().__init__()
        self.runtime.download = items

    def line_lengths(self, offset_type, indptr, count):
        dtype = {"int": np.int32, "long long": np.int64}[offset_type]
        return self.runtime.upload(np.diff(items(indptr, dtype, count + 1)).astype(np.int32))

    def count_indices(self, indices, nvals, count):
        found = np.bincount(items(indices, np.int32, nvals), minlength=count)
        return self.runtime.upload(found.astype(np.int32))

    def launch(self, offset_type, kernel, _, *given) -> None:
        assert offset_type == "int"
        getattr(self, kernel.removeprefix("semira_"))(*given)

    def count_hot(self, lengths, order, lines, count, cached, found):
        entries = items(lengths, np.int32, lines)[items(order, np.int64, lines)[::-1]]
        counted = entries[:count].sum(), entries[:cached].sum(), (entries != 0).sum()
        items(found, np.int64, 3)[:] = counted

    def count_near(self, indices, nvals, within, found):
        gaps = np.abs(np.diff(items(indices, np.int32, nvals)))
        items(found, np.int64, 1)[:] = (gaps < within).sum()

    def hot_slots(self, order, lines, count, listed, columns, slots):
        order, slots = items(order, np.int64, lines), items(slots, np.int32, lines)
        slots[:] = np.arange(lines, dtype=np.int32)
        first = order[::-1][:listed]
        ranks = np.arange(listed, dtype=np.int32)
        slots[first] = np.where(ranks < count, ~ranks, ranks)
        items(columns, np.int32, listed)[:] = first

    def recode(self, indices, nvals, slots, coded):
        slots = items(slots, np.int32, slots.size // 4)
        items(coded, np.int32, nvals)[:] = slots[items(indices, np.int32, nvals)]


def choose(runtime, matrix, share):
    """Return what a launch with one pull over rows, of values of 4 bytes, chooses."""
    figures = (0, 0.0, 0, share)
    pull = VariantPull("hot_columns", 0, "csr", figures, 4, reads=False, limits=(None,))
    return cuda.choose(LaunchFacts(runtime, [pull], [matrix], LaunchShape))


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("least", [0.0, 0.99])
def test_the_copy_names_the_most_frequent_columns(both, least, monkeypatch):
    primitives = HotPrimitives()
    runtime = primitives.runtime
    monkeypatch.setattr(table, "primitives_of", lambda _: primitives)
    monkeypatch.setattr(table, "module_of", lambda *_: primitives)
    monkeypatch.setattr(objects, "primitives_of", lambda _: primitives)
    monkeypatch.setattr(table, "STEP", 1)
    # Room for 100 columns of the 300.
    monkeypatch.setattr(runtime, "shared", (41 << 10) + 413, raising=False)
    monkeypatch.setattr(runtime, "is_capturing", lambda: False, raising=False)
    rng = np.random.default_rng(1)
    columns = (300 * rng.random(4000) ** 4).astype(np.int32)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(columns, minlength=300))))
    parts = {"csr": (None, runtime.upload(columns), None)}
    if both:
        parts["csc"] = (runtime.upload(offsets.astype(np.int32)), None, None)
    matrix = objects.CudaMatrix(runtime, 7, 300, 4000, FP32, True, False, parts, np.dtype(np.int32))
    shape, shared, is_open = choose(runtime, matrix, least)
    found = matrix.companions.get("hot_columns", "csr")
    assert not is_open
    assert (shape is None) == bool(least)
    if least:
        assert (shared, found.coded, found.refused) == (0, None, {(4, least)})
        return
    assert shared == table_bytes(100, 4)
    listed = items(found.columns, np.int32, 100)
    counts = np.bincount(columns, minlength=300)
    assert counts[listed].tolist() == sorted(counts.tolist(), reverse=True)[:100]
    assert found.share == counts[listed].sum() / 4000
    coded = items(found.coded, np.int32, 4000)
    assert np.array_equal(np.where(coded < 0, listed[np.clip(~coded, 0, 99)], coded), columns)
    assert np.array_equal(coded < 0, np.isin(columns, listed))
    # The list is padded to 16 bytes, then comes the table.
    assert found.columns.size >= 400 + table_bytes(100, 4)


@pytest.mark.parametrize(
    ("given", "ranked"),
    [
        ({}, True),
        ({"ORDERED_BYTES": 4 * 300 + 1}, False),
        ({"CACHED_BYTES": 4 * 20, "CACHED_SHARE": 0.9}, False),
        ({"NEAR": 301, "NEAR_SHARE": 0.9}, False),
    ],
)  # fmt: skip
def test_all_columns_are_ranked_where_the_cache_cannot_keep_the_vector(given, ranked, monkeypatch):
    primitives = HotPrimitives()
    runtime = primitives.runtime
    monkeypatch.setattr(table, "primitives_of", lambda _: primitives)
    monkeypatch.setattr(table, "module_of", lambda *_: primitives)
    monkeypatch.setattr(objects, "primitives_of", lambda _: primitives)
    rule = {"STEP": 1, "ORDERED_BYTES": 4 * 300, "CACHED_BYTES": 4 * 200, "NEAR": 2}
    rule |= {"CACHED_SHARE": 0.6} | given
    for name, value in rule.items():
        monkeypatch.setattr(table, name, value)
    monkeypatch.setattr(runtime, "shared", (41 << 10) + 413, raising=False)
    monkeypatch.setattr(runtime, "is_capturing", lambda: False, raising=False)
    rng = np.random.default_rng(1)
    columns = rng.permutation(300)[(300 * rng.random(4000) ** 4).astype(int)].astype(np.int32)
    parts = {"csr": (None, runtime.upload(columns), None)}
    matrix = objects.CudaMatrix(runtime, 7, 300, 4000, FP32, True, False, parts, np.dtype(np.int32))
    # A share that the first 100 columns do not have: only ranks of all columns pay.
    choose(runtime, matrix, 0.99)
    found = matrix.companions.get("hot_columns", "csr")
    if not ranked:
        assert found.coded is None
        return
    counts = np.bincount(columns, minlength=300)
    assert (found.count, found.listed) == (100, np.count_nonzero(counts))
    listed = items(found.columns, np.int32, found.listed)
    assert counts[listed].tolist() == sorted(counts[counts > 0].tolist(), reverse=True)
    coded = items(found.coded, np.int32, 4000)
    assert np.array_equal(listed[np.where(coded < 0, ~coded, coded)], columns)
    assert np.array_equal(coded < 0, np.isin(columns, listed[:100]))
    assert found.columns.size >= 4 * found.listed + table_bytes(found.listed, 4)
