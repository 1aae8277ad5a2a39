"""Mails as the household writes them: addresses, texts, and the drafts that are kept here."""
