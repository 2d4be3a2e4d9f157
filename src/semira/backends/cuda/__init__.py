"""The ``cuda`` backend: a Program becomes one cooperative kernel, compiled at run time.

`lower` turns a Program into CUDA C++ over the phases in ``kernels/``, `jit` compiles and keeps
it, `runtime` owns memory and launches, `backend` is the contract's calls. A statement that writes
a matrix takes a few launches (`staged`), and the host runs loops around such statements
(`hosted`); `build` makes objects of a caller's arrays, `wide` and `rearrange` serve objects with
huge sides and what ``.ss`` asks for. `lower` and `jit` import neither driver nor GPU.
"""
