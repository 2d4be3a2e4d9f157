"""What SuiteSparse's options mean here: per object, for the process, and for a ``with`` block.

Options that steer a library we do not have raise a KeyError that says what does the same here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from semira.base.errors import InvalidValue, NotImplementedException
from semira.base.settings import override, read_environment, settings
from semira.frontend import reading
from semira.frontend.reading import oriented
from semira.frontend.ss.exporting import stored_format

#: SuiteSparse's options without meaning here, and what to use instead.
ELSEWHERE = {
    "bitmap_switch": "the planner decides storage, see semira.explain",
    "burble": "semira.Recorder lists kernels and plans",
    "chunk": "the cpu backend cuts work by entries",
    "gpu_id": "semira.device('cuda') places objects",
    "hyper_switch": "hypersparse storage follows from shape and entries",
    "memory_pool": "NumPy allocates",
    "print_1based": "indices are printed from 0",
}

_FORMATS = {"by_row": "csr", "by_col": "csc"}
_STATUS = {"csr": "sparse", "csc": "sparse", "hypercsr": "hypersparse", "hypercsc": "hypersparse"}


def _unknown(key: Any, known: Any) -> KeyError:
    if key in ELSEWHERE or str(key).startswith("jit_"):
        reason = ELSEWHERE.get(key, "semira compiles kernels by itself, see `semira doctor`")
        return KeyError(f"option {key!r} has no meaning in Semira: {reason}")
    return KeyError(f"no option {key!r}; options are {', '.join(known)}")


class _Options(Mapping[str, Any]):
    """Options that can be changed but not taken away."""

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"option {key!r} cannot be deleted; set it to None for its default")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)})"


class ObjectConfig(_Options):
    """How an object is stored: ``A.ss.config``.

    ================ ==========================================================================
    key              meaning
    ================ ==========================================================================
    format           (Matrix) ``by_row`` or ``by_col``: what is stored; setting it converts
    sparsity_control always ``{"auto"}``: the planner chooses
    sparsity_status  ``sparse``, ``hypersparse``, ``bitmap`` or ``full``; read-only
    ================ ==========================================================================
    """

    _read_only = frozenset({"sparsity_status"})

    def __init__(self, parent: Any) -> None:
        self._parent = parent
        is_matrix = parent.kind == "matrix"
        self._keys = (*(["format"] * is_matrix), "sparsity_control", "sparsity_status")

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise _unknown(key, self._keys)
        if key == "sparsity_control":
            return {"auto"}
        name = stored_format(reading.host_arrays(self._parent, "ss.config"))
        if key == "sparsity_status":
            return _STATUS.get(name, name)
        return "by_col" if name.endswith("csc") else "by_row"

    def __setitem__(self, key: str, value: Any) -> None:
        if key not in self._keys:
            raise _unknown(key, self._keys)
        if key in self._read_only:
            raise InvalidValue(f"Config option {key!r} is read-only")
        if key == "sparsity_control":
            if value not in ("auto", {"auto"}, None):
                raise NotImplementedException(
                    f"sparsity_control={value!r}: the planner chooses the storage of operands; "
                    "ask for a format where it matters, with ss.export(format)"
                )
            return
        if value not in _FORMATS:
            raise InvalidValue(f"format={value!r}; choose one of {', '.join(_FORMATS)}")
        arrays = reading.host_arrays(self._parent, "ss.config")
        reading.replace_contents(self._parent, oriented(arrays, _FORMATS[value]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def _check_threads(count: Any) -> int:
    if isinstance(count, bool) or not hasattr(count, "__index__") or int(count) < 1:
        raise InvalidValue(f"nthreads must be an integer >= 1, got {count!r}")
    return int(count)


class _Threads(_Options):
    """Options of which one has a meaning: ``nthreads``."""

    def _get(self) -> int:
        raise NotImplementedError

    def _set(self, count: int | None) -> None:
        raise NotImplementedError

    def __getitem__(self, key: str) -> Any:
        if key != "nthreads":
            raise _unknown(key, self)
        return self._get()

    def __setitem__(self, key: str, value: Any) -> None:
        if key != "nthreads":
            raise _unknown(key, self)
        self._set(None if value is None else _check_threads(value))

    def __iter__(self) -> Iterator[str]:
        return iter(("nthreads",))

    def __len__(self) -> int:
        return 1


class _Stack:
    """The contexts in force, and the number of threads below them."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []
        self._base = 0

    @property
    def base(self) -> int:
        """Threads in force when no context is."""
        return self._base if self.contexts else settings().threads

    @base.setter
    def base(self, count: int) -> None:
        self._base = count
        self.apply()

    def holds(self, context: Context) -> bool:
        """Whether `context` is in force, on top or below others."""
        return any(known is context for known in self.contexts)

    def add(self, context: Context) -> None:
        self._base = self.base
        self.contexts.append(context)
        self.apply()

    def remove(self, context: Context) -> None:
        self.contexts = [known for known in self.contexts if known is not context]
        self.apply()

    def apply(self) -> None:
        """Tell the settings the number of threads now in force."""
        threads = self.contexts[-1]["nthreads"] if self.contexts else self._base
        if settings().threads != threads:
            override(threads=threads)


_stack = _Stack()


class GlobalConfig(_Threads):
    """Options of the process: ``semira.ss.config``.

    ``nthreads`` is the number of worker threads of the cpu backend where no `Context` is engaged;
    None resets it to what the environment says (``SEMIRA_THREADS``, all cores by default).

    Raises
    ------
    KeyError
        Another option of SuiteSparse; the message says what does the same here.
    """

    def _get(self) -> int:
        return _stack.base

    def _set(self, count: int | None) -> None:
        _stack.base = read_environment().threads if count is None else count


class Context(_Threads):
    """A number of worker threads for a while.

    Parameters
    ----------
    engage : bool
        Whether it is in force at once.
    stack : bool
        Without `nthreads`: start from the context in force (true) or from the process' options.
    nthreads : int, optional
    chunk, gpu_id : optional
        Not supported.

    Raises
    ------
    InvalidValue
        `nthreads` is not a positive integer.
    NotImplementedException
        `chunk` or `gpu_id` is given.

    Notes
    -----
    The number of threads belongs to the process, not to the Python thread that engages.

    Examples
    --------
    >>> with Context(nthreads=1) as context:
    ...     context["nthreads"]
    1
    """

    def __init__(
        self,
        engage: bool = True,
        *,
        stack: bool = True,
        nthreads: Any = None,
        chunk: Any = None,
        gpu_id: Any = None,
    ) -> None:
        for name, value in (("chunk", chunk), ("gpu_id", gpu_id)):
            if value is not None:
                raise NotImplementedException(f"{name}={value!r}: {ELSEWHERE[name]}")
        below: _Threads = _stack.contexts[-1] if stack and _stack.contexts else global_config
        self._threads = below["nthreads"] if nthreads is None else _check_threads(nthreads)
        if engage:
            self.engage()

    def _get(self) -> int:
        return self._threads

    def _set(self, count: int | None) -> None:
        self._threads = _stack.base if count is None else count
        if _stack.contexts:
            _stack.apply()

    def dup(self, engage: bool = True, *, nthreads: Any = None) -> Context:
        """Return a copy, with another number of threads if given."""
        return Context(engage, nthreads=self._threads if nthreads is None else nthreads)

    def engage(self) -> None:
        """Put it in force, over the ones engaged before; nothing happens if it is engaged."""
        if not _stack.holds(self):
            _stack.add(self)

    def disengage(self) -> None:
        """Take it out of force.

        Raises
        ------
        InvalidValue
            It is not engaged.
        """
        if not _stack.holds(self):
            raise InvalidValue("the context is not engaged")
        _stack.remove(self)

    def __enter__(self) -> Context:
        self.engage()
        return self

    def __exit__(self, *exception: object) -> None:
        if _stack.holds(self):
            self.disengage()


#: The options of this process.
global_config = GlobalConfig()
