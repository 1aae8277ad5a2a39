"""What the rules know while they read one message: who asks, what was done, which things may be meant. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.calendar.model import Change
from kinkeeper.conversation.model import PlannedAction, PlanningContext
from kinkeeper.conversation.planning.grammar import Grammar, load_grammar
from kinkeeper.conversation.planning.message import Message, read_message
from kinkeeper.household.model import Household
from kinkeeper.household.vocabulary import Vocabulary

# Things that a person may mean: what was looked up, found or written lately, with its words. Pure.

_LISTS = {"events": "event", "tasks": "task", "notes": "note", "mails": "mail"}
_DOMAINS = {"calendar": "event", "task": "task", "notes": "note", "email": "mail"}
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_EMPTY = frozenset(
    [
        "the",
        "a",
        "an",
        "my",
        "our",
        "own",
        "your",
        "his",
        "her",
        "their",
        "this",
        "that",
        "of",
        "for",
        "to",
        "at",
        "on",
        "in",
        "with",
        "and",
        "about",
        "from",
        "is",
        "it",
        "some",
        "any",
        "all",
        "task",
        "reminder",
        "event",
        "appointment",
        "entry",
        "please",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One thing that exists.

    Attributes:
        kind: "event", "task", "note", "line" of a note or "mail".
        id: Its id; empty where it has none.
        title: What it is called.
        start: Of an event its start, of a task its deadline, ISO 8601, where known.
        original_start: Names one occurrence of a series, where known.
        is_open: Whether there is still something to be done about it.
        end: Of an event, ISO 8601, where known.
        who: Ids of those who take part, where known.
        responsible: Ids of those who see to it, where known.
        location: Where it is, as it is told, where known.
        rrule: RFC 5545 rule of a series, where known; empty of what takes place once.
        note: Title of the note that a line stands on.
        card: Id of the action that would put an event into the calendar; empty of one that is there.
    """

    kind: str
    id: str
    title: str
    start: str | None = None
    original_start: str | None = None
    is_open: bool = True
    end: str | None = None
    who: tuple[str, ...] = ()
    responsible: tuple[str, ...] = ()
    location: str = ""
    rrule: str = ""
    note: str = ""
    card: str = ""


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that tell things apart, in lower case and without a plural or possessive ending."""
    words = (word.lower().removesuffix("'s") for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in words if word not in _EMPTY)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word  # noqa: PLR2004 - a plural has four letters


def things_of(context: PlanningContext) -> tuple[Thing, ...]:
    """Return what may be meant: of this turn, of the turns before from the latest on, then what was fetched."""
    found = [
        *_of_results(context.results),
        *(
            thing
            for exchange in reversed(context.history)
            for thing in _of_results(exchange.results)
        ),
        *_of_mapping(context.fetched),
    ]
    return tuple(
        {
            (each.kind, each.id or each.title, each.original_start): each
            for each in reversed(found)
        }.values()
    )[::-1]


def standing_events(context: PlanningContext, *, with_later: bool = False) -> tuple[Thing, ...]:
    """Return the events of the next days, and those that this turn looked up, as they stand, by their start.

    Args:
        with_later: Whether to count in what the speaker has to do with after these days.
    """
    looked_up = [each for each in context.results if each.action == "list_events"]
    found = [*_of_results(looked_up), *_of_mapping(context.fetched)]
    if with_later:
        found += _of_mapping({"events": context.fetched.get("later", ())})
    events = {
        (each.id, each.original_start): each for each in reversed(found) if each.kind == "event"
    }
    return tuple(sorted(events.values(), key=lambda each: each.start or ""))


def results_of(results: Iterable[ActionResult]) -> tuple[Thing, ...]:
    """Return the things that some results speak of, in their order."""
    return tuple(_of_results(results))


def _of_results(results: Iterable[ActionResult]) -> Iterator[Thing]:
    for each in results:
        listed = [*_of_mapping(each.result)]
        if listed:
            yield from listed
        elif each.domain in _DOMAINS:
            row = {**_flat(each.params), **each.result, **_as_it_stands(each)}
            thing = _thing(_DOMAINS[each.domain], row)
            if thing is not None:
                yield thing


def _as_it_stands(done: ActionResult) -> Mapping[str, Any]:
    """Return by which start an event is found whose move still awaits a yes: the one it has."""
    before = done.result.get("before")
    if done.status is not ResultStatus.AWAITING or not isinstance(before, Mapping):
        return {}
    return {"original_start": before.get("original_start") or before.get("start")}


def _flat(params: Mapping[str, Any]) -> Mapping[str, Any]:
    changes = params.get("changes")
    return {**params, **(changes if isinstance(changes, Mapping) else {})}


def _of_mapping(mapping: Mapping[str, Any]) -> Iterator[Thing]:
    for name, kind in _LISTS.items():
        rows = mapping.get(name)
        if isinstance(rows, Sequence) and not isinstance(rows, str):
            for row in rows:
                thing = _thing(kind, row) if isinstance(row, Mapping) else None
                if thing is not None:
                    yield thing


def _thing(kind: str, row: Mapping[str, Any]) -> Thing | None:
    title = _first(row, "title", "summary", "subject", "find_by")
    identity = _first(row, "event_id", "task_id", "id")
    if not title and not identity:
        return None
    return Thing(
        kind=kind,
        id=identity,
        title=title,
        start=_first(row, "start", "start_time", "deadline") or None,
        original_start=_first(row, "original_start") or None,
        is_open=row.get("status", "open") == "open",
        end=_first(row, "end", "end_time") or None,
        who=_names(row.get("who")),
        responsible=_names(row.get("responsible")),
        location=_first(row, "location"),
        rrule=_first(row, "rrule"),
        card=next(
            (
                each["action_id"]
                for each in row.get("waiting") or ()
                if each["change"] == Change.ADD
            ),
            "",
        ),
    )


def _names(said: Any) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else tuple(said or ())


def _first(row: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = row.get(name)
        if value and isinstance(value, str):
            return value
    return ""


def best_match(text: str, things: Iterable[Thing]) -> Thing | None:
    """Return the thing that a text names, if exactly one fits best."""
    wanted = content_words(text)
    scored = [
        (len(wanted & words) / len(wanted | words), thing)
        for thing in things
        if (words := content_words(thing.title)) and (wanted <= words or words <= wanted)
    ]
    best = max((score for score, _ in scored), default=0.0)
    fitting = [thing for score, thing in scored if score == best]
    return fitting[0] if wanted and len(fitting) == 1 else None


def last_addressed(context: PlanningContext) -> list[str]:
    """Return who was written to, or wrote, last; none where nobody was."""
    rounds = [context.results, *(exchange.results for exchange in reversed(context.history))]
    for result in (each for results in rounds for each in reversed(results)):
        to = result.params.get("to") or result.params.get("sender_name")
        if to:
            return [to] if isinstance(to, str) else [*to]
        mails = result.result.get("mails")
        if mails and isinstance(mails[0], Mapping) and len(mails) == 1 and mails[0].get("from"):
            return [str(mails[0]["from"])]
        who = result.params.get("who")
        if who and result.domain in {"calendar", "task"}:
            return [who] if isinstance(who, str) else [*who]
    return []


Groups = Mapping[str, str]
"""What a rule found in a clause, by name; empty where it found nothing."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A request of which one thing has to be asked.

    Attributes:
        action: What is known of it.
        field: Name of the parameter that is missing.
    """

    action: PlannedAction
    field: str
    question: str


Step = PlannedAction | Missing


@dataclass(frozen=True)
class Case:
    """One message with all that the rules may look at.

    Attributes:
        context: What the planner was given.
        message: The text with marks.
        grammar: How requests are put.
        vocabulary: Words of the household.
    """

    context: PlanningContext
    message: Message
    grammar: Grammar
    vocabulary: Vocabulary

    @cached_property
    def things(self) -> Sequence[Thing]:
        """Tasks, events and the like that were looked up or spoken of, the latest first; most messages name none."""
        return things_of(self.context)

    @property
    def now(self) -> datetime:
        """When it was said, aware, in the household's zone."""
        return self.context.asked.now

    @property
    def household(self) -> Household:
        """Whose assistant is asked."""
        return self.context.asked.household

    def open_tasks(self) -> Iterator[Thing]:
        """Yield the tasks that are known to be open."""
        return (each for each in self.things if each.kind == "task" and each.is_open)


@lru_cache(maxsize=8)  # a turn plans its message once a step
def _read(text: str, now: datetime, household: Household) -> Message:
    return read_message(text, now, household, load_grammar())


def case_of(context: PlanningContext, vocabulary: Vocabulary) -> Case:
    """Return what the rules need to read a message."""
    grammar = load_grammar()
    asked = context.asked
    return Case(
        context=context,
        message=_read(context.text, asked.now, asked.household),
        grammar=grammar,
        vocabulary=vocabulary,
    )


def action(domain: str, name: str, params: Mapping[str, Any], reasoning: str = "") -> PlannedAction:
    """Return a planned request without the parameters that are not known."""
    known = {key: value for key, value in params.items() if value not in (None, "", [], (), {})}
    return PlannedAction(domain=domain, action=name, params=known, reasoning=reasoning)


def further(domain: str, name: str, params: Mapping[str, Any]) -> PlannedAction:
    """Return a planned request for one thing more, beside what was asked for before."""
    return replace(action(domain, name, params), is_further=True)
