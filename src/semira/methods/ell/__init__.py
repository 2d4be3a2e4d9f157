"""ELL and its relatives: rows padded to one width, all of them or slice by slice."""
