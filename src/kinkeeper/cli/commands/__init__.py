"""The commands and their options: light modules that every start loads; the work is in the modules beside."""
