"""The second tier: a queued message is understood, then everything it changes is written in one transaction."""
