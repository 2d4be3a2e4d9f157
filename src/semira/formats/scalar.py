"""A scalar: a value that may be absent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira.base.dtypes import DataType


@dataclass(slots=True)
class ScalarArrays:
    """A value of a dtype, or no value; nobody sets its fields.

    Attributes
    ----------
    dtype : DataType
    value : numpy scalar of ``dtype.array_dtype`` or None
        None means empty.
    """

    dtype: DataType
    value: Any

    @property
    def shape(self) -> tuple[()]:
        """No dimensions."""
        return ()

    @property
    def nvals(self) -> int:
        """1 if there is a value, else 0."""
        return 0 if self.value is None else 1
