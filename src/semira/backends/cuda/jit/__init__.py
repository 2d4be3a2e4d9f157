"""From lowered text to a cubin: source assembly, NVRTC, and the cache on disk."""
