"""Kernels over the rows of a matrix: Python for hosts, CUDA C++ for ``cuda``."""
