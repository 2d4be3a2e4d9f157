"""Figures that a script draws are what the script draws, from the records that there are."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from tests.docs.figures import (
    ASSETS,
    EDGES,
    FIGURES,
    LEVELS,
    PICTURES,
    draw,
    is_stale,
    path_of,
)

import semira as gb
from semira.algorithms import bfs


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_as_drawn(name):
    assert path_of(name).read_text("utf-8") == draw(name), "run: python -m tests.docs.figures"
    ET.fromstring(draw(name))


def test_the_levels_are_those_of_a_search():
    with gb.device("cpu"):
        A = gb.Matrix.from_edgelist(EDGES, True, nrows=len(LEVELS), ncols=len(LEVELS))
        assert bfs(A, 0).level.to_dict() == dict(enumerate(LEVELS))


@pytest.mark.parametrize("picture", PICTURES)
def test_a_picture_is_of_the_records(picture):
    assert not is_stale(picture), "run: python -m tests.docs.figures (needs Matplotlib)"
    ET.parse(ASSETS / f"{picture}.svg")


def test_every_picture_of_the_docs_is_known():
    drawn = {path.stem for path in ASSETS.glob("*.svg")}
    assert drawn == {*PICTURES, *(path_of(name).stem for name in FIGURES)}
