"""Where a running server can be reached: the address it really listens on, and one that a phone can open."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from kinkeeper.bootstrap import database_address
from kinkeeper.bootstrap.web import server_address
from kinkeeper.core.extras import is_installed
from kinkeeper.settings.model import Settings
from kinkeeper.store.engines import is_sqlite, parse_address
from kinkeeper.web.security.hosts import is_loopback

_CONNECT_SECONDS = 0.5
# A documentation address: connecting a datagram socket sends nothing, but picks the outgoing interface.
_SOMEWHERE = ("192.0.2.1", 9)


@contextmanager
def published(settings: Settings, database: str | None, *, port: int) -> Iterator[None]:
    """Keep the address that this server listens on beside its SQLite file for the length of the block."""
    path = _file(settings, database)
    if path is not None:
        path.write_text(f"{settings.host} {port}", encoding="ascii")
    try:
        yield
    finally:
        if path is not None:
            path.unlink(missing_ok=True)


def served_settings(settings: Settings, database: str | None) -> Settings:
    """Return the settings with HOST and PORT of the server that runs on this database, if one does."""
    path = _file(settings, database)
    if path is None or not path.is_file():
        return settings
    host, _, port = path.read_text(encoding="ascii").partition(" ")
    served = settings.model_copy(update={"host": host, "port": int(port)})
    return served if _answers(server_address(served)) else settings


def phone_address(settings: Settings) -> str | None:
    """Return the address at which a phone on the same network reaches the server; None if it can't."""
    parts = urlsplit(server_address(settings))
    if not is_loopback(parts.hostname or ""):
        return server_address(settings)
    machine = None if is_loopback(settings.host) else _lan_address()
    return f"{parts.scheme}://{machine}:{parts.port}" if machine else None


def show_qr_code(link: str) -> None:
    """Draw a link as a QR code on stderr where that is a terminal and the extra `qr` is installed."""
    if sys.stderr.isatty() and is_installed("qr"):
        import segno  # noqa: PLC0415 - of an extra

        segno.make(link, error="l").terminal(out=sys.stderr, compact=True)


def _file(settings: Settings, database: str | None) -> Path | None:
    url = parse_address(database or database_address(settings))
    return Path(f"{url.database}.address") if is_sqlite(url) and url.database else None


def _answers(address: str) -> bool:
    parts = urlsplit(address)
    try:
        with socket.create_connection(
            (parts.hostname or "", parts.port or 0), timeout=_CONNECT_SECONDS
        ):
            return True
    except OSError:
        return False


def _lan_address() -> str | None:
    """Return this machine's address in its local network; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_SOMEWHERE)
        except OSError:
            return None
        found: str = probe.getsockname()[0]
    return None if is_loopback(found) else found
