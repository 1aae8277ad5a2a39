"""People, places, activities and words of one household, read from its file."""
