"""Everything that reads what people type, each as one call for the sample household."""

import asyncio
from collections.abc import Callable, Mapping
from functools import cache

import answered_turns
from kinkeeper.brain.answer_text import quote, statement
from kinkeeper.brain.question import asked_of, lacks_answer, read_question
from kinkeeper.conversation.answering import nothing_done
from kinkeeper.conversation.choice_words import chosen, only_chooses
from kinkeeper.conversation.context.topics import facts_of, gist_of, gloss_of
from kinkeeper.conversation.context.turn_context import read_focus, read_identity
from kinkeeper.conversation.model import LONGEST_READ
from kinkeeper.conversation.planning.audience_wishes import said_of_audience
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.conversation.routing.confirmation import read_confirmation, rethinks
from kinkeeper.conversation.routing.intent import read_social
from kinkeeper.conversation.routing.router import Router
from kinkeeper.conversation.taking_back import how_many, wants_undo
from kinkeeper.language.sorting.domains import DomainRouter
from kinkeeper.language.text import shorten, strip_controls, tokenise
from kinkeeper.mail.lookup import read_query
from kinkeeper.memory.extraction_job import pieces
from kinkeeper.memory.finding.shelf import traits_of
from kinkeeper.memory.finding.signals import periods_of, wants_of
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.statement_match import is_of_speaker, is_shared, own_voice
from kinkeeper.memory.statements.classification import classify, title_of
from kinkeeper.memory.statements.discretion import holds_sensitive
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.statements.relation import relate
from kinkeeper.memory.statements.secrecy import secrecy_of
from kinkeeper.models.embedding.embedder import HashingEmbedder
from kinkeeper.observer.extraction.rules_extractor import extract
from kinkeeper.observer.tripwire.gate import Tripwire, load_tripwire
from kinkeeper.observer.wording.message_parts import segments
from kinkeeper.observer.wording.message_view import read_message
from kinkeeper.observer.wording.participants import Participants, compile_participants
from kinkeeper.reading.asked import remarks_wanted
from kinkeeper.reading.corrections import calls_off, is_bare_value, reads_as_correction
from kinkeeper.reading.occasions import foods_in, foods_ruled_out, plans_birthday, whose_birthday
from kinkeeper.reading.replies import asks_for_owner, is_question, read_reply
from kinkeeper.reading.times import read as read_times
from kinkeeper.reading.wonder import wonders
from planning import WEDNESDAY, context, miller

NOW = WEDNESDAY.replace(tzinfo=miller().zone)
_NAMES = {"me": "Kin", "name": "John"}
_LABELS = ("Leo's soccer", "Mia's ballet")
_PARTS = 12


@cache
def _participants() -> Participants:
    return compile_participants(miller())


@cache
def _tripwire() -> Tripwire:
    return load_tripwire(_participants().lexicon)


def _noticed(text: str) -> None:
    """Read a title or a line of a list as idle thought does."""
    foods_in(text)
    foods_ruled_out(text)
    whose_birthday(text)
    plans_birthday(text)
    remarks_wanted(text)


def _first_look(text: str) -> None:
    """Read a message of the group as it comes in, before it is queued."""
    _tripwire().evidence(text)
    tokens = tokenise(text)
    mentions = _participants().lexicon.find(tokens)
    read_reply(tokens, mentions)
    is_question(tokens, text, ())
    asks_for_owner(tokens, text, mentions)
    reads_as_correction(tokens, mentions)
    calls_off(tokens)
    is_bare_value(tokens, mentions)
    wonders(tokens)


def _observed(text: str) -> None:
    known = _participants()
    reading = read_message(
        text, sent_at=NOW, lexicon=known.lexicon, locale="en-US", named_times=known.named_times
    )
    for part in segments(reading)[:_PARTS]:
        extract(part, sender=miller().member("john"), participants=known)


def _routed(text: str) -> None:
    asyncio.run(Router(None).route(text, open_question="Book it?"))


def _decided(text: str) -> None:
    read = text[:LONGEST_READ]
    read_confirmation(read, asked="Book the dentist?")
    rethinks(read)
    read_social(text)
    wants_undo(read)
    how_many(read)
    chosen(read, _LABELS)
    only_chooses(read, _LABELS)


def _planned(text: str) -> None:
    asyncio.run(Planners(None).plan(context(text[:LONGEST_READ])))


def _planned_in_private(text: str) -> None:
    secrecy_of(text, miller(), "john")
    said_of_audience(f"just for me, {text}"[:LONGEST_READ])
    said_of_audience(f"{text[: LONGEST_READ - 20]} just for me")


def _answered(text: str) -> None:
    answered_turns.answered(
        answered_turns.turn(text[:LONGEST_READ].encode(errors="replace").decode())
    )
    nothing_done.reply(text[:LONGEST_READ], turn="t", names=_NAMES)


def _gathered(text: str) -> None:
    gist_of(text, ())
    text = text[:LONGEST_READ]
    gloss_of(text)
    facts_of(text, ())
    read_identity(text)
    read_focus(text)


def _remembered(text: str) -> None:
    for _, piece in pieces(text):
        observe(piece, said_at=NOW)
    holds_sensitive(text)


def _related(text: str) -> None:
    relate(text, text[:-2])
    relate("Leo likes soccer", text)
    relate(text, "Leo likes soccer")
    classify(text)
    title_of(text)


def _searched(text: str) -> None:
    text = text[:LONGEST_READ]
    stems(text)
    traits_of(text)
    periods_of(text, NOW)
    wants_of(text)
    own_voice(text, "john")
    is_of_speaker(text)
    is_shared(text)


def _asked(text: str) -> None:
    text = text[:LONGEST_READ]
    read_question(text, miller(), now=NOW)
    asked_of(text, miller(), "john")
    lacks_answer(text, text)
    quote(text, speaker="Leo", said_at=NOW, zone=miller().zone)
    statement(text, speaker="Leo")


def _shown(text: str) -> None:
    shorten(strip_controls(text), 200)


def _sorted(text: str) -> None:
    asyncio.run(DomainRouter(None).route([text]))


def _embedded(text: str) -> None:
    asyncio.run(HashingEmbedder().embed([text.encode(errors="replace").decode()]))


READERS: Mapping[str, Callable[[str], object]] = {
    "first look": _first_look,
    "observer": _observed,
    "times": lambda text: read_times(text, NOW),
    "mail query": lambda text: read_query(text[:LONGEST_READ], NOW, locale="en-US"),
    "routing": _routed,
    "decisions": _decided,
    "planning": _planned,
    "privacy": _planned_in_private,
    "answer": _answered,
    "talk context": _gathered,
    "memory": _remembered,
    "relation": _related,
    "search": _searched,
    "question": _asked,
    "sorting": _sorted,
    "showing": _shown,
    "embedding": _embedded,
    "noticing": _noticed,
}
"""By name; each cuts the text as its callers do."""

IN_THREADS = frozenset({"observer", "times", "planning", "memory", "privacy"})
"""Readers of long texts that never run on the event loop."""
