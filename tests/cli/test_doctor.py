"""``semira doctor``."""

from __future__ import annotations

import importlib.metadata
import json

import pytest

from semira.base import settings
from semira.base.errors import DeviceUnavailable
from semira.cli import doctor


@pytest.fixture
def cache(tmp_path):
    """A cache folder of its own, with something of ours and something foreign in it."""
    folder = tmp_path / "cache"
    (folder / "cpu").mkdir(parents=True)
    (folder / "cpu" / "mxv-1.nbc").write_bytes(b"code")
    (folder / "notes.txt").write_text("not ours")
    before = settings.override(cache_dir=folder)
    yield folder
    settings.restore(before)


@pytest.fixture
def only_reference(monkeypatch):
    """The other devices answer that they are absent: opening them takes seconds."""

    def why(device: str) -> str | None:
        return None if device == "reference" else "absent"

    monkeypatch.setattr(doctor, "why_unusable", why)


def test_json_tells_versions_devices_and_cache(invoke, cache, only_reference):
    before = settings.override(device="reference")
    result = invoke("doctor", "--json")
    settings.restore(before)
    assert result.exit_code == 0
    state = json.loads(result.stdout)
    devices = {row["device"]: row for row in state["devices"]}
    assert devices["reference"]["usable"] is True
    assert devices["cuda"] == {
        "device": "cuda", "usable": False, "first_s": None, "detail": "absent",
    }  # fmt: skip
    versions = {row["package"]: row["version"] for row in state["packages"]}
    assert versions["numpy"] is not None
    assert state["cache"]["folder"] == str(cache)
    assert (state["cache"]["kernels"], state["cache"]["files"]) == (1, 2)
    assert state["cache"]["writable"] is True
    assert state["free_memory"] is None or state["free_memory"] > 2**20


def test_default_device_that_does_not_work_exits_with_1(invoke, cache, only_reference):
    before = settings.override(device="cuda")
    result = invoke("doctor")
    settings.restore(before)
    assert result.exit_code == 1
    assert "absent" in result.stdout


def test_clear_cache_removes_kernels_and_nothing_else(invoke, cache, only_reference):
    invoke("doctor", "--clear-cache")
    assert sorted(path.name for path in cache.iterdir()) == ["notes.txt"]


def test_wrong_product_is_no_working_device(monkeypatch):
    from semira.frontend.objects import Vector

    monkeypatch.setattr(Vector, "to_dict", lambda self: {0: 1.0})
    row = doctor._check_device("reference")
    assert row["usable"] is False
    assert "wrong" in row["detail"]


def test_device_that_fails_when_used_is_reported(monkeypatch):
    import semira

    def refuse(name: str) -> None:
        raise DeviceUnavailable(f"{name} went away")

    monkeypatch.setattr(semira, "device", refuse)
    row = doctor._check_device("reference")
    assert row["usable"] is False
    assert "went away" in row["detail"]


def test_what_is_installed_is_not_to_be_installed(monkeypatch):
    known = {row["package"]: row for row in doctor._installed()}
    assert (known["numpy"]["version"] is None, known["numpy"]["for"]) == (False, "arrays")
    assert not any("pip install" in row["for"] for row in known.values() if row["version"])

    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    optional = [row for row in doctor._installed() if not row["required"]]
    assert all("pip install 'semira[" in row["for"] for row in optional)
