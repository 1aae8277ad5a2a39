"""What the server's benchmarks share: processes to measure, a client that loads them, and what it sends."""
