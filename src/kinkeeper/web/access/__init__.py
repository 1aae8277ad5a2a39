"""Who may come in: invites, sessions and tokens, without passwords."""
