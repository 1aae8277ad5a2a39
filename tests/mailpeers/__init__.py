"""Real mail servers on this machine: aiosmtpd for sending, Dovecot for a mailbox."""
