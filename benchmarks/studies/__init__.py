"""One module for each study: its options, its points, its trial, its tables."""
