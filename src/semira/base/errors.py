"""The exceptions of Semira.

Names follow the GraphBLAS specification where it has one; the rest are ours. Every message
names the value that was found, the limit it broke and the way out.
"""

from __future__ import annotations


class GraphblasException(Exception):  # noqa: N818 - the name users of python-graphblas catch
    """Root of every error that Semira raises on purpose."""


class NoValue(GraphblasException):
    """An entry was asked for that is not stored."""


class UninitializedObject(GraphblasException):
    """An object was used before it was given contents."""


class InvalidObject(GraphblasException):
    """An object's arrays break the invariants of its format."""


class NullPointer(GraphblasException):
    """A required argument is missing."""


class InvalidValue(GraphblasException, ValueError):
    """An argument's value is outside what the operation accepts."""


class InvalidIndex(GraphblasException, ValueError):
    """An index is not usable as an index."""


class DomainMismatch(GraphblasException, TypeError):
    """The dtypes of operands and operator do not fit together."""


class UnknownDtype(DomainMismatch, ValueError):
    """There is no such dtype, or none can be made of it."""


class DtypeUnsupported(DomainMismatch, KeyError):
    """An operator does not work with a dtype."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes


class DimensionMismatch(GraphblasException, ValueError):
    """The shapes of operands, mask or output do not fit together."""


class OutputNotEmpty(GraphblasException):
    """``build`` was called on an object that already holds entries."""


class EmptyObject(GraphblasException):
    """A value was needed from an empty Scalar."""


class OutOfMemory(GraphblasException, MemoryError):
    """An allocation failed; the operands are unchanged."""


class IndexOutOfBound(GraphblasException, IndexError):
    """An index lies outside the object's shape."""


class IndexTooLarge(IndexOutOfBound, InvalidValue, OverflowError):
    """An index lies beyond every size that an object can have."""


class InsufficientSpace(GraphblasException):
    """A fixed-size buffer is too small."""


class Panic(GraphblasException):
    """An internal invariant broke: a bug in Semira."""


class NotImplementedException(GraphblasException, NotImplementedError):
    """The combination asked for does not exist (yet)."""


class UdfParseError(GraphblasException):
    """A user-defined operator could not be compiled."""


class MonoidMissing(DomainMismatch, NotImplementedException):
    """A reduction was asked for with an operator that is part of no monoid."""


class JitError(GraphblasException):
    """A kernel could not be compiled or linked."""


class DeviceMismatch(GraphblasException):
    """Operands live on different devices; move one with ``.to(device)``."""


class DeviceUnavailable(GraphblasException):
    """A device was asked for that this machine cannot offer."""


class PlanError(GraphblasException, ValueError):
    """A pinned choice cannot be met by any plan."""


class RecordError(GraphblasException):
    """A loop body did something that cannot be recorded."""


class IterationLimit(GraphblasException):
    """A loop reached the default iteration limit without its condition turning false."""

    @classmethod
    def by_default(cls, limit: int) -> IterationLimit:
        """Return the error of a loop that nobody gave another limit."""
        return cls(
            f"the loop reached the default limit of {limit} iterations and its condition still "
            "holds; pass max_iterations to allow more, or to accept the limit, or set "
            "SEMIRA_MAX_ITERATIONS to another default"
        )


class InvalidWeight(InvalidValue):
    """An algorithm met a weight that it cannot compute with, such as NaN."""


class NegativeWeight(InvalidWeight):
    """An algorithm that needs non-negative weights met a negative weight."""


class NegativeCycle(InvalidValue):
    """Shortest paths do not exist: a cycle of negative length is reachable."""


class MissingLibrary(GraphblasException, ImportError):
    """An optional library is not installed."""


class FileFormatError(GraphblasException, ValueError):
    """A file does not follow its format; the message has the file, the line and the reason."""


class FileReadError(GraphblasException, OSError):
    """A file could not be opened or read."""


class MissingFile(FileReadError, FileNotFoundError):
    """A file does not exist."""


class FileWriteError(GraphblasException, OSError):
    """A result could not be written."""
