"""How the program tells what it does: structured logs and counters, without message text."""
