"""The process in which llama.cpp serves a model: says where it listens, and ends when its parent does.

It reads one JSON object from its input: `path`, `threads`, `context_tokens` and `api_key`. The end of the
input ends it.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

_LOOPBACK = "127.0.0.1"
_SLOTS = 2  # each keeps its prefix: two jobs can take turns without reading their instructions anew
_CACHED_PREFIXES_MB = 256
_ERRORS_ONLY = 1
_NICER = 5
_IDLE_SECONDS = 6 * 3600  # then the memory is freed; reading the instructions anew costs a minute


def main() -> None:
    """Serve until the input ends."""
    told = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    os.nice(_NICER)
    server = _serving(json.loads(sys.stdin.readline()))
    # From here on it may be about what people wrote.
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, sys.stdout.fileno())
    os.dup2(quiet, sys.stderr.fileno())
    told.write(f"{server.listening_address}\n")
    told.flush()
    while sys.stdin.read(1):
        pass


def _serving(how: dict[str, Any]) -> Any:
    """Return llama.cpp's own server, loaded and listening."""
    import xllamacpp  # noqa: PLC0415 - optional, and slow to load

    params = xllamacpp.CommonParams()
    params.model.path = how["path"]
    params.model_alias = {Path(how["path"]).stem}
    params.hostnames = [_LOOPBACK]
    params.api_keys = [how["api_key"]]
    params.n_parallel = _SLOTS
    params.kv_unified = True  # they share the room, so that one may fill it
    params.n_ctx = how["context_tokens"]
    params.cache_ram_mib = _CACHED_PREFIXES_MB
    params.verbosity = _ERRORS_ONLY
    params.sleep_idle_seconds = _IDLE_SECONDS
    params.ui = False
    params.endpoint_slots = False
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = how["threads"]
        threads.poll = 0
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
