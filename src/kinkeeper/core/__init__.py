"""Values and rules every package speaks: time, messages, gates, ids, errors. Standard library only."""
