"""Python operators in kernels: Numba makes LTO-IR of them, the linker inlines it.

Generated source names each function it calls in a line ``// link NAME OPCLASS OPERAND RESULT``,
so that the text alone says what a cubin is made of. Numba is imported only when there is one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from semira.base.dtypes import BOOL, INT64, DataType, lookup_dtype
from semira.base.errors import DeviceUnavailable, JitError
from semira.ops import TypedOp
from semira.ops.user import function_named

_LINE = re.compile(r"^// link (\w+) (\w+) (\w+) (\w+)$", re.MULTILINE)

#: Types of the parameters after the first, by class of operator; None is the operand's own.
_MORE: dict[str, tuple[DataType | None, ...]] = {
    "UnaryOp": (),
    "BinaryOp": (None,),
    "IndexUnaryOp": (INT64, INT64, None),
    "SelectOp": (INT64, INT64, None),
}
_ARGUMENTS = {
    "UnaryOp": "a",
    "BinaryOp": "a, b",
    "IndexUnaryOp": "a, i, j, t",
    "SelectOp": "a, i, j, t",
}


@dataclass(frozen=True, slots=True)
class Linked:
    """A Python function as a kernel calls it.

    Attributes
    ----------
    name : str
        Name of the function in `semira.ops.user`.
    opclass : str
    operand, result : DataType
    """

    name: str
    opclass: str
    operand: DataType
    result: DataType

    @property
    def symbol(self) -> str:
        """Name of the compiled function."""
        return f"{self.name}_{self.operand.tag}_{self.result.tag}"

    @property
    def parameters(self) -> tuple[DataType, ...]:
        """Types of all parameters."""
        return (self.operand, *(more or self.operand for more in _MORE[self.opclass]))

    def declaration(self) -> str:
        """Return the C++ declaration and the line that asks for the function."""
        given = ", ".join(_passed(dtype) for dtype in self.parameters)
        return (
            f"// link {self.name} {self.opclass} {self.operand} {self.result}\n"
            f'extern "C" __device__ {_passed(self.result)} {self.symbol}({given});\n'
        )

    def call(self) -> str:
        """Return the expression in the operator's parameters."""
        return f"{self.symbol}({_ARGUMENTS[self.opclass]})"


def _passed(dtype: DataType) -> str:
    """Return the C++ type a value is passed as: Numba's booleans are bytes."""
    return "unsigned char" if dtype is BOOL else dtype.cuda_type


def linked_function(op: TypedOp) -> Linked | None:
    """Return the Python function behind an operator.

    None for a built-in one, and for what cannot be linked: functions of complex numbers, and
    binary operators that read positions.
    """
    user = op.parent.user
    if user is None or op.is_positional or op.type.is_complex or op.return_type.is_complex:
        return None
    return Linked(user.name, op.parent.opclass, op.type, op.return_type)


def functions_in(source: str) -> list[Linked]:
    """Return the Python functions a source calls, in order, each once."""
    found = dict.fromkeys(_LINE.findall(source))
    return [
        Linked(name, opclass, lookup_dtype(operand), lookup_dtype(result))
        for name, opclass, operand, result in found
    ]


def compiler_version() -> str:
    """Return the version of Numba's CUDA compiler.

    Raises
    ------
    DeviceUnavailable
        It is not installed.
    """
    try:
        import numba_cuda
    except ImportError as error:
        raise DeviceUnavailable(
            f"Python operators on 'cuda' need numba-cuda ({error}); pip install 'semira[cuda13]', "
            "or use device='cpu'"
        ) from error
    return f"numba-cuda {numba_cuda.__version__}"


def compile_function(function: Linked, arch: str) -> bytes:
    """Return the LTO-IR of a Python function.

    Raises
    ------
    JitError
        Numba refuses; the message names the function and says why.
    """
    compiler_version()
    import numba
    from numba import cuda

    types = [numba.from_dtype(dtype.np_type) for dtype in function.parameters]
    signature = numba.from_dtype(function.result.np_type)(*types)
    digits = arch.removeprefix("sm_")
    try:
        code, _ = cuda.compile(
            function_named(function.name),
            signature,
            device=True,
            abi="c",
            abi_info={"abi_name": function.symbol},
            output="ltoir",
            cc=(int(digits[:-1]), int(digits[-1])),
        )
    except Exception as error:
        name = function_named(function.name).__name__
        raise JitError(
            f"the Python operator {name} does not compile for the GPU with {function.operand} "
            f"operands: {error}"
        ) from error
    return bytes(code)


def link(kernel: Any, parts: list[bytes], name: str, arch: str) -> Any:
    """Return the linked cubin of a kernel's LTO-IR and its functions."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    objects = [kernel, *(ObjectCode.from_ltoir(part) for part in parts)]
    options = LinkerOptions(name=name, arch=arch, link_time_optimization=True)
    linker = Linker(*objects, options=options)
    try:
        return linker.link("cubin")
    except Exception as error:
        log = linker.get_error_log()
        raise JitError(f"kernel {name} does not link for {arch}:\n{log or error}") from error
    finally:
        linker.close()
