"""What goes on without anybody asking for it."""
