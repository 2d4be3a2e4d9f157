"""Kernels of communities: Python for hosts, CUDA C++ beside it."""
