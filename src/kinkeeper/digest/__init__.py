"""The daily digest: what waits for a person, what nobody has taken on for tomorrow, and what has expired."""
