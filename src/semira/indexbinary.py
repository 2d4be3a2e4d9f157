"""The namespace ``semira.indexbinary``: operators on two entries and their positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semira.frontend.index_binary_operators import register_anonymous, register_new
from semira.frontend.namespaces import install
from semira.ops.registry import namespace_from_string

if TYPE_CHECKING:
    from semira.frontend.namespaces import SubNamespace

__all__ = ["from_string", "register_anonymous", "register_new"]

from_string = namespace_from_string("indexbinary")

if TYPE_CHECKING:
    numpy: SubNamespace
    ss: SubNamespace
else:
    __getattr__, __dir__ = install(__name__, "IndexBinaryOp")
