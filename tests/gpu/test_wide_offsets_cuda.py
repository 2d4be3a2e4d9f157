"""64-bit offsets: on small matrices through every family, on 2.2 billion entries when asked.

``SEMIRA_LARGE=1`` runs the large matrix as well; it takes 80 GiB of the GPU's memory.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.gpu.test_build_cuda import (  # noqa: F401 - they run here once more
    graph,
    test_arrays_on_the_gpu,
    test_compressed_arrays_on_the_gpu,
    test_conversions_do_not_pass_through_the_host,
    test_formats_become_one_another_on_the_device,
    test_long_runs_are_shared_out_in_order,
)
from tests.gpu.test_joined_cuda import (  # noqa: F401
    test_pagerank_of_short_and_of_long_rows,
    test_the_operand_can_be_used_by_whoever_comes_next,
)
from tests.gpu.test_matrices_cuda import (  # noqa: F401
    test_a_vector_becomes_a_diagonal,
    test_an_output_may_be_operand_and_mask,
    test_assign_to_a_line,
    test_assign_to_a_region,
    test_elementwise_statements,
    test_extract_of_a_region,
    test_matrices_of_one_value_and_without_entries,
    test_sums_over_a_matrix_made_on_the_device,
)
from tests.gpu.test_matrices_cuda import (
    test_products_agree_with_the_reference as test_products_of_matrices,  # noqa: F401
)
from tests.gpu.test_pull_shares_cuda import (  # noqa: F401
    test_an_output_takes_what_is_pulled_and_what_is_pushed_in_turn,
)
from tests.gpu.test_regions_cuda import (  # noqa: F401
    test_reduce_of_a_matrix_to_a_scalar,
    test_single_entries_become_scalars,
    test_sums_lines_and_diagonals_of_a_matrix,
)
from tests.gpu.test_statements_cuda import (  # noqa: F401
    test_matrices_come_back_in_either_orientation,
    test_products_agree_with_the_reference,
)

import semira as gb
from semira.backends.cuda.runtime import primitives
from semira.backends.registry import backend_for
from semira.frontend import raw

pytestmark = pytest.mark.gpu

#: Rows (and columns), entries a row: column j holds an entry of row i if i and j are congruent
#: modulo STEP and j lies below STEP * DEGREE.
SIZE, DEGREE = 2**21, 1050
STEP = SIZE // DEGREE


@pytest.fixture(autouse=True)
def _wide(request, monkeypatch):
    """Make every offset wide, however few entries there are."""
    if "large" not in request.fixturenames:
        monkeypatch.setattr(primitives, "WIDE_ENTRIES", 0)
        monkeypatch.setattr(raw, "BUILD_FROM", 0)


def test_every_small_matrix_here_is_wide():
    matrix = gb.Matrix.from_coo([0, 1], [1, 0], [1, 2], device="cuda")
    assert matrix._value.handle_on("cuda").is_wide
    assert matrix.select("tril").new()._value.handle_on("cuda").is_wide


def test_a_matrix_becomes_wide_beside_a_wide_one(monkeypatch):
    wide = gb.Matrix.from_coo([0, 1], [1, 0], [1, 2], device="cuda")
    monkeypatch.undo()
    narrow = gb.Matrix.from_coo([0, 1, 1], [1, 1, 0], [3, 4, 5], device="cuda")
    assert not narrow._value.handle_on("cuda").is_wide
    assert wide.ewise_mult(narrow, "plus").new().to_dicts() == {0: {1: 4}, 1: {0: 7}}
    assert narrow._value.handle_on("cuda").is_wide
    assert narrow.T.new().to_dicts() == {0: {1: 5}, 1: {0: 3, 1: 4}}


# 2.2 billion entries ---------------------------------------------------------------------------
@pytest.fixture(scope="module")
def large():
    if os.environ.get("SEMIRA_LARGE", "") in ("", "0"):
        pytest.skip("set SEMIRA_LARGE=1 for a matrix of 2.2 billion entries")
    cp = pytest.importorskip("cupy")
    first = (cp.arange(SIZE, dtype=cp.int32) % STEP)[:, None]
    indices = (first + cp.arange(DEGREE, dtype=cp.int32) * STEP).ravel()
    indptr = cp.arange(SIZE + 1, dtype=cp.int64) * DEGREE
    made = gb.Matrix.from_csr(indptr, indices, 1, ncols=SIZE)
    del first, indices, indptr
    cp.get_default_memory_pool().free_all_blocks()
    yield made
    backend_for("cuda").release(made._value.handle_on("cuda"))


def residues() -> np.ndarray:
    return np.arange(SIZE, dtype=np.int64) % STEP


def sums_of_rows() -> np.ndarray:
    """Return, for every row, the sum of its columns."""
    return DEGREE * residues() + STEP * DEGREE * (DEGREE - 1) // 2


def sums_of_columns() -> np.ndarray:
    """Return, for every column with entries, the sum of its rows."""
    residue = residues()[: STEP * DEGREE]
    members = (SIZE - residue + STEP - 1) // STEP
    return members * residue + STEP * (members * (members - 1) // 2)


def numbers() -> gb.Vector:
    return gb.Vector.from_dense(np.arange(SIZE, dtype=np.int64), device="cuda")


def test_large_size(large):
    assert large._value.handle_on("cuda").is_wide
    assert large.nvals == SIZE * DEGREE > 2**31
    assert int(large.reduce_scalar("plus").value) == SIZE * DEGREE


def test_large_pull(large):
    found = gb.Vector("INT64", SIZE)
    found(direction="pull") << large.mxv(numbers(), "plus_second")
    np.testing.assert_array_equal(found.to_dense(), sums_of_rows())


def test_large_push(large):
    found = gb.Vector("INT64", SIZE)
    found(direction="push") << numbers().vxm(large, "plus_first")
    indices, values = found.to_coo()
    np.testing.assert_array_equal(indices, np.arange(STEP * DEGREE))
    np.testing.assert_array_equal(values, sums_of_columns())
    few = gb.Vector.from_coo([SIZE - 1, 5], [10, 20], size=SIZE, device="cuda")
    found(direction="push") << few.vxm(large, "min_first")
    columns = np.arange(DEGREE) * STEP
    wanted = np.sort(np.concatenate([columns + 5, columns + (SIZE - 1) % STEP]))
    np.testing.assert_array_equal(found.to_coo()[0], wanted)


def test_large_rows_and_entries(large):
    counts = large.reduce_rowwise("plus").new()
    assert bool((counts.to_dense() == DEGREE).all())
    last = SIZE - 1
    assert large[last, last % STEP + STEP * (DEGREE - 1)].new().value == 1
    assert large[last, last % STEP + 1].new().value is None
    row = large[last, :].new()
    np.testing.assert_array_equal(row.to_coo()[0], np.arange(DEGREE) * STEP + last % STEP)


def test_large_select(large):
    lower = large.select("tril").new()
    counts = np.minimum(np.arange(SIZE) // STEP + 1, DEGREE)
    assert lower.nvals == int(counts.sum())
    found = lower.reduce_rowwise("plus").new()
    np.testing.assert_array_equal(found.to_dense(), counts)
    backend_for("cuda").release(lower._value.handle_on("cuda"))


def test_large_transpose(large):
    turned = large.T.new()
    assert turned.nvals == SIZE * DEGREE
    handle, backend = turned._value.handle_on("cuda"), backend_for("cuda")
    indptr = backend.runtime.download(handle.orientations["csr"][0], np.int64, SIZE + 1)
    members = (SIZE - residues() + STEP - 1) // STEP
    members[STEP * DEGREE :] = 0
    np.testing.assert_array_equal(np.diff(indptr), members)
    found = gb.Vector("INT64", SIZE)
    found(direction="pull") << turned.mxv(numbers(), "plus_second")
    np.testing.assert_array_equal(found.to_coo()[1], sums_of_columns())
    backend.release(handle)
