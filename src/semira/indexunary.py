"""The namespace ``semira.indexunary``: operators by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semira.frontend.namespaces import install
from semira.frontend.user_operators import function_registrars
from semira.ops.registry import namespace_from_string

if TYPE_CHECKING:
    from semira.frontend.namespaces import SubNamespace
    from semira.ops import IndexUnaryOp

from_string = namespace_from_string("indexunary")
register_new, register_anonymous = function_registrars("IndexUnaryOp")

if TYPE_CHECKING:
    # Written by `python -m tests.helpers.operator_names`: the names for type checkers.
    numpy: SubNamespace
    ss: SubNamespace
    _indexunaryops: list[IndexUnaryOp] = []
    (
        colgt, colindex, colle, diag, diagindex, index, indexgt, indexle, offdiag, rowgt, rowindex,
        rowle, tril, triu, valueeq, valuege, valuegt, valuele, valuelt, valuene,
    ) = _indexunaryops  # fmt: skip
else:
    __getattr__, __dir__ = install(__name__, "IndexUnaryOp")
