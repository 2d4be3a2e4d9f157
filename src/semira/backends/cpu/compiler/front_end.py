"""Numba's front end: what it makes of Python functions before there is machine code."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Callable
from typing import Any

# It lets forks wait for LLVM.
from semira.backends.cpu.compiler import machine as _machine  # noqa: F401
from semira.base import locks


@functools.cache
def numba_version() -> str:
    """Return the version of Numba, which is not imported for that."""
    return importlib.metadata.version("numba")


@functools.cache
def let_forks_wait() -> None:
    """Let every fork wait until no thread uses Numba: else its lock stays locked in the child."""
    from numba.core.compiler_lock import global_compiler_lock

    locks.wait_at_fork(global_compiler_lock, is_outer=True)


def type_of_result(function: Callable[..., Any], signature: tuple[Any, ...]) -> Any:
    """Return the type of a function's result: a sixth of the time that compiling it takes."""
    return _run(function, signature, pipeline_class=_typing())


def lowered(function: Callable[..., Any], signature: tuple[Any, ...]) -> Any:
    """Compile a function to LLVM IR, and no further."""
    return _run(function, signature)


@functools.lru_cache(maxsize=128)
def _compiled(function: Callable[..., Any]) -> Any:
    import numba

    return numba.njit(nogil=True, error_model="numpy")(function)


def _run(function: Callable[..., Any], signature: tuple[Any, ...], **options: Any) -> Any:
    let_forks_wait()
    from numba import types
    from numba.core.compiler import Flags, compile_extra

    dispatcher, code = _compiled(function), function.__code__
    if len(signature) < code.co_argcount:
        defaults = (function.__defaults__ or ())[len(signature) - code.co_argcount :]
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
    """Return Numba's compiler up to type inference; it returns the type of the result."""
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
