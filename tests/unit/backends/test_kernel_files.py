"""Why a kernel is missing from the cache."""

from __future__ import annotations

import pytest

from semira.backends.kernel_files import note_ahead, why_missing
from semira.base import settings

TOOLS = {"arch": "sm_90", "compiler": "nvrtc 13.0"}
WHAT = {"algorithms": ["bfs", "sssp"], "dtypes": ["FP64"]}


@pytest.fixture(autouse=True)
def folder(tmp_path):
    before = settings.override(cache_dir=tmp_path)
    yield tmp_path
    settings.restore(before)


def why(device: str = "cuda", fits: dict[str, str] | None = None, **tools: str) -> str:
    return why_missing(device, "program-1", lambda: TOOLS | tools, fits or {})


def test_nothing_was_compiled_ahead():
    note_ahead("cpu", WHAT, TOOLS)
    assert why() == "nothing was compiled ahead of time there"


def test_it_was_compiled_with_other_tools():
    note_ahead("cuda", WHAT, TOOLS)
    note_ahead("cuda", WHAT, {"arch": "sm_80", "compiler": "nvrtc 12.9"})
    assert why(arch="sm_100") == "it was compiled ahead of time for arch 'sm_90', and not 'sm_100'"
    assert "compiler 'nvrtc 13.0', and not 'nvrtc 13.5'" in why(compiler="nvrtc 13.5")


def test_it_was_not_asked_for():
    note_ahead("cuda", WHAT, TOOLS)
    told = "what was compiled ahead of time does not ask for it"
    assert why() == f"{told} (algorithms bfs, sssp; dtypes FP64)"
    assert why(arch="sm_80", fits={"arch": "sm_90"}).startswith(told)


def test_a_note_that_cannot_be_read_counts_as_none(folder):
    (folder / "ahead.jsonl").write_text("{")
    assert why() == "nothing was compiled ahead of time there"
