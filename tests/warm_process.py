"""A process that has loaded the program already: each run is a fork of it, which spares two seconds of loading.

Started by `cli_program`. A run has the arguments, folder, environment and streams of a program started anew, and ends
as one does; only what it loads is there before.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import sys
import threading
import traceback
from typing import Any, BinaryIO

import kinkeeper.cli
from kinkeeper.cli.main import main


def serve(wanted: BinaryIO) -> None:
    """Run the program for each line that comes, and tell its exit code; end with the last line."""
    for name in (
        "bootstrap",
        *(f"cli.{each.name}" for each in pkgutil.iter_modules(kinkeeper.cli.__path__)),
    ):
        importlib.import_module(f"kinkeeper.{name}")
    gc.freeze()
    for line in wanted:
        child = os.fork()
        if child == 0:
            os._exit(_run(json.loads(line)))
        _, status = os.waitpid(child, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))


def _run(run: dict[str, Any]) -> int:
    """Become the program with these arguments; returns its exit code."""
    os.chdir(run["folder"])
    os.environ.clear()
    os.environ.update(run["environment"])
    for stream, (path, flags) in enumerate(zip(run["streams"], _FLAGS, strict=True)):
        os.dup2(os.open(path, flags), stream)
    sys.argv = [run["program"], *run["words"]]
    code = _code_of_main()
    threading._shutdown()  # type: ignore[attr-defined]  # as the interpreter does at its end
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _code_of_main() -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - what the interpreter does with it
        traceback.print_exc()
        return 1
    return 0


_FLAGS = (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)

if __name__ == "__main__":
    serve(os.fdopen(0, "rb", buffering=0))
