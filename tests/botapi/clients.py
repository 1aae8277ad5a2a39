"""Programs of bots, for tests: a bare one, and one of a library."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import telegram
from telegram.request import HTTPXRequest

from botapi.accounts import Bot
from botapi.emulator import BotApi

# Reading this machine's certificates, as a client does unasked, takes longer than most tests.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class BareClient:
    """Makes calls and shows the answers as they came."""

    def __init__(self, api: BotApi, bot: Bot, http: httpx.Client) -> None:
        self._address = f"{api.url}/bot{bot.token}"
        self._http = http
        self._offset = 0

    def raw(self, method: str, **arguments: Any) -> httpx.Response:
        """Return the answer to a call, whatever it is."""
        return self._http.post(f"{self._address}/{method}", json=arguments)

    def call(self, method: str, **arguments: Any) -> Any:
        """Return the result of a call that the API carries out."""
        answer = self.raw(method, **arguments)
        body = answer.json()
        assert body["ok"], body
        return body["result"]

    def refused(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Return how the API refuses a call."""
        answer = self.raw(method, **arguments)
        body: dict[str, Any] = answer.json()
        assert not body["ok"], body
        assert answer.status_code == body["error_code"], "the status line must say the same"
        return body

    def news(self, **arguments: Any) -> list[dict[str, Any]]:
        """Return the updates that came since the last time, acknowledging those before."""
        updates: list[dict[str, Any]] = self.call("getUpdates", offset=self._offset, **arguments)
        if updates:
            self._offset = updates[-1]["update_id"] + 1
        return updates

    def heard(self) -> list[str]:
        """Return the texts of the messages that came since the last time."""
        return [
            update["message"]["text"]
            for update in self.news()
            if "text" in update.get("message", {})
        ]


@contextmanager
def bare_client(api: BotApi, bot: Bot) -> Iterator[BareClient]:
    """Yield a client of a bot."""
    with httpx.Client(timeout=10, trust_env=False, verify=_NO_TLS) as http:
        yield BareClient(api, bot, http)


def ptb_bot(api: BotApi, bot: Bot) -> telegram.Bot:
    """Return the bot of python-telegram-bot, to be used as an asynchronous context manager."""
    local = {"trust_env": False, "verify": _NO_TLS}
    return telegram.Bot(
        bot.token,
        base_url=f"{api.url}/bot",
        base_file_url=f"{api.url}/file/bot",
        request=HTTPXRequest(httpx_kwargs=local),
        get_updates_request=HTTPXRequest(httpx_kwargs=local),
    )
