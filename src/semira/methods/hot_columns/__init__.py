"""Values at the most frequent columns of a matrix, kept in shared memory by pulls."""
