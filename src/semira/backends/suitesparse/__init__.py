"""The suitesparse backend: statements become calls of SuiteSparse:GraphBLAS."""
