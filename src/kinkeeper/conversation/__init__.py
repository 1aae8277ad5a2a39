"""Conversation: what is addressed to the assistant is understood, done with consent, and answered honestly."""
