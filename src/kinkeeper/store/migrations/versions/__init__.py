"""One module a revision, numbered; released ones never change."""
