"""Compiled kernels on disk: one file each, written whole or not at all, checked when it is read.

A file is the kernel followed by a checksum of the file's name and the kernel; the name holds a
digest of all that decides about the kernel. What is damaged, cut short or copied from elsewhere
counts as missing: it is compiled again and replaced. A folder that cannot be read or written costs
compilations, never a result.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from semira.base.log import logger
from semira.base.settings import settings

#: Part of every name: changes when files of earlier releases cannot be read.
FORMAT = "2"

_CHECKSUM = hashlib.sha256
_CHECKSUM_BYTES = _CHECKSUM().digest_size

#: Folders that a warning named.
_reported: set[Path] = set()

#: What was compiled ahead of time into a folder: a JSON object in each line.
_AHEAD = "ahead.jsonl"

#: Devices of which a log entry said why a kernel is missing.
_explained: set[str] = set()


def read(path: Path) -> bytes | None:
    """Return the kernel that `write` kept, None if there is none."""
    try:
        kept = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _report(path.parent, "read", error)
        return None
    code, checksum = kept[:-_CHECKSUM_BYTES], kept[-_CHECKSUM_BYTES:]
    if checksum != _checksum(path.name, code):
        reject(path, "its checksum is wrong")
        return None
    return code


def write(path: Path, code: bytes) -> bool:
    """Keep a kernel; return whether that was possible.

    The first failure in a folder is a warning: the caller has the kernel and can go on.
    """
    # Not `tempfile`, whose files only their owner may read.
    partial = path.with_name(f"{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # What a crash of the system cuts short is found by its checksum.
            partial.write_bytes(code + _checksum(path.name, code))
            # Another process may have been faster; both wrote the same kernel.
            partial.replace(path)
        except BaseException:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        _report(path.parent, "write", error)
        return False
    return True


def reject(path: Path, reason: str) -> None:
    """Report a file that cannot be used."""
    logger.warning("the kernel %s is damaged (%s); it is compiled again and replaced", path, reason)


def note_ahead(device: str, what: Mapping[str, Sequence[str]], tools: Mapping[str, str]) -> None:
    """Note what was compiled ahead of time: it explains kernels that are missing later.

    `what` are the algorithms, dtypes, ... that were compiled, `tools` what machine code depends on:
    versions and the processor.
    """
    line = json.dumps({"device": device, "what": what, "tools": tools})
    path = settings().cache_dir / _AHEAD
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def _noted_ahead(device: str) -> list[dict[str, Any]]:
    try:
        lines = (settings().cache_dir / _AHEAD).read_text("utf-8").splitlines()
        noted = [json.loads(line) for line in lines]
        return [each for each in noted if each["device"] == device]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def why_missing(
    device: str, name: str, tools: Callable[[], dict[str, str]], fits: Mapping[str, str] = {}
) -> str:
    """Return why a kernel is not in the cache; the first time a log entry says so, too.

    `tools` returns what machine code of this process depends on; `fits` is what serves as well.
    """
    noted = _noted_ahead(device)
    if not noted:
        return "nothing was compiled ahead of time there"
    now = tools()
    apart = [
        {key for key, value in now.items() if each["tools"].get(key) not in (value, fits.get(key))}
        for each in noted
    ]
    nearest, differs = min(zip(noted, apart, strict=True), key=lambda pair: len(pair[1]))
    if differs:
        told = (f"{key} {nearest['tools'].get(key)!r}, and not {now[key]!r}" for key in differs)
        why = f"it was compiled ahead of time for {'; '.join(sorted(told))}"
    else:
        told = (f"{key} {', '.join(values)}" for key, values in nearest["what"].items())
        why = f"what was compiled ahead of time does not ask for it ({'; '.join(told)})"
    if device not in _explained:
        _explained.add(device)
        logger.info("kernel %s of %s is compiled now: %s", name, device, why)
    return why


def _checksum(name: str, code: bytes) -> bytes:
    return _CHECKSUM(name.encode() + b"\0" + code).digest()


def _report(folder: Path, verb: str, error: OSError) -> None:
    if folder in _reported:
        return
    _reported.add(folder)
    logger.warning(
        "cannot %s compiled kernels in %s (%s); this process goes on without, and the next one "
        "compiles them again; set SEMIRA_CACHE_DIR to a folder that can be written",
        verb, folder, error.strerror or error,
    )  # fmt: skip
