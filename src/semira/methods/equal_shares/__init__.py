"""Products of sparse matrices in equal shares: as many partial products for each block."""
