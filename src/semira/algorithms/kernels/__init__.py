"""Kernels of algorithms: loops over vertices and edges."""
