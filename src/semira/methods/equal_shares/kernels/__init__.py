"""Kernels of products in equal shares."""
