"""Kernels of matrix statements and of regions compile without a GPU, and without a warning."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.compiling import assert_all_compile, compile_only
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc

from semira import select as public_select
from semira import unary as public_unary
from semira.backends.companions import Companions
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit.linking import Linked, compile_function, functions_in
from semira.backends.cuda.jit.linking import compiler_version as linker_version
from semira.backends.cuda.jit.render import BASE, STAGED
from semira.backends.cuda.runtime.companion_kinds import ENTRY_ROWS
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.regions import BoundRegion, last_mentions
from semira.backends.cuda.staged.executable import is_staged
from semira.backends.cuda.staged.statement_source import staged_source
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, lookup_dtype
from semira.base.errors import DeviceUnavailable, JitError, NotImplementedException
from semira.contract import Arg, IndexSpec, Mask, Program, Slot, Statement
from semira.contract.hints import Hints
from semira.ops import user
from semira.ops.registry import binary, indexunary, monoid, semiring, unary
from semira.plan import plan_program


def has_numba_cuda() -> bool:
    try:
        return bool(linker_version())
    except DeviceUnavailable:
        return False


_PLAIN = Mask(4, structural=True, complement=False)
_NOT = Mask(4, structural=False, complement=True)
_WHOLE, _LIST, _ONE = IndexSpec("all"), IndexSpec("list", 5), IndexSpec("one", 5)


def program(kind: str, op: str, args: str, operator=None, **given) -> Program:
    """Return a planned statement; `args` names slots: A, B (matrices), u, v (vectors), s."""
    number = {"A": 1, "B": 2, "s": 3, "u": 6, "v": 7}
    slots = (
        Slot(kind, FP32, "inout"), Slot("matrix", FP32), Slot("matrix", INT32),
        Slot("scalar", INT64), Slot("matrix" if kind == "matrix" else "vector", INT8),
        Slot("index", INT64), Slot("vector", FP32), Slot("vector", INT32),
    )  # fmt: skip
    statement = Statement(op, 0, tuple(Arg(number[name]) for name in args), operator, **given)
    return plan_program(Program(slots, (statement,)), CAPABILITIES)


MATRICES = {
    "copy": ("copy", "A", None, {}),
    "transpose, masked": ("copy", "B", None, {"mask": _NOT, "replace": True}),
    "apply": ("apply", "A", unary["sqrt"].typed(FP32), {}),
    "apply, bound": ("apply", "As", binary["minus"].typed(FP64), {"mask": _PLAIN}),
    "apply, index": ("apply", "As", indexunary["colindex"].typed(FP32), {}),
    "select": ("select", "As", indexunary["tril"].typed(FP32), {"mask": _PLAIN}),
    "select_k": ("select_k", "A", None, {"params": (("k", 2),)}),
    "one_hot": ("diag", "v", None, {"params": (("by_value", True),), "mask": _PLAIN}),
    "union": ("ewise_add", "AB", monoid["plus"].typed(FP64), {"mask": _NOT}),
    "intersection": ("ewise_mult", "AB", binary["lt"].typed(FP64), {}),
    "filled": (
        "ewise_union", "ABss", binary["minus"].typed(FP64),
        {"accum": binary["plus"].typed(FP32)},
    ),
    "extract": ("extract", "A", None, {"indices": (_LIST, _WHOLE)}),
    "assign": ("assign", "B", None, {"indices": (_LIST, _WHOLE), "mask": _PLAIN}),
    "assign a scalar": ("assign", "s", None, {"indices": (_WHOLE, _LIST), "mask": _PLAIN}),
    "assign a line": (
        "assign", "u", None, {"indices": (_ONE, _WHOLE), "accum": binary["plus"].typed(FP32)}
    ),
    "diag": ("diag", "u", None, {"params": (("k", 1),)}),
    "mxm": ("mxm", "AB", semiring["plus_times"].typed(FP32), {}),
    "mxm, masked": ("mxm", "AB", semiring["any_pair"].typed(BOOL), {"mask": _PLAIN}),
    "mxm, in order": (
        "mxm", "AB", semiring["plus_times"].typed(FP64), {"hints": Hints(deterministic=True)}
    ),
    "mxm, not masked": ("mxm", "AB", semiring["min_secondi"].typed(INT64), {"mask": _NOT}),
}  # fmt: skip

VECTORS = {
    "extract": ("extract", "u", None, {"indices": (_LIST,)}),
    "extract a line": ("extract", "A", None, {"indices": (_ONE, _WHOLE)}),
    "assign": ("assign", "v", None, {"indices": (_LIST,), "mask": _NOT, "replace": True}),
    "assign, submask": (
        "assign", "s", None,
        {"indices": (_LIST,), "mask": _PLAIN, "params": (("submask", True),)},
    ),
    "gather": ("gather", "uv", None, {"mask": _PLAIN}),
    "scatter": ("scatter", "uv", None, {"params": (("dup", monoid["min"].typed(FP64)),)}),
    "reduce_rows": ("reduce_rows", "A", monoid["plus"].typed(FP64), {}),
    "diag": ("diag", "A", None, {"params": (("k", -1),)}),
}  # fmt: skip


@needs_nvrtc
def test_matrix_statements_compile():
    texts: dict[str, dict[str, str]] = {"int": {}, "long long": {}}
    for name, (op, args, operator, given) in MATRICES.items():
        made = program("matrix", op, args, operator, **given)
        assert is_staged(made)
        offset = "long long" if op == "mxm" else "int"
        texts[offset][name] = staged_source(made, made.body[0])
    for offset, each in texts.items():
        assert_all_compile(each, "sm_90", offset, STAGED)


@needs_nvrtc
def test_region_statements_compile():
    programs = {
        name: program("vector", op, args, operator, **given)
        for name, (op, args, operator, given) in VECTORS.items()
    }
    assert not any(map(is_staged, programs.values()))
    assert_all_compile(programs, "sm_90")


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_base_kernels_compile(arch):
    for root in BASE:
        assert compile_only("", arch, "int", root).log.strip("\0 \n") == ""
    # Whether each includes what it needs does not depend on the offsets.
    first, *others = BASE
    together = "\n".join(f'#include "{each}"' for each in others)
    assert compile_only(together, arch, "long long", first).log.strip("\0 \n") == ""


needs_numba_cuda = pytest.mark.skipif(
    not has_numba_cuda(), reason="numba-cuda is not installed (pip install 'semira[test]')"
)


@needs_nvrtc
@needs_numba_cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_python_operators_are_linked_into_kernels(arch):
    grown = public_unary.register_anonymous(lambda x: 2 * x + 1)
    one = program("vector", "apply", "u", grown[FP32])
    # To machine code: other tests see only whether the parts fit together.
    compiled = compile_only(one, arch, kind="cubin")
    assert compiled.log.strip("\0 \n") == ""
    late = public_select.register_anonymous(lambda x, i, j, t: x > t or i < j)
    two = program("matrix", "select", "As", late[INT8])
    source = staged_source(two, two.body[0])
    assert len(functions_in(source)) == 1
    assert compile_only(source, arch, "int", STAGED).code


@needs_nvrtc
@needs_numba_cuda
def test_a_python_operator_the_gpu_cannot_have_is_named():
    def prints(x):
        return len(str(x))

    made = user.user_function(prints, "UnaryOp", ("x",))
    odd = Linked(made.name, INT64, (INT64,))
    with pytest.raises(JitError, match="prints"):
        compile_function(odd, "sm_90")


@needs_numba_cuda
def test_a_python_operator_that_may_raise_says_so():
    def raises(x):
        if x > 2:
            raise ValueError("too much")
        return x

    made = user.user_function(raises, "UnaryOp", ("x",))
    with pytest.raises(JitError, match=r"raises .* it may raise .*return a value"):
        compile_function(Linked(made.name, INT64, (INT64,)), "sm_90")


@needs_numba_cuda
def test_parameters_with_defaults_keep_them():
    made = user.user_function(lambda x, step=2: x + step, "UnaryOp", ("x",))
    assert compile_function(Linked(made.name, INT64, (INT64,)), "sm_90")


def test_what_has_no_kernels_is_refused():
    huge = lookup_dtype("(129,)float64")
    slots = (Slot("matrix", huge, "inout"), Slot("matrix", huge))
    statement = Statement("copy", 0, (Arg(1),))
    with pytest.raises(NotImplementedException, match="1032 bytes"):
        staged_source(Program(slots, (statement,)), statement)


def test_the_last_mention_of_a_position_counts():
    assert last_mentions(np.array([1, 4, 9])) is None
    assert last_mentions(np.array([4, 9, 1])) is None
    assert last_mentions(np.array([4, 9, 4, 1, 9])).tolist() == [2, 3, 4]


def test_a_region_knows_its_positions():
    assert BoundRegion(3, 3, (), 6, -2, given=(6, 0, -2)).positions().tolist() == [6, 4, 2]
    assert BoundRegion(2, 2, given=np.array([5, 5])).positions().tolist() == [5, 5]


def test_the_memory_of_a_matrix_includes_the_rows_kept_beside_it():
    indptr, indices, values, rows = (SimpleNamespace(size=size) for size in (16, 12, 24, 12))
    parts = {"csr": (indptr, indices, values), "csc": (indptr, indices, values)}
    matrix = CudaMatrix(
        None,
        3,
        3,
        3,
        FP64,
        False,
        True,
        parts,
        np.dtype(np.int32),
        companions=Companions({(ENTRY_ROWS, "csr"): rows}),
    )
    usage = matrix.memory_usage()
    assert {name: nbytes for name, nbytes in usage.items() if nbytes} == {
        "buffers": 52, "entry_rows": 12,
    }  # fmt: skip
