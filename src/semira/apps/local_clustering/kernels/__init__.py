"""Kernels of local clustering, one text for hosts and one for GPUs each."""
