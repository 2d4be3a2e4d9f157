"""Buffers that wait for the next caller are given out for the dtype they have."""

from __future__ import annotations

import numpy as np

from semira.backends.cpu import workspace


def test_records_of_two_layouts_do_not_share_buffers():
    short, long = np.dtype([("x", "i4")]), np.dtype([("x", "i8"), ("y", "f8")])
    for take, give in (
        (workspace.buffer, workspace.give_buffer),
        (workspace.zeros, workspace.give_zeros),
    ):
        given = take(short, workspace.SHORT)
        give(given)
        assert take(long, workspace.SHORT).dtype == long
        assert take(short, workspace.SHORT) is given


def test_short_arrays_are_made_anew_and_clean():
    borrowed = workspace.marks(workspace.SHORT - 1)
    borrowed[:] = True
    workspace.give_marks(borrowed)
    assert not workspace.marks(workspace.SHORT - 1).any()
