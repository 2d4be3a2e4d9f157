"""Kernels of flows: Python for hosts, and CUDA templates of the same names."""
