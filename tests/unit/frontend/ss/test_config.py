"""Options: per object, for the process, in a block."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import semira as gb
from semira.base import settings
from semira.exceptions import InvalidValue, NotImplementedException


@pytest.fixture(autouse=True)
def _same_settings() -> Iterator[None]:
    before = settings.override()
    yield
    settings.restore(before)


def test_threads_of_the_process() -> None:
    gb.ss.config["nthreads"] = 3
    assert settings.settings().threads == 3
    assert dict(gb.ss.config) == {"nthreads": 3}
    gb.ss.config["nthreads"] = None
    assert gb.ss.config["nthreads"] == settings.read_environment().threads
    with pytest.raises(InvalidValue, match="nthreads must be an integer >= 1"):
        gb.ss.config["nthreads"] = 0


def test_options_without_meaning_say_what_to_use() -> None:
    for key, words in [("burble", "Recorder"), ("jit_c_control", "doctor"), ("nope", "no option")]:
        with pytest.raises(KeyError, match=words):
            gb.ss.config[key]
        with pytest.raises(KeyError, match=words):
            gb.ss.config[key] = 1
    with pytest.raises(TypeError):
        del gb.ss.config["nthreads"]
    with pytest.raises(AttributeError, match="Recorder"):
        _ = gb.ss.burble


def test_contexts_stack() -> None:
    gb.ss.config["nthreads"] = 2
    with gb.ss.Context(nthreads=5) as outer:
        assert settings.settings().threads == 5
        gb.ss.config["nthreads"] = 3
        assert settings.settings().threads == 5
        with gb.ss.Context() as inner:
            assert inner["nthreads"] == 5
            inner["nthreads"] = 7
            assert settings.settings().threads == 7
            assert gb.ss.Context(False, stack=False)["nthreads"] == 3
            outer.disengage()
            assert settings.settings().threads == 7
    assert settings.settings().threads == 3
    with pytest.raises(InvalidValue, match="not engaged"):
        inner.disengage()
    assert outer.dup(engage=False, nthreads=1)["nthreads"] == 1
    assert outer.dup(engage=False) == outer
    with pytest.raises(NotImplementedException, match="gpu_id=0"):
        gb.ss.Context(gpu_id=0)


def test_an_object_says_and_changes_how_it_is_stored() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 2], [1, 2])
    expected = {"format": "by_row", "sparsity_control": {"auto"}, "sparsity_status": "sparse"}
    assert A.ss.config == expected
    before = A.dup()
    A.ss.config["format"] = "by_col"
    assert (A.ss.config["format"], A.ss.format, A.ss.orientation) == ("by_col", "csc", "columnwise")
    assert A.isequal(before)
    with pytest.raises(ValueError, match="Config option 'sparsity_status' is read-only"):
        A.ss.config["sparsity_status"] = "bitmap"
    with pytest.raises(NotImplementedException, match="export"):
        A.ss.config["sparsity_control"] = "bitmap"
    with pytest.raises(InvalidValue, match="by_row, by_col"):
        A.ss.config["format"] = "by_diagonal"
    with pytest.raises(KeyError, match="explain"):
        A.ss.config["bitmap_switch"]
    assert gb.Vector.from_dense([1, 2]).ss.config["sparsity_status"] == "full"
    assert A.ss.nbytes == sum(part.nbytes for part in A.to_csc()[2:]) + 4 * (A.ncols + 1 + A.nvals)


def test_about_is_read_only() -> None:
    assert len(gb.ss.about) == len(dict(gb.ss.about))
    with pytest.raises(KeyError):
        gb.ss.about["nothing"]
    with pytest.raises(TypeError):
        gb.ss.about["library_name"] = 1
