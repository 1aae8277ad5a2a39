"""The foreign tool server in a process of its own, reached over HTTP."""

import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from kinkeeper.connectors.tools.model import ToolServer

SERVER = Path(__file__).parent / "foreign_tools.py"


@asynccontextmanager
async def over_http(folder: Path, **fields: Any) -> AsyncIterator[ToolServer]:
    """Run it until the end of the block; `fields` are of its settings."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(  # noqa: ASYNC220 - nothing else waits
        [sys.executable, str(SERVER), str(folder), str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not _listens(port):
            assert process.poll() is None
        yield ToolServer(
            name="weather", url=f"http://127.0.0.1:{port}/mcp", safe=frozenset({"lookup"}), **fields
        )
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with closing(socket.socket()) as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0
