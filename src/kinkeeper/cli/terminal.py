"""What goes where: answers on stdout, progress and remarks on stderr."""

import json
import sys
from collections.abc import Mapping
from typing import Any


def notice(text: str) -> None:
    """Say something beside the answers."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def answer(text: str) -> None:
    """Write one line of the answer, at once, so that a reader in a pipe gets it."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def answer_json(record: Mapping[str, Any] | list[Any]) -> None:
    """Write one value as a line of JSON."""
    answer(json.dumps(record, ensure_ascii=False))
