"""Packages that only some features need: which extra installs them, and what to say where they are missing. Pure."""

from collections.abc import Mapping
from importlib.util import find_spec

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "caldav": ("defusedxml",),
    "fast": ("uvloop",),
    "mail": ("aiosmtplib", "imapclient"),
    "mcp": ("jsonschema", "mcp"),
    "metrics": ("prometheus_client",),
    "postgres": ("psycopg_binary",),
    "qr": ("segno",),
    "telegram": ("telegram",),
    "web": ("lxml",),
}
"""Modules that each extra of the package installs."""


def is_installed(extra: str) -> bool:
    """Return whether all modules of an extra are there; imports none of them."""
    return all(find_spec(module) is not None for module in EXTRAS[extra])


def missing_extra(extra: str) -> str | None:
    """Return what to install for a feature; None where everything is there."""
    if is_installed(extra):
        return None
    return f"needs packages that are not installed; run: pip install 'kinkeeper[{extra}]'"
