"""NumPy archives: SciPy's ``save_npz`` and plain ``row, col, weight, n, directed`` arrays."""

from __future__ import annotations

import sys
import tokenize
import warnings
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import FileFormatError, FileWriteError, GraphblasException
from semira.files.clean import symmetrise
from semira.files.compression import check_expansion
from semira.files.options import READING_FACTS
from semira.files.source import Source, seekable
from semira.formats import EdgeList, index_dtype
from semira.formats.index import MAX_SIZE

#: What NumPy, SciPy and zipfile raise on damaged archives.
_DAMAGE = (
    ValueError,
    EOFError,
    KeyError,
    IndexError,
    TypeError,
    OverflowError,
    SyntaxError,
    tokenize.TokenError,
    NotImplementedError,
    RuntimeError,
    OSError,
    zlib.error,
    zipfile.BadZipFile,
)
#: Deflate cannot expand further than this, so larger claims are false.
_DEFLATE_RATIO = 1032
_MEMBERS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "dia": ("data", "offsets"),
    "coo": ("data", "row", "col"),
}
_SCIPY_NAMES = {"format", "shape", "_is_array", "pattern", "labels", "coords"} | {
    name for names in _MEMBERS.values() for name in names
}
_PLAIN_NAMES = {"row", "col", "weight", "n", "nrows", "ncols", "directed", "bipartite", "labels"}

#: Bytes of the widest values of each kind that are read.
_WIDEST = {"b": 1, "i": 8, "u": 8, "f": 8, "c": 16}

#: Text labels are written as a rectangle of characters; beyond this they are refused.
_MAX_LABEL_BYTES = 1 << 30


def _check_claims(source: Source, info: zipfile.ZipInfo) -> None:
    """Refuse a member whose stated sizes cannot be true, before anything is allocated for it."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise source.error(f"member {info.filename} is neither stored nor deflated")
    if info.file_size > _DEFLATE_RATIO * (info.compress_size + 64):
        raise source.error(
            f"member {info.filename} claims {info.file_size} bytes from {info.compress_size} "
            f"compressed ones; the archive is damaged"
        )


def _header(
    source: Source, archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and dtype of an array that nothing has read yet."""
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if reader is None:
            raise source.error(
                f"member {info.filename} has .npy version {version}; 1 and 2 are read"
            )
        shape, _, dtype = reader(member)
        room = info.file_size - member.tell()
    claimed = max(1, dtype.itemsize)
    for extent in shape:
        claimed *= extent
    if min(shape, default=0) < 0 or claimed > room:
        raise source.error(
            f"member {info.filename} claims shape {shape} of {dtype}, but holds {room} bytes"
        )
    return shape, dtype


class _Members:
    """The arrays of an archive by name; each is read when it is asked for."""

    def __init__(self, source: Source, archive: zipfile.ZipFile) -> None:
        self._source = source
        self._archive = archive
        infos = archive.infolist()
        for info in infos:
            _check_claims(source, info)
        packed = sum(info.compress_size for info in infos)
        check_expansion(source.name, packed, sum(info.file_size for info in infos))
        arrays = [info for info in infos if info.filename.endswith(".npy")]
        self._infos = {info.filename.removesuffix(".npy"): info for info in arrays}
        if len(self._infos) != len(arrays):
            raise source.error("names a member twice")
        self.headers = {name: _header(source, archive, info) for name, info in self._infos.items()}

    def __contains__(self, name: str) -> bool:
        return name in self.headers

    def __getitem__(self, name: str) -> NDArray[Any]:
        with self._archive.open(self._infos[name]) as member:
            array = np.asarray(np.lib.format.read_array(member, allow_pickle=False))
        if array.dtype.kind == "U" and array.size:
            codes = np.frombuffer(array.tobytes(), array.dtype.str[0] + "u4")
            if int(codes.max()) > sys.maxunicode:
                raise self._source.error(f"member {name!r} holds text that is not Unicode")
        return array

    def check(self, name: str, kinds: str, ndim: int) -> None:
        """Check, before it is read, that a member is there and has the right kind and shape."""
        if name not in self:
            held = ", ".join(sorted(self.headers))
            raise self._source.error(f"member {name!r} is missing; it holds {held}")
        shape, dtype = self.headers[name]
        if dtype.kind not in kinds or len(shape) != ndim:
            raise self._source.error(
                f"member {name!r} has dtype {dtype} and shape {shape}; expected "
                f"{ndim} dimensions of kind {'/'.join(kinds)}"
            )


def read_npz(source: Source) -> EdgeList:
    """Read a NumPy archive.

    From SciPy's layout (member ``format``) every stored entry; the ``dia`` layout pads with zeros,
    which are left out. From the plain layout the edges ``row[k], col[k]``, mirrored (the diagonal
    once) and ``symmetric`` if ``directed`` is False; ``nrows`` and ``ncols`` make it bipartite.
    Further members come back in ``meta``, as they are in the file (not mirrored). Raises
    FileFormatError if the archive is damaged, holds Python objects, misses a member, or its arrays
    do not make a matrix.
    """
    with seekable(source) as file, warnings.catch_warnings():
        # NumPy and Python's parser warn of odd headers that are then read or refused.
        warnings.simplefilter("ignore")
        try:
            with zipfile.ZipFile(file) as archive:
                return _read(source, _Members(source, archive))
        except GraphblasException:
            raise
        except _DAMAGE as error:
            raise source.error(
                f"is not a readable .npz archive of plain arrays: {error}"
            ) from error


def _read(source: Source, arrays: _Members) -> EdgeList:
    is_scipy = "format" in arrays
    edges = _from_scipy(source, arrays) if is_scipy else _from_plain(source, arrays)
    known = READING_FACTS | (_SCIPY_NAMES if is_scipy else _PLAIN_NAMES)
    extras = {name: arrays[name] for name in arrays.headers if name not in known}
    edges.meta.update(
        {name: each.item() if each.ndim == 0 else each for name, each in extras.items()},
        name=source.stem,
    )
    return edges


def _member(arrays: _Members, name: str, kinds: str, ndim: int = 1) -> NDArray[Any]:
    """Return member `name` after checking that it is there, its dtype kind and dimensions."""
    arrays.check(name, kinds, ndim)
    return arrays[name]


def _values(source: Source, array: NDArray[Any]) -> NDArray[Any]:
    """Return values in a dtype of ours: native byte order, half precision widened."""
    if array.dtype.itemsize > _WIDEST.get(array.dtype.kind, 0):
        raise source.error(
            f"values of dtype {array.dtype} are not supported; use bool, integers, floats of up "
            "to 64 bits, or complex64 and complex128"
        )
    if array.dtype == np.float16:
        return array.astype(np.float32)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _size(source: Source, arrays: _Members, name: str) -> int:
    size = int(_member(arrays, name, "iu", 0))
    if not 0 <= size <= MAX_SIZE:
        raise source.error(f"{name}={size} lies outside [0, 2**60]")
    return size


def _positions(source: Source, array: NDArray[Any], name: str, limit: int) -> NDArray[Any]:
    outside = (array < 0) | (array >= limit)
    if bool(outside.any()):
        position = int(outside.argmax())
        raise source.error(f"{name}[{position}] = {array[position]} lies outside [0, {limit})")
    return array


def _labels(source: Source, arrays: _Members, size: int) -> NDArray[Any] | None:
    if "labels" not in arrays:
        return None
    labels = _member(arrays, "labels", "iuU")
    if len(labels) != size:
        raise source.error(f"{len(labels)} labels for {size} vertices")
    names, counts = np.unique(labels, return_counts=True)
    if len(names) != size:
        raise source.error(f"two vertices have the label {names[counts.argmax()].item()!r}")
    return labels.astype(object) if labels.dtype.kind == "U" else labels


def _from_plain(source: Source, arrays: _Members) -> EdgeList:
    if "nrows" in arrays or "ncols" in arrays:
        nrows, ncols = _size(source, arrays, "nrows"), _size(source, arrays, "ncols")
    else:
        nrows = ncols = _size(source, arrays, "n")
    for name in ("row", "col"):
        arrays.check(name, "iu", 1)
    _check_lengths(source, arrays)
    rows = _positions(source, arrays["row"], "row", nrows)
    cols = _positions(source, arrays["col"], "col", ncols)
    values = _values(source, arrays["weight"]) if "weight" in arrays else None
    is_directed = bool(_member(arrays, "directed", "biu", 0)) if "directed" in arrays else True
    narrow = index_dtype(nrows, ncols)
    labels = _labels(source, arrays, nrows)
    meta: dict[str, Any] = {"directed": is_directed}
    edges = EdgeList(
        nrows, ncols, rows.astype(narrow), cols.astype(narrow), values, labels=labels, meta=meta
    )
    if is_directed:
        return edges
    if nrows != ncols:
        raise source.error(f"directed is False, but {nrows} x {ncols} is not square")
    return symmetrise(edges)


def _check_lengths(source: Source, arrays: _Members) -> None:
    (rows,), (cols,) = arrays.headers["row"][0], arrays.headers["col"][0]
    weights = arrays.headers["weight"][0] if "weight" in arrays else (rows,)
    if rows != cols or weights != (rows,):
        listed = f", weights of shape {weights}" if "weight" in arrays else ""
        raise source.error(f"{rows} rows, {cols} columns{listed} do not match")


def _from_scipy(source: Source, arrays: _Members) -> EdgeList:
    kind = _member(arrays, "format", "SU", 0).item()
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind
    if kind not in _MEMBERS:
        raise source.error(f"sparse format {kind!r} is unknown; known: {', '.join(_MEMBERS)}")
    shape = _member(arrays, "shape", "iu").tolist()
    if len(shape) != 2 or not 0 <= min(shape) <= max(shape) <= MAX_SIZE:
        raise source.error(f"shape {shape} is not two sizes in [0, 2**60]")
    nrows, ncols = shape
    try:
        rows, cols, values = _entries(source, arrays, kind, (nrows, ncols))
    except FileFormatError:
        raise
    except _DAMAGE as error:
        raise source.error(f"its arrays make no {kind} matrix: {error}") from error
    narrow = index_dtype(nrows, ncols)
    is_pattern = "pattern" in arrays and bool(arrays["pattern"].any())
    return EdgeList(
        nrows,
        ncols,
        rows.astype(narrow, copy=False),
        cols.astype(narrow, copy=False),
        None if is_pattern else values,
        labels=_labels(source, arrays, nrows),
        meta={"directed": True},
    )


def _entries(
    source: Source, arrays: _Members, kind: str, shape: tuple[int, int]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return rows, columns and values; SciPy checks and expands the compressed formats."""
    ndim = {"bsr": 3, "dia": 2}.get(kind, 1)
    is_stacked = kind == "coo" and "coords" in arrays
    names = () if is_stacked else _MEMBERS[kind][1:]
    arrays.check("data", "".join(_WIDEST), ndim)
    for name in names:
        arrays.check(name, "iu", 1)
    parts = list(_member(arrays, "coords", "iu", 2)) if is_stacked else [arrays[n] for n in names]
    if is_stacked and len(parts) != 2:
        raise source.error(f"has {len(parts)} dimensions; a matrix has 2")
    values = _values(source, arrays["data"])
    if kind == "coo":
        rows, cols = parts
        if not len(rows) == len(cols) == len(values):
            raise source.error(f"{len(rows)} rows, {len(cols)} columns, {len(values)} values")
        return (
            _positions(source, rows, "row", shape[0]),
            _positions(source, cols, "col", shape[1]),
            values,
        )
    if kind == "dia":
        return _diagonals(source, values, parts[0], shape)
    import scipy.sparse

    _check_compressed(source, kind, values, parts, shape)
    matrix = getattr(scipy.sparse, f"{kind}_array")((values, *parts), shape=shape)
    matrix.check_format(full_check=True)
    expanded = matrix.tocoo()
    rows, cols = expanded.coords
    return (
        _positions(source, rows, "row", shape[0]),
        _positions(source, cols, "column", shape[1]),
        expanded.data,
    )


def _diagonals(
    source: Source, values: NDArray[Any], offsets: NDArray[Any], shape: tuple[int, int]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the entries of the ``dia`` layout: ``values[d, j]`` lies at ``(j - offsets[d], j)``.

    Not left to SciPy, which allocates for every row that the shape claims.
    """
    if len(offsets) != len(values) or len(np.unique(offsets)) != len(offsets):
        raise source.error(f"{len(values)} diagonals need as many different offsets")
    _positions(source, np.abs(offsets.astype(np.float64)), "offsets", MAX_SIZE)
    cols = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    rows = cols - offsets.astype(np.int64)[:, np.newaxis]
    stored = (rows >= 0) & (rows < shape[0]) & (cols < shape[1]) & (values != 0)
    return rows[stored], cols[stored], values[stored]


def _check_compressed(
    source: Source,
    kind: str,
    values: NDArray[Any],
    parts: list[NDArray[Any]],
    shape: tuple[int, int],
) -> None:
    """Check offsets exactly: SciPy cuts arrays that are longer than the last offset says."""
    indices, indptr = parts
    if not len(indptr) or not (
        int(indptr[0]) == 0 and int(indptr[-1]) == len(indices) == len(values)
    ):
        raise source.error(
            f"indptr must rise from 0 to the number of entries; it has {len(indptr)} offsets "
            f"for {len(indices)} indices and {len(values)} values"
        )
    if bool(np.any(indptr[1:] < indptr[:-1])):
        raise source.error("indptr falls somewhere; the offsets must not decrease")
    block = values.shape[1:] if kind == "bsr" else (1, 1)
    if min(block) < 1 or shape[0] % block[0] or shape[1] % block[1]:
        raise source.error(f"blocks of {block} do not tile the shape {shape}")
    extents = [size // extent for size, extent in zip(shape, block, strict=True)]
    major, minor = reversed(extents) if kind == "csc" else extents
    if len(indptr) != major + 1:
        raise source.error(f"{len(indptr)} offsets where the shape {shape} needs {major + 1}")
    _positions(source, indices, "indices", minor)


def writable_labels(labels: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return labels as a plain array (integers, or text of fixed width).

    Raises FileWriteError if the text would take more than a gibibyte as a rectangle of characters.
    """
    if labels is None or labels.dtype.kind in "iu":
        return labels
    words = [str(label) for label in labels.tolist()]
    width = max(map(len, words), default=1)
    if 4 * width * len(words) > _MAX_LABEL_BYTES:
        raise FileWriteError(
            f"{len(words)} labels of up to {width} characters take more than "
            f"{_MAX_LABEL_BYTES} bytes in an archive; write csv instead"
        )
    return np.array(words, dtype=f"U{max(1, width)}")


def write_npz(stream: BinaryIO, edges: EdgeList) -> None:
    """Write an archive that `scipy.sparse.load_npz` reads too (COO layout, compressed).

    A pattern is stored as True values and a member ``pattern``; labels in ``labels``. ``symmetric``
    is not stored: a reader could not rely on it. Raises FileWriteError if labels are too wide for
    an archive.
    """
    members: dict[str, Any] = {
        "format": np.bytes_("coo"),
        "shape": np.array([edges.nrows, edges.ncols], np.int64),
        "_is_array": np.True_,
        "row": edges.rows,
        "col": edges.cols,
        "data": np.ones(edges.nnz, bool) if edges.values is None else edges.values,
    }
    if edges.values is None:
        members["pattern"] = np.True_
    if edges.labels is not None:
        members["labels"] = writable_labels(edges.labels)
    np.savez_compressed(stream, **members)
