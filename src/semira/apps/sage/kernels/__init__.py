"""Kernels of GraphSAGE."""
