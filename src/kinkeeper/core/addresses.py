"""Addresses that may carry a password, made fit to be shown. Pure."""

import re

_HIDDEN = "***"
# Up to the last "@": a password that was not escaped may hold any of the characters before it.
_LOGIN = re.compile(r"(?<=://)([^:@/]*):.*@")
_PARAMETER = re.compile(r"([?&][^=&]*(?:pass|secret|key)[^=&]*=)[^&]*", re.IGNORECASE)


def without_password(address: str) -> str:
    """Return an address as it may be shown, whether or not it can be understood.

    Args:
        address: A path or a URL.
    """
    shown = _LOGIN.sub(rf"\1:{_HIDDEN}@", address)
    return _PARAMETER.sub(rf"\1{_HIDDEN}", shown)
