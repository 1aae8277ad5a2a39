"""A second look at what a step came to, by a light model that may only narrow."""
