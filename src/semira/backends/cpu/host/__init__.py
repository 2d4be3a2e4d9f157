"""What runs around the kernels: one module per family of operations, plain NumPy."""
