"""Review of routing: a strong model judges, when nothing else is to be done, which way past messages should have taken."""
