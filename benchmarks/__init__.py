"""Studies and sweeps of Semira: ``python -m benchmarks STUDY``. Not part of the package."""
