"""How the packages of the make targets are installed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tools import install

LISTED = """\
:env:.constraint='/given.txt'
:env:.find-links='/opt/wheels'
global.constraint='/etc/pip/constraints.txt'
global.extra-index-url='file:///a/simple file:///b/simple'
"""


def test_variables_go_before_files():
    found = install.settings(LISTED)
    assert found["constraint"] == "/given.txt"
    assert found["extra-index-url"] == "file:///a/simple file:///b/simple"
    assert install.variables(found) == {"UV_CONSTRAINT": "/given.txt"}


@pytest.mark.parametrize("line", ["global.index-url='https://here/simple'", ":env:.no-index='1'"])
def test_another_place_than_pypi_is_for_pip(line):
    assert install.variables(install.settings(line)) is None


def test_settings_of_this_pip_are_read(monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://nowhere.invalid/simple")
    listed = subprocess.run(
        (*install.PIP, "config", "list"), capture_output=True, text=True, check=True
    )
    assert install.settings(listed.stdout)["index-url"] == "https://nowhere.invalid/simple"


def test_pip_installs_where_uv_cannot(monkeypatch):
    asked = []

    def run(command, **_):
        asked.append(command)
        failed = "uv" in command
        listed = "" if "config" in command else None
        return subprocess.CompletedProcess(command, int(failed), stdout=listed)

    monkeypatch.setattr(install.subprocess, "run", run)
    assert install.main(["test"]) == 0
    assert [command[:3] for command in asked] == [(sys.executable, "-m", "pip")] * 3
    assert asked[-1][-2:] == ("--editable", f"{install.ROOT}[test]")
