"""B2SR: the pattern of a matrix as tiles of bits, in compressed rows of tiles."""
