"""What ``Matrix.ss`` and ``Vector.ss`` offer: SuiteSparse's extensions, computed on the host."""
