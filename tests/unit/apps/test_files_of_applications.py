"""Broken files: every reader of an application says what is wrong, and warns of nothing."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest

from semira.apps.classification.files import read_edges, read_vertices
from semira.apps.geolocation.files import read_labels
from semira.apps.graph_matching.files import read_pairs
from semira.apps.lasso.files import read_values
from semira.apps.sampling.files import matrix, numbers, vertices
from semira.exceptions import FileFormatError, FileReadError

_HEADER = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (9%s,), }"


def _stored(write, *given, **named):
    stream = io.BytesIO()
    write(stream, *given, **named)
    return stream.getvalue()


TEXTS = (
    b"abc 2 2\n1 2 3\n", b"9" * 5000 + b" 2\n1 2 3\n", b"9" * 19 + b" 2 2\n", b"inf 1 1\n",
    b"nan nan\n", b'0,1,"' + b"x" * 200_000 + b'"\n',
)  # fmt: skip
ARRAYS = (
    _stored(np.savez, a=np.arange(3)), _stored(np.save, np.array(["a", "b", "c"])), b"",
    _stored(np.save, np.array([1j, 2, 3])), (_HEADER % (b"9" * 12)).ljust(128) + b"\n",
)  # fmt: skip


def _read(read, path):
    """Read a file for three vertices, whose number some readers need."""
    return read(str(path)) if read in (read_pairs, vertices) else read(str(path), 3)


@pytest.mark.parametrize("read", [read_vertices, read_edges, read_labels, read_pairs])
def test_texts_that_are_none(read, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, text in enumerate(TEXTS):
            path = tmp_path / f"{number}.txt"
            path.write_bytes(text)
            with pytest.raises(FileFormatError, match=str(path)):
                _read(read, path)


@pytest.mark.parametrize("read", [read_values, matrix, numbers, vertices])
def test_arrays_that_are_none(read, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, content in enumerate(ARRAYS):
            path = tmp_path / f"{number}.npy"
            path.write_bytes(content)
            with pytest.raises(FileFormatError, match=str(path)):
                _read(read, path)
    folder = tmp_path / "folder.npy"
    folder.mkdir()
    with pytest.raises(FileReadError, match="Is a directory"):
        _read(read, folder)
