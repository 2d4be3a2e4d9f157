"""Kernels of dot products that look columns up in sets."""
