"""Episodes: short family chats with what should be heard, said and kept, read from JSON lines."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinkeeper.core.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Speak:
    """An unprompted message that an episode should bring.

    Attributes:
        rule: The redline rule that speaks.
        about: Id of the chat message it is about.
        deferred: Whether it comes only after a grace period.
    """

    rule: str
    about: str
    deferred: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One chat and what it should lead to.

    Attributes:
        id: Unique within its file.
        household: Path of the household file, from the root of the repository.
        slice: The kind of situation.
        messages: As `kinkeeper observe` reads them, in order.
        until: The clock runs on to this ISO time; None stops it at the last message.
        lines: By message id, the fields of its output line that are sure.
        speaks: Every unprompted message of the episode.
        pending: Every action pending at the end, each with the fields that are sure; None if
            that is left open.
    """

    id: str
    household: Path
    slice: str
    messages: tuple[Mapping[str, Any], ...]
    until: str | None
    lines: Mapping[str, Mapping[str, Any]]
    speaks: tuple[Speak, ...]
    pending: tuple[Mapping[str, Any], ...] | None


def load_episodes(path: Path) -> tuple[Episode, ...]:
    """Return the episodes of a file, in its order.

    Args:
        path: JSON lines, one episode each.

    Raises:
        InputError: A line is no episode, an id occurs twice, or an expectation is about a message
            that the episode does not have.
    """
    episodes = [
        _episode(line, f"{path}:{number}")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.strip()
    ]
    seen: set[str] = set()
    for episode in episodes:
        if episode.id in seen:
            raise InputError(f"{path}: episode {episode.id!r} occurs twice: give each its own id")
        seen.add(episode.id)
    return tuple(episodes)


def _episode(line: str, where: str) -> Episode:
    try:
        raw = json.loads(line)
        expect = raw["expect"]
        episode = Episode(
            id=raw["id"],
            household=Path(raw["household"]),
            slice=raw["slice"],
            messages=tuple(raw["messages"]),
            until=raw["until"],
            lines=expect["lines"],
            speaks=_speaks(expect["speaks"]),
            pending=None if expect["pending"] is None else tuple(expect["pending"]),
        )
        known = {message["message_id"] for message in episode.messages}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where}: not an episode ({error!r})") from error
    unknown = ({*episode.lines} | {speak.about for speak in episode.speaks}) - known
    if unknown:
        raise InputError(f"{where}: expects something about {sorted(unknown)}, which nobody sent")
    return episode


def _speaks(raw: Sequence[Mapping[str, Any]]) -> tuple[Speak, ...]:
    return tuple(
        Speak(rule=item["rule"], about=item["about"], deferred=item.get("deferred", False))
        for item in raw
    )
