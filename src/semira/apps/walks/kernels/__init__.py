"""Kernels of random walks."""
