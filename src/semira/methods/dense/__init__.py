"""Dense format: a place for every position of a matrix, row by row."""
