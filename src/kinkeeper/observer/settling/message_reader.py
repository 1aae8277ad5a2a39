"""Reads a queued message by rules, trained reader and a model's opinion: the half of tier 2 that writes nothing."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Protocol

from sqlalchemy import Connection

from kinkeeper.actions.bars import offsets_at
from kinkeeper.actions.repository import open_titles
from kinkeeper.actions.written_audience import known_in_group
from kinkeeper.core.beside import read_beside
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import Viewer, kept_to
from kinkeeper.language.text import tokenise
from kinkeeper.memory.statements.secrecy import secrecy_of, wished_scope
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer import repository
from kinkeeper.observer.answers import questions
from kinkeeper.observer.answers.attribution import as_answer
from kinkeeper.observer.arrangement_rows import Arranged, arranged_in
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.consultation import Consultation
from kinkeeper.observer.extraction.completion import Earlier, continued, needs_context
from kinkeeper.observer.extraction.frame_extraction import (
    Seen,
    answer_in,
    filled,
    plans_in,
    seen_in,
)
from kinkeeper.observer.extraction.model_grounding import Offer, added_to, offer_of
from kinkeeper.observer.extraction.prepared import (
    MOST_PARTS,
    Around,
    BrainContext,
    ContextSource,
    Loaded,
    Part,
    Prepared,
    Thresholds,
    compose_queries,
    heard_in,
)
from kinkeeper.observer.extraction.rules_extractor import extract
from kinkeeper.observer.extraction.setting_right import SetRight, exchanged, set_right
from kinkeeper.observer.model import Extraction, OpenQuestion, Stance
from kinkeeper.observer.settling.prior_claims import attribute_part
from kinkeeper.observer.wording.message_parts import segments
from kinkeeper.observer.wording.message_view import Reading, read_message
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.reading.corrections import (
    calls_off,
    exchanges_owners,
    is_given_up,
    reads_as_correction,
)
from kinkeeper.reading.encoder import MOST_ITEMS
from kinkeeper.reading.modality import Force, force_of_news
from kinkeeper.reading.replies import is_question

# Puts what the trained reader sees beside what the rules read: it fills gaps, and adds what they
# missed for a person to confirm. Pure.

_OWN_OF_RULES = frozenset({Stance.DECLINES, Stance.WITHDRAWS, Stance.ACCEPTS})


def read_along(
    prepared: Prepared,
    reading: Reading,
    *,
    asked: Sequence[OpenQuestion],
    participants: Participants,
    config: ObserverConfig,
) -> list[Part]:
    """Return the parts of a message with what the trained reader adds.

    Where the rules find an arrangement or an answer, they stay in charge.

    Args:
        asked: Questions that it may answer, newest first.
    """
    parts = list(prepared.parts)
    seen = seen_in(prepared.heard, participants)
    settled = [
        _filled(each, seen, reading, participants)
        for each in parts
        if _is_settled(prepared, each, asked, config)
    ]
    left = [each for each in seen if not any(part.covers(each.frame.clause) for part in settled)]
    plans = [
        Part(reading=reading, extraction=each)
        for each in plans_in(left, reading, prepared.member, participants)
        if each.confidence >= prepared.thresholds.of(each)
    ]
    if settled or plans:
        return _with_consultation([*settled, *plans][:MOST_PARTS], parts)
    answer = answer_in(seen)
    members = [each for each in asked if participants.household.member(each.asker)]
    if answer is None or not any(each.message_id == answer[1] for each in members):
        return parts  # what a stranger offers is taken up by plain words alone
    stance, answers = answer
    return [
        replace(
            parts[0], extraction=Extraction(is_coordination=False, stance=stance), answers=answers
        )
    ]


def _with_consultation(chosen: list[Part], parts: Sequence[Part]) -> list[Part]:
    """Return the chosen parts with the one question that a model was asked, if its own part gave way."""
    asked = next((each.consultation for each in parts if each.consultation), None)
    if asked is not None and not any(each.consultation for each in chosen):
        chosen[0] = replace(chosen[0], consultation=asked)
    return chosen


def _is_settled(
    prepared: Prepared, part: Part, asked: Sequence[OpenQuestion], config: ObserverConfig
) -> bool:
    """Whether the rules are sure of a part: it arranges something, answers a question, sets right, or refuses."""
    said = part.extraction
    # What was learned of cards decides whether one is shown, not who reads a message.
    is_arranged = said.is_coordination and said.confidence >= config.extraction_threshold
    if is_arranged or part.corrects or said.stance in _OWN_OF_RULES:
        return True
    return attribute_part(prepared, part, asked, config).question is not None


def _filled(part: Part, seen: Sequence[Seen], reading: Reading, participants: Participants) -> Part:
    """Return a part with what the frames of its own words add."""
    if not part.reading.symbols or part.corrects:
        return part
    own = [each for each in seen if part.covers(each.frame.clause)]
    extraction = filled(part.extraction, own, reading, participants)
    return replace(part, extraction=extraction, by_rules=part.extraction)


_SAME_SUBJECT = timedelta(hours=6)
_SAME_TALK = timedelta(days=1)
_MOST_EARLIER = 8


class Extractor(Protocol):
    """Reads who does what, when, for whom, out of one message."""

    async def extract(
        self, reading: Reading, *, sender: Member | None, participants: Participants
    ) -> Extraction:
        """Return the extraction; never raises for what the text says."""
        ...

    async def reconsider(self, part: Part, around: Around) -> Part:
        """Return the arrangement after a second look, with all that is known around it."""
        ...


class RulesExtractor:
    """The deterministic extractor: no model, no network."""

    async def extract(
        self, reading: Reading, *, sender: Member | None, participants: Participants
    ) -> Extraction:
        """Return what the rules read."""
        return extract(reading, sender=sender, participants=participants)

    async def reconsider(self, part: Part, around: Around) -> Part:
        """Return it as it is: the rules look once."""
        return part


class Understanding:
    """Reads the queued messages of one household."""

    def __init__(
        self,
        participants: Participants,
        config: ObserverConfig,
        extractor: Extractor,
        context: ContextSource,
    ) -> None:
        self._participants = participants
        self._household = participants.household.id
        self._zone = participants.household.zone
        self._config = config
        self._extractor = extractor
        self._context = context

    def load(self, conn: Connection, row_id: str) -> Loaded:
        """Return a message with what surrounds it.

        Raises:
            NotFoundError: There is no such message.
        """
        stored = inbox.load(conn, self._household, int(row_id))
        row = repository.find(conn, self._household, row_id)
        if stored is None or row is None:
            raise NotFoundError(f"there is no message row {row_id!r}")
        message = stored.message
        original = None
        if message.kind is MessageKind.EDIT and message.target is not None:
            earlier = inbox.find_by_message_id(
                conn, self._household, message.target, chat_id=message.chat_id
            )
            original = earlier[0] if earlier else None
        window = [
            inbox.load(conn, self._household, int(each)) for each in reversed(row.context_window)
        ]
        asked = questions.open_for(conn, self._household, stored.message, except_for=stored.id)
        refused = (
            repository.refused_by(
                conn,
                self._household,
                message.chat_id,
                sender=message.sender,
                since=asked[-1].asked_at,
            )
            if asked
            else frozenset()
        )
        return Loaded(
            stored=stored,
            known=known_in_group(conn, self._participants.household, message),
            original=original,
            asked=asked,
            refused=refused,
            window=[each for each in window if each is not None],
            last_child=self._last_child(conn, stored),
            arranged=self._arranged(conn, stored),
            talk=inbox.said_before(
                conn, self._household, original or stored, within=_SAME_TALK, limit=_MOST_EARLIER
            ),
            items=open_titles(
                conn,
                Viewer.of(self._household),
                message.chat_id,
                now=row.created_at,
                limit=MOST_ITEMS,
            ),
            offsets=offsets_at(conn, self._household, row.created_at),
        )

    def _arranged(self, conn: Connection, stored: StoredMessage) -> Sequence[Arranged]:
        """What a message may set right; nothing where it does not read as a correction. An adult alone calls off what others arranged."""
        message = stored.message
        tokens = tokenise(message.text)
        reads_so = reads_as_correction(tokens, self._participants.lexicon.find(tokens))
        reads_so |= exchanges_owners(message.text)
        if not (reads_so or any(is_given_up(message.text, each.start) for each in tokens)):
            return ()
        is_news, people = calls_off(tokens), self._participants.household.members_by_word
        if (
            is_news
            and force_of_news(message.text, 0, len(message.text), people) is not Force.ASSERTED
        ):
            return ()
        found = arranged_in(
            conn,
            self._household,
            message.chat_id,
            since=message.sent_at - self._config.open_question_window,
            before=message.sent_at,
        )
        member = self._participants.household.member(message.sender)
        may_change = not is_news or (member is not None and member.is_adult)
        return [each for each in found if may_change or each.sender == message.sender]

    def _last_child(self, conn: Connection, stored: StoredMessage) -> str | None:
        message = stored.message
        record = repository.last_extraction(
            conn,
            self._household,
            message.chat_id,
            since=message.sent_at - _SAME_SUBJECT,
            before=message.sent_at,
            except_for=str(stored.id),
        )
        children = record["child"] if record else []
        return children[0] if len(children) == 1 else None

    async def prepare(self, loaded: Loaded) -> Prepared:
        """Read a message and ask memory about it. May wait; writes nothing."""
        household = self._participants.household
        stored = loaded.stored
        spoken = (loaded.original or stored).message.sent_at
        member = household.member(stored.message.sender) if stored.is_member else None
        reading, found = await self._parted(stored.message, spoken.astimezone(self._zone))
        read = found[:MOST_PARTS]
        pair = exchanged(reading, loaded.arranged, sender=stored.message.sender)
        parts = [_corrected(reading, each) for each in pair] or _sharing_days(
            [await self._part(each, member, loaded) for each in read]
        )
        parts = await self._reconsidered(parts, member, loaded)
        heard, is_heard = await heard_in(loaded, household)
        prepared = Prepared(
            stored=stored,
            original=loaded.original,
            sent_at=reading.sent_at,
            member=member,
            scope=await self._scope(loaded),
            parts=tuple(parts),
            brain=BrainContext(),
            talked_since=_last_asked(loaded, household.members_by_word),
            refused=loaded.refused,
            unread_parts=len(found) - len(read),
            heard=heard,
            is_heard=is_heard,
            thresholds=self._thresholds(loaded),
        )
        parts = await read_beside(
            reading.text,
            lambda: read_along(
                prepared,
                reading,
                asked=loaded.asked,
                participants=self._participants,
                config=self._config,
            ),
        )
        prepared = replace(prepared, parts=tuple(parts))
        outcome = attribute_part(prepared, parts[0], loaded.asked, self._config)
        queries = compose_queries(
            outcome.extraction, self._participants, limit=self._config.max_brain_queries
        )
        texts = tuple(query.text for query in queries)
        parts[0] = replace(parts[0], extraction=replace(parts[0].extraction, brain_queries=texts))
        return replace(prepared, parts=tuple(parts), brain=await self._context.ask(queries))

    async def _scope(self, loaded: Loaded) -> str:
        """Return who may see what a message tells; read once, and before anything is written."""
        household, message = self._participants.household, loaded.stored.message
        wished = await read_beside(
            message.text,
            lambda: wished_scope(message.text, household, message.sender, is_group=True),
        )
        return kept_to(loaded.known, wished)

    async def _part(self, reading: Reading, member: Member | None, loaded: Loaded) -> Part:
        await asyncio.sleep(0)  # each takes milliseconds: others have their turn before the next
        extraction = await self._extractor.extract(
            reading, sender=member, participants=self._participants
        )
        message = loaded.stored.message
        if message.kind is MessageKind.TEXT and (
            right := set_right(
                reading,
                extraction,
                loaded.arranged,
                sender=message.sender,
                answers=message.reply_to,
            )
        ):
            return _corrected(reading, right)
        if needs_context(reading, extraction):
            extraction = continued(
                reading,
                extraction,
                self._window(loaded),
                last_child=loaded.last_child,
                participants=self._participants,
            )
        return Part(reading=reading, extraction=as_answer(reading, extraction))

    async def _reconsidered(
        self, parts: Sequence[Part], member: Member | None, loaded: Loaded
    ) -> list[Part]:
        """Look at each part again, until one needed a model: one question a message, as each takes seconds."""
        earlier = cache(lambda: self._window(loaded))
        looked: list[Part] = []
        for number, part in enumerate(parts):
            around = Around(
                number=number,
                loaded=loaded,
                sender=member,
                participants=self._participants,
                earlier=earlier,
                thresholds=self._thresholds(loaded),
            )
            is_asked = any(each.consultation for each in looked)
            looked.append(part if is_asked else await self._extractor.reconsider(part, around))
        return looked

    def _thresholds(self, loaded: Loaded) -> Thresholds:
        return Thresholds(shipped=self._config.extraction_threshold, offsets=loaded.offsets)

    def _window(self, loaded: Loaded) -> list[Earlier]:
        return [self._earlier(each, loaded.stored) for each in loaded.window]

    def _earlier(self, stored: StoredMessage, present: StoredMessage) -> Earlier:
        message = stored.message
        member = self._participants.household.member(message.sender) if stored.is_member else None
        reading = self.read(message.text, message.sent_at.astimezone(self._zone))
        return Earlier(
            reading=reading,
            extraction=extract(reading, sender=member, participants=self._participants),
            is_same_sender=message.sender == present.message.sender,
        )

    async def _parted(
        self, message: InboundMessage, sent_at: datetime
    ) -> tuple[Reading, Sequence[Reading]]:
        """Read a message as a whole and by what each part arranges; a long one without holding up others.

        From whom it is to be kept is no part of what it tells: they take no part in that.
        """
        household = self._participants.household

        def work() -> tuple[Reading, Sequence[Reading]]:
            wish = secrecy_of(message.text, household, message.sender, is_group=True)
            reading = self.read((wish and wish.rest) or message.text, sent_at)
            return reading, segments(reading)

        return await read_beside(message.text, work)

    def read(self, text: str, sent_at: datetime) -> Reading:
        """Return a text as the rules read it.

        Args:
            sent_at: When it was said, aware, in the household's zone.
        """
        participants = self._participants
        first = read_message(
            text,
            sent_at=sent_at,
            lexicon=participants.lexicon,
            locale=participants.household.locale,
            named_times=participants.named_times,
        )
        hours = [
            participants.usual_hours[mention.id]
            for mention in first.of_kind("activity")
            if mention.id in participants.usual_hours
        ]
        if not hours or all(span.is_meridiem_known for span in first.spans):
            return first
        return read_message(
            text,
            sent_at=sent_at,
            lexicon=participants.lexicon,
            locale=participants.household.locale,
            named_times=participants.named_times,
            usual_hour=hours[0],
        )


def _last_asked(loaded: Loaded, people: Collection[str]) -> datetime | None:
    """When somebody other than the sender last asked anything, of the messages just before."""
    sender = loaded.stored.message.sender
    return next(
        (
            each.message.sent_at
            for each in loaded.window
            if each.message.sender != sender
            and is_question(tokenise(each.message.text), each.message.text, people)
        ),
        None,
    )


def _corrected(reading: Reading, right: SetRight) -> Part:
    return Part(
        reading=reading, extraction=right.extraction, corrects=right.rows, corrected=right.job
    )


def _sharing_days(parts: list[Part]) -> list[Part]:
    """Give the parts that name no day the day of the others ("I'll get Leo and you get Mia Tuesday")."""
    dates = next((part.extraction.dates for part in parts if part.extraction.named_dates), ())
    return [
        part
        if part.extraction.named_dates
        else replace(
            part,
            extraction=replace(
                part.extraction,
                dates=dates or part.extraction.dates,
                is_day_implied=part.extraction.is_day_implied and not dates,
            ),
        )
        for part in parts
    ]


# What a model said about an arrangement, put to use: when it is asked, and again when the decision
# is proved.


def offered(part: Part, around: Around) -> Offer:
    """Return what a model may choose from for one arrangement."""
    return offer_of(
        part.reading,
        part.extraction,
        sender=around.sender,
        earlier=around.earlier(),
        asked=around.loaded.asked,
        participants=around.participants,
    )


def reconsidered(part: Part, around: Around, consultation: Consultation, offer: Offer) -> Part:
    """Return an arrangement with what a model adds, and the record of it.

    An answer of which too much has no ground never costs an arrangement its place that counted without it.
    """
    extraction = added_to(part.extraction, consultation, offer, sender=around.sender)
    threshold = around.thresholds.of(part.extraction)
    if extraction.confidence < threshold <= part.extraction.confidence:
        extraction = part.extraction
    return replace(part, extraction=extraction, consultation=consultation)


class RecordedExtractor(RulesExtractor):
    """The rules, and for what a model was asked then its answer of then.

    Args:
        consultations: Recorded with the message.
    """

    def __init__(self, consultations: Sequence[Consultation]) -> None:
        self._consultations = {each.part: each for each in consultations}

    async def reconsider(self, part: Part, around: Around) -> Part:
        """Return the arrangement with what the model added then."""
        consultation = self._consultations.get(around.number)
        if consultation is None:
            return part
        return reconsidered(part, around, consultation, offered(part, around))
