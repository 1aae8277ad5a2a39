"""Reads who is to take part in something or see to it: in what stands in the calendar, else in something new. Pure."""

import re
from collections.abc import Sequence

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning import creating_events
from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.changing_events import named_event
from kinkeeper.conversation.planning.creating_events import (
    DETERMINER,
    NO_EVENT,
    as_offer,
    created,
    is_appointment,
)
from kinkeeper.conversation.planning.event_updates import News, Told, named
from kinkeeper.conversation.planning.people import doers, is_person, who_of
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.conversation.planning.told_changes import of_known
from kinkeeper.conversation.planning.told_events import Meant

_OURS = re.compile(
    r"^(?:the |my |our )?(?:boys|girls|kids|children|twins|lads|lot|family|two of (?:us|them)|all of (?:us|them)|us)$",
    re.IGNORECASE,
)
_OWN = re.compile(r"^(?:its|his|her|their|the|a|an|my|our)\s+", re.IGNORECASE)


def joined(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "put me on fencing" and "make me responsible for the gala", which nothing new is made of."""
    people = _people(groups["who"], case)
    if not people:
        return None
    known = _known(groups["what"], people, case)
    found = named_event(groups["what"], case)
    if known or not groups.get("charge") or not found:
        return known or None
    return [action("calendar", "update_event", {**found, "changes": {"responsible": [*people]}})]


def placed(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "put me down for the gala on Saturday": who takes part or sees to it stands before what it is.

    What stands in the calendar is meant before anything new; something new without an hour is only proposed.
    """
    people = _people(groups["who"], case)
    known = _known(groups["what"], people, case) if people else []
    is_to_see = all(map(_looks, known)) and not case.context.results
    if known and (
        is_to_see or not all(map(_looks, known)) or _stands(groups["what"], people, case)
    ):
        return known
    new = _new(groups, case)
    return [*known, *new] if new else known or None


def _known(what: str, people: Sequence[str], case: Case) -> list[Step]:
    """Return what puts people down for something that stands in the calendar; only a look where nothing is found, or nothing changes."""
    news = _news(what, people, case, is_sure=True)
    if not news.about:
        return []
    meant = Meant(news, case)
    return of_known(news, case) or (meant.look() if meant.has_looked else [])


def _stands(what: str, people: Sequence[str], case: Case) -> bool:
    """Whether something that is named stands in the calendar at the time that is named."""
    meant = Meant(_news(what, people, case, is_sure=True), case)
    return bool(meant.times(meant.events))


def stated(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "Otis has a party on Sunday": what stands in the calendar already is shown, all else is something new."""
    what, people = groups["what"], tuple(who_of(groups.get("who", ""), case))
    news = _news(what, people, case, is_sure=False)
    known = of_known(news, case) if people and news.about and not groups.get("being") else None
    if known and all(map(_looks, known)):
        return known
    return creating_events.stated(groups, case)


def _looks(step: Step) -> bool:
    """Whether a step only looks into the calendar."""
    return isinstance(step, PlannedAction) and step.action == "list_events"


def _people(said: str, case: Case) -> tuple[str, ...]:
    said = "me" if said.lower() == "my name" else said.removesuffix("'s name")
    return doers(said, case)


def _news(what: str, people: Sequence[str], case: Case, *, is_sure: bool) -> Told:
    about = named(what, case)
    return Told(news=News.JOINS, about=about, when=what, who=tuple(people), is_sure=is_sure)


def _new(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Return what puts something new into the calendar with the people who stand before it."""
    moment = moment_of(case.message.times(" ".join(groups.values())), case.now)
    whom = case.message.title(groups["what"])
    if moment is None and (NO_EVENT.search(whom) or not is_appointment(whom, case)):
        return None
    if whom and who_of(groups["who"], case):
        steps = created(groups["what"], moment, case, groups=groups)
        has_hour = moment is not None and moment.start is not None and not moment.is_part
        return steps if has_hour else as_offer(steps)
    thing = DETERMINER.sub(
        "", groups["who"]
    )  # "Mia's haircut" of "put Mia's haircut in for Friday"
    whom = whom.partition(",")[0].strip()
    is_for = is_person(whom, case) or _OURS.match(whom) is not None  # "a haircut in for Mia"
    what = f"{thing} for {groups['what']}" if is_for else f"{thing} {_OWN.sub('', groups['what'])}"
    return created(what, moment, case, groups={**groups, "who": ""}) if moment else None
