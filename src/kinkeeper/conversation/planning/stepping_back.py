"""Somebody says that they cannot do what they are down for: they are to be taken off it, and what only would put them on ends. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from kinkeeper.conversation.model import TAKE_BACK
from kinkeeper.conversation.planning.case import (
    Case,
    Step,
    Thing,
    action,
    content_words,
    standing_events,
)
from kinkeeper.conversation.planning.people import members_in, without_people
from kinkeeper.conversation.planning.referents import target
from kinkeeper.conversation.planning.relative import proposed_anew
from kinkeeper.conversation.planning.told_events import day_of
from kinkeeper.reading.replies import asks_for_another, only_says_no, steps_back

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
    is_able = not steps_back(text)
    if case.context.open_edit or (is_able and not only_says_no(text)):
        return None
    duties = [each for each in _duties(case) if each.card or not is_able]
    cover = _adults(case)
    if cover and not asks_for_another(text):
        if not is_rest:
            return None
        cover = []
    return [step for each in _meant(duties, case) for step in _without(each, cover, case)] or None


def _duties(case: Case) -> Iterator[_Duty]:
    """Yield what the speaker is, or would be, in charge of, by its start."""
    me, fetched = case.context.asked.member.id, case.context.fetched
    cards = {
        (row["id"], row["original_start"]): one["action_id"]
        for row in fetched.get("events", ())
        for one in row.get("waiting", ())
        if one["action_id"] in fetched.get("cards", ())
        and {*one["claimed_by"], *one["asked"], *row["responsible"]} == {me}
    }
    for thing in standing_events(case.context):
        card = cards.get((thing.id, thing.original_start), "")
        if card or (me in thing.responsible and not thing.card):
            yield _Duty(thing, card)


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
    said = content_words(without_people(message.title(message.text), case))
    things = [
        each.id
        for each in standing_events(case.context)
        if said & content_words(without_people(each.title, case))
    ]
    if things:
        duties = [each for each in duties if each.thing.id in things]
    if day is not None or not duties:
        return duties
    return duties[:1] if named or things else _last_given(duties, case)


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
    if thing.card and cover:
        title = thing.title.replace(case.household.names[me], case.household.names[cover[0]])
        yield proposed_anew(thing, {"summary": title, **in_charge})
    elif not thing.card and (cover or not duty.card):
        yield action("calendar", "update_event", {**target(thing), "changes": in_charge})
