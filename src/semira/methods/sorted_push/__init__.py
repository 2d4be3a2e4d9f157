"""Push that lists all products, then merges the list: by a scatter, or by a sort and a fold."""
