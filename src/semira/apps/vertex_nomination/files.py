"""Files of vertex nomination."""

from __future__ import annotations

import math

from semira.apps.texts import lines_of
from semira.exceptions import FileFormatError


def read_weights(path: str) -> list[float]:
    """Read a weight for each set of seeds: a number a line.

    Raises MissingFile or FileReadError if the file cannot be read, and FileFormatError if it has
    something else.
    """
    found = []
    for number, words in lines_of(path):
        text = " ".join(words)
        try:
            weight = float(text)
        except ValueError:
            weight = math.nan
        if not math.isfinite(weight):
            raise FileFormatError(f"{path}, line {number}: {text!r} is no number")
        found.append(weight)
    return found
