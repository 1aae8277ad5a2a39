"""Looks at a model server without asking a model anything: does it answer, how fast, what does it have."""

import asyncio
import time
from dataclasses import dataclass

from kinkeeper.models.client import HttpServer
from kinkeeper.models.connection import ServerConnection
from kinkeeper.models.endpoints import Endpoint
from kinkeeper.models.errors import ModelError

_SECONDS = 5.0
_USUAL_TAG = ":latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLook:
    """How a server looked.

    Attributes:
        url: Its base address.
        is_private: Whether chat text may go there without being allowed to.
        milliseconds: Until it had listed its models; None where it did not.
        models: That it has; none where it did not say.
        problem: Why it cannot be used, and how to mend it; None where it can.
    """

    url: str
    is_private: bool = True
    milliseconds: float | None = None
    models: tuple[str, ...] = ()
    problem: str | None = None

    def has(self, model: str) -> bool:
        """Whether it has a model; Ollama's usual tag may be left out."""
        return model in self.models or model + _USUAL_TAG in self.models


async def look_at(endpoint: Endpoint) -> ServerLook:
    """Look at a server for a few seconds at most.

    Args:
        endpoint: With a URL.
    """
    connection = ServerConnection(endpoint, allows_public=False)
    is_private = True
    try:
        async with asyncio.timeout(_SECONDS):
            is_private = await connection.is_private()
            wire = await HttpServer(connection, endpoint.dialect).wire()
            path = wire.list_path(await connection.base_path())
            began = time.perf_counter()
            listed = wire.listed(await connection.fetch(path, seconds=_SECONDS))
            milliseconds = 1000 * (time.perf_counter() - began)
    except ModelError as error:
        return ServerLook(url=endpoint.url, is_private=is_private, problem=str(error))
    except TimeoutError:
        silent = f"it did not answer within {_SECONDS:g} s"
        return ServerLook(url=endpoint.url, is_private=is_private, problem=silent)
    finally:
        await connection.close()
    return ServerLook(
        url=endpoint.url, is_private=is_private, milliseconds=milliseconds, models=listed
    )
