"""Compiler of kernel templates: from rendered Python text to machine code, by LLVM alone.

Templates use a small part of Python: numbers, arrays, `range`, `while`, `if`, functions of the same
module. `types` are what expressions have, `expressions` and `functions` write LLVM's language,
`entry` makes a function that Python calls, `arguments` the one that takes arrays apart for all of
them, `machine` optimises, links and loads code, and `kernels` are the callables, compiled for the
types that they meet and kept on disk. What is outside of this language (fields of records,
functions that may raise) is `UnsupportedError`, and Numba's.
"""
