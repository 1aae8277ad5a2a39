"""Where people reach the server."""

from kinkeeper.settings.model import Settings

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - shown, not listened on


def server_address(settings: Settings, *, port: int | None = None) -> str:
    """Return scheme, name and port, without a slash at the end.

    Args:
        settings: In force.
        port: Where the server really listens; PORT where None.
    """
    if settings.public_url:
        return settings.public_url
    host = _EVERYWHERE.get(settings.host, settings.host)
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{settings.port if port is None else port}"
