"""What a confirmed action can write: one module for each part of the household's state."""
