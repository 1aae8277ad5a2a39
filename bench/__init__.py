"""Benchmarks (`python -m bench`), and scripts that draw pictures and load databases. Not part of the wheel."""
