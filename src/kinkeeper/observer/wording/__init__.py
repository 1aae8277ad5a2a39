"""What the words of one message hold: who, what, when, for whom. Pure."""
