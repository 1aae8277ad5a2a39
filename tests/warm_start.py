"""Starts the program, or a script beside the tests, as a fork of a process that has loaded it already."""

import atexit
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, BinaryIO

PROGRAM = Path(sys.executable).with_name("kinkeeper")
_WARM = Path(__file__).with_name("warm_process.py")


class Started(subprocess.Popen[Any]):
    """A process like any other, but that it is no child of this one: its guard tells how it ended.

    The first argument is the program, or a script that ends in ".py".
    """

    def _execute_child(
        self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo,  # noqa: ANN001
        creationflags, shell, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, *more,  # noqa: ANN001, ANN002
    ) -> None:  # fmt: skip
        told, tell = os.pipe()
        given = (p2cread, c2pwrite, errwrite)
        streams = [own if file == -1 else file for own, file in enumerate(given)]
        environment = dict(os.environ if env is None else env)
        run = {
            "arguments": [*map(str, args)],
            "folder": str(cwd or Path.cwd()),
            "environment": environment,
        }
        self._told = os.fdopen(told, "rb", buffering=0)
        self.pid = _warm().start(run, [*streams, tell], self._told)
        self._child_created = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Kill the process where the block failed: who would otherwise tell it to end?"""
        if kind is not None and self.poll() is None:
            self.kill()
        super().__exit__(kind, error, traceback)

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):
            try:
                if self.returncode is None and select.select([self._told], [], [], 0)[0]:
                    self._handle_exitstatus(self._try_wait(0)[1])
            finally:
                self._waitpid_lock.release()
        return self.returncode

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if wait_flags & os.WNOHANG and not select.select([self._told], [], [], 0)[0]:
            return 0, 0
        status = int(self._told.readline())
        self._told.close()
        return self.pid, status


def machine_environment() -> dict[str, str]:
    """Return the variables that describe the machine; a program that computes otherwise differs in the last digits."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **kept}


class _Warm:
    """The process that others are forks of; it ends with this one."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._wants, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, _WARM],
                stdin=theirs,
                env={**machine_environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        atexit.register(self._end)

    def start(self, run: Mapping[str, Any], files: list[int], told: BinaryIO) -> int:
        """Have a run begun, one at a time; returns its process id."""
        with self._turn:
            request = json.dumps(run).encode() + b"\n"
            sent = socket.send_fds(self._wants, [request], files)
            self._wants.sendall(request[sent:])
            os.close(files[-1])
            if not (answer := told.readline()):
                raise RuntimeError("the warm process has died; its error is above")
            return int(answer)

    def _end(self) -> None:
        self._wants.close()
        self._process.wait()


@cache
def _warm() -> _Warm:
    return _Warm()
