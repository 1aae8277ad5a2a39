"""Texts as vectors: embedders, what they cost is remembered, and what their likeness means."""
