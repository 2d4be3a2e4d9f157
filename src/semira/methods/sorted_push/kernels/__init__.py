"""Kernels that list products, and sort, fold or scatter the list."""
