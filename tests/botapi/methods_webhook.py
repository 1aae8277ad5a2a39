"""Setting, removing and describing a bot's webhook."""

import re
from typing import Any
from urllib.parse import urlsplit

from botapi.accounts import Bot
from botapi.parameters import Arguments
from botapi.polling import read_allowed
from botapi.refusals import bad_request
from botapi.updates_queue import DEFAULT_KINDS, Webhook
from botapi.world import World

_SECRET = re.compile(r"[A-Za-z0-9_-]{0,256}")


def set_webhook(world: World, bot: Bot, arguments: Arguments) -> tuple[bool, str]:
    url = arguments.text("url")
    if not url:
        return delete_webhook(world, bot, arguments)
    secret = arguments.text("secret_token")
    if not _SECRET.fullmatch(secret):
        raise bad_request("secret token contains unallowed characters")
    address = urlsplit(url if "://" in url else f"https://{url}")
    if address.scheme not in {"http", "https"} or not address.hostname:
        raise bad_request("invalid webhook URL specified")
    queue = bot.updates
    kinds = read_allowed(arguments)
    if kinds is not None:
        queue.allow(kinds)
    if arguments.flag("drop_pending_updates"):
        queue.pending.clear()
    new = Webhook(
        url=address.geturl(),
        secret_token=secret,
        max_connections=min(max(arguments.integer("max_connections", 40), 1), 100),
    )
    same = (queue.webhook.url, queue.webhook.secret_token) == (new.url, new.secret_token)
    if not same:
        queue.webhook = new
        _forget_tries(bot)
    queue.ended_by = "terminated by setWebhook request"
    return True, "Webhook is already set" if same else "Webhook was set"


def delete_webhook(world: World, bot: Bot, arguments: Arguments) -> tuple[bool, str]:
    queue = bot.updates
    if arguments.flag("drop_pending_updates"):
        queue.pending.clear()
    was_set = bool(queue.webhook.url)
    queue.webhook = Webhook()
    _forget_tries(bot)
    return True, "Webhook was deleted" if was_set else "Webhook is already deleted"


def _forget_tries(bot: Bot) -> None:
    for update in bot.updates.pending:
        update.failures, update.retry_at, update.in_flight = 0, 0, False


def get_webhook_info(world: World, bot: Bot, arguments: Arguments) -> dict[str, Any]:
    queue = bot.updates
    queue.drop_expired(world.seconds())
    webhook = queue.webhook
    info: dict[str, Any] = {
        "url": webhook.url,
        "has_custom_certificate": False,
        "pending_update_count": len(queue.pending),
    }
    if webhook.url:
        info["max_connections"] = webhook.max_connections
        info["ip_address"] = "127.0.0.1"
    if webhook.last_error_date:
        info["last_error_date"] = webhook.last_error_date
        info["last_error_message"] = webhook.last_error_message
    if queue.allowed != DEFAULT_KINDS:
        info["allowed_updates"] = sorted(queue.allowed)
    return info


METHODS = {
    "setWebhook": set_webhook,
    "deleteWebhook": delete_webhook,
    "getWebhookInfo": get_webhook_info,
}
