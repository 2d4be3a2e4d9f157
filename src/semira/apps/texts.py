"""Files of applications: lines of words, numbers, arrays of NumPy; texts may be compressed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.exceptions import FileFormatError, FileReadError, MissingFile
from semira.files.source import open_source


@contextmanager
def open_text(path: str) -> Iterator[io.TextIOWrapper]:
    """Open a text of UTF-8, whose line ends are left as they are.

    Raises MissingFile or FileReadError if the file cannot be read. Raises FileFormatError if it is
    no text.
    """
    with open_source(path, progress=False) as source:
        try:
            yield io.TextIOWrapper(source.stream, "utf-8-sig", newline="")
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{path}: is no text: {error}") from error


def lines_of(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of each line that is neither empty nor a comment.

    White space or commas separate words; comments begin with ``#`` or ``%``. Raises what
    `open_text` does.
    """
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            words = line.replace(",", " ").split()
            if words and not words[0].startswith(("#", "%")):
                yield number, words


def words_of(path: str) -> list[str]:
    """Return the words of all lines; see `lines_of`."""
    return [word for _, words in lines_of(path) for word in words]


def array_of(path: str) -> NDArray[Any]:
    """Return the array in a ``.npy`` file.

    Raises MissingFile or FileReadError if it cannot be read, and FileFormatError if it is none.
    """
    try:
        with Path(path).open("rb") as stream:
            found: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    except FileNotFoundError as error:
        raise MissingFile(f"{path}: no such file; check the path") from error
    except OSError as error:
        raise FileReadError(f"{path}: {error.strerror}") from error
    except (ValueError, EOFError, MemoryError) as error:
        raise FileFormatError(f"{path} is no array of NumPy: {error}") from error
    return found


def numbers_in(path: str, dtype: Any) -> NDArray[Any]:
    """Return the numbers in a text, or in a ``.npy`` file, as a list of a dtype.

    Raises MissingFile or FileReadError if the file cannot be read. Raises FileFormatError if it has
    something else.
    """
    given = array_of(path) if path.endswith(".npy") else np.array(words_of(path), object)
    is_text, wanted = given.dtype == object, np.dtype(dtype)
    try:
        if not is_text and not np.can_cast(given.dtype, wanted, "same_kind"):
            raise ValueError(f"has values of {given.dtype}; give {wanted}")
        found = given.ravel().astype(wanted)
        if given.dtype.kind == "u" and (found < 0).any():
            raise ValueError(f"{given.max()} is beyond {wanted}")
    except (ValueError, OverflowError) as error:
        raise FileFormatError(f"{path}: {error}") from error
    return found


def is_index(text: str) -> bool:
    """Return whether a text is an integer from 0 on, of 64 bits."""
    return text.isdecimal() and len(text) < 19


def numbers_of(labels: NDArray[Any] | None) -> dict[str, int] | None:
    """Return the number of each vertex by its name as a file has it; None without names."""
    return None if labels is None else {str(name): at for at, name in enumerate(labels.tolist())}


def vertex_of(
    where: str, word: str, names: Mapping[str, int] | None, size: int, *, base: int = 0
) -> int:
    """Return the vertex that a word names: by its name, or its number from `base` without names.

    Raises FileFormatError if there is no such vertex; `where` is the file and the line.
    """
    if names is not None:
        if word not in names:
            raise FileFormatError(f"{where}: {word!r} is no vertex of the graph")
        return names[word]
    try:
        vertex = int(word) - base
    except ValueError:
        told = f"{where}: {word!r} is no vertex number; the graph has no names"
        raise FileFormatError(told) from None
    if not 0 <= vertex < size:
        raise FileFormatError(f"{where}: vertex {word} is outside [{base}, {size - 1 + base}]")
    return vertex
