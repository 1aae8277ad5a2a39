"""A model file run by llama.cpp in a process of its own, as a server on the loopback address.

Not in this process: loading holds the interpreter for seconds, some errors of the runtime end the process, and
a model that takes all memory must not take the family's server with it. The process ends with this one,
however this one ends.
"""

import asyncio
import importlib.util
import json
import os
import re
import secrets
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path

from pydantic import SecretStr

from kinkeeper.models.model import ModelError, Outcome

_PROCESS = "kinkeeper.models.llama_process"
_RUNTIME = "xllamacpp"
_MAGIC = b"GGUF"
_PATIENCE_SECONDS = 5.0
_REASON = re.compile(r"^[\d.]+ E (?:\S+\s+)?\w+: (.+)$", re.MULTILINE)


class LlamaServer:
    """Serves one GGUF file; started by the first who asks, shared by all. Use it on one event loop.

    Args:
        threads: That compute, > 0; all cores but one where None.
        context_tokens: Room for a request and its answer together, > 0.
    """

    def __init__(self, gguf: Path, *, threads: int | None, context_tokens: int) -> None:
        self._gguf = gguf
        self._threads = threads or max(1, (os.cpu_count() or 1) - 1)
        self._context_tokens = context_tokens
        self._lock = asyncio.Lock()
        self._process: Process | None = None
        self._address = ""
        self.api_key = SecretStr(secrets.token_urlsafe())
        """What it lets callers in with; no other program of this machine knows it."""

    async def start(self) -> str:
        """Return its base address, starting it if it does not run (any more).

        A caller that gives up does not stop the loading: the next one finds it further on.

        Raises:
            ModelError: It cannot be started; the message says why and how to mend it.
        """
        async with self._lock:
            if self._process is None or self._process.returncode is not None:
                self._process, self._address = await self._spawned(), ""
            if not self._address:
                self._address = await self._told(self._process)
            return self._address

    async def close(self) -> None:
        """End it and free its memory; harmless to repeat. The next `start` loads the model again."""
        async with self._lock:
            process, self._process = self._process, None
            if process is None or process.returncode is not None:
                return
            if process.stdin is not None:
                process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), _PATIENCE_SECONDS)
            except TimeoutError:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    async def _spawned(self) -> Process:
        if problem := runtime_problem() or file_problem(self._gguf):
            raise ModelError(problem, outcome=Outcome.REJECTED)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            _PROCESS,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,  # Ctrl-C in a terminal is for us; it ends after us
        )
        how = {
            "path": str(self._gguf),
            "threads": self._threads,
            "context_tokens": self._context_tokens,
            "api_key": self.api_key.get_secret_value(),
        }
        if process.stdin is not None:
            process.stdin.write(json.dumps(how).encode() + b"\n")
        return process

    async def _told(self, process: Process) -> str:
        """Wait until it says where it listens."""
        if process.stdout is None or process.stderr is None:
            return ""
        line = await process.stdout.readline()
        if line:
            return line.decode().strip()
        said = (await process.stderr.read()).decode(errors="replace")
        code = await process.wait()
        raise ModelError(
            f"llama.cpp cannot run {self._gguf}: {_why(said, code)}", outcome=Outcome.UNREACHABLE
        )


def runtime_problem() -> str | None:
    """Return what keeps llama.cpp from running here, and how to mend it; None where nothing does."""
    if importlib.util.find_spec(_RUNTIME) is None:
        return "MODEL_GGUF needs llama.cpp; install it: pip install xllamacpp"
    return None


def file_problem(gguf: Path) -> str | None:
    """Return why a file cannot be a model, and how to mend it; None where it may be one."""
    try:
        with gguf.open("rb") as source:
            is_gguf = source.read(len(_MAGIC)) == _MAGIC
        size = gguf.stat().st_size
    except FileNotFoundError:
        return f"MODEL_GGUF: there is no file {gguf}; correct the path"
    except OSError as error:
        return (
            f"MODEL_GGUF: {gguf} cannot be read ({error.strerror}); choose a file that you can read"
        )
    if not is_gguf:
        return f"MODEL_GGUF: {gguf} is not a GGUF file; download the model in that format"
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > memory:
        return f"MODEL_GGUF: {gguf} is larger than this machine's memory; use a smaller model"
    return None


def _why(said: str, code: int) -> str:
    """Return why it ended, from the runtime's own words or the way it ended."""
    if code == -signal.SIGKILL:
        return "the system killed it, probably because memory ran out; use a smaller model"
    found = _REASON.search(said)
    reason = found.group(1) if found else f"it exited with code {code}"
    if "memory" in reason or "alloc" in reason:
        return f"{reason}; use a smaller model, or a smaller MODEL_CONTEXT_TOKENS"
    return f"{reason}; download it again, or update llama.cpp"
