"""Device, memory and launches: the only modules that talk to the driver."""
