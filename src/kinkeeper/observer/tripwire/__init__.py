"""The first gate over ambient messages: its model, its patterns, and what may answer an open question."""
