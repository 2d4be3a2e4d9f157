"""Matrices and vectors of up to 2**60 positions a side against SuiteSparse.

Entries lie at a few rows and columns at both ends and in between, so that products and masks meet.
Nothing here may allocate memory per row or column: 2**33 bytes alone would not fit a small machine.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.pgb import FULL, assert_same, find, mirror, suitesparse

import semira as gb

#: Shapes (rows, inner, columns) of products. The last is hypersparse, but below 2**31.
SHAPES = [
    (2**33, 2**33, 2**33),
    (2**60, 2**60, 2**60),
    (2**60, 3, 2**33),
    (4, 2**40, 4),
    (2**24, 2**24, 2**24),
]
SEEDS = (1, 2, 3) if FULL else (1,)


def positions(length: int) -> Any:
    """Return a few positions of an axis: its ends, and some between."""
    chosen = {0, 1, 5, 2**20, length // 3, length // 2, length - 2, length - 1}
    return np.array(sorted(at for at in chosen if 0 <= at < length), np.uint64)


class Draw:
    """Draws operands of a seed, the same for each library."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def entries(self, number: int, shape: tuple[int, ...], count: int) -> tuple[Any, ...]:
        rng = np.random.default_rng([self.seed, number])
        places = np.unique(
            np.stack([rng.choice(positions(length), count) for length in shape]), axis=1
        )
        return (*places, rng.integers(0, 5, places.shape[1]))

    def matrix(self, library: Any, number: int, nrows: int, ncols: int, count: int = 14) -> Any:
        rows, cols, values = self.entries(number, (nrows, ncols), count)
        return library.Matrix.from_coo(rows, cols, values, nrows=nrows, ncols=ncols)

    def vector(self, library: Any, number: int, size: int) -> Any:
        indices, values = self.entries(number, (size,), 6)
        return library.Vector.from_coo(indices, values, size=size)


@pytest.fixture(params=SEEDS)
def draw(request: pytest.FixtureRequest) -> Draw:
    return Draw(request.param)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("semiring", ["plus_times", "any_pair"])
def test_products(draw: Draw, shape: tuple[int, int, int], semiring: str, device: str) -> None:
    mirror(device, products(draw, shape, semiring))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("semiring", ["min_firsti", "max_secondj1", "plus_firstj", "min_secondi"])
def test_products_of_positions(draw: Draw, shape: tuple[int, int, int], semiring: str) -> None:
    """The reference is the oracle.

    SuiteSparse 9.4 numbers the rows it stores instead of naming them where it multiplies a
    hypersparse matrix with a vector (``min_firsti``, ``max_secondj1``).
    """
    program = products(draw, shape, semiring)
    with gb.device("reference"):
        expected = program(gb)
    with gb.device("cpu"):
        found = program(gb)
    for number, (mine, meant) in enumerate(zip(found, expected, strict=True)):
        assert_same(mine, meant, what=f"result {number}")


def products(draw: Draw, shape: tuple[int, int, int], semiring: str) -> Callable[[Any], Any]:
    """Return a program of products, masked and accumulated."""
    n, k, m = shape

    def program(library: Any) -> Any:
        op = find(library, "semiring", semiring)
        a, b = draw.matrix(library, 1, n, k), draw.matrix(library, 2, k, m)
        mask, out = draw.matrix(library, 3, n, m), draw.matrix(library, 4, n, m)
        u, v = draw.vector(library, 5, k), draw.vector(library, 6, n)
        vector_mask, w = draw.vector(library, 7, n), draw.vector(library, 8, n)
        masked, other = out.dup(), out.dup()
        masked(mask.S, replace=True) << a.mxm(b, op)
        other(~mask.V, accum=library.binary.plus) << a.mxm(b, op)
        w(~vector_mask.S, accum=library.binary.plus) << a.mxv(u, op)
        return (
            a.mxm(b, op).new(), a.mxm(b, op).new(mask=mask.V), masked, other, w,
            a.T.mxv(v, op).new(), v.vxm(a, op).new(), u.vxm(a.T, op).new(),
            a.T.mxm(a, op).new(),
        )  # fmt: skip

    return program


PAIRS = [(2**33, 2**33), (2**60, 4), (2**24, 2**24)]


@every("shape", PAIRS)
@every("name", ["plus", "minus", "firsti", "secondi", "firstj1"])
def test_elementwise(draw: Draw, shape: tuple[int, int], name: str, device: str) -> None:
    n, m = shape

    def program(library: Any) -> Any:
        op = find(library, "binary", name)
        a, b, out = (draw.matrix(library, number, n, m) for number in (1, 2, 3))
        c = draw.matrix(library, 4, m, n)
        mask, union = draw.matrix(library, 5, n, m), out.dup()
        out(~mask.S, replace=True) << a.ewise_mult(b, op)
        union(mask.V, accum=library.binary.max) << a.ewise_union(c.T, op, 7, 9)
        return (
            a.ewise_add(b, op).new(), a.ewise_mult(b, op).new(),
            a.ewise_union(b, op, 3, 4).new(), c.T.ewise_add(b, op).new(), out, union,
        )  # fmt: skip

    mirror(device, program)


@pytest.mark.parametrize("shape", PAIRS)
def test_entry_by_entry(draw: Draw, shape: tuple[int, int], device: str) -> None:
    n, m = shape

    def program(library: Any) -> Any:
        a = draw.matrix(library, 1, n, m)
        mask, out = draw.matrix(library, 2, n, m), draw.matrix(library, 3, n, m)
        u = draw.vector(library, 4, n)
        out(mask.S) << a.apply(library.unary.ainv)
        select, index = library.select, library.indexunary
        return (
            out,
            a.apply(library.binary.plus, right=3).new(),
            a.apply(find(library, "unary", "positioni1")).new(),
            a.T.apply(find(library, "unary", "positionj")).new(),
            a.apply(index.rowindex, 5).new(),
            a.apply(index.diagindex, 0).new(),
            a.T.apply(index.colle, n // 2).new(),
            u.apply(index.index, 1).new(),
            select.tril(a, 1).new(), select.triu(a.T).new(), select.diag(a).new(),
            select.rowgt(a, n // 3).new(), select.colle(a, m // 2).new(),
            select.valuegt(a, 2).new(), select.indexle(u, n // 2).new(),
            a.reduce_rowwise("plus").new(), a.reduce_columnwise("max").new(),
            a.reduce_scalar("plus").new(), a.T.new(), a.dup(dtype=float),
            a.diag(), a.T.diag(-1) if n == m else a.diag(), u.diag(), u.diag(2 if n < 2**60 else 0),
        )  # fmt: skip

    mirror(device, program)


@pytest.mark.parametrize("shape", PAIRS)
def test_extract(draw: Draw, shape: tuple[int, int], device: str) -> None:
    n, m = shape

    def program(library: Any) -> Any:
        a = draw.matrix(library, 1, n, m)
        listed = [n - 1, 0, 5, n - 1]
        mask = draw.matrix(library, 2, len(listed), m)
        return (
            a[listed, :].new(), a[:, [m - 1, 1]].new(), a[listed, [0, m - 1, 2]].new(),
            a[listed, :].new(mask=~mask.V), a[n // 2, :].new(), a[:, m - 1].new(),
            a.T[:, listed].new(), a[n - 1, m - 1].new(), a[n - 3, 0].new(),
        )  # fmt: skip

    mirror(device, program)


@pytest.mark.parametrize("shape", PAIRS)
@pytest.mark.parametrize("accum", [None, "plus"])
def test_assign(draw: Draw, shape: tuple[int, int], accum: str | None, device: str) -> None:
    n, m = shape
    rows, cols = [n - 1, 0, n // 3], [m - 1, 1]

    def program(library: Any) -> Any:
        options = {} if accum is None else {"accum": getattr(library.binary, accum)}
        a, base = draw.matrix(library, 1, n, m), draw.matrix(library, 2, n, m, 20)
        mask = draw.matrix(library, 3, n, m)
        row, column = draw.vector(library, 4, m), draw.vector(library, 5, n)
        small = draw.matrix(library, 6, len(rows), len(cols), 4)
        results = []

        def case(write: Any) -> None:
            out = base.dup()
            write(out)
            results.append(out)

        case(lambda out: out(**options)[:, :] << a)
        case(lambda out: out(mask.S, **options)[:, :] << a.T.new().T)
        case(lambda out: out(~mask.V, replace=True, **options)[:, :] << a)
        case(lambda out: out(**options)[rows, cols] << small)
        case(lambda out: out(~mask.S, **options)[rows, cols] << small)
        case(lambda out: out(**options)[rows, cols] << 7)
        case(lambda out: out(mask.S, **options)[:, :] << 7)
        case(lambda out: out(mask.V, replace=True, **options)[:, :] << 7)
        case(lambda out: out(**options)[0, :] << row)
        case(lambda out: out(row.S, **options)[n - 1, :] << row)
        case(lambda out: out(**options)[:, m - 1] << column)
        case(lambda out: out(~column.S, **options)[:, 0] << column)
        case(lambda out: out(**options)[n // 3, m - 1] << 3)
        return tuple(results)

    mirror(device, program)


@pytest.mark.parametrize("shape", [(2**33, 2**33), (2**60, 4), (2**20, 2**20)])
def test_ranges(draw: Draw, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference is the oracle: SuiteSparse visits every position of a range."""
    # The last shape is the smallest of which rows are listed; its ranges have compressed rows.
    monkeypatch.setattr("semira.formats.matrix.HYPER_MAJOR", 2**20)
    n, m = shape

    def program() -> Any:
        a, base = draw.matrix(gb, 1, n, m), draw.matrix(gb, 2, n, m)
        mask, part = draw.matrix(gb, 3, n, m), draw.matrix(gb, 4, n - 5, m - 1)
        plain, listed, added, masked = (base.dup() for _ in range(4))
        plain[5:, :] << a[5:, :].new()
        added(accum=gb.binary.plus)[n - 1 : 4 : -1, 1:] << part
        listed(mask.S)[1:, : m - 1] << 7
        masked(~mask.S, replace=True)[::2, :] << a[::2, :].new()
        inner = base.dup()
        inner[5:, 1:](part.S) << 9
        return (
            plain, added, listed, masked, inner,
            a[5:, 1:].new(mask=part.S), a[::-1, :].new(), a.T[:, 5 : n - 1 : 2].new(),
            a.reposition(-5, 1).new(), a.reposition(1, 1, nrows=n // 2, ncols=9).new(),
        )  # fmt: skip

    with gb.device("reference"):
        expected = program()
    with gb.device("cpu"):
        found = program()
    for number, (mine, meant) in enumerate(zip(found, expected, strict=True)):
        assert_same(mine, meant, what=f"result {number}")


@pytest.mark.parametrize("shape", [(2**33, 2**33), (2**24, 2**24)])
def test_composed(draw: Draw, shape: tuple[int, int], device: str) -> None:
    n, _ = shape

    def program(library: Any) -> Any:
        a, small = draw.matrix(library, 1, n, n), draw.matrix(library, 2, 3, 2, 4)
        u, v = draw.vector(library, 3, n), draw.vector(library, 4, n)
        narrowed, widened = a.dup(), a.dup()
        narrowed.resize(n // 2, 7)
        widened.resize(2**60, 2**59)
        diagonal = a.dup()
        diagonal.setdiag(u)
        return (
            a.kronecker(small).new(), small.kronecker(a).new(), a.power(3).new(),
            u.outer(v).new(), narrowed, widened, diagonal, (a @ a).new(), a.ewise_add(a.T).new(),
        )  # fmt: skip

    mirror(device, program)


@pytest.mark.parametrize("shape", PAIRS)
def test_arrays_in_and_out(draw: Draw, shape: tuple[int, int], device: str) -> None:
    with gb.device(device):
        a = draw.matrix(gb, 1, *shape)
        _ = a.apply("abs").new()
        again = gb.Matrix.from_dcsr(*a.to_dcsr(), nrows=a.nrows, ncols=a.ncols)
        columns = gb.Matrix.from_dcsc(*a.to_dcsc(), nrows=a.nrows, ncols=a.ncols)
        assert a.isequal(again)
        assert a.isequal(columns)
        assert a.isequal(pickle.loads(pickle.dumps(a)))
        assert not a.isequal(a.apply("ainv").new())
    theirs = draw.matrix(suitesparse(), 1, *shape)
    for mine, other in zip(a.to_dcsr(), theirs.to_dcsr(), strict=True):
        assert mine.tolist() == other.tolist()
    for mine, other in zip(a.to_dcsc(), theirs.to_dcsc(), strict=True):
        assert mine.tolist() == other.tolist()


def test_what_needs_memory_for_every_row_is_refused(device: str) -> None:
    n = 2**33
    with gb.device(device):
        a = gb.Matrix.from_coo([1, n - 1], [2, 3], [4, 5], nrows=n, ncols=n)
        before = a.dup()
        for refused in (
            a.to_csr,
            a.to_csc,
            lambda: a.to_dense(fill_value=0),
            lambda: a[:, 0] << 1,
            lambda: a << 1,
            lambda: a(~before.S) << 1,
        ):
            with pytest.raises(gb.exceptions.OutOfMemory, match=rf"{n}|2\*\*31"):
                refused()
        assert a.isequal(before)


def test_a_hypersparse_operand_is_accumulated_once_into_an_ordinary_matrix(device: str) -> None:
    from semira.engine.values import Value
    from semira.formats import coo_to_matrix

    def program(library: Any) -> Any:
        out = library.Matrix.from_dense(np.arange(1, 13).reshape(4, 3))
        if library is gb:
            rows, cols = np.array([0, 1]), np.array([0, 0])
            arrays = coo_to_matrix(2, 1, rows, cols, np.array([10, 20])).hyper()
            small = gb.Matrix._wrap(Value.of(arrays))
        else:
            small = library.Matrix.from_coo([0, 1], [0, 0], [10, 20])
        out(accum=library.binary.plus)[[0, 3], 0:1] << small
        return out

    mirror(device, program)
