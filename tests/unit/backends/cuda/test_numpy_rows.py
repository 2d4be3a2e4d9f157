"""NumPy's operators and those with parameters have CUDA text that compiles."""

from __future__ import annotations

import pytest
from tests.helpers.compiling import compile_only

import semira as gb
from semira.backends.cuda.jit.compile import compiler_version
from semira.backends.cuda.jit.operators import monoid_struct, operator_struct
from semira.base.dtypes import ALL_DTYPES
from semira.base.errors import DeviceUnavailable
from semira.ops.registry import NUMPY


def test_cuda_text_compiles():
    try:
        compiler_version()
    except DeviceUnavailable:
        pytest.skip("NVRTC is not installed (pip install 'semira[test]')")
    rows = [row for opclass in ("UnaryOp", "BinaryOp") for row in NUMPY[opclass].values()]
    rows.append(gb.binary.isclose())
    operators = [row[dtype] for row in rows for dtype in ALL_DTYPES if dtype in row]
    monoids = [row[dtype] for row in NUMPY["Monoid"].values() for dtype in row.types]
    operators += [one.op for one in monoids]
    structs = dict.fromkeys(operator_struct(op) for op in operators)
    structs |= dict.fromkeys(monoid_struct(one) for one in monoids)
    compiled = compile_only("\n".join(structs), "sm_80")
    assert len(structs) > 300
    assert compiled.log.strip("\0 \n") == ""
