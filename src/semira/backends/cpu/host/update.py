"""What one statement does to its output, and the kernels that do it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

from semira.backends.cpu import cache
from semira.backends.cpu.codegen import Header
from semira.base.dtypes import DataType
from semira.ops import TypedOp


@dataclass(slots=True, eq=False)
class Result:
    """What `compute` hands to `finish`."""

    #: ScalarArrays, CpuVector or CpuMatrix, in the output's coordinates.
    data: Any
    #: It has no entries outside of the mask.
    exact: bool = False
    #: Its arrays belong to an operand as well.
    shared: bool = False
    #: The output has been accumulated into it.
    accumulated: bool = False
    #: An assign: positions outside of the region keep what they have.
    assigned: bool = False
    #: It has an entry at every position of the region, so that nothing needs deleting.
    covers: bool = False
    #: Positions of an assign (sorted), a pair of arrays for a matrix; None is everything.
    region: Any = None
    #: The mask of an assign that speaks of the region alone, in the output's coordinates.
    submask: Any = None
    has_submask: bool = False

    @property
    def nvals(self) -> int:
        """Number of entries of the data."""
        return int(self.data.nvals)


@dataclass(slots=True, eq=False)
class Update:
    """One update of an output."""

    #: Each a CpuVector or CpuMatrix.
    out: Any
    result: Any
    #: VectorMask, Compressed or None.
    mask: Any
    #: Of a matrix mask.
    complement: bool
    accum: TypedOp | None
    #: Z holds the output's entries too: there is an accumulator, or an assign overwrites.
    union: bool
    replace: bool
    #: As in `Result`.
    region: Any
    #: The mask speaks of the region alone.
    submask: bool
    #: Storage that the plan wants for the output.
    storage: str = "auto"

    def kernels(self, source: DataType, flags: dict[str, bool]) -> ModuleType:
        """Return the finish kernels for a result of dtype `source`."""
        return _kernels(self.accum, source, self.out.dtype, tuple(flags.items()))

    def flags(self) -> dict[str, bool]:
        """Return the flags of kernels that decide every position."""
        masked = self.mask is not None
        # Outside of the region a union keeps the output anyway: the region matters only where
        # something is dropped.
        region = self.region is not None and (not self.union or (self.submask and self.replace))
        return {
            "MASKED": masked, "UNION": self.union, "REPLACE": self.replace and masked,
            "REGION": region, "SUBMASK": region and self.submask,
        }  # fmt: skip


@lru_cache(cache.KEPT_BY_HOST)
def _kernels(
    accum: TypedOp | None, source: DataType, target: DataType, flags: tuple[tuple[str, bool], ...]
) -> ModuleType:
    header = Header(flags=dict(flags))
    header.expression("store", ("t",), header.cast(source, target, "t"))
    define_accumulate(header, accum, source, target)
    return cache.load("finish", header, "overwrite" if accum is None else accum.name)


def define_accumulate(
    header: Header, accum: TypedOp | None, source: DataType, target: DataType,
    name: str = "accumulate",
) -> None:  # fmt: skip
    """Define ``accumulate(old, t)``: `t` of dtype `source` into `old` of dtype `target`."""
    if accum is None:
        header.expression(name, ("old", "t"), header.cast(source, target, "t"))
        return
    given = dict.fromkeys("ikj", "np.int64(0)")
    given |= {"a": header.cast(target, accum.type, "old")}
    given |= {"b": header.cast(source, accum.type, "t")}
    header.function(name, ("old", "t"), accum, given, target)
