"""Statements that write a matrix: a few launches, with the size of the result read between them."""

from semira.backends.cuda.staged.executable import (
    StagedExecutable,
    is_staged,
    is_summed,
    prepare_staged,
)
from semira.backends.cuda.staged.execute import execute_staged

__all__ = ["StagedExecutable", "execute_staged", "is_staged", "is_summed", "prepare_staged"]
