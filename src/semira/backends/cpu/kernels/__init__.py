"""Templates of the compiled kernels; `codegen` fills in their slots and writes them out."""
