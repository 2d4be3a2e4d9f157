"""The weights of an edge list: their dtype, and those that are missing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.files.layout import Layout, is_missing, is_word, with_point
from semira.files.options import ReadOptions, is_integer
from semira.files.source import Block, Source
from semira.files.table import as_real, is_too_wide, shorten, try_columns

#: Dtypes that weights are tried in.
_DTYPES = ("int64", "uint64", "float64")

#: A number that may be an integer beyond 64 bits.
_LONG = re.compile(rb"[0-9]{19}")

_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")

#: See `semira.files.layout.with_point`.
_EXCHANGED = bytes.maketrans(b",.", b".,")


def with_points(block: Block, decimal: str) -> Block:
    """Return a block with decimal points; columns that hold no numbers are not to be read."""
    return block if decimal == "." else Block(block.line, block.data.translate(_EXCHANGED))


class Weights:
    """The weights read so far, in the narrowest dtype that holds all of them."""

    def __init__(self, source: Source, layout: Layout, options: ReadOptions) -> None:
        self._source = source
        self._layout = layout
        self._options = options
        self._dtype = _DTYPES[0]
        self._parts: list[NDArray[Any]] = []
        self._has_negative = False
        self.num_missing = 0

    def dtypes(self) -> tuple[str, ...]:
        """Return what the weights may still turn out to be."""
        rest = _DTYPES[_DTYPES.index(self._dtype) :]
        return tuple(dtype for dtype in rest if dtype != "uint64" or not self._has_negative)

    def are_right(self, weights: NDArray[Any], text: bytes) -> bool:
        """Whether reals are neither integers beyond 64 bits nor to be replaced; nearly always."""
        if weights.dtype.kind != "f":
            return True
        if self._options.missing is not None and bool(np.isnan(weights).any()):
            return False
        return not (np.abs(weights) >= 2.0**63).any() or _LONG.search(text) is None

    def try_block(self, block: Block) -> NDArray[Any] | None:
        """Return the weights of regular lines, or None if one needs a closer look."""
        layout = self._layout
        numbers = with_points(block, self._options.decimal)
        return self._try_column(numbers, layout.delimiter, layout.columns[2:])

    def _try_column(
        self, block: Block, delimiter: str | None = None, column: tuple[int, ...] = (0,)
    ) -> NDArray[Any] | None:
        """Return a column in the first dtype that holds it; None: look at each weight."""
        for dtype in self.dtypes():
            columns = try_columns(block, (dtype,), delimiter=delimiter, usecols=column)
            if columns is not None:
                return columns[0].copy() if self.are_right(columns[0], block.data) else None
        return None

    def add(self, weights: NDArray[Any]) -> None:
        """Keep the weights of a block; those of all blocks take the dtype of the last one."""
        self._dtype = str(weights.dtype)
        self._parts.append(weights)
        if weights.dtype.kind == "i" and not self._has_negative:
            self._has_negative = bool((weights < 0).any())

    def without_missing(self, lines: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
        """Return the lines that have a weight, with a point in it, or to which one is given."""
        missing, decimal = self._options.missing, self._options.decimal
        kept = []
        for number, (source, target, weight) in lines:
            text = with_point(weight, decimal)
            if is_missing(weight, or_nan=missing is not None):
                self.num_missing += 1
                if missing is None:
                    named = f"{shorten(weight)} is no number" if weight else "is missing"
                    raise self._source.error(
                        f"the weight {named}; missing='drop' leaves such edges out, missing=0 "
                        "gives them a weight (semira --missing)",
                        number,
                    )
                if missing == "drop":
                    continue
                text = str(missing) if is_integer(missing) else repr(float(missing))
            kept.append((number, [source, target, text]))
        return kept

    def parse(self, lines: list[tuple[int, list[str]]]) -> NDArray[Any]:
        """Return the weights of lines that have one.

        Raises
        ------
        FileFormatError
            One is no number, or an integer beyond 64 bits; the message has its line.
        """
        column = Block(1, "\n".join(fields[2] for _, fields in lines).encode())
        weights = self._try_column(column)
        if weights is not None and len(weights) == len(lines):
            return weights
        reals = []
        for number, (_, _, text) in lines:
            real = as_real(text)
            if real is None:
                raise self._source.error(self._no_number(text, number), number)
            if is_too_wide(text):
                raise self._source.error(
                    f"weight {shorten(text)} is an integer beyond 64 bits (-2**63 to 2**64 - 1); "
                    "write it with a decimal point to read the nearest float64",
                    number,
                )
            reals.append(real)
        return np.array(reals, np.float64)

    def _no_number(self, text: str, number: int) -> str:
        """Return what to say of a weight that is no number."""
        decimal = self._options.decimal
        reason = f"weight {shorten(with_point(text, decimal))} is not a number"
        if decimal == "." and _THOUSANDS.fullmatch(text):
            reason += "; separators of thousands are not read"
        has_comma = decimal == "." and as_real(text.replace(",", ".")) is not None
        if has_comma and self._layout.delimiter != ",":
            reason += "; decimal=',' (semira --decimal ,) reads decimal commas"
        if self._layout.header is None and number == self._layout.line and is_word(text):
            reason += "; if this line names the columns, give header=True (semira --header)"
        return reason

    def finish(self) -> NDArray[Any]:
        """Return all weights."""
        # Unsafe: the integers of earlier blocks are known to be what uint64 holds.
        parts = [np.empty(0, self._dtype), *self._parts]
        return np.concatenate(parts, dtype=self._dtype, casting="unsafe")
