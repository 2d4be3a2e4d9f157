"""What tiles of bits would take for a pattern: counted, or estimated from a sample of its lines.

The unit of the sample is a band of 32 lines, which holds the lines of every smaller tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import InvalidValue
from semira.formats.index import each_once, offset_dtype
from semira.formats.matrix import MatrixArrays
from semira.methods.b2sr.arrays import SIZES, b2sr_bytes

#: Lines of a band; bands that a choice looks at.
BAND, FEW_BANDS = 32, 64

#: Entries up to which a report counts every tile, and the bands that it samples of more.
COUNTED, MANY_BANDS = 2**23, 4096

#: Time of a tile of each side, beside that of 8 x 8 (docs/guide/bits.md).
WEIGHTS = {4: 0.93, 8: 1.0, 16: 2.2, 32: 4.9}

#: Share of a normal distribution within this many standard deviations: 95 %.
_DEVIATIONS = 1.96


@dataclass(frozen=True, slots=True)
class TileCount:
    """Tiles of one size that hold an entry.

    Attributes
    ----------
    bits : int
        Side of a tile.
    tiles : float
        Counted, or estimated from the sample.
    error : float
        Half the width of the interval that holds the number with 95 % confidence; 0 if counted.
    """

    bits: int
    tiles: float
    error: float


def bands_of(lines: int) -> int:
    """Return the bands of 32 lines.

    Examples
    --------
    >>> bands_of(33)
    2
    """
    return -(-lines // BAND)


def sampled_entries(
    matrix: MatrixArrays, bands: int | None = None, seed: int = 0
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the lines and positions of all entries in random bands, and the bands.

    Parameters
    ----------
    matrix : MatrixArrays
    bands : int, optional
        None, or as many as there are: all.
    seed : int
    """
    matrix = matrix.ordinary()
    count = bands_of(matrix.nmajor)
    if bands is None or bands >= count:
        major = matrix.entry_major().astype(np.int64)
        return major, matrix.indices.astype(np.int64), np.arange(count)
    chosen = np.sort(np.random.default_rng(seed).choice(count, bands, replace=False))
    lines = (chosen[:, None] * BAND + np.arange(BAND)).ravel()
    lines = lines[lines < matrix.nmajor]
    starts = matrix.indptr[lines].astype(np.int64)
    lengths = matrix.indptr[lines + 1] - starts
    places = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    return np.repeat(lines, lengths), matrix.indices[places].astype(np.int64), chosen


def sampled_tiles(
    matrix: MatrixArrays, bands: int | None = FEW_BANDS, seed: int = 0
) -> tuple[TileCount, ...]:
    """Return the number of tiles of each size.

    Parameters
    ----------
    matrix : MatrixArrays
        Tiles are compressed along its lines.
    bands : int or None
        Random bands of 32 lines to look at; None: all.
    seed : int

    Notes
    -----
    Sorts the entries looked at, once for each size.

    Examples
    --------
    >>> from semira.base.dtypes import BOOL
    >>> indptr, one = np.arange(65, dtype=np.int32), np.ones(1, bool)
    >>> diagonal = MatrixArrays(64, 64, BOOL, "csr", indptr, indptr[:-1], one, iso=True)
    >>> [int(each.tiles) for each in sampled_tiles(diagonal)]
    [16, 8, 4, 2]
    """
    major, minor, chosen = sampled_entries(matrix, bands, seed)
    count = bands_of(matrix.nmajor)
    found = []
    for bits in SIZES:
        across = max(1, -(-matrix.nminor // bits))
        keys = each_once(major // bits * across + minor // bits)
        in_band = np.searchsorted(chosen, keys // across * bits // BAND)
        counts = np.bincount(in_band, minlength=len(chosen))
        if len(chosen) == count:
            found.append(TileCount(bits, float(counts.sum()), 0.0))
            continue
        left = 1 - len(chosen) / count
        deviation = float(np.sqrt(counts.var(ddof=1) / len(chosen) * left)) if left else 0.0
        found.append(TileCount(bits, float(counts.mean()) * count, _DEVIATIONS * count * deviation))
    return tuple(found)


def auto_size(tiles: tuple[TileCount, ...]) -> tuple[int, float]:
    """Return the side of the tiles that a product walks in the least time, and this time.

    The unit is the time of an 8 x 8 tile.

    Examples
    --------
    >>> auto_size((TileCount(4, 100, 0), TileCount(8, 80, 0), TileCount(16, 30, 0)))
    (16, 66.0)
    """
    costs = [(WEIGHTS[each.bits] * each.tiles, each.bits) for each in tiles]
    least, bits = min(costs)
    return bits, least


@dataclass(frozen=True, slots=True)
class TileSize:
    """What tiles of one size take.

    Attributes
    ----------
    bits : int
        Side of a tile.
    tiles : int
        Tiles with an entry.
    error : int
        See `TileCount`.
    nbytes : int
        Of offsets, indices and bits.
    of_pattern, of_matrix : float
        `nbytes` by the bytes of compressed rows without values, and with values of 32 bits.
    occupied : float
        Share of all tiles that have an entry.
    fill : float
        Share of the bits of those that are set.
    """

    bits: int
    tiles: int
    error: int
    nbytes: int
    of_pattern: float
    of_matrix: float
    occupied: float
    fill: float

    def __str__(self) -> str:
        """Return the row of a table."""
        return (
            f"{self.bits:>5} {self.tiles:>12} {self.error:>8} {self.nbytes:>12} "
            f"{self.of_pattern:>9.2f} {self.of_matrix:>7.2f} {self.occupied:>9.2%} "
            f"{self.fill:>6.1%}"
        )


@dataclass(frozen=True, slots=True)
class BitsProfile:
    """What tiles of bits would take for a matrix.

    Attributes
    ----------
    nrows, ncols, nvals : int
    sizes : tuple of TileSize
        For 4, 8, 16 and 32 bits a side.
    smallest : int
        The side that takes the fewest bytes.
    auto : int
        The side that ``bits="auto"`` takes on the cpu.
    sampled : int
        Bands of 32 rows that were looked at; all of them if nothing was estimated.
    bands : int
        All bands.
    classes : dict of str to bool
        The pattern classes of Bit-GraphBLAS that the matrix falls into.
    """

    nrows: int
    ncols: int
    nvals: int
    sizes: tuple[TileSize, ...]
    smallest: int
    auto: int
    sampled: int
    bands: int
    classes: dict[str, bool]

    def __str__(self) -> str:
        """Return the profile as a table."""
        pattern = ", ".join(name for name, holds in self.classes.items() if holds) or "none"
        how = "counted" if self.sampled == self.bands else f"{self.sampled} of {self.bands} bands"
        lines = [
            f"{self.nrows} x {self.ncols}, {self.nvals} entries; {how}; pattern: {pattern}",
            " bits        tiles       +-        bytes / pattern  / fp32  occupied   fill",
            *map(str, self.sizes),
            f"smallest: bits={self.smallest}; bits='auto' takes {self.auto}",
        ]
        return "\n".join(lines)


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, (int, np.integer)) and bool(value >= least)


def profile(matrix: MatrixArrays, bands: Any = None, seed: Any = 0) -> BitsProfile:
    """Return what tiles of bits would take for a matrix.

    Parameters
    ----------
    matrix : MatrixArrays
        Tiles are compressed along its lines.
    bands : int, optional
        Random bands of 32 lines to look at. None: all of a matrix of at most `COUNTED` entries,
        else `MANY_BANDS`.
    seed : int

    Raises
    ------
    InvalidValue
        `bands` is less than 2: a sample of one has no variance; or `seed` is less than 0.
    """
    if bands is not None and not _is_count(bands, 2):
        raise InvalidValue(f"bands={bands!r}; give 2 or more, or None")
    if not _is_count(seed, 0):
        raise InvalidValue(f"seed={seed!r}; give an integer, 0 or more")
    if bands is None and matrix.nvals > COUNTED:
        bands = MANY_BANDS
    counts = sampled_tiles(matrix, bands, seed)
    sizes = tuple(_size(matrix, each) for each in counts)
    count = bands_of(matrix.nmajor)
    return BitsProfile(
        matrix.nrows,
        matrix.ncols,
        matrix.nvals,
        sizes,
        min(sizes, key=lambda each: each.nbytes).bits,
        auto_size(counts)[0],
        count if bands is None else min(bands, count),
        count,
        classes_of(matrix, bands, seed),
    )


def _size(matrix: MatrixArrays, count: TileCount) -> TileSize:
    bits, tiles = count.bits, round(count.tiles)
    nbytes = b2sr_bytes(matrix.nmajor, matrix.nminor, tiles, bits)
    pattern = 4 * matrix.nvals + (matrix.nmajor + 1) * offset_dtype(matrix.nvals).itemsize
    room = max(1, -(-matrix.nmajor // bits) * -(-matrix.nminor // bits))
    return TileSize(
        bits,
        tiles,
        round(count.error),
        nbytes,
        nbytes / pattern,
        nbytes / (pattern + 4 * matrix.nvals),
        tiles / room,
        matrix.nvals / max(1, tiles * bits * bits),
    )


#: When a matrix falls into a class. The paper describes the classes in words; the figures are ours.
NEAR, MANY, BLOCK_FILL, FEW_TOGETHER = 1 / 32, 0.5, 0.25, 1.5
ROAD_MEAN, ROAD_LONGEST = 4, 16

_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def classes_of(matrix: MatrixArrays, bands: int | None = None, seed: int = 0) -> dict[str, bool]:
    """Return into which of the six pattern classes of Bit-GraphBLAS a matrix falls.

    Parameters
    ----------
    matrix : MatrixArrays
    bands, seed : int
        See `sampled_entries`.

    Returns
    -------
    dict of str to bool
        ``dot``: 8 x 8 tiles hold less than 1.5 entries on average. ``diagonal``: half of the
        entries lie within a 32nd of the side from the diagonal. ``block``: half of them lie in
        8 x 8 tiles that are a quarter full. ``stripe``: half of them have neighbours on both sides
        in one direction, and not in most directions. ``road``: lines have at most 4 entries on
        average and 16 at most. ``hybrid``: more than two of these.

    Examples
    --------
    >>> from semira.base.dtypes import BOOL
    >>> indptr, one = np.arange(65, dtype=np.int32), np.ones(1, bool)
    >>> diagonal = MatrixArrays(64, 64, BOOL, "csr", indptr, indptr[:-1], one, iso=True)
    >>> [name for name, holds in classes_of(diagonal).items() if holds]
    ['diagonal', 'stripe', 'road', 'hybrid']
    """
    major, minor, _ = sampled_entries(matrix, bands, seed)
    found = dict.fromkeys(("dot", "diagonal", "block", "stripe", "road"), False)
    if len(major):
        _, tile, entries = np.unique(
            major // 8 * -(-matrix.nminor // 8) + minor // 8,
            return_inverse=True, return_counts=True,
        )  # fmt: skip
        distance = np.abs(major / matrix.nmajor - minor / matrix.nminor)
        lengths = np.diff(matrix.indptr)
        is_full = entries[tile] >= BLOCK_FILL * 64
        found |= {
            "dot": len(major) / len(entries) < FEW_TOGETHER,
            "diagonal": float(np.mean(distance <= NEAR)) >= MANY,
            "block": float(np.mean(is_full)) >= MANY,
            "stripe": float(np.mean(_in_line(matrix, major, minor))) >= MANY,
            "road": bool(lengths.mean() <= ROAD_MEAN and lengths.max() <= ROAD_LONGEST),
        }
    return found | {"hybrid": sum(found.values()) > 2}


def _in_line(matrix: MatrixArrays, major: Any, minor: Any) -> NDArray[np.bool_]:
    """Return which entries have neighbours on both sides in one or two of four directions."""
    width = matrix.nminor + 2
    keys = np.sort(major * width + minor + 1)
    mine = major * width + minor + 1

    def is_there(wanted: Any) -> NDArray[np.bool_]:
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        there: NDArray[np.bool_] = keys[place] == wanted
        return there

    ways = np.zeros(len(mine), np.int8)
    for down, right in _DIRECTIONS:
        step = down * width + right
        ways += is_there(mine + step) & is_there(mine - step)
    lined: NDArray[np.bool_] = (ways > 0) & (ways < 3)
    return lined
