"""Prepared Programs: their kernels by size class and the memory they work in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.jit.compile import compile_cached
from semira.backends.cuda.lower import Lowered
from semira.backends.cuda.lower.program import KERNEL
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.errors import reported
from semira.backends.cuda.runtime.objects import CudaVector
from semira.contract import Program

#: Rows of the trace and reports of loops that one execution keeps.
TRACE_ROWS = 65_536
REPORTS = 256

#: Words of a TraceRow, and of a Result before its reports.
ROW_WORDS = 5
RESULT_WORDS = 6


@dataclass(slots=True, eq=False)
class CudaExecutable:
    """A lowered Program, its kernels by offset type, and the memory they work in."""

    program: Program
    lowered: Lowered
    name: str
    kernels: dict[str, Any] = field(default_factory=dict)
    code_bytes: int = 0
    memory: dict[str, tuple[int, tuple[Any, ...]]] = field(default_factory=dict)
    temporaries: dict[int, CudaVector] = field(default_factory=dict)
    checked: set[tuple[tuple[int, ...], ...]] = field(default_factory=set)
    table: Any = None
    rows: Any = None
    results: list[NDArray[np.int64]] = field(default_factory=list)

    @property
    def row_capacity(self) -> int:
        """Rows of the trace that fit."""
        return TRACE_ROWS if self.lowered.has_loop else max(1, len(self.lowered.products))

    @property
    def workspace_bytes(self) -> int:
        """Bytes of device memory that it keeps between executions."""
        buffers = [buffer for _, made in self.memory.values() for buffer in made]
        buffers += [b for vector in self.temporaries.values() for b in vector.buffers()]
        buffers += [buffer for buffer in (self.table, self.rows) if buffer is not None]
        return sum(int(buffer.size) for buffer in buffers)

    def take_result(self, runtime: Runtime) -> NDArray[np.int64]:
        """Return host memory for one execution's result; `give_result` takes it back."""
        if self.results:
            result = self.results.pop()
        else:
            head = RESULT_WORDS + 2 * REPORTS
            result = runtime.pinned(head + ROW_WORDS * self.row_capacity)
        result[:RESULT_WORDS] = [0, 0, -1, -1, -1, 0]
        return result

    def give_result(self, result: NDArray[np.int64]) -> None:
        """Allow the memory to be used by later executions, which run after this one."""
        self.results.append(result)


def load_kernel(runtime: Runtime, executable: CudaExecutable, offset_type: str) -> Any:
    """Return the kernel for an offset type, compiled or from the cache."""
    if offset_type not in executable.kernels:
        from cuda.core import ObjectCode

        compiled = compile_cached(
            executable.lowered.source, executable.name, runtime.arch, offset_type
        )
        if compiled.was_cached:
            runtime.statistics.loaded += 1
        else:
            runtime.statistics.compiled += 1
        with reported(f"loading kernel {executable.name}"):
            kernel = ObjectCode.from_cubin(compiled.code, name=executable.name).get_kernel(KERNEL)
        executable.kernels[offset_type] = kernel
        executable.code_bytes += len(compiled.code)
    return executable.kernels[offset_type]
