"""Kernels over plain arrays: for work that is no product, written once for each kind of device."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from semira.backends.registry import backend_for
from semira.base import interrupts
from semira.base.dtypes import BY_NUMPY, lookup_dtype
from semira.base.errors import DimensionMismatch, InvalidValue
from semira.contract.array_kernels import ARRAY_DTYPES, KernelText, Launch, WorkerArray
from semira.engine import recording
from semira.engine.values import Value, default_device, has_own_memory
from semira.formats import VectorArrays
from semira.formats.index import index_dtype
from semira.frontend import reading
from semira.frontend.kinds import OBJECTS
from semira.frontend.traits import device_traits

#: Arguments that nothing is asked of.
_NUMBERS = frozenset({int, bool, float})

#: Marks rows among the facts of a matrix.
_ROWS = object()

_NUMPY: AbstractContextManager[Any] = nullcontext(np)

#: Bytes of memory in which one of several arrays begins.
_LINE = 128

#: Devices whose objects lie in memory of the host, and which have another one's kernels.
_KERNELS_OF = {"suitesparse": "cpu"}


class Rows(NamedTuple):
    """A matrix as compressed rows, in the memory of its device; nobody may write to the arrays.

    Attributes
    ----------
    indptr : array of int32 or int64, shape (nrows + 1,)
    indices : array of int32 or int64, shape (nvals,)
    values : array, shape (nvals,), or None
        None unless asked for.
    shape : (int, int)
    """

    indptr: Any
    indices: Any
    values: Any
    shape: tuple[int, int]


def rows_of(matrix: Any, *, values: bool = True, dtype: Any = None) -> Rows:
    """Return the compressed rows of a matrix where it lies, without a copy if possible.

    Parameters
    ----------
    matrix : Matrix
        Not a transpose: make it one of its own with ``A.T.new()``. On ``cuda`` call inside of
        `array_module`.
    values : bool
    dtype : optional
        Of the values; that of the matrix if None.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 0], [1.0, 2.0, 3.0])
    >>> rows = gb.kernels.rows_of(A)
    >>> rows.indptr.tolist(), rows.indices.tolist(), rows.values.tolist()
    ([0, 2, 3], [1, 2, 0], [1.0, 2.0, 3.0])
    """
    device = matrix.device
    # Until the matrix is written.
    known, key = matrix._value.facts, (_ROWS, device, values, dtype)
    found: Rows | None = known.get(key)
    if found is not None and recording.current() is None:
        return found
    if device_traits(device).lends_arrays:
        recording.refuse_host_read("kernels need the rows of a matrix", "run them after the loop")
        wanted = lookup_dtype(dtype) if values and dtype is not None else None
        lent = matrix._value.export("csr", device, dtype=wanted, copy=False, repeats=values)
        indptr, indices = lent.indices
        return Rows(indptr, indices, lent.values if values else None, matrix.shape)
    held = reading.matrix_arrays(matrix, "rows_of")
    arrays = reading.oriented(held, "csr").ordinary()
    stored = arrays.entry_values() if values else None
    given = reading.cast_values(stored, dtype) if values else None
    found = Rows(arrays.indptr, arrays.indices, given, matrix.shape)
    if arrays is held and given is (held.values if values else None):
        # What is copied is not kept.
        known[key] = found
    return found


def vector_of(values: Any, indices: Any = None, *, size: int | None = None, device: str) -> Any:
    """Return the vector of arrays that a kernel wrote, which it keeps: nobody may change them.

    Parameters
    ----------
    values : array of a dtype that kernels take, shape (nvals,)
        With a value for each position, of which those without entry count for nothing, if `indices`
        is None or flags.
    indices : array of integers, shape (nvals,), or of bool, shape (size,), optional
        Positions of the entries, which rise, or where there are entries. None: everywhere.
    size : int, optional
        The length of `values` if None.
    device : "reference", "cpu", "cuda" or "suitesparse"

    Raises
    ------
    InvalidObject
        On ``reference``, which alone checks: the positions do not rise, or lie outside of the
        vector, or lengths do not fit.

    Notes
    -----
    Copies nothing on hosts. It trusts its caller, as kernels do: with wrong positions later calls
    read outside of arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import semira as gb
    >>> where, what = np.array([1, 4], np.int32), np.array([7.0, 8.0])
    >>> gb.kernels.vector_of(what, where, size=6, device="cpu").to_dict()
    {1: 7.0, 4: 8.0}
    """
    size = len(values) if size is None else size
    if has_own_memory(device):
        return _sent(values, indices, size, device)
    dtype = BY_NUMPY.get(values.dtype) or lookup_dtype(values.dtype)
    if indices is None:
        arrays = VectorArrays(size, dtype, "full", values, None, None, size)
    elif indices.dtype.kind == "b":
        nvals = int(np.count_nonzero(indices))
        arrays = VectorArrays(size, dtype, "bitmap", values, None, indices, nvals)
    else:
        width = index_dtype(size)
        kept = indices if indices.dtype == width else indices.astype(width)
        arrays = VectorArrays(size, dtype, "sparse", values, kept, None, len(kept))
    if device == "reference":
        arrays.validate()
    value = Value("vector", dtype, (size,))
    value._arrays, value.device = arrays, device
    return OBJECTS["vector"]._wrap(value)


def _sent(values: Any, indices: Any, size: int, device: str) -> Any:
    """Return the vector of arrays in the memory of a device."""
    vector = OBJECTS["vector"]
    if indices is None:
        return vector.from_dense(values, device=device)
    if indices.dtype == np.bool_:
        indices, values = indices.nonzero()[0], values[indices]
    return vector.from_coo(indices, values, size=size, device=device)


def array_module(device: str | None = None) -> AbstractContextManager[Any]:
    """Give the block NumPy, or CuPy on ``cuda``, where it works on Semira's stream and memory.

    Parameters
    ----------
    device : "reference", "cpu", "cuda" or "suitesparse", optional
        None: where new objects go.

    Raises
    ------
    DeviceUnavailable
        There is no such device, or this machine lacks it.

    Examples
    --------
    >>> import semira as gb
    >>> with gb.kernels.array_module("cpu") as xp:
    ...     xp.arange(3).sum().item()
    3
    """
    backend: Any = backend_for(device or default_device())
    return backend.arrays() if hasattr(backend, "arrays") else _NUMPY


def placed(xp: Any, array: Any) -> Any:
    """Return an array of NumPy in the memory of a device; on a host itself.

    For few numbers this takes less time than ``xp.asarray``.

    Parameters
    ----------
    xp : module
        What `array_module` gives.
    array : ndarray

    Examples
    --------
    >>> import numpy as np, semira as gb
    >>> with gb.kernels.array_module("cpu") as xp:
    ...     gb.kernels.placed(xp, np.arange(3)).tolist()
    [0, 1, 2]
    """
    if xp is np:
        return array
    sent = xp.empty(array.shape, array.dtype)
    # CuPy's own way is by page-locked memory, which it looks for each time. A copy is not locked,
    # so that the driver has read it when this returns, whatever the caller's is.
    sent.set(np.array(array, order="C"))
    return sent


def workspace(xp: Any, *wanted: tuple[tuple[int, ...], Any]) -> list[Any]:
    """Return uninitialised arrays that lie in one allocation.

    On a GPU an allocation takes longer than the launch of a kernel. The memory is free when nobody
    has any of the arrays.

    Parameters
    ----------
    xp : module
        What `array_module` gives.
    *wanted : (shape, dtype)

    Examples
    --------
    >>> import numpy as np, semira as gb
    >>> with gb.kernels.array_module("cpu") as xp:
    ...     [part.shape for part in gb.kernels.workspace(xp, ((2, 3), np.int32), ((4,), bool))]
    [(2, 3), (4,)]
    """
    sizes = [math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in wanted]
    *begins, total = accumulate((-(-size // _LINE) * _LINE for size in sizes), initial=0)
    block = xp.empty(max(1, total), np.uint8)
    parts = zip(wanted, begins, strict=True)
    if xp is np:
        return [np.ndarray(shape, dtype, block, begin) for (shape, dtype), begin in parts]
    first = block.data
    return [xp.ndarray(shape, dtype, first + begin) for (shape, dtype), begin in parts]


def kernel(function: Any) -> Any:
    """Mark a function as one that an `ArrayKernel` names."""
    return function


class ArrayKernel:
    """A kernel over arrays and numbers, by the files that hold it.

    Parameters
    ----------
    place : str
        ``"package:file"``. ``file.py`` defines ``name(low, high, *arguments)``, marked with
        `kernel`, which does the items from `low` to `high`: Python runs it on ``reference``; it is
        compiled on ``cpu``. ``file.cuh`` defines a template ``name(items, arguments...)`` for
        ``cuda``, which all threads of all blocks call; it may call what
        ``backends/cuda/kernels/array.cuh`` includes.
    name : str
    lanes : int
        Threads of a GPU that share an item: the launch has as many threads as all items need, or
        as fit on the device; the template walks the rest in strides. 0: in a loop, one thread calls
        the template when all blocks are done with the kernel before, without a barrier of its own.
    threads : int
        Threads of a block.
    blocks : int
        Of the first kernel of a loop: as many blocks fit on a multiprocessor of a GPU at the same
        time, for which the compiler saves registers. 0: any number.
    skips_hosts : bool
        There is no Python function: hosts have nothing to do.

    Notes
    -----
    Python functions of the file see `numpy` as ``np``, `math`, functions marked with `helper` of
    the same file or imported from another one in a package ``kernels``, and the functions of
    ``semira.ops.helpers``, such as ``philox``; no constants.
    Integers wrap around.

    Arguments are arrays that lie one item after the other, and numbers: integers arrive as 64-bit
    integers, floats as doubles. What a kernel writes are arrays that the caller made.
    """

    def __init__(
        self, place: str, name: str, *, lanes: int = 1, threads: int = 256, blocks: int = 0,
        skips_hosts: bool = False,
    ) -> None:  # fmt: skip
        package, _, file = place.partition(":")
        self._text = KernelText(package, file, name, lanes, threads, blocks, skips_hosts)
        self._again: dict[str, Any] = {}

    def __call__(
        self,
        items: int,
        *arguments: Any,
        device: str,
        scratch: Sequence[tuple[Any, int, Any]] = (),
        work: Any = 0,
        host_scratch: Callable[[], Sequence[tuple[Any, int, Any]]] = tuple,
        stops: bool = False,
        shared: int = 0,
    ) -> None:
        """Run the kernel over a number of items.

        Parameters
        ----------
        items : int
        *arguments
            On ``cuda`` CuPy arrays; call inside of `array_module`.
        device : "reference", "cpu", "cuda" or "suitesparse"
            Kernels of ``suitesparse`` are those of ``cpu``: its matrices lie beside theirs.
        scratch : sequence of (dtype, length, fill)
            Arrays of its own for each thread of a host or block of a GPU, the last arguments of the
            kernel; `fill` is what they hold at first, or None for anything.
        work : int or array
            Entries that all items read together, or on hosts their running totals (`Rows.indptr`),
            by which threads share the items.
        host_scratch : callable
            Returns more of them, for hosts alone: a template works in shared memory instead.
        stops : bool
            The Python function, but no template, has one more parameter, the last: an array of
            int64 with one item, which Ctrl-C makes 1. The kernel reads it now and then, by
            ``atomic_add(stop, 0, 0)``, and returns early; what it wrote is lost then.
        shared : int
            Bytes of dynamic shared memory of each block of a GPU, of at most
            ``device_traits(device).block_memory`` with what the template declares itself.

        Raises
        ------
        InvalidValue
            An argument is an array with gaps, or of a dtype that kernels do not take.
        DimensionMismatch
            The running totals are not those of the items.
        JitError
            The kernel does not compile.
        """
        if not (scratch or stops) and host_scratch is tuple:
            # What was called with such arguments before is not checked again.
            again = self._again.get(device)
            if again is not None and again(items, work, arguments):
                return
        backend = _backend(device)
        launch = self.launch(
            items, *arguments, scratch=scratch, work=work, host_scratch=host_scratch, stops=stops,
            shared=shared,
        )  # fmt: skip
        _check((launch,))
        if items and (not self._text.skips_hosts or hasattr(backend, "run_kernel_loop")):
            self._again[device] = backend.run_kernel(*launch)

    def bound(self, items: int, *arguments: Any, device: str, work: Any = 0) -> Callable[[], Any]:
        """Return a call without parameters, which checks nothing each time.

        For kernels that take microseconds and meet the same arrays again and again, with other
        contents. The parameters are those of a call, and so are the errors, which come now.
        """
        launch = self.launch(items, *arguments, work=work)
        _check((launch,))
        backend = _backend(device)
        if hasattr(backend, "bind_kernel"):
            return backend.bind_kernel(*launch)  # type: ignore[no-any-return]
        return partial(backend.run_kernel, *launch)

    def launch(
        self,
        items: int,
        *arguments: Any,
        scratch: Sequence[tuple[Any, int, Any]] = (),
        work: Any = 0,
        host_scratch: Callable[[], Sequence[tuple[Any, int, Any]]] = tuple,
        stops: bool = False,
        shared: int = 0,
    ) -> tuple[KernelText, Launch]:
        """Return a call for `run_loop`; the parameters are those of a call, without the device."""
        if getattr(work, "ndim", 0) and len(work) != items + 1:
            raise DimensionMismatch(f"{len(work)} running totals of {items} items: one more")
        return self._text, Launch(
            items, arguments, _workers(scratch), work, lambda: _workers(host_scratch()), stops,
            shared,
        )  # fmt: skip

    def beside(self, other: tuple[KernelText, Launch], items: int) -> tuple[KernelText, Launch]:
        """Return a call for `run_loop` with the arguments of another one, which are checked."""
        return self._text, Launch(items, other[1].arguments)


def run_loop(
    state: Any,
    *launches: tuple[KernelText, Launch],
    device: str,
    before: Sequence[tuple[KernelText, Launch]] = (),
    most_blocks: int | None = None,
) -> None:
    """Run kernels in turn, again and again, until one of them writes ``state[0]``.

    On ``cuda`` this is one cooperative launch, with a barrier of all blocks between kernels, and
    nothing is read on the way. On hosts it is a loop, which Ctrl-C ends between two rounds: arrays
    hold what they held after the last complete one.

    Parameters
    ----------
    state : array of int64
        A kernel, but not the first one, writes something other than 0 to its first item to end the
        loop after this round. If it is not 0 at the start, none of them runs.
    *launches
        Two or more, from `ArrayKernel.launch`. A kernel over one item is the place to count and
        decide. All have the same number of threads a block; they ask for no `scratch`.
    device : "reference", "cpu", "cuda" or "suitesparse"
    before : sequence
        Launches of kernels that run once, before the state is read.
    most_blocks : int, optional
        Blocks of a GPU at most. One block joins its threads in less time than several: where there
        is little to do.

    Raises
    ------
    InvalidValue
        There is one kernel only, or a kernel has scratch, or blocks of another size; an argument is
        an array with gaps, or of a dtype that kernels do not take; or hosts skip all kernels.
    JitError
        A kernel does not compile.
    """
    backend = _backend(device)
    if len(launches) < 2:
        raise InvalidValue(f"{len(launches)} kernel in a loop: it takes two or more")
    calls = *before, *launches
    _check(calls)
    for text, launch in calls:
        if launch.scratch:
            raise InvalidValue(f"{text.name}: kernels of a loop have no scratch; use host_scratch")
        if text.threads != launches[0][0].threads:
            raise InvalidValue(f"{text.name}: kernels of a loop have equal threads a block")
    if hasattr(backend, "run_kernel_loop"):
        backend.run_kernel_loop(state, launches, before, most_blocks)
        return
    if all(text.skips_hosts for text, _ in launches):
        raise InvalidValue(f"{launches[0][0].name}: the kernels of the loop are for GPUs alone")
    with interrupts.deferred():
        _run_in_turn(backend, before)
        while not state[0]:
            with interrupts.held():
                _run_in_turn(backend, launches)
            interrupts.check()


def _run_in_turn(backend: Any, launches: Sequence[tuple[KernelText, Launch]]) -> None:
    for text, launch in launches:
        if launch.items and not text.skips_hosts:
            backend.run_kernel(text, launch)


def _workers(wanted: Sequence[tuple[Any, int, Any]]) -> tuple[WorkerArray, ...]:
    if not wanted:
        return ()
    return tuple(WorkerArray(np.dtype(dtype), length, fill) for dtype, length, fill in wanted)


def _backend(device: str) -> Any:
    return backend_for(_KERNELS_OF.get(device, device))


def _check(calls: Sequence[tuple[KernelText, Launch]]) -> None:
    # Kernels of a loop share most of their arrays, and a property of an array takes its time.
    arguments = {id(each): each for _, launch in calls for each in launch.arguments}
    if not any(each.__class__ not in _NUMBERS and _fault(each) for each in arguments.values()):
        return
    for text, launch in calls:
        for number, argument in enumerate(launch.arguments):
            if fault := _fault(argument):
                raise InvalidValue(f"{text.name}: argument {number} {fault}")


def _fault(argument: Any) -> str:
    """Return what is wrong with an argument, or nothing."""
    if not getattr(argument, "ndim", 0):
        return ""
    if argument.dtype not in ARRAY_DTYPES:
        known = ", ".join(str(dtype) for dtype in ARRAY_DTYPES)
        return f"is of {argument.dtype}; use one of {known}"
    return "" if argument.flags.c_contiguous else "has gaps; pass a copy"
