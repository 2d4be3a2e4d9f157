"""Pushes that list all products and then merge them: by a scatter or by a sort."""

from semira.backends.cuda.spmspv.executable import (
    MergedExecutable,
    is_merged,
    prepare_merged,
)
from semira.backends.cuda.spmspv.run import execute_merged

__all__ = ["MergedExecutable", "execute_merged", "is_merged", "prepare_merged"]
