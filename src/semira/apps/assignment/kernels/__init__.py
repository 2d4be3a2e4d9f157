"""Kernels of linear assignment."""
