"""The connection to the Bot API: calls that say whether they surely had no effect.

The library would build its error for "too many requests" with a warning, and would log answers that
it cannot read; both are taken out of its hands here.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any

import httpx
from telegram import Bot
from telegram.error import (
    BadRequest,
    ChatMigrated,
    EndPointNotFound,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
)
from telegram.request import HTTPXRequest

from kinkeeper.messaging.outbound import ChatMovedError, NotSentError, RefusedError, TooManyError

_CALLS_AT_ONCE = 32
_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 20.0
_TOO_MANY = 429
_LONGEST_REASON = 200
# Raised before anything was written to the connection.
_NOT_WRITTEN = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class FloodError(TelegramError):
    """Too many calls; says for how long to wait."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many calls; wait {seconds} s")
        self.wait = timedelta(seconds=seconds)


class _Request(HTTPXRequest):
    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        status, payload = await super().do_request(*args, **kwargs)
        if status == _TOO_MANY:
            raise FloodError(_wait(payload))
        return status, payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> Any:
        try:
            found = json.loads(payload)
        except (ValueError, RecursionError) as error:
            raise TelegramError("the answer is not JSON") from error
        if not isinstance(found, dict) or found.get("ok") not in {True, False}:
            raise TelegramError("the answer does not come from the Bot API")
        return found


@asynccontextmanager
async def open_bot(token: str, *, api_url: str) -> AsyncIterator[Bot]:
    """Yield the bot, ready for calls; nothing is asked of Telegram yet.

    Args:
        token: From @BotFather.
    """
    request = _Request(
        connection_pool_size=_CALLS_AT_ONCE,
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_ANSWER_SECONDS,
        write_timeout=_ANSWER_SECONDS,
        pool_timeout=_CONNECT_SECONDS,
    )
    try:
        yield Bot(
            token,
            base_url=f"{api_url}/bot",
            base_file_url=f"{api_url}/file/bot",
            request=request,
            get_updates_request=request,
        )
    finally:
        await request.shutdown()


def bot_number(token: str) -> str:
    """Return Telegram's number of the bot that a token is for."""
    return token.partition(":")[0]


@contextmanager
def told_apart() -> Iterator[None]:
    """Turn the errors of a call into what they say about its effect; what says nothing passes.

    Raises:
        NotSentError: It surely had none.
        TooManyError: It surely had none, and none will before a while has passed.
        RefusedError: It never will.
        ChatMovedError: The chat has another number.
    """
    try:
        yield
    except FloodError as error:
        raise TooManyError(error.message, retry_after=error.wait) from error
    except ChatMigrated as error:
        raise ChatMovedError(
            "the group became a supergroup", new_chat_id=str(error.new_chat_id)
        ) from error
    except (Forbidden, BadRequest, EndPointNotFound) as error:
        raise RefusedError(error.message[:_LONGEST_REASON]) from error
    except InvalidToken as error:
        raise NotSentError("Telegram rejects TELEGRAM_BOT_TOKEN") from error
    except NetworkError as error:
        if isinstance(error.__cause__, _NOT_WRITTEN):
            raise NotSentError("Telegram cannot be reached") from error
        raise


def _wait(payload: bytes) -> int:
    try:
        seconds = json.loads(payload)["parameters"]["retry_after"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return 1
    return seconds if isinstance(seconds, int) and seconds > 0 else 1
