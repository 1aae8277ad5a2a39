"""Addresses: what a mail address looks like, and any other fit to be shown without its password. Pure."""

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


# What a mail address looks like. Pure.

_ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:localhost|(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,63})"
)
_LONGEST = 254


def is_mail_address(text: str) -> bool:
    """Whether a text is a mail address, and nothing but one."""
    return len(text) <= _LONGEST and _ADDRESS.fullmatch(text) is not None
