"""Short rows as bits, where the entries of a matrix lie on few diagonals."""
