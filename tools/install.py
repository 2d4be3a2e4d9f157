"""Install this package and extras of it beside this Python: by uv, or by pip where uv cannot.

    .venv/bin/python tools/install.py test,docs

uv takes a quarter of pip's time, but does not read pip's settings: where these say to look
elsewhere than at PyPI, it is pip that installs.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
INSTALL = ("install", "--quiet", "--no-compile")

#: Settings of pip that name another place than PyPI, and those that uv reads from variables.
ELSEWHERE = ("index-url", "no-index")
PASSED = {"constraint": "UV_CONSTRAINT", "cert": "SSL_CERT_FILE"}


def settings(listed: str) -> dict[str, str]:
    """Return what ``pip config list`` prints, by name; variables come first and go before files."""
    found: dict[str, str] = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        found.setdefault(name.rpartition(".")[2], str(ast.literal_eval(value)))
    return found


def variables(found: Mapping[str, str]) -> dict[str, str] | None:
    """Return the variables that tell uv of pip's settings; None if it cannot follow them."""
    if any(name in found for name in ELSEWHERE):
        return None
    return {variable: found[name] for name, variable in PASSED.items() if name in found}


def is_done_by_uv(what: str) -> bool:
    """Try to install by uv; tell whether that worked."""
    listed = subprocess.run((*PIP, "config", "list"), capture_output=True, text=True, check=False)
    passed = variables(settings(listed.stdout)) if listed.returncode == 0 else None
    if passed is None:
        return False
    getting = (*PIP, *INSTALL, "--retries", "0", "--timeout", "15", "uv")
    if subprocess.run(getting, capture_output=True, check=False).returncode:
        return False
    uv = (sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable)
    done = subprocess.run((*uv, "--editable", what), check=False, env=os.environ | passed)
    return done.returncode == 0


def main(arguments: Sequence[str]) -> int:
    """Install; return the exit status."""
    what = f"{ROOT}[{arguments[0]}]"
    if is_done_by_uv(what):
        return 0
    return subprocess.run((*PIP, *INSTALL, "--editable", what), check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
