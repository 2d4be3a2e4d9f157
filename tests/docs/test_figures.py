"""Figures that a script draws are what the script draws."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from tests.docs.figures import EDGES, FIGURES, LEVELS, draw, path_of

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
