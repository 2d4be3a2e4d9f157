"""Kernels as Python calls them: compiled for the types they meet, kept on disk."""

from __future__ import annotations

import functools
import gc
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from semira.backends import kernel_files
from semira.backends.cpu.compiler import machine, users
from semira.backends.cpu.compiler.arguments import addresses, alike, own_addresses, reader, type_of
from semira.backends.cpu.compiler.entry import Entry
from semira.backends.cpu.compiler.functions import unit_of, write_function
from semira.backends.cpu.compiler.types import Type, UnsupportedError
from semira.base import interrupts, locks
from semira.base.compiling import compiling
from semira.base.errors import JitError
from semira.base.settings import settings

#: What the machine code of each kernel calls its entry.
ENTRY = "semira_entry"

#: What the cache holds for a kernel that Numba has to compile.
_BY_OTHER = b""

_KERNEL = re.compile(r"^@kernel\ndef (\w+)\(", re.MULTILINE)

_lock = locks.lock()


@functools.cache
def _compiler() -> str:
    """Return what tells this compiler from others, which make other code of the same text."""
    files = resources.files("semira.backends.cpu.compiler").iterdir()
    texts = {file.name: file.read_bytes() for file in files if file.name.endswith(".py")}
    return hashlib.sha256(b"".join(texts[name] for name in sorted(texts))).hexdigest()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage in the block, all of whose many objects live: half of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_uncollected()
def llvm_text(text: str, function: str, types: tuple[Type, ...]) -> tuple[str, Mapping[str, str]]:
    """Return the LLVM IR of a kernel of a rendered module, and of users' functions by name.

    Raises UnsupportedError if it uses what this compiler does not know.
    """
    unit = unit_of(text)
    kernel, result = write_function(unit, function, types)
    Entry(unit.module, kernel, types, result, ENTRY).write()
    return str(unit.module), unit.users


def _folder(digest: Callable[..., str], version: str) -> Path:
    return settings().cache_dir / "cpu" / digest(version, _compiler(), kernel_files.FORMAT)


def _kept(paths: Sequence[Path]) -> bytes | None:
    # Code for any processor is slower; it was compiled ahead of time on purpose.
    found = (kernel_files.read(path) for path in paths)
    return next((code for code in found if code is not None), None)


@functools.cache
def shared(digest: Callable[..., str]) -> machine.Shared:
    """Return what the code of all kernels refers to; its own code is kept beside theirs."""
    paths = [_folder(digest, version) / "shared.code" for version in machine.versions()]
    code = _kept(paths)
    if code is None:
        code = machine.assemble(reader(), {}, vectorise=False)
        kernel_files.write(paths[0], code)
    return machine.Shared(code, addresses())


class Kernels:
    """The kernels of a rendered module, as its attributes.

    `digest` returns a short digest of texts. `compiled` is told the name of each kernel that was
    not on disk. `otherwise` returns the module as another compiler makes it.
    """

    def __init__(
        self,
        name: str,
        text: str,
        digest: Callable[..., str],
        compiled: list[str],
        otherwise: Callable[[], Any],
        *,
        vectorise: bool = True,
    ) -> None:
        self.name, self.text, self.vectorise = name, text, vectorise
        self.__name__ = f"semira_cpu_kernels.{name}"
        self.digest, self.compiled, self.otherwise = digest, compiled, otherwise
        for function in _KERNEL.findall(text):
            setattr(self, function, Kernel(self, function))


class Kernel:
    """A function that takes arrays and numbers of any types that it compiles for."""

    is_kernel = True

    def __init__(self, module: Kernels, function: str) -> None:
        self._module, self._function = module, function
        self._entries: dict[tuple[Type, ...], Any] = {}
        self._latest: Callable[..., Any] = _none_yet
        self._before: Callable[..., Any] = _none_yet

    def __call__(self, *args: Any) -> Any:
        """Run the kernel without the GIL.

        Raises JitError if it is not in the cache and ``SEMIRA_NO_COMPILE`` is set.
        """
        made = self._latest(*args)
        if made is not NotImplemented:
            return made
        made = self._before(*args)
        return made if made is not NotImplemented else self._for_other_types(args)

    def again(self, *args: Any) -> bool:
        """Run the kernel if the types are those of one of the last two calls; tell whether."""
        if self._latest(*args) is not NotImplemented:
            return True
        return self._before(*args) is not NotImplemented

    def bound(self, *args: Any) -> Callable[[], Any]:
        """Return a call on the same arguments, without a look at which code is theirs."""
        entry = self._entry_for(args)
        if any(arg.__class__ is int and arg.bit_length() > 63 for arg in args):
            # Code for 64 bits would say only when it runs that it does not take them.
            entry = self._by_other_compiler()
        return functools.partial(getattr(entry, "function", entry), *map(alike, args))

    def _for_other_types(self, args: tuple[Any, ...]) -> Any:
        entry = self._entry_for(args)
        if isinstance(entry, machine.Loaded):
            self._latest, self._before = entry.function, self._latest
            for given in (args, tuple(map(alike, args))):
                made = entry.function(*given)
                if made is not NotImplemented:
                    return made
            entry = self._by_other_compiler()
        return entry(*args)

    def _by_other_compiler(self) -> Any:
        return getattr(self._module.otherwise(), self._function)

    def _entry_for(self, args: tuple[Any, ...]) -> Any:
        """Return the code for the types of arguments; that of the other compiler is a function."""
        try:
            types = tuple(map(type_of, args))
        except UnsupportedError:
            return self._by_other_compiler()
        entry = self._entries.get(types)
        if entry is None:
            with _lock:
                entry = self._entries.get(types)
                if entry is None:
                    # Whole: Ctrl-C takes effect before or after it.
                    with interrupts.deferred():
                        entry = self._entries[types] = self._load_or_compile(types)
        return entry

    def _load_or_compile(self, types: tuple[Type, ...]) -> Any:
        paths = self._paths(types)
        path, code = paths[0], _kept(paths)
        if code is None:
            try:
                code = self._compile(types, path)
            except UnsupportedError:
                if not settings().no_compile:
                    # Another process need not find out again.
                    kernel_files.write(path, _BY_OTHER)
                return self._by_other_compiler()
        if code == _BY_OTHER:
            return self._by_other_compiler()
        own = {name: id(dtype) for name, dtype in own_addresses(types).items()}
        others = shared(self._module.digest), own
        try:
            return machine.Loaded(code, ENTRY, *others)
        except RuntimeError as error:
            kernel_files.reject(path, str(error))
            return machine.Loaded(self._compile(types, path), ENTRY, *others)

    def _compile(self, types: tuple[Type, ...], path: Path) -> bytes:
        name = f"{self._module.name}:{self._function}"
        # Before anything is refused: another compiler may have it in the cache.
        text, functions = llvm_text(self._module.text, self._function, types)
        why = kernel_files.why_missing("cpu", name, machine.toolchain, {"cpu": machine.GENERIC})
        if settings().no_compile:
            raise JitError(
                f"kernel {name} is not compiled for ({', '.join(map(_name_of, types))}) in the "
                f"cache {path.parent} and SEMIRA_NO_COMPILE is set: {why}; unset it, or fill the "
                "cache first by `semira compile`, or by a run without it"
            )
        with compiling():
            code = machine.assemble(text, functions, vectorise=self._module.vectorise)
        self._module.compiled.append(name)
        kernel_files.write(path, code)
        return code

    def _paths(self, types: tuple[Type, ...]) -> list[Path]:
        digest = self._module.digest
        key = digest(
            self._module.text,
            str(self._module.vectorise),
            self._function,
            ", ".join(map(_name_of, types)),
            *users.versions(self._module.text),
        )
        name = f"{self._module.name}.{self._function}-{key}.o"
        return [_folder(digest, version) / name for version in machine.versions()]


def _name_of(type_: Type) -> str:
    return getattr(type_, "name", str(type_))


def _none_yet(*_: Any) -> Any:
    return NotImplemented
