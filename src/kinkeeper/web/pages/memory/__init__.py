"""The pages of memory: what is known, what was said, what belongs together, what changed."""
