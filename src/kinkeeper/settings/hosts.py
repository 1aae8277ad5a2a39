"""Which hosts the settings let this program talk to. Pure."""

from urllib.parse import urlsplit

from kinkeeper.settings.model import Settings


def outbound_hosts(settings: Settings) -> tuple[str, ...]:
    """Return the hosts that the program will contact by itself; with default settings none.

    Args:
        settings: In force.
    """
    addresses = [settings.database_url, settings.brain_base_url, *_model_urls(settings)]
    if settings.telegram_bot_token is not None:
        addresses.append(str(settings.telegram_api_url))
    if settings.caldav_url is not None:
        addresses.append(settings.caldav_url.get_secret_value())
    addresses += [server.url for server in settings.tool_servers]
    accounts = (settings.smtp_account, settings.imap_account)
    hosts = {urlsplit(address).hostname for address in addresses if address}
    hosts |= {account.host for account in accounts if account}
    return tuple(sorted(host for host in hosts if host))


def _model_urls(settings: Settings) -> tuple[str | None, ...]:
    return (
        settings.model_url,
        settings.light_model_url,
        settings.strong_model_url,
        settings.extraction_model_url,
        settings.embedder_url,
    )
