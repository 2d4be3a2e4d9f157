"""Run python-graphblas' tests against Semira: ``python -m tests.pgb``."""

from __future__ import annotations

from tests.pgb.score import main

if __name__ == "__main__":
    raise SystemExit(main())
