"""Delivering updates to webhooks: each queue in order, different queues side by side."""

import asyncio
import ssl
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from botapi.accounts import Bot
from botapi.updates_queue import Update, Webhook
from botapi.world import World

ANSWER_WITHIN = 60
LONGEST_PAUSE = 60
_LATER = 0.05
# Webhooks of tests are on this machine: certificates need not be read.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass(eq=False)
class Deliveries:
    """Requests to the bots' webhooks, made in the server's loop."""

    world: World
    _running: set[asyncio.Task[None]] = field(default_factory=set)
    _client: httpx.AsyncClient | None = None

    def wake(self) -> None:
        """Start every delivery that is due."""
        with self.world.changed:
            due = [
                (bot, update)
                for bot in self.world.bots.values()
                if bot.updates.webhook.url
                for update in self._due(bot)
            ]
            for _, update in due:
                update.in_flight = True
        for bot, update in due:
            task = asyncio.ensure_future(self._deliver(bot, bot.updates.webhook, update))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def stop(self) -> None:
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()

    def _due(self, bot: Bot) -> list[Update]:
        """Return the first update of each queue, where it is not under way or paused."""
        now = self.world.seconds()
        bot.updates.drop_expired(now)
        heads: dict[str, Update] = {}
        for update in bot.updates.pending:
            heads.setdefault(update.queue, update)
        busy = sum(update.in_flight for update in bot.updates.pending)
        free = bot.updates.webhook.max_connections - busy
        ready = [update for update in heads.values() if not update.in_flight]
        return [update for update in ready if update.retry_at <= now][: max(free, 0)]

    async def _deliver(self, bot: Bot, webhook: Webhook, update: Update) -> None:
        self._client = self._client or httpx.AsyncClient(
            timeout=ANSWER_WITHIN, trust_env=False, verify=_NO_TLS
        )
        address, headers = self._behind_proxy(webhook.url)
        if webhook.secret_token:
            headers["X-Telegram-Bot-Api-Secret-Token"] = webhook.secret_token
        update.deliveries += 1
        problem, pause = "", None
        try:
            answer = await self._client.post(address, json=update.as_json(), headers=headers)
            if not answer.is_success:
                problem = (
                    f"Wrong response from the webhook: {answer.status_code} {answer.reason_phrase}"
                )
                pause = answer.headers.get("retry-after")
        except httpx.TimeoutException:
            problem = "Read timeout expired"
        except (httpx.ConnectError, httpx.UnsupportedProtocol):
            problem = "Connection refused"
        except httpx.HTTPError:
            problem = "Connection reset by peer"
        with self.world.changing():
            if bot.updates.webhook is not webhook:
                return
            update.in_flight = False
            if not problem:
                bot.updates.confirm(update)
                return
            webhook.last_error_date = self.world.date()
            webhook.last_error_message = problem
            self._pause(update, pause)

    def _behind_proxy(self, url: str) -> tuple[str, dict[str, str]]:
        """Return where a request really goes, and what a proxy adds; no address where nobody answers."""
        parts = urlsplit(url)
        public = f"{parts.scheme}://{parts.netloc}"
        if public not in self.world.proxies:
            return url, {}
        headers = {
            "Host": parts.netloc,
            "X-Forwarded-Proto": parts.scheme,
            "X-Forwarded-For": "192.0.2.7",
        }
        to = self.world.proxies[public]
        return (f"{to}{parts.path}" if to else ""), headers

    def _pause(self, update: Update, asked: str | None) -> None:
        """Try again at once after the first failure, then after 2, 4, 8 ... seconds."""
        update.failures += 1
        seconds = 0 if update.failures == 1 else min(2 ** (update.failures - 1), LONGEST_PAUSE)
        if asked is not None and asked.isdigit():
            seconds = int(asked)
        update.retry_at = self.world.seconds() + seconds
        # Where time is not moved by hand nothing else would wake it.
        asyncio.get_running_loop().call_later(seconds + _LATER, self.wake)
