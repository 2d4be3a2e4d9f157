"""Text files of applications: lines of words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from semira.exceptions import FileReadError, MissingFile


def lines_of(path: str, what: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of each line that is neither empty nor a comment.

    White space or commas separate words; comments begin with ``#`` or ``%``.

    Parameters
    ----------
    path : str
    what : str
        What the file holds, for messages.

    Raises
    ------
    MissingFile, FileReadError
        The file cannot be read.
    """
    try:
        text = Path(path).read_text("utf-8")
    except FileNotFoundError as error:
        raise MissingFile(f"{path}: there is no such file of {what}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise FileReadError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(text.splitlines(), 1):
        words = re.split(r"[\s,]+", line.strip(" \t,"))
        if words != [""] and not words[0].startswith(("#", "%")):
            yield number, words


def numbers_of(labels: NDArray[Any] | None) -> dict[str, int] | None:
    """Return the number of each vertex by its name as a file has it; None without names."""
    return None if labels is None else {str(name): at for at, name in enumerate(labels.tolist())}
