"""Values, where no object of the API shows it."""

from __future__ import annotations

import subprocess
import sys

import pytest

END = """
import {module}
import semira as gb
from semira.backends import registry
from semira.cli.ahead import StandIn

registry.stand_in("cuda", StandIn(large=False))
{module}.kept = gb.Vector.from_coo([1], [2.0], size=4).to("cuda")
assert {module}.kept._value._handle is not None
"""


@pytest.mark.parametrize("module", ["builtins", "threading"])
def test_objects_of_a_device_may_outlive_the_interpreter(module):
    """One is dropped when the globals of Semira's modules are gone."""
    text = END.format(module=module)
    done = subprocess.run([sys.executable, "-c", text], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
