"""Files of vertex nomination."""

from __future__ import annotations

import math
from pathlib import Path

from semira.exceptions import FileFormatError, FileReadError, MissingFile


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
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except FileNotFoundError as error:
        raise MissingFile(f"{path}: there is no such file of weights") from error
    except (OSError, UnicodeDecodeError) as error:
        raise FileReadError(f"{path}: cannot be read: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith(("#", "%")):
            continue
        try:
            weight = float(text)
        except ValueError:
            weight = math.nan
        if not math.isfinite(weight):
            raise FileFormatError(f"{path}, line {number}: {text!r} is no number")
        found.append(weight)
    return found
