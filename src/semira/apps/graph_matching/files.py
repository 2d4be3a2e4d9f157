"""Graphs to match with, and pairs of vertices, in files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, io
from semira.exceptions import FileFormatError, FileReadError, MissingFile


def read_other(path: str, size: int) -> Matrix:
    """Graph of any size: a file of any format that is read, or a generator.

    Parameters
    ----------
    path : str
    size : int
        Not used: sizes may differ.

    Returns
    -------
    Matrix

    Raises
    ------
    GraphblasException
        As `semira.io.read`.
    """
    del size
    return io.read(path)


def read_pairs(path: str, size: int) -> NDArray[np.int64]:
    """Pairs: a line for each, with a vertex of the graph and one of the other, from 0.

    Parameters
    ----------
    path : str
        A text file; numbers are separated by white space or commas, and lines that begin with
        ``#`` or ``%`` are comments.
    size : int
        Not used: what is no vertex is refused later.

    Returns
    -------
    ndarray, shape (k, 2)

    Raises
    ------
    MissingFile, FileReadError
        The file cannot be read.
    FileFormatError
        A line has something else; the message has its number.
    """
    del size
    try:
        text = Path(path).read_text("utf-8")
    except FileNotFoundError as error:
        raise MissingFile(f"{path}: there is no such file of pairs") from error
    except (OSError, UnicodeDecodeError) as error:
        raise FileReadError(f"{path}: cannot be read: {error}") from error
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = re.split(r"[\s,]+", line.strip(" \t,"))
        if words == [""] or words[0].startswith(("#", "%")):
            continue
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            raise FileFormatError(
                f"{path}, line {number}: {line.strip()!r} is no pair of vertex numbers from 0"
            )
        found.append([int(word) for word in words])
    return np.array(found, np.int64).reshape(-1, 2)
