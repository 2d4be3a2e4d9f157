"""Coordinate format: the entries of a matrix, one by one (GraphBLAST's edge-centric push)."""
