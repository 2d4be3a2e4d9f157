"""Driver errors as Semira's exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from semira.base.errors import DeviceUnavailable, OutOfMemory, Panic

#: What to do where libraries are missing, and where they are there but no driver for them.
INSTALL = "pip install 'semira[cuda13]' on a machine with an NVIDIA GPU, or use device='cpu'"
DRIVER = "install an NVIDIA driver for CUDA 13 (580 or newer), or use device='cpu'"


def check(result: tuple[Any, ...], what: str) -> Any:
    """Return what a driver call returned besides its status.

    Raises OutOfMemory if the device's memory is used up, and Panic for any other failure; the
    message names the status and `what` was done.
    """
    status, *values = result
    if status:
        raise translate(status.name, what)
    return values[0] if values else None


def translate(status: str, what: str) -> Exception:
    """Return the exception for a driver status."""
    if "OUT_OF_MEMORY" in status:
        return OutOfMemory(
            f"{what}: the GPU's memory is used up; release objects or use device='cpu'"
        )
    return Panic(f"{what}: {status}")


@contextmanager
def reported(what: str) -> Iterator[None]:
    """Translate what cuda.core raises, and CuPy when its memory is used up."""
    try:
        yield
    except OutOfMemory:
        raise
    except MemoryError as error:
        raise OutOfMemory(f"{what}: {error}; release objects or use device='cpu'") from error
    except Exception as error:
        # By name: its class lives in a private module.
        if type(error).__name__ != "CUDAError":
            raise
        raise translate(str(error), what) from error


def unavailable(reason: str, advice: str = INSTALL) -> DeviceUnavailable:
    """Return the error of a machine without a usable GPU."""
    return DeviceUnavailable(f"device 'cuda' cannot be used: {reason}; {advice}")
