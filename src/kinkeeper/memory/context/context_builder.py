"""The context of a thread's next turn: what was said last, and what that brings back, within the budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.memory.context.attribution import Names, attributed, remembered
from kinkeeper.memory.context.budget import Fitted, Memory, Wanted, fit
from kinkeeper.memory.context.prefetch import COLD, Streaming, Thread
from kinkeeper.memory.context.tokens import most_tokens
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.finding.visible_results import Hit, HitKind, Key, shown
from kinkeeper.memory.model import EpisodeKind
from kinkeeper.store.store import Store

_WORKING_TURNS = 4
_WORKING_FOR = timedelta(hours=24)
_ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """The context of one turn.

    Attributes:
        fitted: What goes in.
        is_cold: Whether nothing was looked up for the thread (yet).
    """

    fitted: Fitted
    is_cold: bool


async def assembled(
    store: Store,
    streaming: Streaming | None,
    thread: Thread,
    *,
    now: datetime,
    budget: int,
    names: Names,
    zone: ZoneInfo,
    system: str = "",
    tools: Sequence[str] = (),
) -> Assembled:
    """Return the context of a thread's next turn; waits for no search.

    Args:
        store: Where memory is.
        streaming: Has looked up what the thread's last turns call for; None where that is switched off.
        thread: The talk.
        now: Aware.
        budget: Most tokens in all.
        names: Of the household.
        zone: The household's, for the days.
        system: What the assistant is told about itself.
        tools: Results of tools in this turn, oldest first.
    """
    recent = await store.read(lambda conn: _working_memory(conn, thread, names, now=now))
    streamed = COLD if streaming is None else await streaming.take(thread)
    wanted = Wanted(
        system=system, recent=recent, tools=tools,
        facts=_memories(streamed.facts, names, zone),
        episodes=_memories(streamed.episodes, names, zone),
    )  # fmt: skip
    return Assembled(fitted=fit(wanted, count=most_tokens, budget=budget), is_cold=streamed.is_cold)


def _working_memory(conn: Connection, thread: Thread, names: Names, *, now: datetime) -> list[str]:
    """Return what was said last, without what holds no more, and without answers to that."""
    latest = list_episodes(
        conn, thread.viewer, session=thread.session, kind=EpisodeKind.TURN,
        limit=2 * _WORKING_TURNS,
    )  # fmt: skip
    turns = [turn for turn in reversed(latest) if turn.said_at >= now - _WORKING_FOR]
    keys = [Key(HitKind.EPISODE, turn.id) for turn in turns]
    here = shown(conn, thread.viewer, keys, now=now)
    lines: list[str] = []
    is_whole = True
    for turn, key in zip(turns, keys, strict=True):
        if turn.is_assistant:
            if is_whole:
                lines.append(f"{_ASSISTANT}: {turn.text}")
            continue
        text = here[key].text if key in here else ""
        is_whole = text == turn.text
        if text:
            lines.append(attributed(text, turn.speaker, names))
    return lines


def _memories(hits: Sequence[Hit], names: Names, zone: ZoneInfo) -> list[Memory]:
    return [Memory(id=hit.id, text=told(hit, names, zone), worth=hit.score) for hit in hits]


def told(hit: Hit, names: Names, zone: ZoneInfo) -> str:
    """Return what was found as it stands in a context.

    Args:
        hit: What was found.
        names: Of the household.
        zone: The household's, for the days.
    """
    return remembered(hit.text, hit.speaker, names, said_on=hit.at.astimezone(zone).date())
