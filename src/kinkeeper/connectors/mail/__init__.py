"""The household's mail account: sending by SMTP, drafts and reading by IMAP."""
