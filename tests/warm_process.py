"""A process that has loaded the program already: what it starts is a fork of it, which spares two seconds of loading.

Started by `warm_start`. What is started has the arguments, folder, environment and streams of a program started anew, is
killed and ends as one; only what it loads is there before.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import kinkeeper.cli
from kinkeeper.cli.main import main
from kinkeeper.core.time import SystemClock

LONGEST_REQUEST = 1 << 20
FROZEN_NOW = "FROZEN_NOW"
"""Environment variable with the instant at which the program's clock stands still."""
CLOCK_FILE = "CLOCK_FILE"
"""Environment variable with a file that says by how many seconds the program's clock is wrong; it may change."""
_STREAMS = 3
_MOST_FILES = 4096


def serve(wanted: socket.socket) -> None:
    """Start what each request wants, with the streams that come with it; end when nobody can ask any more.

    The fourth file is where its guard tells its process id, and how it ended.
    """
    for name in (
        "bootstrap",
        *(f"cli.{each.name}" for each in pkgutil.iter_modules(kinkeeper.cli.__path__)),
    ):
        importlib.import_module(f"kinkeeper.{name}")
    gc.freeze()
    # Nobody waits for guards: they tell what there is to tell.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, files, _, _ = socket.recv_fds(wanted, LONGEST_REQUEST, _STREAMS + 1)
        if not request:
            return
        while not request.endswith(b"\n"):
            request += wanted.recv(LONGEST_REQUEST)
        if os.fork() == 0:
            os._exit(_guard(json.loads(request), files))
        for file in files:
            os.close(file)


def _guard(run: dict[str, Any], files: Sequence[int]) -> int:
    """Start one run, and tell of it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, tell = files
    process = os.fork()
    if process == 0:
        os._exit(_run(run, streams))
    for stream in streams:
        os.close(stream)
    os.write(tell, b"%d\n" % process)
    _, status = os.waitpid(process, 0)
    os.write(tell, b"%d\n" % status)
    return 0


def _run(run: dict[str, Any], streams: Sequence[int]) -> int:
    """Become what is to be run; returns its exit code."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(_STREAMS, _MOST_FILES)
    os.chdir(run["folder"])
    os.environ.clear()
    os.environ.update(run["environment"])
    sys.argv = run["arguments"]
    if moment := os.environ.pop(FROZEN_NOW, None):
        frozen = datetime.fromisoformat(moment)
        SystemClock.now = lambda _: frozen  # type: ignore[method-assign]
    if file := os.environ.get(CLOCK_FILE):
        SystemClock.now = lambda _: _wrong_now(Path(file))  # type: ignore[method-assign]
    code = _code_of(sys.argv[0])
    threading._shutdown()  # type: ignore[attr-defined]  # as the interpreter does at its end
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _wrong_now(file: Path) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=float(file.read_text()))


def _code_of(program: str) -> int:
    try:
        if program.endswith(".py"):
            sys.path.insert(0, str(Path(program).parent))
            runpy.run_path(program, run_name="__main__")
        else:
            main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - what the interpreter does with it
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    serve(socket.socket(fileno=0))
