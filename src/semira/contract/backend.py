"""The Backend protocol: eight calls, what passes through them, and two more of some devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from semira.base.dtypes import DataType
from semira.contract.methods import has_part
from semira.contract.program import Program
from semira.contract.trace import LoopReport, TraceRow
from semira.formats import MatrixArrays, RawArrays, ScalarArrays, VectorArrays

#: Arrays of an object, as they cross the border.
Arrays = MatrixArrays | VectorArrays | ScalarArrays

#: What a slot may be bound to: a handle, a literal scalar (NumPy scalar, or None for an
#: empty one), an index region ``(start, stop, step)``, or an array of positions.
Binding = Any


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend can do, as far as planning cares.

    Attributes
    ----------
    name : str
    methods : frozenset of (family, method)
        Methods it has kernels for.
    early_exit, masked_push : bool
        Whether its kernels can stop a row early, and whether push can test the mask before
        it writes.
    cheap_degrees : bool
        Whether ``frontier_edges`` costs no more than a pass over the frontier.
    balances : frozenset of (method, balance)
        Ways of sharing out work that a caller may pin, for matrix-vector products.
    queues : frozenset of (method, queue)
        Where a caller may pin that workers ask for places in a list.
    parts : str
        Module of a method's folder by which it runs the method or variant; ``any``: it runs all
        methods, by what they mean; empty: none.
    walks_columns : bool
        Whether its sparse times full matrices can walk the columns of the left one alone.
    unordered : frozenset of (family, method)
        Methods, or storages of ``mxm``, that add up in an order that differs from run to run.
    intersections : frozenset of str
        Ways of `INTERSECTIONS` that its dot products choose from, and a caller may pin.
    own_memory : bool
        Whether it is a `DeviceBackend`.
    solo : bool
        Whether one of its workers can run iterations of a loop alone.
    many_threads : bool
        Whether work that can be done side by side costs it little beside work that cannot.
    choice_costs : bool
        Whether a program that chooses between methods takes longer than one that has no choice, so
        that a product by itself had better be weighed before.
    counts_products : bool
        Whether it counts what a masked product of matrices takes, and so can choose its method.
    reads_full : bool
        Whether products of matrices read an operand that has every entry by position.
    compiled_loops : bool
        Whether a kernel over arrays is a compiled loop of the host.
    """

    name: str
    methods: frozenset[tuple[str, str]]
    early_exit: bool = True
    masked_push: bool = True
    cheap_degrees: bool = True
    balances: frozenset[tuple[str, str]] = frozenset()
    queues: frozenset[tuple[str, str]] = frozenset()
    parts: str = ""
    walks_columns: bool = False
    unordered: frozenset[tuple[str, str]] = frozenset()
    intersections: frozenset[str] = frozenset()
    own_memory: bool = False
    solo: bool = False
    many_threads: bool = False
    choice_costs: bool = False
    counts_products: bool = False
    reads_full: bool = False
    compiled_loops: bool = False

    def runs(self, name: str) -> bool:
        """Return whether it can run a method that has a folder."""
        return self.parts == "any" or (bool(self.parts) and has_part(name, self.parts))


class Handle(Protocol):
    """An object living on a device; only its backend looks inside.

    A handle stays the same object while statements change its contents.
    """

    device: str

    @property
    def kind(self) -> str:
        """``matrix``, ``vector`` or ``scalar``."""
        ...

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each array it holds, by name."""
        ...


@runtime_checkable
class TellsSymmetry(Protocol):
    """A handle of a matrix that takes the word for its symmetry where it is."""

    @property
    def symmetric(self) -> bool | None:
        """Whether the matrix equals its transpose; None: nobody has said."""
        ...

    def state_symmetric(self, symmetric: bool | None) -> None:
        """Believe it from now on; what was made of the other orientation goes."""
        ...


class Outcome(NamedTuple):
    """What `Backend.execute` reports besides the changed handles.

    Attributes
    ----------
    loops : tuple of LoopReport
        One per loop of the program's own body; loops inside loops are not reported.
    trace : sequence of TraceRow
        The products, the last `TRACE_ROWS` of them (65,536); `lost_rows` counts the others. A
        backend may make them on first look, which may wait for the device.
    solo : int
        Iterations that one worker ran alone.
    """

    loops: tuple[LoopReport, ...] = ()
    trace: Sequence[TraceRow] = ()
    solo: int = 0


class Executable(Protocol):
    """A prepared Program."""

    program: Program


@runtime_checkable
class Backend(Protocol):
    """A device. reference and cpu interpret Programs, cuda lowers them to kernels.

    Contract of `execute`: every check and every allocation that depends only on the
    bindings comes before the first write. A statement either completes or leaves its output
    untouched; inside a loop, an error or Ctrl-C leaves every object as the last complete
    iteration left it. An exception from a program with a loop has an attribute
    ``semira_iterations``: the complete iterations of the outermost loop. (cuda, where a loop is
    one launch, runs those again after an error. Where results differ from run to run, objects hold
    those of the second one; a program of a loop among other items keeps the earlier statements
    of a broken iteration. See decision 24.)

    Each object is bound to one slot: hazards are decided by slot.
    """

    name: str

    def capabilities(self) -> Capabilities:
        """Return what the backend can do."""
        ...

    def put(self, arrays: Arrays) -> Handle:
        """Take arrays over; the caller hands them over and changes them no more.

        A backend in host memory may keep them as they are, without a copy.
        """
        ...

    def get(self, handle: Handle) -> Arrays:
        """Return an object's arrays on the host, to be read only. Synchronises.

        They may share memory with the object, and do not change when the object does.
        """
        ...

    def convert(self, handle: Handle, layout: str) -> Handle:
        """Return a copy for ``"copy"``, else make a layout resident and return the handle.

        Layouts are ``csr``, ``csc``, ``sparse``, ``bitmap`` and ``full``.
        """
        ...

    def prepare(self, program: Program) -> Executable:
        """Compile a planned Program; raises JitError with the kernel's name."""
        ...

    def execute(self, executable: Executable, bindings: list[Binding]) -> Outcome:
        """Run a prepared Program on `bindings`, one per slot (None for temporaries)."""
        ...

    def synchronise(self) -> None:
        """Wait until everything submitted has run."""
        ...

    def release(self, handle: Handle) -> None:
        """Give the device memory of `handle` back; using it afterwards is an error."""
        ...


class DeviceHandle(Handle, Protocol):
    """A handle that was made of arrays whose shape only the device could read."""

    dtype: DataType

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the object."""
        ...

    def known_entries(self) -> int:
        """Return how many entries it was made with, without a wait."""
        ...


class DeviceBackend(Backend, Protocol):
    """A backend with memory of its own, which takes arrays there and gives them out."""

    def put(self, arrays: Arrays | RawArrays) -> DeviceHandle:
        """Take arrays over; `RawArrays` are checked and built on the device.

        Unless they are `RawArrays.owned`, their memory is free for other use, on the stream they
        came with, once the call has returned.

        Raises
        ------
        IndexOutOfBound, DimensionMismatch, InvalidValue, InvalidObject
            As the front end does for arrays on the host.
        OutOfMemory
            What building takes does not fit; nothing was allocated.
        """
        ...

    def put_all(self, listed: Sequence[Arrays]) -> list[DeviceHandle]:
        """Take several objects over, with fewer copies than `put` makes of them; raises as it."""
        ...

    def expect(self, algorithm: str, dtype: str, entries: int) -> None:
        """Note that an algorithm begins on a matrix with a dtype and a number of entries.

        The backend may then compile several of its kernels at once. Nothing is compiled here.
        """
        ...

    def export(
        self,
        handle: Handle,
        layout: str,
        *,
        transposed: bool = False,
        dtype: DataType | None = None,
        fill: Any = None,
        copy: bool = True,
        repeats: bool = True,
    ) -> RawArrays:
        """Return an object's entries in the device's memory, ordered with the caller's stream.

        Parameters
        ----------
        handle : DeviceHandle
        layout : "coo", "csr", "csc" or "dense"
        transposed : bool
            Give those of the transpose.
        dtype : optional
            That of the values; the object's if None.
        fill : scalar, optional
            dense: what stands where there is no entry.
        copy : bool
            Otherwise arrays may be the object's own, which nobody may write to.
        repeats : bool
            Give a value for each entry. Otherwise it may be one for all of them.

        Raises
        ------
        InvalidValue
            A scalar, or ``dense`` with entries missing and no `fill`.
        NotImplementedException
            The object is not stored as arrays of its shape.
        OutOfMemory
            A dense array does not fit.
        """
        ...
