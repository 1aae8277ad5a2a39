"""When the assistant speaks and in which words: the case, the rules over it, the one line. Pure."""
