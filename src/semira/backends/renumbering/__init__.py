"""Positions of huge axes renumbered 0, 1, 2, ...: arithmetic on lists of ids, for every backend.

No function here knows a backend's objects. Arrays are NumPy's or CuPy's; the library comes first.
"""
