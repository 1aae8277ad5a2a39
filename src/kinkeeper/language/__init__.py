"""Text read without a model: folding, misspellings, time expressions, replies."""
