"""Which open thing a message names that nothing was done about: a card, an event, a task or a line of a list.

A question that calendar, tasks and memory do not answer is put to the same things, by the words for a deed and for who
does it ("tuned", "tuner") and, where there is an embedder, by meaning.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from operator import itemgetter

from sqlalchemy import Connection

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.readers import Reader, waiting_for
from kinkeeper.actions.requests.event_views import occurrence_json
from kinkeeper.brain.question import ASPECTS
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.conversation.model import Nearest, PlanningContext
from kinkeeper.conversation.planning.case import Case, case_of
from kinkeeper.conversation.planning.message import times_in
from kinkeeper.conversation.planning.people import members_in, without_people
from kinkeeper.conversation.planning.rule_planner import vocabulary_of
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Interval
from kinkeeper.household.model import Role
from kinkeeper.language.text import texts_within
from kinkeeper.memory.finding.terms import stems, words
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.notes.model import entries
from kinkeeper.notes.repository import list_notes
from kinkeeper.reading.coreference import root_of
from kinkeeper.tasks.repository import open_tasks

_AHEAD, _ASKED_AHEAD = timedelta(days=14), timedelta(days=62)
_DAY = timedelta(days=1)
_MOST = 100
_SURE = 2
"""So many words in common name a thing, even where another shares one of them."""

_NEAR_IN_MEANING, _COMPARED = 0.8, "a {} appointment"
"""Cosine from which the words of a question and of a thing mean the same, and the phrase in which they are compared:
"dental" and "dentist" .96, "teeth" and "dentist" .92, "lunch" and "dinner" .79, "piano tuned" and "piano lesson" .72.
"""

_MINE = re.compile(r"\b(?:my|mine|our|ours)\b", re.IGNORECASE)
_JOINED = re.compile(r"\b(?:for|of|with|at|to|from|by|in|on|about|and)\b", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?![\d-])")
_TITLES = ("summary", "title", "find_by", "line", "body")
_READ = ("dates", "child", "assigned_to")


@dataclass(frozen=True, slots=True)
class _Thing:
    """Something open, and what it is about.

    Attributes:
        near: As it is shown.
        named: Its words without its day and what a card does with it.
        people: Ids of whom it concerns.
        days: On which it takes place or is due.
        is_deed: Whether it is something to do, whose title begins with the deed and whose day is the last one for it.
    """

    near: Nearest
    named: str
    people: frozenset[str] = frozenset()
    days: frozenset[date] = frozenset()
    is_deed: bool = False


@dataclass(frozen=True, slots=True)
class _Naming:
    """What a text names: roots of content words, people and days.

    Attributes:
        people: Ids.
        days: Days.
    """

    words: Mapping[str, str]
    people: frozenset[str]
    days: frozenset[date]


@dataclass(frozen=True, slots=True)
class Sought:
    """A message that may name one of the open things.

    Attributes:
        things: That fit, nobody else's and of no other day.
        is_asked: Whether it asks for something: then a word that a thing lacks tells it from the thing.
        near: The one that its words name, if they name one beyond doubt.
    """

    said: _Naming
    things: Sequence[_Thing]
    own: Sequence[_Naming]
    is_asked: bool
    near: Nearest | None


@dataclass(frozen=True, slots=True)
class _Match:
    """What a thing and a message have in common.

    Attributes:
        common: Those that the message has too.
        agreeing: Of people and days, how many agree.
        unknown: Of people and days, how many the message names and the thing does not.
    """

    thing: _Thing
    own: frozenset[str]
    common: frozenset[str]
    agreeing: int
    unknown: int

    @property
    def rank(self) -> tuple[int, int, float]:
        return len(self.common), self.agreeing, len(self.common) / len(self.own)


async def near_in_meaning(sought: Sought, embedder: Embedder | None) -> Nearest | None:
    """Return the open thing that a message names; of a question that names none by its words, the one nearest in meaning.

    Args:
        sought: As `seek` returns it.
        embedder: Compares meanings; None compares words alone.
    """
    of_words = {
        " ".join(own.words.values()): thing
        for thing, own in zip(sought.things, sought.own, strict=True)
        if own.words and thing.near.kind != "line"
    }
    if sought.near or not sought.is_asked or embedder is None or not of_words:
        return sought.near
    asked_for = " ".join(sought.said.words.values())
    try:
        asked, *known = await embedder.embed(
            [_COMPARED.format(each) for each in (asked_for, *of_words)]
        )
    except UnavailableError:
        return None
    likeness, near = max(
        zip((float(asked @ each) for each in known), of_words.values(), strict=True),
        key=itemgetter(0),
    )
    return near.near if likeness >= _NEAR_IN_MEANING else None


def seek(conn: Connection, context: PlanningContext, *, is_asked: bool = False) -> Sought | None:
    """Return the open things that a message may name, and the one that it names beyond doubt.

    It shares two words with the message, or the word that says what it is and that no other open thing has; and
    neither its people nor its days contradict the message. A question's own words must not tell more than that word.

    Args:
        is_asked: Whether it is a question.
    """
    case = case_of(context, vocabulary_of(context.asked.household))
    said = _naming(context.text, case, without=ASPECTS if is_asked else frozenset())
    if not said.words:
        return None
    naming = cache(lambda named: _naming(named, case))  # a series has the same words on every day
    named = ((thing, naming(thing.named)) for thing in _all(conn, case, is_asked=is_asked))
    fitting = [each for each in named if not _is_ruled_out(*each, said, case)]
    matches = [found for each in fitting if (found := _match(*each, said))]
    different = {match.own: match.common for match in matches}
    sharing = Counter(word for common in different.values() for word in common)
    sure = [match for match in matches if _is_named(match, sharing, said, is_asked=is_asked)]
    best = max(sure, key=lambda match: match.rank, default=None)
    return Sought(
        said,
        [thing for thing, _ in fitting],
        [own for _, own in fitting],
        is_asked,
        _with_shared_words(best, sure, said) if best is not None else None,
    )


def _with_shared_words(best: _Match, sure: Sequence[_Match], said: _Naming) -> Nearest:
    """Return the best match, with the words that name others of its kind just as well."""
    near = best.thing.near
    equal = {
        (each.thing.near.title, each.thing.near.where)
        for each in sure
        if (each.common, each.agreeing) == (best.common, best.agreeing)
        and each.thing.near.kind == near.kind
    }
    shared = " ".join(word for root, word in said.words.items() if root in best.common)
    return replace(near, words=shared) if len(equal) > 1 else near


def _naming(text: str, case: Case, *, without: frozenset[str] = frozenset()) -> _Naming:
    spans = times_in(text, case.now, case.household)
    rest = without_people(text, case)
    contacts = (name for each in case.household.contacts for name in (each.name, *each.aliases))
    no_content = without.union(
        *(stems(part) for part in (*contacts, *(each.surface for each in spans)))
    )
    mine = {case.context.asked.member.id} if _MINE.search(text) else set()
    return _Naming(
        words={
            root_of(stem): word
            for word in words(rest)
            for stem in stems(word)
            if stem not in no_content
        },
        people=frozenset({*members_in(text, case), *mine}),
        days=frozenset(
            each.begin.date() for each in spans if each.has_date and each.until - each.begin <= _DAY
        ),
    )


def _is_ruled_out(thing: _Thing, own: _Naming, said: _Naming, case: Case) -> bool:
    """Whether a message speaks of somebody else, or of another day."""
    return _are_others(thing.people | own.people, said.people, case) or _is_another_day(
        thing, thing.days | own.days, said, case
    )


def _match(thing: _Thing, own: _Naming, said: _Naming) -> _Match | None:
    """Return what a thing has in common with a message; None where that is nothing."""
    people, days = thing.people | own.people, thing.days | own.days
    common = frozenset(own.words.keys() & said.words.keys())
    if not common:
        return None
    agreeing = (not people.isdisjoint(said.people)) + (not days.isdisjoint(said.days))
    unknown = (bool(said.people) and not people) + (bool(said.days) and not days)
    return _Match(thing, frozenset(own.words), common, agreeing, unknown)


def _are_others(people: frozenset[str], said: frozenset[str], case: Case) -> bool:
    """Whether a message is about somebody else; an adult who is named may see to what is a child's."""
    if not people or not said or not people.isdisjoint(said):
        return False
    children = {each.id for each in case.household.members if each.role is Role.CHILD}
    return not children.isdisjoint(said) or children.isdisjoint(people)


def _is_another_day(thing: _Thing, days: frozenset[date], said: _Naming, case: Case) -> bool:
    """Whether a message speaks of another day; what is to be done may be done on any day before its last."""
    today = case.now.date()
    meant = {day for day in said.days if not thing.is_deed or day > today}
    return bool(days) and bool(meant) and days.isdisjoint(meant)


def _is_named(match: _Match, sharing: Mapping[str, int], said: _Naming, *, is_asked: bool) -> bool:
    """Whether two words name a thing, or the one word that no other has and that says what it is."""
    if len(match.common) >= _SURE:
        return True
    (word,) = match.common
    is_all = match.common == said.words.keys()
    says_what = is_all if is_asked else word == _head(match)
    return sharing[word] == 1 and match.unknown < _SURE and says_what


def _head(match: _Match) -> str:
    """Return the stem of the word that says what a thing is: "fees" of "pay the hockey fees for May"."""
    parts = [
        [root for stem in stems(part) if (root := root_of(stem)) in match.own]
        for part in _JOINED.split(match.thing.named)
    ]
    if match.thing.is_deed and len(match.own) > 1:
        parts[0] = parts[0][1:]
    return next((part[-1] for part in parts if part), "")


def _all(conn: Connection, case: Case, *, is_asked: bool) -> Iterator[_Thing]:
    asked = case.context.asked
    reader = Reader(
        member=asked.member,
        household=asked.household,
        viewer=asked.viewer,
        is_shared=asked.is_shared,
    )
    for action in waiting_for(conn, reader, now=asked.now)[:_MOST]:
        yield _of_card(action, case)
    ahead = Interval(asked.now, asked.now + (_ASKED_AHEAD if is_asked else _AHEAD))
    for each in occurrences_between(conn, asked.viewer, ahead)[:_MOST]:
        event = occurrence_json(each, asked)
        title, start = str(event["title"] or ""), str(event["start"])
        yield _Thing(
            Nearest(
                kind="event",
                title=title,
                start=start,
                id=str(event["event_id"]),
                original_start=str(event["original_start"]),
            ),
            title,
            people=frozenset({*event["who"], *event["responsible"]}),
            days=_dates([start]),
        )
    for task in open_tasks(conn, asked.viewer)[:_MOST]:
        title = str(task["title"] or "")
        near = Nearest(kind="task", title=title, id=str(task["id"]))
        yield _Thing(near, title, days=_dates([str(task["deadline"])]), is_deed=True)
    for note in list_notes(conn, asked.viewer)[:_MOST]:
        for line in entries(note.body)[:_MOST]:
            yield _Thing(Nearest(kind="line", title=line, where=note.title), line)


def _of_card(action: PendingAction, case: Case) -> _Thing:
    """Return a card with what it is about: of a request its parameters, of what was overheard what was read of it."""
    proposal = action.proposal
    request = proposal.request or {}
    params = request.get("params") or proposal.suggested_event or {}
    about = [
        *texts_within(params),
        *texts_within([proposal.extraction.get(name) for name in _READ]),
    ]
    named = next((str(params[name]) for name in _TITLES if params.get(name)), proposal.summary)
    members = {each.id for each in case.household.members}
    return _Thing(
        Nearest(kind="card", title=proposal.summary),
        named,
        people=frozenset(members.intersection(about)),
        days=_dates(about),
        is_deed=request.get("domain") == "task",
    )


def _dates(texts: Iterable[str]) -> frozenset[date]:
    """Return the days of those texts that begin with one, ISO 8601."""
    found = set()
    for each in texts:
        if _DATE.match(each):
            with suppress(ValueError):
                found.add(date.fromisoformat(each[:10]))
    return frozenset(found)
