"""Kernels that draw entries of rows."""
