"""Every operation, masked, accumulated and replaced at random, against the reference backend."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.programs import Bench, method_plan, statement, typed
from tests.helpers.random_objects import assert_same, random_matrix, random_scalar, random_vector

from semira.backends.cpu import threads
from semira.backends.registry import backend_for
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, UINT16, unify
from semira.base.settings import override, restore
from semira.contract import Arg, IndexSpec, Mask

FULL = os.environ.get("SEMIRA_CONFORMANCE", "") == "full"
DTYPES = (BOOL, INT8, INT32, INT64, UINT16, FP32, FP64) if FULL else (BOOL, UINT16, INT64, FP64)
SEMIRINGS = (
    "plus_times", "min_plus", "plus_pair", "any_pair", "lor_land", "max_second", "times_first",
    "min_firstj", "plus_secondj", "max_firsti", "min_secondi", "lxor_land",
)  # fmt: skip
ACCUMS = (None, None, "plus", "min", "second", "minus")
#: Each case may compile kernels of its own; ``SEMIRA_CONFORMANCE=full`` runs many more.
CASES = 60 if FULL else 10


class Drawn:
    """One random statement, built alike on both backends."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.objects: list[tuple[str, Any, Any]] = []

    def pick(self, options: Any) -> Any:
        return options[self.rng.integers(len(options))]

    def size(self) -> int:
        return int(self.pick([1, 2, 5, 9, 40, 90]))

    def flag(self, chance: float = 0.5) -> bool:
        return bool(self.rng.random() < chance)

    def add(self, kind: str, dtype: Any, given: Any) -> int:
        self.objects.append((kind, dtype, given))
        return len(self.objects) - 1

    def vector(self, size: int, dtype: Any = None) -> int:
        dtype = dtype or self.pick(DTYPES)
        return self.add("vector", dtype, random_vector(self.rng, size, dtype))

    def matrix(self, shape: tuple[int, int], dtype: Any = None, transposed: bool = False) -> Arg:
        dtype = dtype or self.pick(DTYPES)
        nrows, ncols = shape[::-1] if transposed else shape
        given = random_matrix(self.rng, nrows, ncols, dtype)
        return Arg(self.add("matrix", dtype, given), transposed)

    def scalar(self, dtype: Any = None, empty: float = 0.0) -> int:
        dtype = dtype or self.pick(DTYPES)
        return self.add("scalar", dtype, random_scalar(self.rng, dtype, empty))

    def object(self, shape: tuple[int, ...], dtype: Any = None) -> int:
        if not shape:
            return self.scalar(dtype, empty=0.3)
        if len(shape) == 1:
            return self.vector(shape[0], dtype)
        return self.matrix((shape[0], shape[1]), dtype).slot

    def dtype(self, slot: int) -> Any:
        return self.objects[slot][1]

    def finishing(self, shape: tuple[int, ...], mask_shape: tuple[int, ...] | None = None) -> dict:
        """Draw mask, accumulator and replace for an output of `shape`."""
        fields: dict[str, Any] = {}
        accum = self.pick(ACCUMS)
        if accum is not None:
            fields["accum"] = typed("BinaryOp", accum, self.pick((INT32, INT64, FP64)))
        if shape and self.flag(0.7):
            slot = self.object(shape if mask_shape is None else mask_shape)
            fields["mask"] = Mask(slot, self.flag(), self.flag())
            fields["replace"] = self.flag()
        return fields

    def run(self, out: int, made: Any) -> None:
        """Run on both backends and compare the output and everything else."""
        results = []
        for name in ("cpu", "reference"):
            backend = backend_for(name)
            bench = Bench(backend)
            for kind, dtype, given in self.objects:
                handle = given if kind == "index" else backend.put(given)
                bench.slot(kind, dtype, handle, "inout")
            bench.run(made)
            results.append(
                [
                    backend.get(bound)
                    for (kind, _, _), bound in zip(self.objects, bench.bindings, strict=True)
                    if kind != "index"
                ]
            )
        del out
        for found, wanted in zip(*results, strict=True):
            assert_same(found, wanted, str(made))


def shape_like(draw: Drawn) -> tuple[int, ...]:
    return draw.pick([(), (draw.size(),), (int(draw.pick([1, 3, 8])), int(draw.pick([1, 4, 9])))])


@pytest.fixture(autouse=True, params=["one chunk", "many chunks"])
def chunks(request, monkeypatch):
    """Run everything as tiny inputs run, and again cut up for three threads."""
    if request.param == "one chunk":
        yield
        return
    monkeypatch.setattr(threads, "PARALLEL_ENTRIES", 4)
    before = override(threads=3)
    yield
    restore(before)


@every("method", ["push", "pull", "direct"])
@every("op", ["mxv", "vxm"])
@every("seed", range(CASES))
def test_matrix_vector_product(op, method, seed):
    draw = Drawn(seed)
    rows, cols = draw.size(), draw.size()
    matrix = draw.matrix((rows, cols), transposed=draw.flag())
    vector = draw.vector(cols if op == "mxv" else rows)
    length = rows if op == "mxv" else cols
    semiring = typed(
        "Semiring", draw.pick(SEMIRINGS), unify(draw.dtype(matrix.slot), draw.dtype(vector))
    )
    out = draw.vector(length)
    args = [matrix, vector] if op == "mxv" else [vector, matrix]
    order = draw.pick(["before", "after"])
    plan = method_plan(op, method, mask_order=order, early_exit=draw.flag())
    draw.run(out, statement(op, out, args, semiring, plan=plan, **draw.finishing((length,))))


@every("method", ["dot", "dense", "hash", "pull", "direct"])
@every("seed", range(CASES))
def test_matrix_matrix_product(method, seed):
    draw = Drawn(seed)
    rows, inner, cols = (int(draw.pick([1, 3, 8, 30])) for _ in range(3))
    a = draw.matrix((rows, inner), transposed=draw.flag())
    b = draw.matrix((inner, cols), transposed=draw.flag())
    semiring = typed(
        "Semiring", draw.pick(SEMIRINGS), unify(draw.dtype(a.slot), draw.dtype(b.slot))
    )
    out = draw.matrix((rows, cols)).slot
    plan = method_plan("mxm", method, mask_order=draw.pick(["before", "after"]))
    draw.run(
        out, statement("mxm", out, [a, b], semiring, plan=plan, **draw.finishing((rows, cols)))
    )


@every("op", ["ewise_add", "ewise_mult", "ewise_union"])
@every("seed", range(CASES))
def test_element_wise(op, seed):
    draw = Drawn(seed)
    shape = shape_like(draw)
    args: list[Any] = [draw.object(shape), draw.object(shape)]
    dtype = unify(draw.dtype(args[0]), draw.dtype(args[1]))
    names = [
        "plus",
        "times",
        "min",
        "minus",
        "first",
        "second",
        "lt",
        "ne",
        "land",
        "lxor",
        "pair",
        "truediv",
    ]
    operator = typed("BinaryOp", draw.pick(names), dtype)
    if op == "ewise_union":
        args += [draw.scalar(), draw.scalar()]
    out = draw.object(shape)
    draw.run(out, statement(op, out, args, operator, **draw.finishing(shape)))


@every("seed", range(CASES))
def test_apply_unary(seed):
    draw = Drawn(seed)
    shape = shape_like(draw)
    x = draw.object(shape)
    name = draw.pick(["identity", "ainv", "abs", "one", "lnot", "exp", "positioni", "positionj1"])
    if not shape and name.startswith("position"):
        name = "ainv"
    out = draw.object(shape)
    operator = typed("UnaryOp", name, draw.dtype(x))
    draw.run(out, statement("apply", out, [x], operator, **draw.finishing(shape)))


@every("seed", range(CASES))
def test_apply_bound(seed):
    draw = Drawn(seed)
    shape = shape_like(draw)
    x, s = draw.object(shape), draw.scalar()
    side = draw.pick(["left", "right"])
    name = draw.pick(["plus", "minus", "first", "second", "lt", "pair", "cdiv", "max"])
    operator = typed("BinaryOp", name, unify(draw.dtype(x), draw.dtype(s)))
    out = draw.object(shape)
    args = [s, x] if side == "left" else [x, s]
    made = statement("apply", out, args, operator, side=side, **draw.finishing(shape))
    draw.run(out, made)


@pytest.mark.parametrize("seed", range(CASES))
def test_apply_index_unary_and_select(seed):
    draw = Drawn(seed)
    rows, cols = int(draw.pick([1, 3, 8])), int(draw.pick([1, 4, 9]))
    is_vector = draw.flag()
    shape = (draw.size(),) if is_vector else (rows, cols)
    selects = draw.flag()
    names = ["tril", "triu", "diag", "offdiag", "rowle", "colgt", "valueeq", "valuelt", "valuege"]
    if is_vector:
        names = ["indexle", "indexgt", "valuene", "valuegt", "rowle"]
    opclass = "SelectOp" if selects else "IndexUnaryOp"
    if not selects:
        names = [*names, "rowindex", "index" if is_vector else "colindex"]
    x = draw.object(shape) if is_vector else draw.matrix((rows, cols), transposed=draw.flag())
    slot = x if isinstance(x, int) else x.slot
    operator = typed(opclass, draw.pick(names), draw.dtype(slot))
    thunk = draw.scalar(draw.pick((INT64, INT32, FP64)))
    out = draw.object(shape)
    op = "select" if selects else "apply"
    draw.run(out, statement(op, out, [x, thunk], operator, **draw.finishing(shape)))


@every("seed", range(CASES))
def test_select_k_and_diagonals(seed):
    draw = Drawn(seed)
    rows, cols = int(draw.pick([1, 3, 8])), int(draw.pick([1, 4, 9]))
    matrix = draw.matrix((rows, cols), transposed=draw.flag())
    k = int(draw.pick([0, 1, 2, 50]))
    out = draw.matrix((rows, cols)).slot
    given = {"k": k, "largest": draw.flag()}
    draw.run(out, statement("select_k", out, [matrix], **given, **draw.finishing((rows, cols))))
    draw = Drawn(seed)
    matrix = draw.matrix((rows, cols), transposed=draw.flag())
    offset = int(draw.rng.integers(-rows + 1, cols))
    length = min(rows + min(offset, 0), cols - max(offset, 0))
    out = draw.vector(length)
    draw.run(out, statement("diag", out, [matrix], k=offset, **draw.finishing((length,))))
    draw = Drawn(seed)
    vector = draw.vector(rows)
    n = rows + abs(offset)
    out = draw.matrix((n, n)).slot
    draw.run(out, statement("diag", out, [vector], k=offset, **draw.finishing((n, n))))


@every("name", ["plus", "times", "min", "max", "lor", "land", "lxor", "lxnor"])
@every("seed", range(8))
def test_reductions(name, seed):
    draw = Drawn(seed)
    rows, cols = draw.size(), draw.size()
    matrix = draw.matrix((rows, cols), transposed=draw.flag())
    dtype = draw.dtype(matrix.slot)
    if name == "plus" and dtype is BOOL:
        dtype = INT64
    monoid = typed("Monoid", name, dtype)
    out = draw.vector(rows)
    draw.run(out, statement("reduce_rows", out, [matrix], monoid, **draw.finishing((rows,))))
    out = draw.scalar(empty=0.3)
    identity = draw.flag()
    x = draw.pick([matrix, draw.vector(rows, dtype)])
    made = statement("reduce", out, [x], monoid, identity=identity, **draw.finishing(()))
    draw.run(out, made)


@every("seed", range(CASES))
def test_copy_and_nvals(seed):
    draw = Drawn(seed)
    shape = shape_like(draw)
    x: Any = draw.object(shape)
    if len(shape) == 2 and draw.flag():
        x = draw.matrix((shape[0], shape[1]), transposed=True)
    out = draw.object(shape)
    draw.run(out, statement("copy", out, [x], **draw.finishing(shape)))
    out = draw.scalar(INT64)
    draw.run(out, statement("nvals", out, [x]))


def axis(draw: Drawn, length: int, repeats: bool) -> tuple[IndexSpec, int]:
    """Draw how an axis is indexed; returns the length of the region along it too."""
    kind = draw.pick(["all", "range", "list", "list", "one"])
    if kind == "all":
        return IndexSpec("all"), length
    if kind == "range":
        step = int(draw.pick([1, 2, -1]))
        low, high = sorted(draw.rng.integers(0, length + 1, 2).tolist())
        given: Any = (high - 1, low - 1 if low else -1, step) if step < 0 else (low, high, step)
        if step < 0 and low == 0:
            given = (high - 1, -1, step)
        number = len(range(*given))
    elif kind == "one":
        given, number = draw.rng.integers(0, length, 1), 1
    elif repeats:
        given = draw.rng.integers(0, length, draw.rng.integers(0, 2 * length))
        number = len(given)
    else:
        given = draw.rng.permutation(length)[: draw.rng.integers(0, length + 1)]
        number = len(given)
    return IndexSpec(kind, draw.add("index", INT64, given)), number


def region_shape(specs: list[IndexSpec], lengths: list[int]) -> tuple[int, ...]:
    return tuple(n for spec, n in zip(specs, lengths, strict=True) if spec.kind != "one")


@every("dimensions", [1, 2])
@every("seed", range(CASES))
def test_extract(dimensions, seed):
    draw = Drawn(seed)
    shape = (draw.size(), int(draw.pick([1, 4, 9])))[:dimensions]
    pairs = [axis(draw, length, repeats=True) for length in shape]
    specs, lengths = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    x: Any = draw.object(shape)
    if dimensions == 2:
        x = draw.matrix((shape[0], shape[1]), transposed=draw.flag())
    inner = region_shape(specs, lengths)
    out = draw.object(inner)
    draw.run(out, statement("extract", out, [x], indices=tuple(specs), **draw.finishing(inner)))


@every("dimensions", [1, 2])
@every("source", ["scalar", "object"])
@every("seed", range(2 * CASES))
def test_assign(dimensions, source, seed):
    draw = Drawn(seed)
    shape = (draw.size(), int(draw.pick([1, 4, 9])))[:dimensions]
    pairs = [axis(draw, length, repeats=draw.flag(0.3)) for length in shape]
    specs, lengths = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    inner = region_shape(specs, lengths)
    x: Any
    if source == "scalar" or not inner:
        x = draw.scalar(empty=0.2)
    elif len(inner) == 2:
        x = draw.matrix((inner[0], inner[1]), transposed=draw.flag())
    else:
        x = draw.vector(inner[0])
    repeated = any(
        kind == "index" and not isinstance(given, tuple) and len(set(given.tolist())) < len(given)
        for kind, _, given in draw.objects
    )
    submask = bool(inner) and draw.flag() and not repeated
    out = draw.object(shape)
    fields = draw.finishing(shape, inner if submask else None)
    if submask:
        fields["submask"] = True
    draw.run(out, statement("assign", out, [x], indices=tuple(specs), **fields))


@pytest.mark.parametrize("seed", range(CASES))
def test_gather_and_scatter(seed):
    draw = Drawn(seed)
    size, length = draw.size(), draw.size()
    u = draw.vector(size)
    index = draw.vector(length, draw.pick((INT32, INT64, UINT16)))
    given = draw.objects[index][2]
    if len(given.values):
        given.values[:] = draw.rng.integers(0, size, len(given.values))
    out = draw.vector(length)
    draw.run(out, statement("gather", out, [u, index], **draw.finishing((length,))))
    source, target = draw.vector(length), draw.vector(size)
    dup = typed("Monoid", draw.pick(["plus", "min", "times"]), draw.pick((INT64, FP64)))
    made = statement("scatter", target, [source, index], dup=dup, **draw.finishing((size,)))
    draw.run(target, made)
