"""Keeps tests off the network and out of the settings of whoever runs them.

A hook of the interpreter sees every connection and every look-up of a name that Python code makes in this
process. Libraries in C that connect by themselves (the PostgreSQL driver, uvloop) are not seen; they are only
used towards loopback addresses, and the program as a whole is tried in a network of its own elsewhere.
"""

import ipaddress
import os
import sys
from typing import Any

from kinkeeper.settings.model import SECRETS, Settings

_CONNECTING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOKING_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_FOREIGN_SETTINGS = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OLLAMA_HOST",
)


class NetworkBlockedError(RuntimeError):
    """A test tried to leave this machine. Not an OSError, which tested code may catch."""


def stay_on_this_machine() -> None:
    """Refuse, from now on and for good, what would leave the machine."""
    sys.addaudithook(_refuse_to_leave)


def forget_settings() -> None:
    """Take the program's settings, and keys and proxies that libraries read, out of the environment."""
    ours = {*Settings.model_fields, *(f"{name}_file" for name in SECRETS)}
    for name in [*(each.upper() for each in ours), *_FOREIGN_SETTINGS]:
        os.environ.pop(name, None)


def _refuse_to_leave(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _CONNECTING:
        address = arguments[1]
        if isinstance(address, tuple) and not _is_here(address[0]):
            raise NetworkBlockedError(f"a test connects to {address[0]}")
    elif event in _LOOKING_UP and not _is_known(arguments[0]):
        raise NetworkBlockedError(f"a test looks up {arguments[0]!r}")


def _is_here(host: Any) -> bool:
    if host in {"localhost", ""}:
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


def _is_known(host: Any) -> bool:
    """Whether a look-up asks nobody: no name, this machine's, or an address already."""
    text = host.decode() if isinstance(host, bytes) else host
    if text in {None, "", "localhost"}:
        return True
    try:
        ipaddress.ip_address(str(text).partition("%")[0])
    except ValueError:
        return False
    return True
