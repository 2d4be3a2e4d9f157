"""The fast way through a Matrix Market body: SciPy's C++ reader behind a strict check.

SciPy's reader is several times faster than NumPy's but lenient: it reads "1.5" as the integer
1, "1.5abc" as 1.5, and drops further columns. So a block goes to it only if a vectorised look
at its bytes shows that every token is plainly a number and that the tokens per line are right.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Classes of bytes.
_BLANK, _NEWLINE, _DIGIT, _SIGN, _DOT, _EXPONENT, _OTHER = range(7)
_SPACES = (_BLANK, _NEWLINE)


def _classes() -> bytes:
    table = np.full(256, _OTHER, np.uint8)
    for text, kind in (
        (b" \t", _BLANK),
        (b"\n", _NEWLINE),
        (b"0123456789", _DIGIT),
        (b"+-", _SIGN),
        (b".", _DOT),
        (b"eE", _EXPONENT),
    ):
        table[list(text)] = kind
    return table.tobytes()


def _pairs(*, is_real: bool) -> bytes:
    """Return, for ``8 * class + next class``, 1 if plain numbers may hold that pair, else 0."""
    follows = {
        _BLANK: (*_SPACES, _DIGIT, _SIGN),
        _NEWLINE: (_BLANK, _DIGIT, _SIGN),
        _DIGIT: (*_SPACES, _DIGIT),
        _SIGN: (_DIGIT,),
    }
    if is_real:
        follows[_BLANK] += (_DOT,)
        follows[_DIGIT] += (_DOT, _EXPONENT)
        follows[_SIGN] += (_DOT,)
        follows[_DOT] = (_DIGIT,)
        follows[_EXPONENT] = (_DIGIT, _SIGN)
    table = np.zeros(256, np.uint8)
    for kind, successors in follows.items():
        for successor in successors:
            table[8 * kind + successor] = 1
    return table.tobytes()


_CLASS = _classes()
_PAIRS = {False: _pairs(is_real=False), True: _pairs(is_real=True)}


def _is_plain(data: bytes, columns: int, lines: int, *, is_real: bool) -> bool:
    """Return whether `data` is surely `lines` lines of `columns` plainly written numbers.

    False only means: look closer. Together with a reader that insists on at least `columns`
    numbers in each of `lines` lines, the number of tokens shows that there are no more.
    """
    # `bytes.translate` looks a table up ten times as fast as NumPy's indexing.
    kinds = np.frombuffer((b"\n" + data).translate(_CLASS), np.uint8)
    pairs = kinds[:-1] * np.uint8(8) + kinds[1:]
    if b"\0" in pairs.tobytes().translate(_PAIRS[is_real]):
        return False
    is_space = kinds <= _NEWLINE
    if int(np.count_nonzero(is_space[:-1] & ~is_space[1:])) != columns * lines:
        return False
    marks = np.flatnonzero((kinds == _DOT) | (kinds == _EXPONENT))
    if len(marks) < 2:
        return True
    # A number has at most one point and one exponent, in this order.
    tokens = np.cumsum(is_space, dtype=np.int32)[marks]
    same = tokens[1:] == tokens[:-1]
    ordered = (kinds[marks[:-1]] == _DOT) & (kinds[marks[1:]] == _EXPONENT)
    return not bool(np.any(same & ~ordered))


def try_entries(data: bytes, field: str, nrows: int, ncols: int) -> tuple[NDArray[Any], ...] | None:
    """Return rows, columns (from 1) and values of a block, or None if it needs a closer look.

    `data` are whole lines without comments; an index outside of the shape gives None, and a pattern
    has no values. O(bytes); about 3 bytes of temporaries per byte. Multi-threaded inside SciPy.
    """
    from scipy.io import mmread

    # SciPy 1.17 reads past the end, and may crash, where a last line ends in a blank.
    if not data.endswith(b"\n"):
        data += b"\n"
    lines = data.count(b"\n")
    columns = {"pattern": 2, "complex": 4}.get(field, 3)
    if not _is_plain(data, columns, lines, is_real=field in ("real", "double", "complex")):
        return None
    banner = f"%%MatrixMarket matrix coordinate {field} general\n{nrows} {ncols} {lines}\n"
    try:
        matrix = mmread(io.BytesIO(banner.encode() + data), spmatrix=False)
    except (ValueError, OverflowError):
        return None
    if matrix.data.dtype.kind in "fc" and bool(np.isinf(matrix.data).any()):
        return None
    rows, cols = (indices + 1 for indices in matrix.coords)
    if field == "complex":
        return rows, cols, matrix.data.real, matrix.data.imag
    return (rows, cols) if field == "pattern" else (rows, cols, matrix.data)
