"""What came in and what must go out, durably: inbox, threads, outbox."""
