"""Kernels: templates for Numba, and CUDA C++."""
