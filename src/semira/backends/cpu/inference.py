"""Result dtypes of Python functions, as Numba infers them."""

from __future__ import annotations

import functools
import importlib.metadata
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from semira.backends import kernel_files
from semira.backends.cpu.codegen import digest_of
from semira.backends.cpu.compiler import machine
from semira.base.compiling import quiet_numba
from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import DomainMismatch
from semira.base.settings import settings
from semira.ops.user import name_of

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


#: Kinds of dtypes whose functions compile if their types can be told; of complex numbers and
#: records, Numba refuses some only when it writes code.
_PLAIN = frozenset("biuf")


@functools.lru_cache(maxsize=128)
def _compiled(function: Callable[..., Any]) -> Any:
    import numba

    return numba.njit(nogil=True, error_model="numpy")(function)


def infer_dtype(function: Callable[..., Any], operands: tuple[DataType, ...]) -> DataType | str:
    """Return the dtype of ``function(*operands)``, or a line that says why it does not compile.

    Dtypes are kept on disk, beside the kernels: a process that finds both does without Numba.
    """
    path = _path(function, operands)
    kept = None if path is None else kernel_files.read(path)
    if kept is not None:
        return lookup_dtype(kept.decode())
    found = _inferred(function, operands)
    if path is not None and isinstance(found, DataType) and found.kind != "V":
        kernel_files.write(path, found.name.encode())
    return found


def _path(function: Callable[..., Any], operands: tuple[DataType, ...]) -> Path | None:
    """Return where a dtype is kept; None for functions and operands that have no lasting name."""
    name = name_of(function)
    if name is None or any(dtype.kind == "V" for dtype in operands):
        return None
    digest = digest_of(kernel_files.FORMAT, numba_version(), *(dtype.name for dtype in operands))
    return settings().cache_dir / "cpu" / "dtypes" / f"{name}-{digest}"


@functools.cache
def numba_version() -> str:
    """Return the version of Numba, which is not imported for that."""
    return importlib.metadata.version("numba")


def _inferred(function: Callable[..., Any], operands: tuple[DataType, ...]) -> DataType | str:
    machine.let_forks_wait_for_numba()
    import numba
    from numba.core.errors import NumbaError

    signature = tuple(numba.from_dtype(dtype.array_dtype) for dtype in operands)
    dispatcher = _compiled(function)
    try:
        with quiet_numba():
            if all(dtype.array_dtype.kind in _PLAIN for dtype in operands):
                result = _typed(dispatcher, signature)
            else:
                result = front_end(function, signature).signature.return_type
        if isinstance(result, numba.types.Literal):
            result = result.literal_type
        return lookup_dtype(numba.np.numpy_support.as_dtype(result))
    except (NumbaError, NotImplementedError, DomainMismatch) as error:
        return _one_line(error)


def _typed(dispatcher: Any, signature: tuple[Any, ...]) -> Any:
    """Return the type of a function's result: a sixth of the time that compiling it takes."""
    return _front_end(dispatcher, signature, pipeline_class=_typing())


def front_end(function: Callable[..., Any], signature: tuple[Any, ...]) -> Any:
    """Return what Numba makes of a function up to LLVM's language: no machine code."""
    return _front_end(_compiled(function), signature)


def _front_end(dispatcher: Any, signature: tuple[Any, ...], **options: Any) -> Any:
    machine.let_forks_wait_for_numba()
    from numba import types
    from numba.core.compiler import Flags, compile_extra

    function = dispatcher.py_func
    defaults = (function.__defaults__ or ())[len(signature) - function.__code__.co_argcount :]
    if len(signature) < function.__code__.co_argcount:
        signature = (*signature, *map(types.Omitted, defaults))
    target, flags = dispatcher.targetdescr, Flags()
    target.options.parse_as_flags(flags, dispatcher.targetoptions)
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    return compile_extra(
        target.typing_context, target.target_context, function, signature, None, flags,
        {}, **options,
    )  # fmt: skip


@functools.cache
def _typing() -> Any:
    """Return Numba's compiler up to where all types are known; it returns that of the result."""
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import AnalysisPass, register_pass
    from numba.core.typed_passes import NopythonTypeInference

    @register_pass(mutates_CFG=False, analysis_only=True)
    class TellType(AnalysisPass):  # type: ignore[misc]
        _name = "semira_tell_type"

        def __init__(self) -> None:
            AnalysisPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            state.cr = state.return_type
            return False

    class Typing(CompilerBase):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            passes = DefaultPassBuilder.define_untyped_pipeline(self.state)
            passes.add_pass(NopythonTypeInference, "types")
            passes.add_pass(TellType, "the result's")
            passes.finalize()
            return [passes]

    return Typing


def _one_line(error: Exception) -> str:
    """Return the sentence of a compiler's report that says what is wrong."""
    lines = [line.strip() for line in _COLOURS.sub("", str(error)).splitlines() if line.strip()]
    telling = [
        line
        for line in lines
        if not line.startswith(("Failed in", "File", "During:", ">>>", "-", "^", "def ", "<source"))
    ]
    return (telling or lines or [type(error).__name__])[0]
