"""Kronecker products made on the GPU, against the host's."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.backends.cuda.backend import CudaBackend
from semira.backends.registry import backend_for
from semira.exceptions import OutOfMemory

pytestmark = pytest.mark.gpu


def drawn(shape: tuple[int, int], dtype: str, seed: int, density: float = 0.3) -> gb.Matrix:
    """Return a matrix on the host with an empty row, a full one and an empty column."""
    rng = np.random.default_rng(seed)
    is_there = rng.random(shape) < density
    is_there[shape[0] // 2] = True
    is_there[0] = False
    is_there[:, shape[1] - 1] = False
    rows, columns = np.nonzero(is_there)
    values = rng.integers(0, 5, len(rows))
    made = gb.Matrix.from_coo(rows, columns, values, nrows=shape[0], ncols=shape[1])
    return made.dup(dtype).to("cpu")


def compare(a, b, op, *, left: bool = False, right: bool = False) -> None:
    expected = (a.T if left else a).kronecker(b.T if right else b, op).new()
    x, y = a.to("cuda"), b.to("cuda")
    found = (x.T if left else x).kronecker(y.T if right else y, op).new()
    assert found._value.where == "cuda"
    assert found.dtype == expected.dtype
    # Its rows are in order, and of the right lengths.
    backend_for("cuda").get(found._value.handle_on("cuda")).validate()
    assert found.to("cpu").isequal(expected)


@pytest.mark.parametrize(
    ("op", "dtype"),
    [
        ("times", "FP64"), ("plus", "INT8"), ("minus", "FP32"), ("lt", "INT64"), ("pair", "BOOL"),
        ("first", "UINT16"), ("second", "FC64"), ("land", "BOOL"),
    ],
)  # fmt: skip
def test_operators_and_dtypes(op, dtype):
    compare(drawn((7, 9), dtype, 1), drawn((11, 5), dtype, 2), op)


@every("left", [False, True])
@every("right", [False, True])
@every("op", ["times", "firsti", "firstj", "secondi", "secondj1", "firstj1"])
def test_transposes_and_positions(op, left, right):
    compare(drawn((7, 9), "INT64", 1), drawn((11, 5), "INT64", 2), op, left=left, right=right)


def test_other_dtypes_on_either_side_and_one_value_for_all():
    compare(drawn((7, 9), "INT8", 1), drawn((11, 5), "FP32", 2), "times")
    one = drawn((6, 6), "FP64", 3).apply("one").new().to("cpu")
    compare(one, drawn((5, 4), "FP64", 4), "plus")
    compare(drawn((5, 4), "FP64", 4), one, "minus")


def test_a_function_of_python():
    op = gb.binary.register_anonymous(lambda x, y: x + 10 * y)
    compare(drawn((7, 9), "INT64", 1), drawn((11, 5), "INT64", 2), op)


def test_without_entries_and_without_rows():
    some = drawn((7, 9), "INT64", 1)
    compare(some, gb.Matrix("INT64", 3, 4).to("cpu"), "times")
    compare(gb.Matrix("INT64", 0, 4).to("cpu"), some, "times")


def test_many_entries_and_whole_rows():
    a, b = drawn((60, 70), "INT64", 1, 0.2), drawn((50, 40), "INT64", 2, 0.2)
    compare(a, b, "times")
    full = gb.Matrix.from_dense(np.arange(12).reshape(3, 4)).to("cpu")
    compare(a, full, "plus")
    made = a.to("cuda").mxm(gb.Matrix.from_dense(np.ones((70, 3), np.int64)).to("cuda")).new()
    expected = made.to("cpu").kronecker(full).new()
    assert made.kronecker(full.to("cuda")).new().to("cpu").isequal(expected)


def test_wide_offsets():
    a, b = drawn((7, 9), "INT64", 1), drawn((11, 5), "INT64", 2)
    expected = a.kronecker(b).new()
    x = a.to("cuda")
    x._value.handle_on("cuda").widen()
    found = x.kronecker(b.to("cuda")).new()
    assert found.to("cpu").isequal(expected)


def test_it_is_made_there(monkeypatch):
    """Neither operand is read back, and a result with a huge side is paired on the host."""
    a, b = drawn((7, 9), "INT64", 1).to("cuda"), drawn((11, 5), "INT64", 2).to("cuda")
    backend = backend_for("cuda")
    before = backend.statistics().synchronisations
    a.kronecker(b).new()
    assert backend.statistics().synchronisations == before
    calls: list[int] = []
    monkeypatch.setattr(CudaBackend, "kronecker", lambda *given: calls.append(1))
    tall = gb.Matrix.from_coo([5], [0], 2, nrows=2**30, ncols=1)
    found = tall.kronecker(a).new()
    assert (found.shape, found.nvals, calls) == ((7 * 2**30, 9), a.nvals, [])


def test_what_does_not_fit_is_refused():
    # 4.5e11 entries: 7 TB.
    left, right = (gb.Matrix.from_dense(np.ones(shape)) for shape in ((1000, 1000), (500, 900)))
    with pytest.raises(OutOfMemory, match="Kronecker"):
        left.to("cuda").kronecker(right.to("cuda")).new()
