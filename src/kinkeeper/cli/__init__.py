"""The command line: one module a command or group of commands, heavy imports inside them."""
