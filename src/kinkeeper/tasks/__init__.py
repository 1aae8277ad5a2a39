"""Tasks of the household: what is to be done, by when, and who is reminded of it."""
