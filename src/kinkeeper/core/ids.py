"""Stable identifiers: the same cause always gets the same id, so repeating work is harmless."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid5

_NAMESPACE = UUID("6f0f1d5a-52f4-5f0b-9c7e-4b1e0f6a2d11")


def stable_id(*parts: object) -> str:
    """Return a UUID (version 5) determined by `parts` alone.

    Args:
        parts: What identifies the thing, most general first (household, source, kind).
    """
    return str(uuid5(_NAMESPACE, json.dumps([str(part) for part in parts])))


def canonical_json(value: Mapping[str, Any]) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, no ASCII escapes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def payload_hash(value: Mapping[str, Any]) -> str:
    """Return the SHA-256 (64 hex digits) of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
