"""Kernels of the fused lasso."""
