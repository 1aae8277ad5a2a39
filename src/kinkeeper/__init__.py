"""Kinkeeper: a quiet, local-first assistant that keeps a family's arrangements together."""

__version__ = "0.1.0"
