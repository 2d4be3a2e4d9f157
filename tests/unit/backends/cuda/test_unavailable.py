"""What is said where there is no usable GPU: what was found, and what helps."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from semira.backends.cuda.runtime import device
from semira.base.errors import DeviceUnavailable

pytest.importorskip("cuda.core")
driver = pytest.importorskip("cuda.bindings.driver")
CUresult = driver.CUresult


def found(monkeypatch: pytest.MonkeyPatch, status: Any, version: int) -> str:
    """Return the error of a machine whose driver answers so; a status may be an exception."""

    def start(_flags: int) -> Any:
        if isinstance(status, Exception):
            raise status
        return (status,)

    monkeypatch.setattr(driver, "cuInit", start)
    monkeypatch.setattr(driver, "cuDriverGetVersion", lambda: (CUresult.CUDA_SUCCESS, version))
    with pytest.raises(DeviceUnavailable) as told:
        device._load()
    return str(told.value)


@pytest.mark.parametrize(
    ("status", "version", "words", "helps"),
    [
        (RuntimeError("no library"), 0, "no NVIDIA driver (libcuda) was found", "580"),
        (CUresult.CUDA_SUCCESS, 12_040, "found is for CUDA 12.4", "CUDA 13 (580 or newer)"),
        (CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 12_080, "for CUDA 12.8", "580"),
        (CUresult.CUDA_ERROR_UNKNOWN, 13_000, "CUDA 13.0, does not start", "580"),
        (CUresult.CUDA_ERROR_NO_DEVICE, 13_010, "driver finds no GPU", "device='cpu'"),
    ],
)
def test_libraries_that_are_there_are_not_to_be_installed(
    monkeypatch, status, version, words, helps
):
    text = found(monkeypatch, status, version)
    assert words in text
    assert helps in text
    assert "pip install" not in text


def test_libraries_that_are_missing_are_to_be_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    with pytest.raises(DeviceUnavailable, match=r"pip install 'semira\[cuda13\]'"):
        device._load()


def test_a_driver_for_cuda_13_is_taken(monkeypatch):
    monkeypatch.setattr(driver, "cuInit", lambda _flags: (CUresult.CUDA_SUCCESS,))
    monkeypatch.setattr(driver, "cuDriverGetVersion", lambda: (CUresult.CUDA_SUCCESS, 13_000))
    assert device._load()[0] is driver
