"""From the words of a message to an arrangement, with what was said around it and what is known."""
