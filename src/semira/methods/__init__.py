"""Ways to multiply, each in a folder of its own, and how to add one.

A method is a package. Its module ``plan`` holds `MethodRow` objects in ``ROWS``; its modules
``cpu`` and ``cuda`` say how a back end runs it. The guide is docs/guide/methods.md.
"""

from semira.contract.methods import (
    Features,
    MethodRow,
    method_with,
    parameters_of,
    register,
    unregister,
)

__all__ = ["Features", "MethodRow", "method_with", "parameters_of", "register", "unregister"]
