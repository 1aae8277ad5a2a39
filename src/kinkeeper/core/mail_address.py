"""What a mail address looks like. Pure."""

import re

_ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:localhost|(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,63})"
)
_LONGEST = 254


def is_mail_address(text: str) -> bool:
    """Whether a text is a mail address, and nothing but one."""
    return len(text) <= _LONGEST and _ADDRESS.fullmatch(text) is not None
