"""Downloading named graphs once, and checking them ever after."""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import shutil
import tarfile
import tempfile
import zlib
from pathlib import Path

from semira.base.errors import FileFormatError, FileReadError, FileWriteError, MissingLibrary
from semira.base.optional import need
from semira.base.settings import settings
from semira.datasets.catalogue import Dataset, info
from semira.files.output import open_output
from semira.files.progress import ReadProgress

_BLOCK = 1 << 20
_TIMEOUT_S = 30

#: What reading a damaged archive raises.
_DAMAGE = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError)


def path(name: str) -> Path:
    """Return where the file of a graph is or would be; downloads nothing.

    The folder is ``data_dir`` of the settings (``SEMIRA_DATA_DIR``).

    Raises
    ------
    InvalidValue
        There is no graph of that name.
    """
    return settings().data_dir / info(name).file


def fetch(name: str, *, force: bool = False, progress: bool = True) -> Path:
    """Return the path of a graph's file, after downloading it if it is not there.

    Parameters
    ----------
    name : str
        See `info`.
    force : bool
        Download it anew and forget the checksum recorded before.
    progress : bool
        Show a bar for long downloads (on a terminal).

    Raises
    ------
    InvalidValue
        There is no graph of that name.
    MissingLibrary
        It has to be downloaded and Pooch is not installed.
    FileReadError
        It cannot be downloaded, or its checksum differs from the one known or recorded.
    FileFormatError
        The download is damaged.
    FileWriteError
        The folder is not writable.

    Notes
    -----
    Checksums (SHA-256) are compared whenever a file is used, which costs a pass over it. Where
    none is listed, the one of the first download is recorded beside the file and trusted from
    then on: that finds later damage and later changes, not a first download that was wrong.
    """
    found = info(name)
    target = path(name)
    if target.exists() and not force:
        _verify(found, target)
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Beside the target, so that moving is one step: the file appears whole or not at all.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as folder:
            download = _obtain(found, Path(folder), force=force, progress=progress)
            ready = Path(folder) / "ready"
            _unpack(found, download, ready)
            digests = checksum(ready), checksum(download)
            ready.replace(target)
        _write_record(found, target, *digests)
    except (FileReadError, FileWriteError):
        raise
    except OSError as error:
        reason = error.strerror or error
        raise FileWriteError(
            f"{target}: cannot be written: {reason}; set SEMIRA_DATA_DIR to another folder"
        ) from error
    return target


def checksum(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _record_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.json")


def _verify(found: Dataset, target: Path) -> None:
    """Compare a file with its record; without a record, trust and record it."""
    digest = checksum(target)
    record = _record_of(target)
    try:
        expected = json.loads(record.read_bytes())["sha256"]
    except FileNotFoundError:
        expected = found.sha256 if found.member is None and found.sha256 else digest
    except (ValueError, KeyError, TypeError) as error:
        raise FileReadError(
            f"{record}: is no record of a checksum ({error}); delete it to trust {target} again"
        ) from error
    if digest != expected:
        raise FileReadError(
            f"{target}: SHA-256 is {digest}, expected {expected}; the file changed or is damaged: "
            f"fetch it again with force=True (semira datasets fetch {found.name} --force)"
        )
    if not record.exists():
        _write_record(found, target, digest, None)


def _write_record(found: Dataset, target: Path, digest: str, download: str | None) -> None:
    facts = {"url": found.url, "download_sha256": download, "sha256": digest}
    with open_output(_record_of(target)) as stream:
        stream.write(json.dumps(facts, indent=2).encode() + b"\n")


def _by_hand(found: Dataset) -> Path:
    """Return where a user may put the download."""
    return path(found.name).with_name(found.url.rpartition("/")[2])


def _obtain(found: Dataset, folder: Path, *, force: bool, progress: bool) -> Path:
    """Return the path of the download: the one put there by hand, or a new one."""
    by_hand = _by_hand(found)
    if not by_hand.exists() or force:
        return _download(found, folder, progress=progress)
    digest = checksum(by_hand)
    if found.sha256 not in (None, digest):
        raise FileReadError(
            f"{by_hand}: SHA-256 is {digest}, expected {found.sha256}; it is not {found.url}"
        )
    return by_hand


class _Bar:
    """What Pooch calls while it downloads."""

    def __init__(self, label: str, *, is_enabled: bool) -> None:
        self.total = 0
        self._label = label
        self._is_enabled = is_enabled
        self._bar: ReadProgress | None = None
        self._is_done = False

    def update(self, count: int) -> None:
        if self._is_done:
            return
        if self._bar is None:
            total = self.total or None
            self._bar = ReadProgress(
                self._label, total, is_enabled=self._is_enabled, verb="fetching"
            )
        self._bar.advance(count)

    def reset(self) -> None:
        # Pooch counts chunks and, at the end, sets the whole amount once more.
        self._is_done = True

    def close(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None


def _download(found: Dataset, folder: Path, *, progress: bool) -> Path:
    remedy = f"put the file at {_by_hand(found)} yourself"
    try:
        pooch = need("pooch", f"downloading {found.name}", "datasets")
    except MissingLibrary as error:
        raise MissingLibrary(f"{error}; or download {found.url} and {remedy}") from error
    bar = _Bar(found.name, is_enabled=progress)
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        downloader = pooch.HTTPDownloader(
            progressbar=bar,
            chunk_size=_BLOCK,
            timeout=_TIMEOUT_S,
            # A .gz file stays as it is on the server.
            headers={"Accept-Encoding": "identity"},
        )
        known = f"sha256:{found.sha256}" if found.sha256 else None
        name = found.url.rpartition("/")[2]
        return Path(pooch.retrieve(found.url, known, name, folder, downloader=downloader))
    except (OSError, ValueError) as error:
        raise FileReadError(
            f"{found.name}: cannot be downloaded from {found.url}: {error}; check the network, "
            f"or {remedy}"
        ) from error
    finally:
        bar.close()
        logger.setLevel(level)


def _unpack(found: Dataset, download: Path, ready: Path) -> None:
    """Put the graph's file of a download at `ready`.

    Raises FileFormatError if the download is cut short or lacks the file.
    """
    try:
        if found.member is None:
            _read_through(download)
            shutil.copyfile(download, ready)
            return
        with tarfile.open(download) as archive:
            member = archive.extractfile(found.member)
            if member is None:
                raise KeyError(found.member)
            with member, ready.open("wb") as out:
                shutil.copyfileobj(member, out, _BLOCK)
    except KeyError:
        raise FileFormatError(f"{found.url}: the archive has no file {found.member}") from None
    except _DAMAGE as error:
        raise FileFormatError(
            f"{found.url}: the download is damaged ({error}); fetch it again"
        ) from error


def _read_through(download: Path) -> None:
    """Read a compressed file to its end, where its own checksum stands."""
    with download.open("rb") as raw:
        if raw.read(2) != b"\x1f\x8b":
            return
    with gzip.open(download) as stream:
        while stream.read(_BLOCK):
            pass
