"""Kernels of scan statistics."""
