"""The list of expected failures."""

from __future__ import annotations

import pytest
from tests.pgb.expected import expected_failures


def write(path, text):
    path.write_text(text)
    return path


def test_every_listed_test_has_its_reason() -> None:
    found = expected_failures()
    assert found
    assert all(name.startswith("test_") and "::" in name for name in found)
    assert all(len(reason) > 10 for reason in found.values())


def test_groups_become_one_table(tmp_path) -> None:
    text = '[[expected]]\nreason = "private"\ntests = ["test_a.py::test_x", "test_a.py::test_y"]\n'
    found = expected_failures(write(tmp_path / "list.toml", text))
    assert found == {"test_a.py::test_x": "private", "test_a.py::test_y": "private"}


def test_a_test_listed_twice_is_refused(tmp_path) -> None:
    text = '[[expected]]\nreason = "r"\ntests = ["test_a.py::test_x", "test_a.py::test_x"]\n'
    with pytest.raises(ValueError, match="listed twice"):
        expected_failures(write(tmp_path / "list.toml", text))


def test_a_group_without_reason_is_refused(tmp_path) -> None:
    text = '[[expected]]\nreason = " "\ntests = ["test_a.py::test_x"]\n'
    with pytest.raises(ValueError, match="no reason"):
        expected_failures(write(tmp_path / "list.toml", text))
