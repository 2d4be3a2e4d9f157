"""Studies and sweeps of Semira: ``python -m benchmarks STUDY``. No part of the package."""
