"""How much memory the process may still take, and refusing what takes more.

NumPy's own MemoryError comes too late where the system promises more than it has: there the process
is killed. So what is known to be large is asked for here before it is allocated.
"""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import OutOfMemory

#: Smaller requests are left to the allocator: asking the system takes as long as they do.
LARGE = 64 << 20

_REMEDY = "release objects, use smaller ones or another device"

_PROC, _CGROUP = Path("/proc"), Path("/sys/fs/cgroup")

#: A control group without a limit has this one or a larger one.
_UNLIMITED = 2**60


class _Names(NamedTuple):
    """Files of a control group, and lines of ``memory.stat`` that the kernel would give back."""

    limit: str
    used: str
    cached: tuple[str, str]


_VERSION_2 = _Names("memory.max", "memory.current", ("inactive_file", "active_file"))
_VERSION_1 = _Names(
    "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")
)

#: Called before a request is refused: each gives back memory that is only kept for later.
spares: list[Callable[[], None]] = []

Function = TypeVar("Function", bound=Callable[..., Any])


def available_bytes() -> int | None:
    """Return the bytes that this process may still take; None if the system does not tell.

    The least of the machine's free memory, of what the limits of its control groups (versions 1
    and 2) leave, and of what its own limits leave (``ulimit -v``, ``ulimit -d``). Memory that holds
    nothing but cached files counts as free, and so does swap space. 0.1 to 0.5 ms.
    """
    table = _table(_PROC / "meminfo")
    swap = 1024 * table.get("SwapFree", 0)
    left = [_machine_bytes(table), *_process_bytes()]
    left += [None if each is None else each + swap for each in map(_group_bytes, _groups())]
    return min((each for each in left if each is not None), default=None)


def total_bytes() -> int | None:
    """Return the memory of the machine, or what its control groups allow if that is less."""
    limits = [_number(folder / names.limit) for folder, names in _groups()]
    known = [1024 * _table(_PROC / "meminfo").get("MemTotal", 0) or _physical_bytes(), *limits]
    return min((each for each in known if each is not None and each < _UNLIMITED), default=None)


def require_bytes(needed: int, what: str, remedy: str = _REMEDY) -> None:
    """Raise OutOfMemory, with both numbers, if `needed` bytes are not available for `what`.

    They are what the work takes at least: an upper bound would refuse what fits.
    """
    if not is_free(needed):
        raise OutOfMemory(f"{what} needs {in_bytes(needed)}, but {_left()}; {remedy}")


def is_free(needed: int) -> bool:
    """Return whether `needed` bytes are available, after cached memory is released."""
    if needed < LARGE or _leaves(needed):
        return True
    for give_back in spares:
        give_back()
    gc.collect()
    return _leaves(needed)


def empty(length: int, dtype: Any, what: str = "a result") -> NDArray[Any]:
    """Return an array of unknown contents, all about to be written; raises OutOfMemory."""
    dtype = np.dtype(dtype)
    require_bytes(length * dtype.itemsize, what)
    return np.empty(length, dtype)


def repeated(values: NDArray[Any], count: int) -> NDArray[Any]:
    """Return an array of `count` copies of the first of `values`; raises OutOfMemory."""
    require_bytes(count * values.itemsize, "a value for each entry")
    return np.repeat(values[:1], count)


def raise_with_figures(error: MemoryError, what: str, remedy: str = _REMEDY) -> NoReturn:
    """Raise a MemoryError of NumPy, a compiled kernel or Python as OutOfMemory, with figures."""
    if isinstance(error, OutOfMemory):
        raise error
    asked = str(error).rstrip(".")
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is not None and dtype is not None:
        needed = dtype.itemsize
        for length in shape:
            needed *= length
        asked = f"an array of shape {shape} and dtype {dtype} needs {in_bytes(needed)}"
    told = f"{what} ran out of memory: {asked + ', but ' if asked else ''}{_left()}; {remedy}"
    made = OutOfMemory(told)
    # Such as the iterations that a loop completed.
    made.__dict__.update(error.__dict__)
    raise made from error


def tells_shortage(what: str, remedy: str = _REMEDY) -> Callable[[Function], Function]:
    """Return a decorator for functions whose MemoryError is to be an OutOfMemory with figures."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except MemoryError as error:
                raise_with_figures(error, what, remedy)

        return call  # type: ignore[return-value]

    return decorate


def in_bytes(count: int) -> str:
    """Return a number of bytes as messages show it.

    Examples
    --------
    >>> in_bytes(3 * 2**29)
    '1610612736 bytes (1.5 GiB)'
    """
    size, unit = (count / 2**30, "GiB") if count >= 2**30 else (count / 2**20, "MiB")
    return (
        f"{count} bytes ({size:,.0f} {unit})"
        if size >= 100
        else f"{count} bytes ({size:.3g} {unit})"
    )


def _leaves(needed: int) -> bool:
    available = available_bytes()
    return available is None or needed <= available


def _left() -> str:
    available = available_bytes()
    return "no more is" if available is None else f"{in_bytes(available)} are available"


def _machine_bytes(table: dict[str, int]) -> int | None:
    """Return the machine's free memory and swap, or all its memory where it tells no more."""
    if "MemAvailable" in table:
        return 1024 * (table["MemAvailable"] + table.get("SwapFree", 0))
    return _physical_bytes()


def _physical_bytes() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


@functools.cache
def _groups() -> tuple[tuple[Path, _Names], ...]:
    """Return the folders of the process' control groups and of those around them."""
    found = []
    for line in _read(_PROC / "self/cgroup").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0":
            root, names = _CGROUP, _VERSION_2
        elif "memory" in controllers.split(","):
            root, names = _CGROUP / "memory", _VERSION_1
        else:
            continue
        # In a container the path may be one that only the host sees; the root is its own there.
        parts = path.strip("/").split("/")
        folders = {root.joinpath(*parts[:depth]) for depth in range(len(parts) + 1)}
        found += [(each, names) for each in sorted(folders) if (each / names.limit).exists()]
    return tuple(found)


def _group_bytes(group: tuple[Path, _Names]) -> int | None:
    """Return what a control group leaves; None: it sets no limit."""
    folder, names = group
    most = _number(folder / names.limit)
    used = None if most is None or most >= _UNLIMITED else _number(folder / names.used)
    if most is None or used is None:
        return None
    table = _table(folder / "memory.stat")
    return max(0, most - used + sum(table.get(name, 0) for name in names.cached))


def _process_bytes() -> list[int]:
    try:
        import resource
    except ImportError:
        return []
    left = []
    for limit, name in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        most = resource.getrlimit(limit)[0]
        if most != resource.RLIM_INFINITY:
            used = 1024 * _table(_PROC / "self/status").get(name, 0)
            left.append(max(0, most - used))
    return left


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _read(path).strip()
    return int(text) if text.isdigit() else None


def _table(path: Path) -> dict[str, int]:
    """Return the numbers of a file with a name and a number in each line."""
    words = (line.replace(":", " ").split()[:2] for line in _read(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}
