"""Help for testing programs and libraries that use Semira."""
