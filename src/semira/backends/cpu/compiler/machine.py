"""The processor: what code is made for, optimising and assembling it, and loading it."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
from llvmlite.binding import ffi, newpassmanagers

from semira.base import locks
from semira.base.settings import settings

# LLVM that another thread is using when the process forks is not usable in the child.
locks.wait_at_fork(ffi.lib._lock)

# llvmlite's pass managers inherit a `_dispose` that does nothing before the one that frees them:
# some megabytes for each kernel, for as long as the process lives.
for _passes in (newpassmanagers.ModulePassManager, newpassmanagers.FunctionPassManager):
    if _passes._dispose is ffi.ObjectRef._dispose:
        _passes._dispose = newpassmanagers.NewPassManager._dispose

#: ``METH_FASTCALL``: Python passes an array of arguments.
_FASTCALL = 0x80

#: The processor that machine code for any processor is made for.
GENERIC = "generic"

_numbers = itertools.count()
_lock = locks.lock()


@functools.cache
def target() -> tuple[str, str, str]:
    """Return the processor that code is made for: triple, name, features.

    ``NUMBA_CPU_NAME=generic`` stands for any processor of this kind, as for Numba.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    if os.environ.get("NUMBA_CPU_NAME") == GENERIC:
        return triple, GENERIC, ""
    return triple, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def versions() -> list[str]:
    """Return what decides about machine code beside the text: the best code first."""
    triple, *_ = target()
    targets = dict.fromkeys((target(), (triple, GENERIC, "")))
    return [" ".join((*_compiler().values(), *each)) for each in targets]


def _compiler() -> dict[str, str]:
    """Return what makes the code, by name."""
    how = {} if settings().optimise else {"optimised": "no"}
    return {"llvmlite": llvmlite.__version__, **how}


def toolchain() -> dict[str, str]:
    """Return what machine code depends on beside the text, by name."""
    _, name, features = target()
    told = hashlib.sha256(features.encode()).hexdigest()[:16]
    return {**_compiler(), "cpu": f"{name} {told}" if features else name}


@functools.cache
def _machine(level: int = 3) -> Any:
    triple, name, features = target()
    chosen = llvm.Target.from_triple(triple)
    return chosen.create_target_machine(
        cpu=name, features=features, opt=level, reloc="pic", codemodel="default", jit=True
    )


def linked(texts: Sequence[str], name: str) -> tuple[str, list[str]]:
    """Link modules of LLVM IR into one that exports a single function.

    Returns the text of that module, and the names of what it needs from outside: functions of other
    libraries, addresses in this process, exceptions. What the function does not use is dropped.
    """
    with _lock:
        context = llvm.create_context()
        module, *others = (llvm.parse_assembly(text, context) for text in texts)
        for other in others:
            module.link_in(other)
        for part in _defined(module):
            if part.name != name:
                part.linkage = "internal"
        # Removes exceptions that cannot happen, such as that of a constant exponent below zero.
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        builder = llvm.create_pass_builder(_machine(), options)
        builder.getModulePassManager().run(module, builder)
        parts = (*module.functions, *module.global_variables)
        needed = [
            part.name for part in parts if part.is_declaration or part.name.startswith(_UNLINKABLE)
        ]
        return str(module), needed


#: How Numba names addresses in this process, and exceptions.
_UNLINKABLE = ("numba.dynamic.globals", ".const.picklebuf")


def _defined(module: Any) -> list[Any]:
    parts = (*module.functions, *module.global_variables)
    return [part for part in parts if not part.is_declaration]


def assemble(text: str, users: Mapping[str, str], *, vectorise: bool = True) -> bytes:
    """Return the object code of a module of LLVM IR and of the users' functions that it calls.

    Each of `users` is a module of LLVM IR, by the name of the function that it exports.

    Loops over few positions gain nothing from vectors, nor from most other passes, which take half
    of the time to compile. ``SEMIRA_OPTIMISE=0`` takes a fifth of it: few passes everywhere, and
    LLVM's fast choice of instructions and registers.
    """
    is_optimised = settings().optimise
    with _lock:
        machine = _machine(3 if is_optimised else 0)
        # What a context has seen it keeps.
        context = llvm.create_context()
        module = llvm.parse_assembly(text, context)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        for name, other in users.items():
            module.link_in(llvm.parse_assembly(other, context))
            function = module.get_function(name)
            function.linkage = "internal"
            function.add_function_attribute("alwaysinline")
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        builder = llvm.create_pass_builder(machine, options)
        few = None if vectorise and is_optimised else _few_passes(clean=is_optimised)
        passes = builder.getModulePassManager() if few is None else few
        passes.run(module, builder)
        return bytes(machine.emit_object(module))


def _few_passes(*, clean: bool) -> Any:
    """Return passes that make registers of variables and one function of the kernel's.

    To `clean` what they leave takes as long again. None if llvmlite cannot name them, as before
    version 0.45.
    """
    passes = llvm.create_new_module_pass_manager()
    if not hasattr(passes, "add_always_inliner_pass"):
        return None
    # Registers first: what is inlined at several places is done once.
    passes.add_sroa_pass()
    passes.add_always_inliner_pass()
    if clean:
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
    return passes


class Shared(NamedTuple):
    """What all machine code may refer to: functions of `assemble`, and addresses by name."""

    code: bytes
    addresses: dict[str, int]


_NONE: Mapping[str, int] = {}


class Loaded:
    """A function of machine code that Python calls; its memory is freed with it.

    The code is that of `assemble`, `name` that of its entry; `addresses` are those that no other
    code refers to.
    """

    def __init__(
        self, code: bytes, name: str, shared: Shared, addresses: Mapping[str, int] = _NONE
    ) -> None:
        with _lock:
            library = llvm.JITLibraryBuilder()
            library.add_object_img(code).export_symbol(name)
            for symbol, address in addresses.items():
                library.import_symbol(symbol, address)
            library.add_jit_library(_SHARED).add_current_process()
            self._tracker = library.link(_jit(shared), f"kernel{next(_numbers)}")
        # CPython reads the definition when it frees the function. So the function owns it, as its
        # ``__self__``, of a type whose memory the collector does not free before.
        title, size = name.encode() + b"\0", ctypes.sizeof(_Method)
        owned = bytearray(size) + title
        method = _Method.from_buffer(owned)
        start = ctypes.addressof(method)
        method.name, method.address, method.flags = start + size, self._tracker[name], _FASTCALL
        self.function: Callable[..., Any] = _new_function(start, owned, None)


class _Method(ctypes.Structure):
    """CPython's ``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_void_p),
    )


_new_function = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
)(("PyCFunction_NewEx", ctypes.pythonapi))

_SHARED = "shared"

_jits: dict[int, Any] = {}


def _jit(shared: Shared) -> Any:
    """Return what loads machine code in this process, and has loaded what all of it shares."""
    owner = os.getpid()
    if owner not in _jits:
        # The older linker puts code and constants where the system has room, and ends the process
        # if they are more than 2**31 bytes apart.
        made = llvm.create_lljit_compiler(_machine(), use_jit_link=True)
        library = llvm.JITLibraryBuilder().add_object_img(shared.code).add_current_process()
        for symbol, address in shared.addresses.items():
            library.import_symbol(symbol, address)
        _jits[owner] = made, library.link(made, _SHARED)
    return _jits[owner][0]
