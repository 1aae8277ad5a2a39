"""The only reader of environment and settings files."""
