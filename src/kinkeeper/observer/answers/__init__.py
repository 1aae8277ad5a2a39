"""Questions that stand open in a chat, and which of them a message answers."""
