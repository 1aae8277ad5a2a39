"""Gathers what a turn begins with, in one reading, and keeps what is left of it when the turn ends."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection

from kinkeeper.actions.expected import expected_between, told_once
from kinkeeper.calendar.event_records import occurrence_waiting
from kinkeeper.calendar.model import Occurrence
from kinkeeper.conversation.context import repository
from kinkeeper.conversation.context.model import CommittedTurn, Gloss, TopicRef, TurnContext
from kinkeeper.conversation.context.repository import Lasting
from kinkeeper.conversation.context.topics import (
    facts_of,
    gist_of,
    gloss_of,
    grown,
    knowing,
    topic_of,
)
from kinkeeper.conversation.looking_back import cut_turns, looked_back
from kinkeeper.conversation.model import LONGEST_READ, Exchange, Mode
from kinkeeper.conversation.routing.signals import Signals
from kinkeeper.conversation.turn import Turn
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock, Interval
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import STOP_INSIDE, mask_stops
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.reading.forgetting import wish_to_forget
from kinkeeper.reading.times.time_text import WEEKDAYS, clock
from kinkeeper.store.store import Store

# What people say of how they are called, and of what they want to stay with. Pure, and quick.

_LONGEST = 40
_PART = rf"[\w'{STOP_INSIDE}-]*"
_NAME = (
    rf"(?P<name>(?:(?:mrs?|ms|dr){STOP_INSIDE}? )?[^\W\d_]{_PART}(?: (?-i:[A-Z]){_PART}){{0,2}})"
)
_SAID = re.compile(
    r"(?:^|[.!?,;] *|\b(?:hi|hello|hey|and|by the way|btw|so|well|actually|no|please)[,!]? +)"
    r"(?:my (?:first |full |real )?name(?:'s|’s| is)(?: actually| now)? |(?:please |just |you can |you may |could you |can you )*call me "
    r"|i go by |i(?:'m| am|’m) (?:called|named) |(?:everyone|everybody|people|friends|my friends) calls? me |the name(?:'s|’s| is) )"
    rf"{_NAME}(?P<rest>[^.!?,;]*)",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"(?:an?|the|it|that|this|your|my|his|her|their|our|back|later|tomorrow|tonight|today|when|whenever|once|if|at|in|on|for|up|as|by"
    r"|so|not|never|now|then|again|before|after|asap|and|or|but|to|crazy|old|soon|immediately|anytime|about|with|because|really"
    r"|some\w+|any\w+|what|whatever|mom's|dad's)",
    re.IGNORECASE,
)
_TAILS = re.compile(
    r"\s*(?:please|instead|from now on|now|ok|okay|thanks|though|then|not .*|and .*|but .*|if you (?:like|want|don't mind|don’t mind)|,.*)?\s*",
    re.IGNORECASE,
)
_FOCUS_ON = re.compile(
    r"^\W*(?:please |let'?s |let us |can we |i want to |i need to )*(?:stay|stick|keep) (?:with|to|on) (?:this|that|it|the|one)\b"
    r"|^\W*(?:please |let'?s |let us |can we |i want to |i need to )*(?:focus|concentrate) on\b",
    re.IGNORECASE,
)
_FOCUS_OFF = re.compile(
    r"\b(?:stop|done|finished|enough) (?:focus(?:s?ing)?|concentrating)\b|\b(?:something|anything) else now\b|\bchange (?:of|the) (?:topic|subject)\b|\blet'?s move on\b",
    re.IGNORECASE,
)


def read_identity(text: str) -> str | None:
    """Return what a message says its person is called; None where it does not."""
    plain = " ".join(text.split()).replace("’", "'")
    found = _SAID.search(mask_stops(plain))
    if found is None or not _TAILS.fullmatch(found["rest"]):
        return None
    name = plain[found.start("name") : found.end("name")].strip(" '-")
    if _NO_NAME.fullmatch(name.split()[0]) or len(name) > _LONGEST:
        return None
    return name if any(letter.isupper() for letter in name) else name.title()


def read_focus(text: str) -> bool | None:
    """Return whether a message wants to stay with its topic, or no longer; None where it says nothing of that."""
    if _FOCUS_OFF.search(text):
        return False
    return True if _FOCUS_ON.search(text) else None


# What the present moment is like, as a few lines: the time, quiet hours, what comes next. Pure.

AHEAD = timedelta(hours=24)
"""How far ahead what comes next is looked for."""

_MOST = 3
_PARTS = ((5, "night"), (12, "morning"), (17, "afternoon"), (22, "evening"), (24, "night"))


@dataclass(frozen=True, slots=True)
class World:
    """The moment.

    Attributes:
        lines: What there is to say of it.
        has_content: Whether there is more than the time.
    """

    lines: Sequence[str]
    has_content: bool


def world_at(
    now: datetime,
    coming: Sequence[Occurrence],
    household: Household,
    quiet: QuietHours | None = None,
) -> World:
    """Return what a moment is like.

    Args:
        now: Aware, in the household's zone.
        coming: What takes place from now on, by start.
        household: Whose zone and locale count.
        quiet: When messages come without a sound.
    """
    part = next(name for until, name in _PARTS if now.hour < until)
    told = [
        f"It is {WEEKDAYS[now.weekday()]} {now.date().isoformat()}, {clock(now.time(), household.locale)}, {part}."
    ]
    is_quiet = quiet is not None and quiet.hold(now)
    if is_quiet:
        told.append("These are quiet hours.")
    told += [_line(each, now, household) for each in coming[:_MOST]]
    return World(told, has_content=is_quiet or bool(coming))


def _line(occurrence: Occurrence, now: datetime, household: Household) -> str:
    start = occurrence.interval.start.astimezone(household.zone)
    day = "" if start.date() == now.date() else f"{WEEKDAYS[start.weekday()]} "
    when = (
        "all day"
        if occurrence.event.all_day
        else f"{day}at {clock(start.time(), household.locale)}"
    )
    waits = occurrence_waiting(
        occurrence,
        household.zone,
        name=lambda each: getattr(household.member(each), "name", each),
        moment=lambda at: f"{WEEKDAYS[at.weekday()]} at {clock(at.time(), household.locale)}",
    )
    told = f"{' '.join(occurrence.event.summary.split())}, {when}"
    return f"Coming up: {told} ({waits})." if waits else f"Coming up: {told}."


log = structlog.get_logger()

FIRST_STAGE = "gist"

_ABOUT_NOTHING = frozenset({Mode.ACKNOWLEDGE, Mode.CANCEL, Mode.IGNORE})
_TURNS, _TURNS_LAST = 4, timedelta(hours=24)
_EMBEDDING_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the database holds for a turn."""

    topic: TopicRef
    gists: Sequence[str]
    known: Sequence[Lasting]
    called: str
    coming: Sequence[Occurrence]
    history: Sequence[Exchange]


class ContextGatherer:
    """Knows what was said before, for the turns of one household.

    Args:
        household: As its file has it.
        embedder: Tells what messages mean; by their words alone where None, or where it takes too long.
        quiet: When messages come without a sound.
    """

    def __init__(
        self,
        store: Store,
        household: Household,
        *,
        clock: Clock,
        embedder: Embedder | None = None,
        quiet: QuietHours | None = None,
    ) -> None:
        self._store = store
        self._household = household
        self._clock = clock
        self._embedder = embedder
        self._quiet = quiet

    async def gather(
        self,
        *,
        thread_id: str,
        member: Member,
        viewer: Viewer,
        text: str,
        earlier: Sequence[Turn],
        now: datetime,
    ) -> TurnContext:
        """Return what a turn begins with; writes nothing.

        Args:
            viewer: On whose behalf calendar and memory are read.
            earlier: Turns of the thread before it, oldest first.
            now: Aware, in the household's zone.

        Raises:
            UnavailableError: The database cannot be read.
        """
        gloss = await self._gloss(text)
        kept = await self._store.read(
            lambda conn: self._kept(
                conn, thread_id, viewer, gloss, member=member, earlier=earlier, now=now
            )
        )
        ref = kept.topic
        lately = [each for each in kept.history if now - each.at <= _TURNS_LAST][-_TURNS:]
        world = world_at(now, kept.coming, self._household, self._quiet)
        return TurnContext(
            topic=ref,
            gloss=gloss,
            signals=signals_of(
                ref, lately, gists=len(kept.gists), facts=len(kept.known), world=world, now=now
            ),
            gists=kept.gists,
            known={each.about: each.value for each in kept.known},
            said_in={each.about: each.turn for each in kept.known},
            world=world.lines,
            called=read_identity(text) or kept.called,
            history=kept.history,
        )

    def commit(self, conn: Connection, turn: CommittedTurn, context: TurnContext) -> None:
        """Keep what is left of a turn, and have it encoded.

        Args:
            conn: In the write transaction that ends the turn.
        """
        household, ref, read = turn.household, context.topic, turn.text[:LONGEST_READ]
        if turn.is_said and (what := wish_to_forget(read)) is not None:
            repository.drop_said(
                conn, household, turn.member, lambda said: bool(meant_by(what, [said]))
            )
        if ref.id and turn.mode not in _ABOUT_NOTHING:
            topic = grown(
                ref, context.gloss, at=turn.at, recalled=turn.recalled, is_focus=read_focus(read)
            )
            repository.put_topic(conn, household, turn.thread_id, topic)
            facts = facts_of(read, turn.results)
            repository.put_facts(conn, household, ref.id, facts, turn=turn.turn_id, at=turn.at)
        if not turn.is_said:
            return
        if name := read_identity(read):
            repository.set_called(conn, household, turn.member, name, at=turn.at)
        now = self._clock.now()
        repository.add_encoding(conn, turn, FIRST_STAGE, ref.id, due_at=now)

    def _kept(
        self,
        conn: Connection,
        thread_id: str,
        viewer: Viewer,
        gloss: Gloss,
        *,
        member: Member,
        earlier: Sequence[Turn],
        now: datetime,
    ) -> _Kept:
        household = self._household.id
        ref = topic_of(
            gloss,
            repository.topics_of(conn, household, thread_id, now=now),
            now=now,
            thread=thread_id,
            household=household,
        )
        gists, known = (
            _still_true(conn, household, ref.id, member=member.id, thread=thread_id, now=now)
            if ref.known
            else ([], [])
        )
        coming = told_once(expected_between(conn, viewer, Interval(now, now + AHEAD), now=now))
        return _Kept(
            topic=ref,
            gists=gists,
            known=known,
            called=repository.called(conn, household, member.id),
            coming=[each for each in coming if each.interval.start >= now],
            history=looked_back(conn, viewer, earlier, now=now),
        )

    async def _gloss(self, text: str) -> Gloss:
        if self._embedder is None:
            return gloss_of(text)
        try:
            async with asyncio.timeout(_EMBEDDING_SECONDS):
                vectors = await self._embedder.embed([text])
        except (TimeoutError, UnavailableError) as error:
            log.debug("conversation.topic.by_words", reason=type(error).__name__)
            return gloss_of(text)
        return gloss_of(text, vector=vectors[0], model=self._embedder.model)


def _still_true(
    conn: Connection, household: str, topic: str, *, member: str, thread: str, now: datetime
) -> tuple[Sequence[str], Sequence[Lasting]]:
    """Return what is left of a topic: gists and what was said for a day, each without what holds no more."""
    gists = repository.gists_of(conn, household, topic, now=now)
    facts = repository.facts_of(conn, household, topic, now=now)
    named = {*gists, *(each.turn for each in facts)}
    cut = cut_turns(conn, household, named, member=member, thread=thread, now=now)
    gists |= {key: gist_of(cut[key].text, cut[key].results) for key in cut.keys() & gists.keys()}
    left = {key: facts_of(turn.text, turn.results) for key, turn in cut.items()}
    known = [
        each
        for each in facts
        if each.turn not in left or left[each.turn].get(each.about) == each.value
    ]
    return [text for text in gists.values() if text], known


def signals_of(
    ref: TopicRef,
    lately: Sequence[Exchange],
    *,
    gists: int,
    facts: int,
    world: World,
    now: datetime,
) -> Signals:
    """Return what the mode router counts. Pure.

    Args:
        ref: The topic of the message.
        lately: The last turns, oldest first.
        gists: How many there are of the topic.
        facts: How many were said on the topic.
        world: What the moment is like.
    """
    last = lately[-1] if lately else None
    return Signals(
        turns=len(lately),
        gists=gists,
        facts=facts,
        has_world=world.has_content,
        fok=float(knowing(ref.known, now=now)),
        is_new_topic=ref.is_new,
        previous_mode=last.mode if last else None,
    )
