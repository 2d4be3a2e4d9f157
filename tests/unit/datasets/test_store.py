"""Named graphs against a server on this machine: downloads, checksums, damage, no network."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import json
import socket
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import semira as gb
from semira import datasets
from semira.base import settings
from semira.base.errors import (
    FileFormatError,
    FileReadError,
    FileWriteError,
    InvalidValue,
    MissingLibrary,
)
from semira.datasets import catalogue, store

MTX = b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"
EDGES = b"# two edges\n0 1\n1 2\n"


def archive(member: str = "tiny/tiny.mtx", data: bytes = MTX) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        entry = tarfile.TarInfo(member)
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


class Server:
    """Serves `pages`; counts requests; `cut` bytes are left out at the end of each answer."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.cut = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests.append(self.path)
                body = outer.pages.get(self.path)
                if body is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) - outer.cut])

            def log_message(self, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server(monkeypatch):
    pytest.importorskip("pooch")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = Server()
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def folder(tmp_path):
    before = settings.override(data_dir=tmp_path / "graphs")
    yield tmp_path / "graphs"
    settings.restore(before)


@pytest.fixture
def add(monkeypatch):
    """Put graphs into the catalogue."""
    rows = dict(catalogue.CATALOGUE)
    monkeypatch.setattr(catalogue, "CATALOGUE", rows)

    def put(host: str, **changes):
        row = catalogue.Dataset(
            "test/tiny", "suitesparse", f"{host}/tiny.tar.gz", "test/tiny.mtx", "tiny/tiny.mtx"
        )
        rows["test/tiny"] = dataclasses.replace(row, **changes)

    return put


@pytest.fixture
def tiny(server, add):
    """A graph in an archive on the server."""
    server.pages["/tiny.tar.gz"] = archive()
    add(server.url)
    return server


def leftovers(folder):
    return [each.name for each in (folder / "test").iterdir()] if folder.exists() else []


def test_fetch_unpacks_records_and_uses_the_cache(tiny, folder):
    found = datasets.fetch("test/tiny")
    assert found == folder / "test" / "tiny.mtx" == datasets.path("tiny")
    assert found.read_bytes() == MTX
    record = json.loads((folder / "test" / "tiny.mtx.json").read_text())
    assert record["sha256"] == hashlib.sha256(MTX).hexdigest() == datasets.checksum(found)
    assert record["download_sha256"] == hashlib.sha256(tiny.pages["/tiny.tar.gz"]).hexdigest()
    assert sorted(leftovers(folder)) == ["tiny.mtx", "tiny.mtx.json"]
    datasets.fetch("tiny")
    assert tiny.requests == ["/tiny.tar.gz"]


def test_load_dataset_reads_with_the_options_of_the_graph(server, add):
    server.pages["/t.txt.gz"] = gzip.compress(EDGES)
    add(server.url, url=f"{server.url}/t.txt.gz", file="test/t.txt.gz", member=None,
        options={"symmetrise": True})  # fmt: skip
    matrix = gb.io.load_dataset("tiny")
    assert matrix.to_dicts() == {0: {1: True}, 1: {0: True, 2: True}, 2: {1: True}}
    assert gb.io.load_dataset("tiny", symmetrise=False, dtype=int).nvals == 2
    assert server.requests == ["/t.txt.gz"]


def test_listed_checksum_is_compared(tiny, add, folder):
    good = hashlib.sha256(tiny.pages["/tiny.tar.gz"]).hexdigest()
    add(tiny.url, sha256=good)
    datasets.fetch("tiny")
    tiny.pages["/tiny.tar.gz"] = archive(data=MTX + b"\n")
    with pytest.raises(FileReadError, match=r"cannot be downloaded .*SHA256 hash"):
        datasets.fetch("tiny", force=True)
    assert (folder / "test" / "tiny.mtx").read_bytes() == MTX
    assert sorted(leftovers(folder)) == ["tiny.mtx", "tiny.mtx.json"]


def test_changed_file_is_refused_until_forced(tiny, folder):
    file = datasets.fetch("tiny")
    file.write_bytes(MTX[:-4])
    with pytest.raises(FileReadError, match=r"tiny\.mtx: SHA-256 is .* expected .* --force"):
        datasets.fetch("tiny")
    assert datasets.fetch("tiny", force=True).read_bytes() == MTX


def test_truncated_answer_leaves_nothing(tiny, folder):
    tiny.cut = 20
    with pytest.raises(FileReadError, match="cannot be downloaded"):
        datasets.fetch("tiny")
    assert leftovers(folder) == []


@pytest.mark.parametrize("size", [40, 100])
def test_truncated_archive_leaves_nothing(tiny, folder, size):
    tiny.pages["/tiny.tar.gz"] = tiny.pages["/tiny.tar.gz"][:size]
    with pytest.raises(FileFormatError, match="damaged"):
        datasets.fetch("tiny")
    assert leftovers(folder) == []


def test_truncated_gzip_leaves_nothing(server, add, folder):
    server.pages["/t.txt.gz"] = gzip.compress(EDGES)[:-5]
    add(server.url, url=f"{server.url}/t.txt.gz", file="test/t.txt.gz", member=None)
    with pytest.raises(FileFormatError, match="damaged"):
        datasets.fetch("tiny")
    assert leftovers(folder) == []


def test_archive_without_the_graph(tiny):
    tiny.pages["/tiny.tar.gz"] = archive("tiny/other.mtx")
    with pytest.raises(FileFormatError, match=r"no file tiny/tiny\.mtx"):
        datasets.fetch("tiny")


def test_page_that_does_not_exist(tiny):
    del tiny.pages["/tiny.tar.gz"]
    with pytest.raises(FileReadError, match="404"):
        datasets.fetch("tiny")


@pytest.fixture
def offline(add, monkeypatch):
    """A graph on a port where nobody listens."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        add(f"http://127.0.0.1:{free.getsockname()[1]}")


def test_no_network_says_what_to_do(offline, folder):
    pytest.importorskip("pooch")
    with pytest.raises(FileReadError) as caught:
        datasets.fetch("tiny")
    by_hand = folder / "test" / "tiny.tar.gz"
    for part in ("test/tiny", "http://127.0.0.1", "/tiny.tar.gz", f"put the file at {by_hand}"):
        assert part in str(caught.value)


def test_no_pooch_says_what_to_do(offline, monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(
        MissingLibrary, match=r"semira\[datasets\].*tiny\.tar\.gz and put"
    ) as caught:
        datasets.fetch("tiny")
    assert str(folder / "test" / "tiny.tar.gz") in str(caught.value)


def test_download_put_there_by_hand_needs_neither(offline, monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "pooch", None)
    by_hand = folder / "test" / "tiny.tar.gz"
    by_hand.parent.mkdir(parents=True)
    by_hand.write_bytes(archive())
    assert datasets.fetch("tiny").read_bytes() == MTX
    assert by_hand.exists()


def test_wrong_download_put_there_by_hand(offline, add, folder):
    add("http://127.0.0.1:9", sha256="0" * 64)
    by_hand = folder / "test" / "tiny.tar.gz"
    by_hand.parent.mkdir(parents=True)
    by_hand.write_bytes(archive())
    with pytest.raises(FileReadError, match="it is not http"):
        datasets.fetch("tiny")


def test_file_put_there_by_hand_is_trusted_once(offline, folder):
    file = datasets.path("tiny")
    file.parent.mkdir(parents=True)
    file.write_bytes(MTX)
    assert datasets.fetch("tiny") == file
    file.write_bytes(MTX + b"\n")
    with pytest.raises(FileReadError, match="expected"):
        datasets.fetch("tiny")


def test_broken_record_says_so(offline, folder):
    file = datasets.path("tiny")
    file.parent.mkdir(parents=True)
    file.write_bytes(MTX)
    (folder / "test" / "tiny.mtx.json").write_text("{")
    with pytest.raises(FileReadError, match=r"tiny\.mtx\.json: is no record"):
        datasets.fetch("tiny")


def test_folder_that_cannot_be_made(tiny, tmp_path):
    (tmp_path / "file").write_text("")
    before = settings.override(data_dir=tmp_path / "file" / "below")
    try:
        with pytest.raises(FileWriteError, match="SEMIRA_DATA_DIR"):
            datasets.fetch("tiny")
    finally:
        settings.restore(before)


def test_bar_counts_once(monkeypatch):
    advanced = []

    class Recorded:
        def __init__(self, label, total, **options):
            advanced.append((label, total, options))

        def advance(self, count):
            advanced.append(count)

        def __exit__(self, *exception):
            advanced.append("closed")

    monkeypatch.setattr(store, "ReadProgress", Recorded)
    bar = store._Bar("tiny", is_enabled=True)
    bar.total = 30
    bar.update(10)
    bar.update(20)
    bar.reset()
    bar.update(30)
    bar.close()
    bar.close()
    options = {"is_enabled": True, "verb": "fetching"}
    assert advanced == [("tiny", 30, options), 10, 20, "closed"]


def test_names_are_unique_and_found_by_their_last_part():
    listed = datasets.names()
    assert len(listed) == len(set(listed)) == len({name.partition("/")[2] for name in listed})
    assert sum(len(datasets.names(source)) for source in catalogue.SOURCES) == len(listed)
    for name in listed:
        found = datasets.info(name)
        assert found.name == name
        assert datasets.info(name.partition("/")[2]) is found
        assert found.url.startswith("https://")
        assert not datasets.path(name).exists()


def test_unlisted_matrix_of_the_collection():
    found = datasets.info("Arenas/email")
    assert found.member == "email/email.mtx"
    assert found.url.endswith("/MM/Arenas/email.tar.gz")


@pytest.mark.parametrize("name", ["karat", "nothing", "../etc/passwd", "a/../b", "snap/x", "", "/"])
def test_unknown_names(name):
    with pytest.raises(InvalidValue, match="no graph"):
        datasets.info(name)


def test_similar_names_are_offered():
    with pytest.raises(InvalidValue, match="did you mean karate"):
        datasets.fetch("karat")
    with pytest.raises(InvalidValue, match="choose one of suitesparse"):
        datasets.names("web")
