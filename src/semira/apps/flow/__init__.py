"""Commands of maximum flows and minimum cuts, which are algorithms (`semira.algorithms`)."""
