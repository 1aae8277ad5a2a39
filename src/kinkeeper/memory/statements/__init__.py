"""What statements say: how they are read, related to each other, classified, and found in messages."""
