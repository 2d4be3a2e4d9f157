"""Written by ``python -m tests.helpers.operator_names``."""

# fmt: off
from semira.frontend.namespaces import SubNamespace
from semira.ops.core import IndexUnaryOp
from typing import Any

def from_string(text: str) -> Any: ...
numpy: SubNamespace
def register_anonymous(func: Any, name: str | None = None, *, parameterized: bool = False, is_udt: bool = False) -> Any: ...
def register_new(name: str, func: Any, *, parameterized: bool = False, is_udt: bool = False, lazy: bool = False) -> Any: ...
ss: SubNamespace

_indexunaryops: list[IndexUnaryOp]
(
    colgt, colindex, colle, diag, diagindex, index, indexgt, indexle, offdiag, random_below,
    random_bits, random_uniform, rowgt, rowindex, rowle, tril, triu, valueeq, valuege, valuegt,
    valuele, valuelt, valuene,
) = _indexunaryops
