"""Ordinary talk as family chats: real text messages and real talk at home, sent by members of given households.

Nothing here is random: what has to vary is drawn from a digest, so every run replays the same chats.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path

from evals.coordination import read_lines
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.model import Household, Role
from kinkeeper.observer.speaker import REPLAY

TEXT_MESSAGES = "text messages"
HOUSEHOLD_TALK = "household talk"

# Seconds between messages: text messages as their stamps have them by tenths, talk a little slower than said.
_GAPS = {
    TEXT_MESSAGES: (20, 45, 60, 120, 180, 420, 800, 2_400, 14_400, 50_000),
    HOUSEHOLD_TALK: (6, 8, 10, 12, 15, 20, 30, 45, 120, 600),
}
_UNTHREADED = 25
_BETWEEN = timedelta(hours=3)
_MORNING, _NIGHT = time(7), time(22, 30)
_CHILDREN = frozenset({"son", "daughter", "grandson", "granddaughter", "nephew", "niece"})
_NO_NAME = frozenset({"Unknown", "?"})
_START = date(2026, 1, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One real conversation.

    Attributes:
        id: Unique.
        source: TEXT_MESSAGES or HOUSEHOLD_TALK.
        turns: Sender and text.
        roles: What each sender is to the one who recorded it, where that is known.
    """

    id: str
    source: str
    turns: Sequence[tuple[str, str]]
    roles: Mapping[str, str | None]


def text_messages(path: Path) -> Iterator[Conversation]:
    """Yield the threads of real text messages; only one side of each is known.

    Messages without a thread are taken in runs of one sender.

    Raises:
        InputError: The file is missing.
    """
    threads: dict[str, list[tuple[str, str]]] = defaultdict(list)
    loose: dict[str, int] = defaultdict(int)
    for row in read_lines(path):
        sender, thread = row["sender"], row["thread"]
        if thread is None:
            thread = f"{sender}/{loose[sender] // _UNTHREADED}"
            loose[sender] += 1
        threads[thread].append((sender, row["text"]))
    for thread, turns in threads.items():
        yield Conversation(id=thread, source=TEXT_MESSAGES, turns=turns, roles={})


def household_talk(path: Path) -> Iterator[Conversation]:
    """Yield conversations at home, recorded and written down, with the roles in the family.

    Raises:
        InputError: The file is missing.
    """
    for row in read_lines(path):
        yield Conversation(
            id=row["conversation"],
            source=HOUSEHOLD_TALK,
            roles=row["speakers"],
            turns=[(turn["sender"], turn["text"]) for turn in row["turns"]],
        )


def sample(conversations: Iterable[Conversation], messages: int) -> list[Conversation]:
    """Return conversations in a fixed shuffled order until they hold so many messages.

    Args:
        conversations: To choose from.
        messages: At least so many, if there are; the last conversation is cut.
    """
    chosen: list[Conversation] = []
    left = messages
    for each in sorted(conversations, key=lambda each: _draw(each.id)):
        if left <= 0:
            break
        turns = list(islice(each.turns, left))
        left -= len(turns)
        chosen.append(Conversation(id=each.id, source=each.source, turns=turns, roles=each.roles))
    return chosen


def as_family_chat(
    conversations: Iterable[Conversation], household: Household
) -> Iterator[InboundMessage]:
    """Yield conversations one after another as messages of one family chat.

    Each speaker becomes a member, children children, and is called so wherever the talk names them;
    speakers beyond the household stay guests under their own names. Nights are quiet.

    Args:
        conversations: In the order they take place.
        household: Whose chat it becomes.
    """
    now = datetime.combine(_START, _MORNING, household.zone)
    for conversation in conversations:
        cast = _cast(conversation, household)
        names = {name: _name(household, member) for name, member in cast.items()}
        spoken = re.compile(rf"\b({'|'.join(map(re.escape, names)) or '(?!)'})\b")
        for number, (sender, text) in enumerate(conversation.turns):
            now = _awake(now + _gap(conversation, number))
            yield InboundMessage(
                channel=REPLAY,
                chat_id=household.id,
                message_id=f"{conversation.id}:{number}",
                sender=cast.get(sender, sender),
                text=_renamed(spoken, names, text),
                sent_at=now,
            )
        now = _awake(now + _BETWEEN)


def _cast(conversation: Conversation, household: Household) -> dict[str, str]:
    """Give each speaker a member of the household, as long as there are any."""
    free = {
        True: [member.id for member in household.children],
        False: [member.id for member in household.members if member.role is not Role.CHILD],
    }
    turn = _draw(conversation.id)
    cast: dict[str, str] = {}
    for name in dict.fromkeys(sender for sender, _ in conversation.turns):
        pool = free[conversation.roles.get(name) in _CHILDREN]
        if pool and name not in _NO_NAME:
            cast[name] = pool.pop(turn % len(pool))
    return cast


def _name(household: Household, member_id: str) -> str:
    member = household.member(member_id)
    return member.name if member else member_id


def _renamed(spoken: re.Pattern[str], names: Mapping[str, str], text: str) -> str:
    return spoken.sub(lambda match: names[match[0]], text)


def _gap(conversation: Conversation, number: int) -> timedelta:
    gaps = _GAPS[conversation.source]
    return timedelta(seconds=gaps[_draw(f"{conversation.id}:{number}") % len(gaps)])


def _awake(now: datetime) -> datetime:
    """Return the instant itself by day, the next morning by night."""
    if _MORNING <= now.time() < _NIGHT:
        return now
    day = now.date() + timedelta(days=now.time() >= _NIGHT)
    return datetime.combine(day, _MORNING, now.tzinfo) + timedelta(minutes=now.minute)


def _draw(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big")
