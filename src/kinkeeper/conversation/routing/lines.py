"""Lines of a talk as exchanges, where only who said them is known. Pure."""

from collections.abc import Iterable
from datetime import UTC, datetime

from kinkeeper.conversation.model import Exchange, Mode

_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
"""When they were said: nobody knows, and routing does not ask."""


def exchanges_of(lines: Iterable[tuple[bool, str]]) -> list[Exchange]:
    """Return what was said, each with what was answered to it.

    Args:
        lines: Whether the assistant said it, and what; oldest first.
    """
    exchanges: list[Exchange] = []
    for is_answer, text in lines:
        if not is_answer:
            exchanges.append(_exchange(text, ""))
        elif exchanges and not exchanges[-1].answer:
            exchanges[-1] = _exchange(exchanges[-1].text, text)
        else:
            exchanges.append(_exchange("", text))
    return exchanges


def _exchange(text: str, answer: str) -> Exchange:
    return Exchange(text=text, answer=answer, at=_LONG_AGO, mode=Mode.RESPOND)
