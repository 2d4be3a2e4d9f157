"""What one statement does to its output, and the kernels that do it."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from semira.backends.cpu import cache
from semira.backends.cpu.codegen import Header
from semira.base.dtypes import DataType
from semira.base.recent import Recent
from semira.ops import TypedOp


@dataclass(slots=True, eq=False)
class Result:
    """What `compute` hands to `finish`.

    Attributes
    ----------
    data : ScalarArrays, CpuVector or CpuMatrix
        In the output's coordinates.
    exact : bool
        It has no entries outside of the mask.
    shared : bool
        Its arrays belong to an operand as well.
    accumulated : bool
        The output has been accumulated into it.
    assigned : bool
        An assign: positions outside of the region keep what they have.
    covers : bool
        It has an entry at every position of the region, so that nothing needs deleting.
    region : ndarray, or pair of ndarrays, or None
        Positions of an assign (sorted), per axis for a matrix; None is everything.
    submask : object or None
        The mask of an assign that speaks of the region alone, in the output's coordinates.
    has_submask : bool
    """

    data: Any
    exact: bool = False
    shared: bool = False
    accumulated: bool = False
    assigned: bool = False
    covers: bool = False
    region: Any = None
    submask: Any = None
    has_submask: bool = False

    @property
    def nvals(self) -> int:
        """Number of entries of the data."""
        return int(self.data.nvals)


@dataclass(slots=True, eq=False)
class Update:
    """One update of an output.

    Attributes
    ----------
    out, result : CpuVector or CpuMatrix
    mask : VectorMask or Compressed or None
    complement : bool
        Of a matrix mask.
    accum : TypedOp or None
    union : bool
        Z holds the output's entries too: there is an accumulator, or an assign overwrites.
    replace : bool
    region : as in `Result`
    submask : bool
        The mask speaks of the region alone.
    storage : str
        Storage that the plan wants for the output.
    """

    out: Any
    result: Any
    mask: Any
    complement: bool
    accum: TypedOp | None
    union: bool
    replace: bool
    region: Any
    submask: bool
    storage: str = "auto"

    def kernels(self, source: DataType, flags: dict[str, bool]) -> ModuleType:
        """Return the finish kernels for a result of dtype `source`."""
        key = (self.accum, source, self.out.dtype, tuple(flags.items()))
        found = _kernels.get(key)
        if found is None:
            found = _kernels[key] = _make_kernels(self.accum, source, self.out.dtype, flags)
        return found


_kernels: Recent[tuple[Any, ...], ModuleType] = Recent(cache.KEPT_BY_HOST)


def _make_kernels(
    accum: TypedOp | None, source: DataType, target: DataType, flags: dict[str, bool]
) -> ModuleType:
    header = Header(flags=flags)
    header.expression("store", ("t",), header.cast(source, target, "t"))
    define_accumulate(header, accum, source, target)
    return cache.load("finish", header, "overwrite" if accum is None else accum.name)


def define_accumulate(
    header: Header, accum: TypedOp | None, source: DataType, target: DataType
) -> None:
    """Define ``accumulate(old, t)``: `t` of dtype `source` into `old` of dtype `target`."""
    if accum is None:
        header.expression("accumulate", ("old", "t"), header.cast(source, target, "t"))
        return
    zero = "np.int64(0)"
    given = {
        "a": header.cast(target, accum.type, "old"),
        "b": header.cast(source, accum.type, "t"),
        "i": zero, "k": zero, "j": zero,
    }  # fmt: skip
    header.function("accumulate", ("old", "t"), accum, given, target)
