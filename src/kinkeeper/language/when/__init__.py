"""Time expressions as families type them, resolved against a reference instant."""
