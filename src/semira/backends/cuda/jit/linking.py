"""Python operators in kernels: Numba makes LTO-IR of them, the linker inlines it.

Generated source names each function it calls in a line ``// link [NAME, RESULT, PARAMETERS]``, so
that the text alone says what a cubin is made of. Numba is imported only when there is one.

Numbers are passed by value, complex ones as two numbers, records by address; a function of
records returns the address of one of them. Functions that return complex numbers are called
rather than inlined: C++ and Numba have different types for the pair.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
from dataclasses import dataclass
from typing import Any

from semira.backends.cuda.jit.literals import literal
from semira.base.dtypes import BOOL, INT64, DataType, lookup_dtype, register_anonymous
from semira.base.errors import DeviceUnavailable, JitError
from semira.base.record_dtypes import layout, of_layout
from semira.ops import TypedOp
from semira.ops.indexbinary import BoundIndexOp
from semira.ops.user import function_named

_MAY_RAISE = "it may raise (raise, assert, an index into a tuple); return a value in that case"

_LINE = re.compile(r"^// link (\[.*\])$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Linked:
    """A Python function as a kernel calls it."""

    #: Name of the function in `semira.ops.user`.
    name: str
    result: DataType
    parameters: tuple[DataType, ...]
    #: What it is called with, in the parameters of the operator.
    arguments: tuple[str, ...] = ()

    @property
    def symbol(self) -> str:
        """Name of the compiled function."""
        return "_".join([self.name, *(dtype.tag for dtype in (*self.parameters, self.result))])

    def declaration(self) -> str:
        """Return the C++ declaration and the line that asks for the function."""
        given = ", ".join(_passed(dtype) for dtype in self.parameters)
        asked = [self.name, _described(self.result), [_described(p) for p in self.parameters]]
        return (
            f"// link {json.dumps(asked)}\n"
            f'extern "C" __device__ {_returned(self.result)} {self.symbol}({given});\n'
        )

    def call(self) -> str:
        """Return the expression in the operator's parameters."""
        pairs = zip(self.parameters, self.arguments, strict=True)
        call = f"{self.symbol}({', '.join(_given(dtype, text) for dtype, text in pairs)})"
        if self.result.is_complex:
            return f"from_parts({call})"
        return f"record_at<R>({call})" if self.result.kind == "V" else call


def _described(dtype: DataType) -> Any:
    return layout(dtype.np_type) if dtype.kind == "V" else dtype.name


def _dtype_of(described: Any) -> DataType:
    if isinstance(described, str):
        return lookup_dtype(described)
    return register_anonymous(of_layout(described))


def _passed(dtype: DataType) -> str:
    """Return the C++ type, or types, a value is passed as: Numba's booleans are bytes."""
    if dtype.is_complex:
        return f"{dtype.part.cuda_type}, {dtype.part.cuda_type}"
    return "unsigned char*" if dtype.kind == "V" else _returned(dtype)


def _returned(dtype: DataType) -> str:
    if dtype.is_complex:
        return f"Parts<{dtype.part.cuda_type}>"
    if dtype.kind == "V":
        return "const unsigned char*"
    return "unsigned char" if dtype is BOOL else dtype.cuda_type


def _given(dtype: DataType, text: str) -> str:
    if dtype.is_complex:
        return f"{text}.real, {text}.imag"
    return f"bytes_of({text})" if dtype.kind == "V" else text


def linked_function(op: TypedOp) -> Linked | None:
    """Return the Python function behind an operator, None for a built-in one."""
    user, parent = op.parent.user, op.parent
    if user is None:
        return None
    if isinstance(parent, BoundIndexOp):
        places = ("i", "k") * 2 if parent.is_in_place else ("i", "k", "k", "j")
        theta = literal(parent.theta_type, parent.theta)
        sides = (op.type, INT64, INT64) * 2
        given = ("a", *places[:2], "b", *places[2:], theta)
        return Linked(user.name, op.return_type, (*sides, parent.theta_type), given)
    parameters: tuple[DataType, ...]
    arguments: tuple[str, ...]
    parameters, arguments = {
        "UnaryOp": ((op.type,), ("a",)),
        "BinaryOp": ((op.type, op.type2), ("a", "b")),
        "IndexUnaryOp": ((op.type, INT64, INT64, op.type), ("a", "i", "j", "t")),
        "SelectOp": ((op.type, INT64, INT64, op.type), ("a", "i", "j", "t")),
    }[parent.opclass]
    return Linked(user.name, op.return_type, parameters, arguments)


def functions_in(source: str) -> list[Linked]:
    """Return the Python functions a source calls, in order, each once."""
    if "// link [" not in source:  # of most; the pattern says so ten times slower
        return []
    asked = (json.loads(text) for text in dict.fromkeys(_LINE.findall(source)))
    return [
        Linked(name, _dtype_of(result), tuple(_dtype_of(part) for part in parameters))
        for name, result, parameters in asked
    ]


def compiler_version() -> str:
    """Return the version of Numba's CUDA compiler.

    Raises DeviceUnavailable if it is not installed.
    """
    try:
        # Not of the module, whose import takes longer than loading a kernel that is in the cache.
        return f"numba-cuda {importlib.metadata.version('numba-cuda')}"
    except importlib.metadata.PackageNotFoundError as error:
        raise DeviceUnavailable(
            f"Python operators on 'cuda' need numba-cuda ({error}); pip install 'semira[cuda13]', "
            "or use device='cpu'"
        ) from error


def compile_function(function: Linked, arch: str) -> bytes:
    """Return the LTO-IR of a Python function.

    Raises JitError if Numba refuses; the message names the function and says why.
    """
    compiler_version()
    from numba import cuda
    from numba.types import Omitted

    python: Any = function_named(function.name)
    types = [dtype.numba_type for dtype in function.parameters]
    if len(types) < python.__code__.co_argcount:
        types += map(Omitted, python.__defaults__[len(types) - python.__code__.co_argcount :])
    signature = function.result.numba_type(*types)
    digits = arch.removeprefix("sm_")
    try:
        code, _ = cuda.compile(
            python, signature, device=True, abi="c",
            abi_info={"abi_name": function.symbol}, output="ltoir",
            cc=(int(digits[:-1]), int(digits[-1])),
        )  # fmt: skip
    except Exception as error:
        name = python.__name__
        # What Numba's exceptions become, where a function returns its result by itself.
        why = f"{_MAY_RAISE} ({error})" if "INVALID_IR" in str(error) else error
        raise JitError(
            f"the Python operator {name} does not compile for the GPU with "
            f"{', '.join(map(str, function.parameters))} operands: {why}"
        ) from error
    return bytes(code)


def link(kernel: Any, parts: list[bytes], name: str, arch: str, kind: str = "cubin") -> Any:
    """Return the linked cubin of a kernel's LTO-IR and its functions.

    Of another kind it is PTX, in which nothing is optimised: most of the time goes into that.
    """
    from cuda.core import Linker, LinkerOptions, ObjectCode

    objects = [kernel, *(ObjectCode.from_ltoir(part) for part in parts)]
    how = {} if kind == "cubin" else {"ptx": True, "optimization_level": 0}
    options = LinkerOptions(name=name, arch=arch, link_time_optimization=True, **how)
    linker = Linker(*objects, options=options)
    try:
        made = linker.link("ptx" if how else kind)
    except Exception as error:
        log = linker.get_error_log()
        raise JitError(f"kernel {name} does not link for {arch}:\n{log or error}") from error
    finally:
        linker.close()
    if how and (missing := re.findall(rb"^\.extern \.func.* (\w+)$", made.code, re.MULTILINE)):
        raise JitError(f"kernel {name} does not link for {arch}: {missing} are not there")
    return made
