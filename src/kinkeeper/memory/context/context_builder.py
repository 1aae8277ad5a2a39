"""The context of a thread's next turn: what was said last and what that brings back, within the budget."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

import numpy as np
from sqlalchemy import Connection

from kinkeeper.language.dictionary import word_ranks
from kinkeeper.memory.context.prefetch import COLD, Streaming, Thread
from kinkeeper.memory.context.session_facts import Names, attributed, remembered
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.finding.visible_results import Hit, HitKind, Key, shown
from kinkeeper.memory.model import EpisodeKind
from kinkeeper.store.store import Store

# How many tokens a text has at most, where its model's tokeniser is not at hand. Pure but for the
# word list.
#
# Fitted to four tokenisers of common models on chats, mails and talks: of six thousand texts none
# had more tokens than this says, and all together had 0.67 to 0.73 times as many.

_AROUND_A_TEXT = 2
_COMMON = 3000
"""Words of this rank and above are one token to every tokeniser that was looked at."""
_UNKNOWN = 10**9
_SHORTEST_KNOWN = 3
_PIECE = re.compile(r"[A-Za-z]+|[^A-Za-z]")
_SPACES = " \t\n"
_VOWELS = frozenset("aeiouyAEIOUY")


def most_tokens(text: str) -> int:
    """Return a number of tokens that a text hardly ever exceeds.

    Args:
        text: Any; what is no ASCII counts a token a byte.
    """
    tokens, before = _AROUND_A_TEXT, " "
    for piece in _PIECE.findall(text):
        if piece == " ":
            tokens += before in _SPACES  # a single one belongs to the word after it
        elif piece.isascii():
            tokens += _of_word(piece) if piece.isalpha() else 1
        else:
            tokens += len(piece.encode("utf-8", "surrogatepass"))
        before = piece[-1]
    return tokens


def _of_word(word: str) -> int:
    length = len(word)
    rank = word_ranks().get(word.lower(), _UNKNOWN)
    if not (word.islower() or word.istitle()):
        return length if rank == _UNKNOWN else -(-2 * length // 3)
    if rank < _COMMON:
        return 1
    if rank < _UNKNOWN and length >= _SHORTEST_KNOWN:
        return 1 + (length - 1) // 2
    is_speakable = 4 * sum(letter in _VOWELS for letter in word) >= length
    return 1 + length // 2 if is_speakable else length


# The most worth that fits into a number of tokens. Pure.


def best_fit(sizes: Sequence[int], worths: Sequence[float], room: int) -> list[int]:
    """Return the places, ascending, of the things that together fit and are worth the most.

    What is worth nothing is left out. Costs time and memory in the number of things times the room.

    Args:
        sizes: Tokens of each thing, >= 0.
        worths: Worth of each, >= 0, in the same order.
        room: Tokens, >= 0.
    """
    best = np.zeros(room + 1)
    is_taken = np.zeros((len(sizes), room + 1), dtype=bool)
    for place, (size, worth) in enumerate(zip(sizes, worths, strict=True)):
        if size > room:
            continue
        with_it = best[: room + 1 - size] + worth
        better = with_it > best[size:]
        is_taken[place, size:] = better
        best[size:] = np.where(better, with_it, best[size:])
    chosen = []
    left = room
    for place in range(len(sizes) - 1, -1, -1):
        if is_taken[place, left]:
            chosen.append(place)
            left -= sizes[place]
    return chosen[::-1]


# What goes into a model's context within a budget of tokens. Pure.
#
# Recent messages come first and always, then results of tools; both lose their oldest words where
# they are too long, and the result tells what was cut. Of remembered facts, then of episodes, as
# much worth as fits goes in whole. System text fills what is left; what nobody wants gives the
# first two back what they lost.

TokenCounter = Callable[[str], int]
"""Returns how many tokens a text has, or more; of texts put together no more than of the texts apart."""

DEFAULT_TOKENS = 1500
# Most tokens of each part in a budget of that size; they grow and shrink with it.
_RECENT, _TOOLS, _FACTS, _EPISODES = 500, 400, 200, 200
_LINE_END = 1  # every text stands on lines of its own
_CUT = "…"


class Part(StrEnum):
    """What a text in a context is."""

    SYSTEM = "system"
    RECENT = "recent"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A remembered text that may go in, whole or not at all.

    Attributes:
        id: Of the fact or episode.
        text: As it would stand there.
        worth: How much it would help; >= 0, on any scale.
    """

    id: str
    text: str
    worth: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """All that would go in if there were room.

    Attributes:
        system: What the assistant is told about itself.
        recent: The latest messages, oldest first.
        tools: Results of tools in this turn, oldest first.
    """

    system: str = ""
    recent: Sequence[str] = ()
    tools: Sequence[str] = ()
    facts: Sequence[Memory] = ()
    episodes: Sequence[Memory] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A text that did not go in whole.

    Attributes:
        index: Its place among those of its part.
        kept: Of what went in; 0 where nothing did.
    """

    part: Part
    index: int
    tokens: int
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What goes in, each part in the order it came.

    Attributes:
        system: Its beginning where it was cut.
        recent: The latest, whole; the first of them may have lost its beginning.
        tools: The same of results of tools.
        tokens: Of all of it; never more than the budget.
        cuts: What was cut or left out of the system text, the messages and the results.
    """

    system: str
    recent: Sequence[str]
    tools: Sequence[str]
    facts: Sequence[Memory]
    episodes: Sequence[Memory]
    tokens: int
    cuts: Sequence[Cut]


def fit(wanted: Wanted, *, count: TokenCounter, budget: int = DEFAULT_TOKENS) -> Fitted:
    """Return what goes into a context.

    Args:
        count: Counts tokens.
        budget: Most tokens in all, >= 0.
    """
    size = _on_own_lines(count)
    recent_need, tools_need = sum(map(size, wanted.recent)), sum(map(size, wanted.tools))
    recent_room = min(recent_need, _share(_RECENT, budget))
    tools_room = min(tools_need, _share(_TOOLS, budget))
    room = budget - recent_room - tools_room
    facts = _chosen(wanted.facts, size, min(room, _share(_FACTS, budget)))
    room -= _total(facts, size)
    episodes = _chosen(wanted.episodes, size, min(room, _share(_EPISODES, budget)))
    room -= _total(episodes, size)
    system, system_cuts = _beginning(wanted.system, size, room)
    room -= size(system)
    recent_room += (more := min(room, recent_need - recent_room))
    tools_room += min(room - more, tools_need - tools_room)
    recent, recent_cuts = _latest(Part.RECENT, wanted.recent, size, recent_room)
    tools, tools_cuts = _latest(Part.TOOL, wanted.tools, size, tools_room)
    return Fitted(
        system=system,
        recent=recent,
        tools=tools,
        facts=facts,
        episodes=episodes,
        tokens=sum(map(size, (system, *recent, *tools))) + _total((*facts, *episodes), size),
        cuts=(*system_cuts, *recent_cuts, *tools_cuts),
    )


def _on_own_lines(count: TokenCounter) -> TokenCounter:
    return lambda text: count(text) + _LINE_END if text else 0


def _share(tokens: int, budget: int) -> int:
    return tokens * budget // DEFAULT_TOKENS


def _total(memories: Iterable[Memory], size: TokenCounter) -> int:
    return sum(size(memory.text) for memory in memories)


def _chosen(memories: Sequence[Memory], size: TokenCounter, room: int) -> list[Memory]:
    sizes = [size(memory.text) for memory in memories]
    return [memories[n] for n in best_fit(sizes, [memory.worth for memory in memories], room)]


def _beginning(text: str, size: TokenCounter, room: int) -> tuple[str, list[Cut]]:
    whole = size(text)
    if whole <= room:
        return text, []
    kept = _longest(lambda length: text[:length].rstrip() + _CUT, len(text), size, room)
    return kept, [Cut(part=Part.SYSTEM, index=0, tokens=whole, kept=size(kept))]


def _latest(
    part: Part, texts: Sequence[str], size: TokenCounter, room: int
) -> tuple[list[str], list[Cut]]:
    """Return the texts that fit, from the last one back, and what was cut of those before."""
    kept: list[str] = []
    cuts: list[Cut] = []
    for index in range(len(texts) - 1, -1, -1):
        text = texts[index]
        whole = size(text)
        if whole > room:
            text = _end(text, size, room)
            cuts.append(Cut(part=part, index=index, tokens=whole, kept=size(text)))
            room = 0  # what is older does not go in where what is newer did not
        if text:
            kept.append(text)
            room -= min(room, whole)
    return kept[::-1], cuts[::-1]


def _end(text: str, size: TokenCounter, room: int) -> str:
    return _longest(lambda length: _CUT + text[-length:].lstrip(), len(text), size, room)


def _longest(made: Callable[[int], str], most: int, size: TokenCounter, room: int) -> str:
    """Return the longest text, made from a number of characters below `most`, that fits; "" where none does."""
    fits, too_long = 0, most
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if size(made(middle)) <= room:
            fits = middle
        else:
            too_long = middle
    return made(fits) if fits else ""


_WORKING_TURNS = 4
_WORKING_FOR = timedelta(hours=24)
_ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """The context of one turn.

    Attributes:
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
        streaming: Has looked up what the thread's last turns call for; None where that is switched off.
        budget: Most tokens in all.
        zone: The household's, for the days.
        system: What the assistant is told about itself.
        tools: Results of tools in this turn, oldest first.
    """
    recent = await store.read(lambda conn: _working_memory(conn, thread, names, now=now))
    streamed = COLD if streaming is None else await streaming.take(thread)
    wanted = Wanted(
        system=system,
        recent=recent,
        tools=tools,
        facts=_memories(streamed.facts, names, zone),
        episodes=_memories(streamed.episodes, names, zone),
    )
    return Assembled(fitted=fit(wanted, count=most_tokens, budget=budget), is_cold=streamed.is_cold)


def _working_memory(conn: Connection, thread: Thread, names: Names, *, now: datetime) -> list[str]:
    """Return what was said last, without what holds no more, and without answers to that."""
    latest = list_episodes(
        conn, thread.viewer, session=thread.session, kind=EpisodeKind.TURN, limit=2 * _WORKING_TURNS
    )
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
        zone: The household's, for the days.
    """
    return remembered(hit.text, hit.speaker, names, said_on=hit.at.astimezone(zone).date())
