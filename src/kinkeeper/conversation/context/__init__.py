"""What a turn begins with: the topic, what was said lately, what the moment is like. All of it is gone within a day."""
