"""Kernels: templates for the cpu, and CUDA C++."""
