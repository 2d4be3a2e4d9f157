"""The weights of an edge list: their dtype, and those that are missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.files.layout import Layout, is_missing, is_word, with_point
from semira.files.options import ReadOptions, is_integer
from semira.files.source import Block, Source
from semira.files.table import as_real, is_beyond_floats, is_too_wide, shorten, try_columns

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
        self, block: Block, delimiter: str | None = None, column: tuple[int, ...] | None = None
    ) -> NDArray[Any] | None:
        """Return a column, or the only one, in the first dtype that holds it; None if none does."""
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

    def parse(
        self, texts: list[str], line: Callable[[int], int]
    ) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        """Return the weights that texts spell, and which of them were kept, None if all.

        `line` returns the number of the line of a text. Raises FileFormatError if one is missing,
        no number, or an integer beyond 64 bits; the message has its line.
        """
        missing = self._options.missing
        is_given = [not is_missing(text, or_nan=missing is not None) for text in texts]
        if self._options.decimal == ",":
            texts = [with_point(text, ",") for text in texts]
        if all(is_given):
            return self._parsed(texts, line), None
        self.num_missing += is_given.count(False)
        first = is_given.index(False)
        if missing is None:
            named = f"{shorten(texts[first])} is no number" if texts[first] else "is missing"
            raise self._source.error(
                f"the weight {named}; missing='drop' leaves such edges out, missing=0 gives them "
                "a weight (semira --missing)",
                line(first),
            )
        kept = np.array(is_given)
        if missing == "drop":
            places = np.flatnonzero(kept)
            given = list(compress(texts, is_given))
            return self._parsed(given, lambda at: line(int(places[at]))), kept
        other = str(missing) if is_integer(missing) else repr(float(missing))
        pairs = zip(texts, is_given, strict=True)
        return self._parsed([text if given else other for text, given in pairs], line), None

    def _parsed(self, texts: list[str], line: Callable[[int], int]) -> NDArray[Any]:
        weights = self._try_column(Block(1, "\n".join(texts).encode()))
        if weights is not None and len(weights) == len(texts):
            return weights
        reals = list(map(as_real, texts))
        for at, text in enumerate(texts):
            if is_too_wide(text):
                raise self._source.error(
                    f"weight {shorten(text)} is an integer beyond 64 bits (-2**63 to 2**64 - 1); "
                    "write it with a decimal point to read the nearest float64",
                    line(at),
                )
            if reals[at] is None:
                number = line(at)
                raise self._source.error(self._no_number(text, number), number)
        return np.array(reals, np.float64)

    def _no_number(self, text: str, number: int) -> str:
        """Return what to say of a weight that is no number."""
        decimal = self._options.decimal
        plain = reason = f"weight {shorten(with_point(text, decimal))} is not a number"
        if is_beyond_floats(with_point(text, decimal)):
            return f"weight {shorten(text)} is beyond the floats of 64 bits"
        if decimal == "." and _THOUSANDS.fullmatch(text):
            reason += "; separators of thousands are not read"
        has_comma = decimal == "." and as_real(text.replace(",", ".")) is not None
        if has_comma and self._layout.delimiter != ",":
            reason += "; decimal=',' (semira --decimal ,) reads decimal commas"
        if self._layout.header is None and number == self._layout.line and is_word(text):
            reason += "; if this line names the columns, give header=True (semira --header)"
        if reason == plain:
            ends = self._layout.columns[:2]
            reason += f"; columns={ends} (semira --columns {ends[0]},{ends[1]}) leaves it out"
        return reason

    def finish(self) -> NDArray[Any]:
        """Return all weights."""
        # Unsafe: the integers of earlier blocks are known to be what uint64 holds.
        parts = [np.empty(0, self._dtype), *self._parts]
        return np.concatenate(parts, dtype=self._dtype, casting="unsafe")
