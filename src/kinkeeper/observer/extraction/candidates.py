"""What a model may choose from: the days and times that the rules found, and who and what is known. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import TypeVar

from kinkeeper.household.model import Member
from kinkeeper.observer.extraction.continuation import Earlier
from kinkeeper.observer.model import Extraction, OpenQuestion
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants

_T = TypeVar("_T")

_FIRST_PERSON = re.compile(r"(?<!\w)(?:i|me|my|mine|myself|we|us|our)(?!\w)")
_THIRD_PERSON = re.compile(r"(?<!\w)(?:he|she|they|him|her|them)(?!\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What there is to choose from for one arrangement.

    Attributes:
        dates: Days by key, "d1" first; from the message, then from the talk before it.
        times: Times of day by key, "t1" first.
        owners: Ids of the adults whom the message names, by name, as "I" or as "she".
        children: Ids of the children whom the message or the talk before it names; of a household with one, that one.
        activities: Ids of the household's activities, and generic ones that the message names.
        places: Ids of the household's places.
        spoken_of: Ids that the message or the talk before it names.
    """

    dates: Mapping[str, date]
    times: Mapping[str, time]
    owners: tuple[str, ...]
    children: tuple[str, ...]
    activities: tuple[str, ...]
    places: tuple[str, ...]
    spoken_of: frozenset[str]


def offer_of(
    reading: Reading,
    extraction: Extraction,
    *,
    sender: Member | None,
    earlier: Sequence[Earlier],
    asked: Sequence[OpenQuestion],
    participants: Participants,
) -> Offer:
    """Return what a model may choose from.

    Args:
        reading: The arrangement's words.
        extraction: What the rules make of them.
        sender: Who wrote them, if known.
        earlier: The messages before, newest first.
        asked: The open questions, newest first.
        participants: The household compiled.
    """
    household = participants.household
    before = [each.extraction for each in earlier] + [each.extraction for each in asked]
    readings = [reading, *(each.reading for each in earlier)]
    spoken_of = set(_named(readings, before, participants))
    own = [mention.id for mention in reading.of_kind("activity", "generic")]
    return Offer(
        dates=_keyed("d", _dates(readings, [extraction, *before])),
        times=_keyed("t", _times(readings, [extraction, *before])),
        owners=tuple(
            each.id for each in household.adults if each.id in _persons(reading, sender, spoken_of)
        ),
        children=tuple(
            child.id
            for child in household.children
            if child.id in spoken_of or len(household.children) == 1
        ),
        activities=tuple(dict.fromkeys([*(each.id for each in household.activities), *own])),
        places=tuple(place.id for place in household.places),
        spoken_of=frozenset(spoken_of),
    )


def _persons(reading: Reading, sender: Member | None, spoken_of: set[str]) -> set[str]:
    """Return who can be meant as the one who does it: a name, "I", or "she" for somebody named before."""
    persons = {mention.id for mention in reading.of_kind("adult")}
    if sender is not None and _FIRST_PERSON.search(reading.skeleton):
        persons.add(sender.id)
    return persons | spoken_of if _THIRD_PERSON.search(reading.skeleton) else persons


def _named(
    readings: Iterable[Reading], before: Iterable[Extraction], participants: Participants
) -> Iterator[str]:
    for reading in readings:
        yield from (mention.id for mention in reading.mentions)
        yield from participants.children_of(reading.mentions)
    for said in before:
        yield from (*said.child, *said.owners)
        yield from (each for each in (said.activity, said.location, said.addressee) if each)


def _dates(readings: Iterable[Reading], said: Iterable[Extraction]) -> Iterator[date]:
    for each in said:
        yield from each.named_dates
    for reading in readings:
        yield from (span.begin.date() for span in reading.spans if span.has_date)


def _times(readings: Iterable[Reading], said: Iterable[Extraction]) -> Iterator[time]:
    for each in said:
        yield from each.times
    for reading in readings:
        yield from (span.begin.time() for span in reading.spans if span.has_time)


def _keyed(letter: str, values: Iterable[_T]) -> dict[str, _T]:
    return {
        f"{letter}{number}": value for number, value in enumerate(dict.fromkeys(values), start=1)
    }
