"""Notes of the household: Markdown texts that people add to and search."""
