"""Kernels of algorithms, one text for hosts and one for GPUs each."""
