"""Objects with a side of 2**31 positions or more: lists of ids, and ordinary objects over them."""
