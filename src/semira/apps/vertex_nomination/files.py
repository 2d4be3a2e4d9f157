"""Files of vertex nomination."""

from __future__ import annotations

import math

from semira.apps.texts import lines_of
from semira.exceptions import FileFormatError


def read_weights(path: str, n: int) -> list[float]:
    """Read a weight for each set of seeds: a number a line.

    Parameters
    ----------
    path : str
    n : int
        Not read.

    Raises
    ------
    MissingFile, FileReadError, FileFormatError
    """
    del n
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
