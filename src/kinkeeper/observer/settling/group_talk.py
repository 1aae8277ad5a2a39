"""Group talk read by a model as durable work, and what follows: cards for a person's yes, nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.repository import find_by_source, open_actions
from kinkeeper.arrangements import When
from kinkeeper.arrangements.frame_grounding import grounding_of
from kinkeeper.arrangements.model import NEWS
from kinkeeper.core.beside import read_beside
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Key, LeaseLostError
from kinkeeper.memory.statements.secrecy import wished_scope
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer import repository
from kinkeeper.observer.answers.attribution import are_compatible
from kinkeeper.observer.cards.model_amendments import SURE, Amendment, Effect, amend
from kinkeeper.observer.cards.retraction import SOURCE, is_restated
from kinkeeper.observer.extraction.frame_extraction import Seen, plans_in
from kinkeeper.observer.extraction.prepared import Part, Prepared
from kinkeeper.observer.group_reader import BatchRead, GroupReader, batch_of, events_ahead
from kinkeeper.observer.model import (
    BY_TALK_READER,
    Extraction,
    extraction_from_record,
    is_of_reader_alone,
)
from kinkeeper.observer.redline.phrase_templates import Phrasing
from kinkeeper.observer.settling.message_reader import Understanding
from kinkeeper.observer.settling.settlement import Settlement
from kinkeeper.observer.tables import talk_stretches
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.reading.batch import WINDOW, Batch, Heard, Thing
from kinkeeper.reading.batch_grounding import Found
from kinkeeper.reading.model import Act, Modality, Predicate
from kinkeeper.store.store import Store

# What follows from what a model read in group talk: cards for a person's yes, and nothing else.
#
# It never speaks, never changes what somebody decided, and never widens who may see something.

_CALLED_OFF: Final = frozenset({Predicate.CANCEL})
_GIVEN_BACK: Final = frozenset({Act.WITHDRAW, Act.DECLINE, Act.REPORT_DONE})
_HANDED_BACK: Final = frozenset({Act.WITHDRAW, Act.DECLINE})
_TOLD: Final = frozenset({Act.STATE, Act.ACCEPT})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadThing:
    """One thing that a model read.

    Attributes:
        found: As far as it has ground.
        prepared: Its message, read by the other readers.
        reading: The words of its message.
        answered: Id of the rows of the message that it answers, if any.
    """

    found: Found
    prepared: Prepared
    reading: Reading
    answered: str | None
    engine: str

    @property
    def row_id(self) -> str:
        """Id of the rows of its message."""
        return str(self.prepared.stored.id)


class TalkEffects:
    """Makes cards of what a model read, for one household.

    Args:
        settlement: Makes a card of a plan.
        phrasing: The household's words.
    """

    def __init__(self, settlement: Settlement, phrasing: Phrasing) -> None:
        self._settlement = settlement
        self._phrasing = phrasing
        self._participants = phrasing.participants
        self._household = phrasing.participants.household

    def apply(
        self, conn: Connection, thing: ReadThing, number: int, *, now: datetime
    ) -> Mapping[str, Any]:
        """Let one thing that was read have its effect, in the caller's transaction.

        Args:
            number: Which of the stretch it is, from 0.

        Returns:
            What was done, in ids and words of ours alone.
        """
        effect, action_id = self._apply(conn, thing, number, now=now)
        return {"message": thing.row_id, "effect": effect.value, "action": action_id}

    def _apply(
        self, conn: Connection, thing: ReadThing, number: int, *, now: datetime
    ) -> tuple[Effect, str | None]:
        frame, scope = thing.found.frame, thing.prepared.scope
        is_hidden = frame.is_secret and scope == HOUSEHOLD_SCOPE
        is_meant = frame.modality is Modality.PLAIN and not frame.is_negated
        if not is_meant or is_hidden or self._is_over(thing, now):
            return Effect.LEFT, None
        plan = self._plan(thing)
        card = self._card(conn, thing, plan, now=now)
        if frame.predicate in _CALLED_OFF or frame.act in _GIVEN_BACK:
            return self._take_back(conn, thing, card, now=now)
        if card is not None:
            if scope not in {HOUSEHOLD_SCOPE, card.proposal.scope}:
                return Effect.LEFT, card.id
            return amend(
                conn,
                card,
                self._amendment(thing),
                phrasing=self._phrasing,
                household=self._household,
                now=now,
            )
        if plan is None or self._is_known(conn, thing, plan):
            return Effect.LEFT, None
        prepared = replace(thing.prepared, parts=(Part(reading=thing.reading, extraction=plan),))
        action = self._settlement.keep(conn, prepared, slot=f"talk-{number}", now=now)
        return (Effect.LEFT, None) if action is None else (Effect.OPENED, action.id)

    def _is_over(self, thing: ReadThing, now: datetime) -> bool:
        """Whether it lies before today: a late answer changes nothing that is done."""
        days = self._amendment(thing).days
        return bool(days) and days[-1] < now.astimezone(self._household.zone).date()

    def _plan(self, thing: ReadThing) -> Extraction | None:
        """Return what was read in the fields of an extraction; None where it opens nothing."""
        found, prepared = thing.found, thing.prepared
        frame = replace(found.frame, target=None)
        told = next(
            iter(grounding_of(self._household).told(replace(prepared.heard, frames=(frame,)))), None
        )
        if told is None:
            return None
        read = self._amendment(thing)
        told = replace(
            told,
            when=When(days=read.days, start=read.start),
            who_for=self._members(found.who),
            who_does=read.owners,
        )
        seen = Seen(frame=frame, told=told, title=found.title or "", extractor=BY_TALK_READER)
        plans = plans_in([seen], thing.reading, prepared.member, self._participants)
        return next(plans, None)

    def _amendment(self, thing: ReadThing) -> Amendment:
        at = thing.found.at
        day = at.date() if isinstance(at, datetime) else at
        return Amendment(
            row_id=thing.row_id,
            days=(day,) if day else (),
            start=at.time() if isinstance(at, datetime) else None,
            owners=self._members(thing.found.by),
            p=thing.found.frame.p,
        )

    def _members(self, names: tuple[str, ...]) -> tuple[str, ...]:
        ids = {name: each for each, name in self._household.names.items()}
        return tuple(ids[name] for name in names if name in ids)

    def _card(
        self, conn: Connection, thing: ReadThing, plan: Extraction | None, *, now: datetime
    ) -> PendingAction | None:
        """Return the waiting card that is about the same: named, of the same message or its question, or surely the same job."""
        chat = thing.prepared.stored.message.chat_id
        waiting = [
            each
            for each in open_actions(conn, Viewer.of(self._household.id), now=now)
            if each.proposal.chat_id == chat and each.proposal.extraction
        ]
        named = next((each for each in waiting if each.id == thing.found.thing), None)
        if named is not None or thing.found.thing is not None:
            is_other = (
                named
                and plan
                and thing.found.frame.predicate not in NEWS
                and _is_other(plan, named)
            )
            return None if is_other else named
        for source in (thing.row_id, thing.answered):
            own = [each for each in waiting if each.proposal.source_id == source]
            fitting = [each for each in own if plan is None or _fits(plan, each)]
            if len(fitting) == 1:
                return fitting[0]
        return next((e for e in reversed(waiting) if plan and is_restated(plan, _said(e))), None)

    def _is_known(self, conn: Connection, thing: ReadThing, plan: Extraction) -> bool:
        """Whether its message led to such a card before, whatever became of it, or it only repeats the calendar."""
        if thing.found.thing is not None and thing.found.frame.act in _TOLD:
            return True
        sources = [each for each in (thing.row_id, thing.answered) if each is not None]
        before = [
            each
            for source in sources
            for each in find_by_source(conn, self._household.id, SOURCE, source)
        ]
        return any(_fits(plan, each) for each in before)

    def _take_back(
        self, conn: Connection, thing: ReadThing, card: PendingAction | None, *, now: datetime
    ) -> tuple[Effect, str | None]:
        """Withdraw a card that waits, if readers alone had made it or the message surely ends what it shows."""
        if card is None:
            return Effect.LEFT, None
        may_end = is_of_reader_alone(card.proposal.extraction) or self._ends(thing, card)
        if not may_end or thing.found.frame.p < SURE:
            return Effect.LEFT, card.id
        proposals.withdraw(
            conn, card.id, household=self._household.id, now=now, by_source=thing.row_id
        )
        return Effect.WITHDRAWN, card.id

    def _ends(self, thing: ReadThing, card: PendingAction) -> bool:
        """Whether a message calls off the very plan of a card, or its speaker gives back what the card says they do."""
        frame, member = thing.found.frame, thing.prepared.member
        if thing.found.thing != card.id or member is None:
            return False
        is_theirs = {*_said(card).owners} == {member.id}
        if frame.predicate in _CALLED_OFF:
            return is_theirs or member.is_adult
        return is_theirs and frame.act in _HANDED_BACK


def _said(action: PendingAction) -> Extraction:
    return extraction_from_record(action.proposal.extraction)


def _is_other(plan: Extraction, card: PendingAction) -> bool:
    """Whether a plan is another thing than a card shows, on another day."""
    return not _fits(plan, card) and not {*plan.dates} & {*_said(card).dates}


def _fits(plan: Extraction, action: PendingAction) -> bool:
    """Whether a card can be about a plan; the day is what may have been read wrongly."""
    said = _said(action) if action.proposal.extraction else None
    return said is not None and are_compatible(replace(plan, dates=()), replace(said, dates=()))


# Group talk read by a model as durable work: a stretch of a chat in one call, outside any
# transaction.
#
# What comes of it is written in one transaction with the end of the work, so that a stretch has its
# effects once. Without an answer the other readers' decisions stand as they are.

_LEASE: Final = timedelta(minutes=5)
_SAME_TALK: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    """What is shown to the model, and the rows behind it."""

    said: Sequence[StoredMessage]
    new: int
    things: Sequence[Thing]
    events: Sequence[Thing]


class TalkReadingJob:
    """Reads the stretches of one household.

    Args:
        household: As its file has it.
        understanding: Reads a message with what surrounds it.
        effects: Makes cards of what was read.
        clock: Tells when something is written.
    """

    def __init__(
        self,
        store: Store,
        household: Household,
        *,
        reader: GroupReader,
        understanding: Understanding,
        effects: TalkEffects,
        clock: Clock,
    ) -> None:
        self._store = store
        self._household = household
        self._reader = reader
        self._understanding = understanding
        self._effects = effects
        self._clock = clock

    def as_job(self) -> Job:
        """Return the kind of work."""
        return Job(
            name=repository.TOPIC,
            table=talk_stretches,
            handler=self.handle,
            lease=_LEASE,
            household=self._household.id,
            line=repository.first_stretch_in_chat,
        )

    async def handle(self, key: Key, epoch: int) -> None:
        """Read the stretch of a claimed row.

        Raises:
            LeaseLostError: Another worker took the row meanwhile; nothing was written.
            NotFoundError: There is no such stretch in this household.
        """
        stretch = await self._store.read(lambda conn: self._load(conn, key))
        read: BatchRead | None = None
        things: list[ReadThing] = []
        if stretch.new:
            read = await self._reader.read(await self._batch(stretch), self._household.id)
            things = [await self._thing(each, stretch, read) for each in _found(read)]

        def write(conn: Connection) -> None:
            if not leases.hold(conn, talk_stretches, key, epoch):
                raise LeaseLostError(f"the claim {epoch} on stretch {key[1]!r} is no longer valid")
            now = self._clock.now()
            kept: list[Mapping[str, Any]] = [
                self._effects.apply(conn, each, number, now=now)
                for number, each in enumerate(things)
            ]
            if read is not None:
                repository.record_stretch(
                    conn, key, outcome=read.outcome.value, engine=read.engine, effects=kept
                )
            leases.finish(conn, talk_stretches, key, epoch)

        await self._store.write(write)

    def _load(self, conn: Connection, key: Key) -> _Stretch:
        household, first = key
        row = repository.find_stretch(conn, key)
        last = inbox.load(conn, household, int(row.last)) if row is not None else None
        if household != self._household.id or row is None or last is None:
            raise NotFoundError(f"household {self._household.id!r} has no stretch {first!r}")
        before = inbox.said_before(conn, household, last, within=_SAME_TALK, limit=WINDOW - 1)
        said = [each for each in (*before, last) if each.message.text]
        said = inbox.as_edited(conn, household, said)
        viewer, now = Viewer.of(household), self._clock.now()
        waiting = open_actions(conn, viewer, now=now)
        return _Stretch(
            said=said,
            new=sum(each.id >= int(first) for each in said),
            things=[
                _shown(each, self._household)
                for each in waiting
                if each.proposal.chat_id == row.chat_id and each.proposal.extraction
            ],
            events=events_ahead(conn, viewer, self._household, last.message.sent_at),
        )

    async def _batch(self, stretch: _Stretch) -> Batch:
        heard = [await self._heard(each) for each in stretch.said]
        return batch_of(
            self._household, heard, stretch.new, arrangements=stretch.things, events=stretch.events
        )

    async def _heard(self, stored: StoredMessage) -> Heard:
        message, household = stored.message, self._household
        member = household.member(message.sender) if stored.is_member else None
        scope = await read_beside(
            message.text,
            lambda: wished_scope(message.text, household, message.sender, is_group=True),
        )
        return Heard(
            speaker=member.name if member else message.sender,
            text=message.text,
            sent_at=message.sent_at.astimezone(household.zone),
            is_secret=scope != HOUSEHOLD_SCOPE,
        )

    async def _thing(self, found: Found, stretch: _Stretch, read: BatchRead) -> ReadThing:
        """Return one thing that was read, with its message as the other readers read it."""
        stored = stretch.said[found.message]
        loaded = await self._store.read(lambda conn: self._understanding.load(conn, str(stored.id)))
        loaded = replace(loaded, stored=stored)
        prepared = await self._understanding.prepare(loaded)
        answered = None if found.answers is None else str(stretch.said[found.answers].id)
        reading = self._understanding.read(stored.message.text, prepared.sent_at)
        return ReadThing(
            found=found, prepared=prepared, reading=reading, answered=answered, engine=read.engine
        )


def _found(read: BatchRead) -> Sequence[Found]:
    return read.grounded.found if read.grounded else ()


def _shown(action: PendingAction, household: Household) -> Thing:
    """Return a card as a thing that is open."""
    said = extraction_from_record(action.proposal.extraction)
    at = None
    if said.dates:
        day = said.dates[0]
        at = datetime.combine(day, said.times[0], household.zone) if said.times else day
    return Thing(
        key=action.id,
        title=action.proposal.summary,
        at=at,
        who=tuple(household.names[each] for each in said.child if each in household.names),
        by=tuple(household.names[each] for each in said.owners if each in household.names),
    )
