"""Pages: what is read for them, how they are rendered, and their routes."""
