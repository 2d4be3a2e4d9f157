"""What SuiteSparse's exceptions become."""

from __future__ import annotations

import pytest

from semira.base.errors import OutOfMemory, Panic

graphblas = pytest.importorskip("graphblas")


def test_an_error_without_words_gets_some():
    from semira.backends.suitesparse.objects import translated

    with pytest.raises(OutOfMemory, match="use smaller objects"), translated():
        raise graphblas.exceptions.OutOfMemory("")
    with pytest.raises(Panic, match="SuiteSparse: Panic"), translated():
        raise graphblas.exceptions.Panic("")


def test_words_are_kept():
    from semira.backends.suitesparse.objects import translated

    with pytest.raises(OutOfMemory, match="SuiteSparse: 8 bytes are missing"), translated():
        raise graphblas.exceptions.OutOfMemory("8 bytes are missing")
