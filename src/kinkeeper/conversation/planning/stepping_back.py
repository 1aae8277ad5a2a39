"""Somebody says that they cannot do what they are down for: they are to be taken off it, and what only would put them on ends. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from kinkeeper.calendar.model import Change
from kinkeeper.conversation.model import TAKE_BACK
from kinkeeper.conversation.planning.case import (
    Case,
    Step,
    Thing,
    action,
    content_words,
    standing_events,
)
from kinkeeper.conversation.planning.event_updates import News, told_of
from kinkeeper.conversation.planning.people import members_in, without_people
from kinkeeper.conversation.planning.referents import target
from kinkeeper.conversation.planning.relative import proposed_anew
from kinkeeper.conversation.planning.told_events import Meant, day_of
from kinkeeper.language.text import tokenise
from kinkeeper.reading.modality import Modality, modality_of
from kinkeeper.reading.replies import (
    ReplyKind,
    asks_for_another,
    only_says_no,
    read_reply,
    steps_back,
    words_for_fetching,
)

_WEEK: Final = timedelta(days=7)
_FRESH: Final = timedelta(minutes=10)
"""How long a bare "I can't" may answer what its thread spoke of last."""


@dataclass(frozen=True, slots=True)
class _Duty:
    """Something that the speaker is in charge of, or would be.

    Attributes:
        card: Id of the action that would put them in charge; empty where they are.
    """

    thing: Thing
    card: str


def stepped_back(case: Case, *, is_rest: bool = False) -> list[Step] | None:
    """Return what it comes to that the speaker cannot do what they are, or would be, in charge of; None where they do not say so.

    A day, a child or a word of its title tells which duty is meant; a bare "I can't" means the last one that they were
    given today. "No" alone only turns down what still waits.

    Args:
        is_rest: Whether nothing else was made of it: "Gran drives him, not me" says more.
    """
    text = case.context.text
    is_able = not (steps_back(text) or _would_but_is_taken(text))
    if case.context.open_edit or (is_able and not only_says_no(text)):
        return None
    duties = [each for each in _duties(case) if each.card or not is_able]
    cover = _adults(case)
    if cover and not asks_for_another(text):
        if not is_rest:
            return None
        cover = []
    return [step for each in _meant(duties, case) for step in _without(each, cover, case)] or None


def _would_but_is_taken(text: str) -> bool:
    """Whether a message says what its speaker would do, were there not something else: "I'd do it, but I'm on call"."""
    before, _, after = text.partition(" but ")
    reply = read_reply(tokenise(after))
    is_taken = reply is not None and reply.kind is ReplyKind.DECLINE
    return is_taken and modality_of(before) is Modality.HYPOTHETICAL


def _duties(case: Case) -> Iterator[_Duty]:
    """Yield what the speaker is, or would be, in charge of, by its start."""
    me, fetched = case.context.asked.member.id, case.context.fetched
    cards = {
        (row["id"], row["original_start"]): one["action_id"]
        for row in (*fetched.get("events", ()), *fetched.get("later", ()))
        for one in row.get("waiting", ())
        if one["action_id"] in fetched.get("cards", ()) and _puts_on(one, row, me)
    }
    for thing in standing_events(case.context, with_later=True):
        card = cards.get((thing.id, thing.original_start), "")
        if card or (me in thing.responsible and not thing.card):
            yield _Duty(thing, card)


def _puts_on(waiting: Mapping[str, Any], row: Mapping[str, Any], me: str) -> bool:
    """Whether nothing but a proposal puts somebody, and nobody else, in charge: not one that moves or ends what they are in charge of."""
    given = {*waiting["claimed_by"], *waiting["asked"]}
    if waiting["change"] == Change.ADD:
        given.update(row["responsible"])
    elif me in row["responsible"]:
        return False
    return given == {me}


def _meant(duties: Sequence[_Duty], case: Case) -> Sequence[_Duty]:
    """Return the duties that a message speaks of; none where it speaks of something else."""
    message, me = case.message, case.context.asked.member
    day = next((each for each in message.times(message.text) if each.has_date), None)
    if day is not None:
        # Of "something came up on Tuesday" the day is to come.
        first = day.begin if day.until > case.now else day.begin + _WEEK
        until = first + (day.until - day.begin)
        duties = [
            each
            for each in duties
            if first.date() <= day_of(each.thing) < until.date()
            or day_of(each.thing) == first.date()
        ]
    children = {each.id for each in case.household.children if each.id != me.id}
    named = children.intersection(members_in(case.context.text, case))
    if named:
        duties = [each for each in duties if named.intersection(each.thing.who)]
    things, is_named = _named(case)
    if is_named and not things:
        return []
    if things:
        duties = [each for each in duties if each.thing.id in things]
    if day is not None or not duties:
        return duties
    return duties[:1] if named or things else _last_given(duties, case)


def _named(case: Case) -> tuple[Sequence[str], bool]:
    """Return the ids of the events that are called what a message says, and whether it names what cannot be done."""
    me, text = case.context.asked.member.id, case.message.text
    news = [each for each in told_of(text, case) if each.news is News.WITHOUT and me in each.who]
    about = next((words for each in news if (words := _words(each.about, case))), frozenset())
    said = about or _words(text, case)
    shared = {
        each.id: len(said & _words(each.title, case))
        for each in standing_events(case.context, with_later=True)
    }
    closest = max((1, *shared.values()))
    found = [id_ for id_, number in shared.items() if number == closest]
    if about and not found:
        found = [event.id for each in news for event in Meant(each, case).events]
    return found, not about <= words_for_fetching()


def _words(text: str, case: Case) -> frozenset[str]:
    return content_words(without_people(case.message.title(text), case))


def _last_given(duties: Sequence[_Duty], case: Case) -> Sequence[_Duty]:
    """Return the duty that was given last today, unless the thread has just spoken of something else."""
    given = case.context.fetched.get("given", ())
    last = [each for id_ in given[:1] for each in duties if each.thing.id == id_][:1]
    before = case.context.history[-1] if case.context.history else None
    if before is None or case.now - before.at > _FRESH:
        return last
    return [each for each in last if each.thing.title.lower() in before.answer.lower()]


def _adults(case: Case) -> list[str]:
    """Return who is named to do it instead."""
    me, adults = case.context.asked.member.id, {each.id for each in case.household.adults}
    return [each for each in members_in(case.context.text, case) if each in adults - {me}]


def _without(duty: _Duty, cover: Sequence[str], case: Case) -> Iterator[Step]:
    """Yield what takes the speaker off a duty, and puts those on it who are to do it instead."""
    thing, me = duty.thing, case.context.asked.member.id
    if duty.card:
        yield action(*TAKE_BACK, {"action_id": duty.card})
    others = [each for each in thing.responsible if each != me]
    in_charge = {"responsible": [*others, *cover]}
    mine = case.household.names[me]
    if thing.card and cover:
        title = thing.title.replace(mine, case.household.names[cover[0]])
        yield proposed_anew(thing, {"summary": title, **in_charge})
    elif thing.card and mine not in thing.title and {*thing.who} - {me}:
        yield proposed_anew(thing, in_charge)  # the others still go
    elif not thing.card and (cover or not duty.card):
        yield action("calendar", "update_event", {**target(thing), "changes": in_charge})
