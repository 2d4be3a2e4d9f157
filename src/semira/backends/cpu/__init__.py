"""The cpu backend: kernels written in Python, specialised per operator, compiled by Numba."""
