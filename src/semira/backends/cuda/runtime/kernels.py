"""The kernels of a Program, by type of offsets and shape of the launch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from semira.backends.cuda.jit.apart import Apart
from semira.backends.cuda.jit.compile import can_be_quick, finish
from semira.backends.cuda.lower import LaunchShape, Lowered, lower_program
from semira.backends.cuda.lower.program import KERNEL
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.free_memory import free_of_driver
from semira.backends.cuda.runtime.kernel import Kernel
from semira.backends.cuda.runtime.profile import read_attribute
from semira.contract import Program, variant_part

#: A quick kernel runs if this many times its local memory, over all threads, is free.
STACK_ROOM = 4

#: Type of offsets, and shape.
Key = tuple[str, LaunchShape]


class _Quick(NamedTuple):
    """A kernel that is hardly optimised."""

    kernel: Kernel
    #: Whoever compiles the one that takes its place.
    better: Apart
    #: Makes a kernel of a cubin.
    load: Callable[[bytes], Kernel]


class Kernels:
    """The kernels of a lowered Program."""

    __slots__ = ("_lowered", "_name", "_program", "_quick", "_ready", "_replaced", "code_bytes")

    def __init__(self, program: Program, lowered: Lowered, name: str) -> None:
        self._program, self._lowered, self._name = program, lowered, name
        self._ready: dict[Key, Kernel] = {}
        # Those that are not optimised yet, and what was in the place of others.
        self._quick: dict[Key, _Quick] = {}
        self._replaced: list[Kernel] = []
        #: Bytes of their machine code.
        self.code_bytes = 0

    def get(self, runtime: Runtime, key: Key, *, is_small: bool) -> tuple[Kernel, bool]:
        """Return the kernel for an offset type and a shape, and whether another will replace it.

        For a launch that `is_small` one may be hardly optimised; it is replaced as soon as the
        other one is there, and at once for a launch that is not. A variant says itself how much
        shared memory its kernel may have; the kernel has none if that does not fit a
        multiprocessor.
        """
        found, quick = self._ready.get(key), self._quick.get(key)
        if found is None:
            return self._load(runtime, key, is_small), key in self._quick
        if quick is None or (is_small and not quick.better.is_done()):
            return found, quick is not None
        code = finish(quick.better)
        found = self._ready[key] = quick.load(code)
        del self._quick[key]
        self.code_bytes += len(code)
        # A launch of it may still run.
        self._replaced.append(quick.kernel)
        return found, False

    def _load(self, runtime: Runtime, key: Key, is_small: bool) -> Kernel:
        """Compile a kernel, or take it from the cache."""
        (offset_type, shape), lowered, name = key, self._lowered, self._name
        if shape != lowered.shape:
            lowered = lower_program(self._program, shape)
            name = f"{name}-{shape.word}"
        shared = _room(lowered, runtime)
        if shape.variant:
            shared = variant_part(shape.variant, "cuda").shared_bytes(runtime.shared, shared)
        quick = is_small and can_be_quick(lowered.source)
        compiled = runtime.compile_program(lowered.source, name, offset_type, may_be_quick=quick)
        load = partial(
            runtime.load, name=name, entry=KERNEL, threads=lowered.shape.threads, shared=shared
        )
        code, found = compiled.code, load(compiled.code)
        if compiled.better is not None:
            if _has_room(runtime, found):
                self._quick[key] = _Quick(found, compiled.better, load)
            else:
                code = finish(compiled.better)
                found = load(code)
        self._ready[key] = found
        self.code_bytes += len(code)
        return found


def _room(lowered: Lowered, runtime: Runtime) -> int:
    """Return the bytes of dynamic shared memory of a kernel: with what it keeps, half at most."""
    whole = lowered.room + lowered.kept_room
    return whole if 2 * whole <= runtime.shared else lowered.room


def _has_room(runtime: Runtime, kernel: Kernel) -> bool:
    """Return whether the GPU has much more memory than its threads need for a kernel's variables.

    They lie in registers once it is optimised; the driver keeps memory for as many threads as fit.
    """
    nbytes = read_attribute(kernel.loaded.attributes, "local_size_bytes")
    threads = runtime.multiprocessors * runtime.device.properties.max_threads_per_multiprocessor
    return STACK_ROOM * nbytes * threads <= free_of_driver(runtime)
