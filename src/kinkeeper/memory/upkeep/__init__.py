"""What happens to memory at night: support, doubt, sameness, silence; nothing is deleted, and all of it can be taken back."""
