"""What goes where: answers on stdout, progress and remarks on stderr."""

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

from kinkeeper.language.text import strip_controls

_COMMANDS = re.compile("[\x7f-\x9f]")
"""What JSON leaves as it is and some terminals obey."""


def shown(text: str) -> str:
    """Return words as a terminal may show them: what others wrote must not move its cursor or its colours."""
    return strip_controls(text)


def notice(text: str) -> None:
    """Say something beside the answers."""
    sys.stderr.write(f"{shown(text)}\n")
    sys.stderr.flush()


def answer(text: str) -> None:
    """Write one line of the answer, at once, so that a reader in a pipe gets it."""
    _write_line(shown(text))


def answer_json(record: Mapping[str, Any] | list[Any]) -> None:
    """Write one value as a line of JSON."""
    line = json.dumps(record, ensure_ascii=False)
    _write_line(_COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", line))


def _write_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
