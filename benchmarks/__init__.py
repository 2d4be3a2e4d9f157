"""Studies and sweeps of Semira: ``python -m benchmarks STUDY``. Not part of the package."""

import os

# What is measured is what stays: no kernel that another one is about to replace.
os.environ.setdefault("SEMIRA_QUICK", "0")
