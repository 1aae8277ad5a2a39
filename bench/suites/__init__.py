"""The benchmarks: one module a suite, each with a `measure()`."""
