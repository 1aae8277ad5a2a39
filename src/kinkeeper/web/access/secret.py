"""Secrets that open a household: made from 256 random bits, kept as a digest."""

import hashlib
import secrets

_BYTES = 32


def new_secret() -> str:
    """Return a secret nobody can guess (URL-safe text, 256 random bits)."""
    return secrets.token_urlsafe(_BYTES)


def new_id() -> str:
    """Return a short id for a list; not secret, not guessable from others."""
    return secrets.token_hex(6)


def digest_of(secret: str) -> str:
    """Return what is stored of a secret: its SHA-256. So much randomness needs no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()
