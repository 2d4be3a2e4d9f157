"""Kernels of graph matching."""
