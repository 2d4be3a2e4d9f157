"""The ``cuda`` backend: a Program becomes one cooperative kernel, compiled at run time.

`lower` turns a Program into CUDA C++ over the phases in ``kernels/``, `jit` compiles and keeps
it, `runtime` owns memory and launches, `backend` is the contract's eight calls.
"""
