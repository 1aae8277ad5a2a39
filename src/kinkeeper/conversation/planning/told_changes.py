"""What news of events come to: requests that change or cancel just those times of them that are meant. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

from dateutil.rrule import rrulestr

from kinkeeper.conversation.lookups import IN_VIEW
from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, Missing, Step, Thing, action
from kinkeeper.conversation.planning.changing_events import new_time
from kinkeeper.conversation.planning.creating_events import is_appointment
from kinkeeper.conversation.planning.event_updates import (
    News,
    Told,
    is_beside_now,
    new_moment,
    new_weekday,
    other_of,
    told_of,
)
from kinkeeper.conversation.planning.people import without_people
from kinkeeper.conversation.planning.references import with_known_day
from kinkeeper.conversation.planning.referents import target
from kinkeeper.conversation.planning.relative import in_its_frame
from kinkeeper.conversation.planning.told_events import (
    LOOKED_FOR,
    Meant,
    day_of,
    first_of_each,
    in_one,
)
from kinkeeper.language.text import enumerated
from kinkeeper.memory.finding.terms import stems
from kinkeeper.reading.modality import reported_in

_DAY, _WEEK = timedelta(days=1), timedelta(days=7)
_FOLLOWING = re.compile(r"^(?:on |to )?(?:the )?following\b", re.IGNORECASE)
_SELDOM = ("FREQ=MONTHLY", "FREQ=YEARLY")


def told(clause: str, case: Case) -> list[Step] | None:
    """Return what a clause tells of events that stand in the calendar; None where it tells of none.

    Args:
        clause: With marks, without politeness.
    """
    heard = reported_in(clause)  # what somebody else said is news as well
    for news in told_of(heard or clause, case):
        steps = of_known(news, case)
        if steps:
            return steps
    return _unable(clause, case)


def of_known(news: Told, case: Case) -> list[Step] | None:
    """Return what one piece of news comes to for what stands in the calendar, or a look for that; None where it is of nothing there."""
    change = _Change(news, case)
    steps = change.steps()
    if steps and change.meant.has_looked:
        return [*change.meant.look(), *steps]  # it has been carried out, and stands first
    return steps


def _unable(clause: str, case: Case) -> list[Step] | None:
    """Return the offer to note that a grown-up cannot see to something on a day on which nothing like it is planned."""
    for news in told_of(clause, case):
        meant = Meant(news, case)
        people = [case.household.member(each) for each in news.who]
        if not news.is_job or not all(each is not None and each.is_adult for each in people):
            continue
        window = meant.window
        if window is None or window.until - window.begin > _DAY:
            continue
        words = case.message.title(clause.partition(",")[0]).removeprefix("I ")
        hours = {"start_time": window.begin.isoformat(), "end_time": window.until.isoformat()}
        days = {"start_time": window.begin.date().isoformat()} if window.is_days else hours
        params = {"summary": words[:1].upper() + words[1:], "who": [*news.who], **days}
        offered = replace(action("calendar", "create_event", params), is_offer=True)
        return [*(meant.look() if case.context.results else ()), offered]
    return None


def tells_of_other(case: Case, labels: Sequence[str]) -> bool:
    """Return whether a message tells of something that stands in the calendar, and that none of the labels name.

    Args:
        labels: What is asked about, in words.
    """
    asked = {*stems(" ".join(labels))}
    return any(
        (each.is_sure or (each.news is News.TIME and not each.is_charge))
        and each.about
        and asked.isdisjoint(stems(each.about))
        and any(asked.isdisjoint(_telling(event, case)) for event in Meant(each, case).events)
        for each in told_of(case.message.text, case)
    )


def _telling(event: Thing, case: Case) -> frozenset[str]:
    """Return the stems of a title without those of names."""
    return frozenset(stems(without_people(event.title, case)))


def looked_for(clause: str, case: Case) -> list[Step] | None:
    """Return a look for what a clause tells to be off or elsewhere, where it is not in view; None where it tells of nothing.

    Args:
        clause: With marks, without politeness; no rule made anything of it.
    """
    meant = [
        Meant(each, case)
        for each in told_of(clause, case)
        if each.is_sure
        and each.news in {News.OFF, News.TIME}
        and "," not in each.about
        and is_appointment(each.about, case)
        and not case.grammar.said["hearsay"].search(each.about)
    ]
    first = min(meant, key=lambda each: clause.find(each.told.about), default=None)
    return first.look() if first is not None and not first.has_looked else None


@dataclass(frozen=True)
class _Change:
    """One piece of news, and what stands in the calendar."""

    told: Told
    case: Case

    @cached_property
    def meant(self) -> Meant:
        """What it is about."""
        return Meant(self.told, self.case)

    def steps(self) -> list[Step] | None:
        told, found = self.told, self.meant.events
        if told.news is News.SWAP:
            return self._swapped()
        if found and self.meant.is_out_of_view():
            return self.meant.look()
        is_childs = told.news is News.CHARGE and not all(map(self._is_adult, told.who))
        if is_childs or not found:
            return self._looked_for() if not is_childs and self._may_look() else None
        if told.since is not None and (
            told.news is not News.OFF or any(each.rrule for each in found)
        ):
            return self._for_good(found)
        chosen = self.meant.times(found)
        if not chosen:
            return self._looked_for() if told.is_sure and not self._is_seen() else None
        if len({each.id for each in chosen}) > 1:
            return [self._which(chosen)]
        steps = [step for each in chosen for step in self._of_one(each)]
        steps = in_one(steps, chosen, self.meant.window)
        if not steps and told.news is not News.WITHOUT:
            return self._looked_for()
        return steps or [_look_at(chosen[0])]  # they are not down for it

    def _swapped(self) -> list[Step] | None:
        """Return what puts each of two events where the other one is."""
        other = Meant(other_of(self.told, self.case), self.case)
        pair = [first_of_each(each.times(each.events)) for each in (self.meant, other)]
        if any(len(each) != 1 for each in pair):
            return None
        (one,), (two,) = pair
        if one.id == two.id:
            return None
        return [
            action(
                "calendar", "update_event", {**target(each), "changes": {"start_time": to.start}}
            )
            for each, to in ((one, two), (two, one))
        ]

    def _of_one(self, thing: Thing) -> Iterator[Step]:
        """Yield what the news come to for one time of an event."""
        told = self.told
        if told.news in {News.OFF, News.STOPS}:
            yield action("calendar", "delete_event", target(thing))
        elif told.news is News.WITHOUT:
            yield from self._without(thing)
        else:
            changes = self._changes(thing)
            if changes:
                yield action("calendar", "update_event", {**target(thing), "changes": changes})

    def _without(self, thing: Thing) -> Iterator[Step]:
        told = self.told
        gone = {*told.who}
        stay = [each for each in thing.who if each not in gone]
        in_charge = [each for each in thing.responsible if each not in gone]
        changes: dict[str, Any] = {}
        if len(in_charge) < len(thing.responsible):
            changes["responsible"] = [*in_charge, *told.cover]
        if len(stay) < len(thing.who) and not told.is_charge:
            if not stay:
                yield action("calendar", "delete_event", self._target(thing))
                return
            changes["who"] = stay
        if changes:
            yield action("calendar", "update_event", {**self._target(thing), "changes": changes})

    def _target(self, thing: Thing) -> dict[str, Any]:
        if self.told.since is None or not thing.rrule:
            return target(thing)
        since = self.told.since.isoformat()
        return {"event_id": thing.id, "on": since, "scope": "following"}

    def _changes(self, thing: Thing) -> dict[str, Any]:
        """Return what is different about an event, where it is not like that already."""
        told, case = self.told, self.case
        match told.news:
            case News.TIME:
                return self._timed(thing)
            case News.SHIFT:
                return new_time({"by": told.to, "dir": _direction(told.way)}, case)
            case News.ENDS:
                return _unless_same(thing.end, "end_time", self._end(thing))
            case News.PLACE:
                return {} if told.where == thing.location else {"location": told.where}
            case News.CHARGE:
                return {} if set(told.who) == {*thing.responsible} else {"responsible": [*told.who]}
            case News.JOINS:
                return self._joined(thing)
            case _:
                return {}

    def _joined(self, thing: Thing) -> dict[str, Any]:
        """Return who more takes part or is in charge: grown-ups see to what children do, and take part in what grown-ups do."""
        is_of_adults = bool(thing.who) and all(map(self._is_adult, thing.who))
        new = [each for each in self.told.who if each not in {*thing.who, *thing.responsible}]
        in_charge = [each for each in new if self._is_adult(each) and not is_of_adults]
        present = [each for each in new if each not in in_charge]
        changes = {
            "responsible": [*thing.responsible, *in_charge] if in_charge else [],
            "who": [*thing.who, *present] if present else [],
        }
        return {name: people for name, people in changes.items() if people}

    def _timed(self, thing: Thing) -> dict[str, Any]:
        beside = next(
            (each for each in self.case.message.times(self.told.to) if is_beside_now(each)), None
        )
        if beside is not None:
            minutes = int((beside.begin - self.case.now).total_seconds() // 60)
            return {"shift_minutes": minutes} if minutes else {}
        said = new_moment(self.told, self.case)
        if said is None or thing.start is None:
            return {}
        if self._is_following() and len(said) == len("2026-01-01"):
            days = (date.fromisoformat(said) - day_of(thing)).days % _WEEK.days
            said = (day_of(thing) + timedelta(days=days or _WEEK.days)).isoformat()
            return {"start_time": with_known_day({"start_time": said}, thing.start)["start_time"]}
        framed = in_its_frame({"start_time": said}, self.told.to, thing, self.case)
        return _unless_same(
            thing.start, "start_time", with_known_day(framed, thing.start)["start_time"]
        )

    def _is_following(self) -> bool:
        """Whether the new day is counted from the one on which it is now: "the following Thursday"."""
        spans = self.case.message.times(self.told.to)
        return any(_FOLLOWING.match(each.surface) for each in spans)

    def _end(self, thing: Thing) -> str | None:
        """Return the new end of an event, on its day and after its start."""
        lengths = self.case.message.lengths(self.told.to)
        if lengths and thing.end is not None:
            by = lengths[0].until - lengths[0].begin
            later = _direction(self.told.way) == "later"
            return (datetime.fromisoformat(thing.end) + (by if later else -by)).isoformat()
        said = next((each for each in self.case.message.times(self.told.to) if each.has_time), None)
        if said is None or thing.start is None or "T" not in thing.start:
            return None
        start = datetime.fromisoformat(thing.start)
        end = start.replace(hour=said.begin.hour, minute=said.begin.minute)
        if end <= start and not said.is_meridiem_known:
            end += timedelta(hours=12)
        return end.isoformat() if end > start else None

    def _for_good(self, found: Sequence[Thing]) -> list[Step] | None:
        """Return what the news come to for a series, from the day on that is named."""
        told, series = self.told, first_of_each([each for each in found if each.rrule])
        if not series:
            return None
        if len(series) > 1:
            return [self._which(series)]
        thing, since = series[0], told.since
        if told.is_open:
            known = {"event_id": thing.id, "scope": "following"}
            question = f"When does {thing.title} stop?"
            return [Missing(action("calendar", "delete_event", known), "on", question)]
        if told.news in {News.OFF, News.STOPS}:
            return [action("calendar", "delete_event", self._target(thing))]
        if told.news is News.WITHOUT:
            return [*self._without(thing)]
        on_day = new_weekday(told, self.case)
        changes = (
            self._weekday_changes(thing, on_day.recurrence or "", since)
            if on_day
            else self._changes(thing)
        )
        if changes is None:
            question = (
                f"{thing.title} is on several days a week. Which one should move, and to when?"
            )
            return [Missing(action("calendar", "update_event", target(thing)), "changes", question)]
        changes = _clock_alone(changes) if on_day is None else changes
        if not changes:
            return None
        return [action("calendar", "update_event", {**self._target(thing), "changes": changes})]

    def _weekday_changes(
        self, thing: Thing, rule: str, since: date | None
    ) -> dict[str, Any] | None:
        """Return the first day of a series on its new day of the week; None where it has several such."""
        if since is None or thing.start is None or rule.count(",") or _days_a_week(thing.rrule) > 1:
            return None
        first = rrulestr(rule, dtstart=datetime.combine(since, datetime.min.time()))[0].date()
        clock = self._clock_of_series(thing)
        start = f"{first.isoformat()}T{clock}" if clock else first.isoformat()
        return {"start_time": with_known_day({"start_time": start}, thing.start)["start_time"]}

    def _clock_of_series(self, thing: Thing) -> str:
        """Return the new hour of a series as HH:MM; empty where none is told."""
        said = new_moment(self.told, self.case)
        if said is not None and len(said) == len("00:00"):
            return said
        span = new_weekday(self.told, self.case)
        if span is None or not span.has_time:
            return ""
        plain = {"start_time": f"{span.begin:%H:%M}"}
        return str(in_its_frame(plain, self.told.to, thing, self.case).get("start_time", ""))

    def _looked_for(self) -> list[Step] | None:
        """Return a look for what cannot be found; None where nothing is named, or it has been looked for."""
        window = self.meant.window
        if self.told.news is News.WITHOUT and not self.told.about and window is not None:
            params = {"who": [*self.told.who], **window.parameters}
            return [action("calendar", "list_events", params, reasoning=LOOKED_FOR)]
        return self.meant.look() if self.told.about and not self.meant.has_looked else None

    def _is_seen(self) -> bool:
        """Whether all is in view that somebody could be put down for on the days that are named."""
        window = self.meant.window if self.told.news is News.JOINS else None
        return window is not None and window.until <= self.case.now + IN_VIEW

    def _may_look(self) -> bool:
        """Whether it is surely told of something in the calendar; what is off or put elsewhere is found by its words."""
        told, case = self.told, self.case
        if told.news is News.JOINS:
            return told.is_sure and not self._is_seen()
        if told.news is News.WITHOUT and not told.about:
            return told.is_sure and not told.is_job and not case.context.results
        is_request = case.grammar.said["imperative"].match(told.about) is not None
        today = case.now.date()
        is_elsewhere = told.news is News.OFF or (
            told.news in {News.TIME, News.STOPS} and told.since in {None, today}
        )
        return (
            told.is_sure
            and not is_request
            and not is_elsewhere
            and is_appointment(told.about, case)
        )

    def _which(self, found: Sequence[Thing]) -> Missing:
        step = next(iter(self._of_one(found[0])), None)
        known = step if step is not None and not isinstance(step, Missing) else None
        return which_one(found, known or action("calendar", "update_event", {}))

    def _is_adult(self, person: str) -> bool:
        member = self.case.household.member(person)
        return member is not None and member.is_adult


def _look_at(thing: Thing) -> Step:
    """Return a look at one time of an event."""
    days = {"from": day_of(thing).isoformat(), "days_ahead": 1}
    return action("calendar", "list_events", {"query": thing.title, **days})


def which_one(found: Sequence[Thing], wanted: PlannedAction) -> Missing:
    """Return the question which of several events is meant.

    Args:
        wanted: What is to be done to one of them.
    """
    names = enumerated([_spoken(each) for each in first_of_each(found)], last="or")
    known = {key: each for key, each in wanted.params.items() if key not in {"event_id", "on"}}
    request = action("calendar", wanted.action, known)
    return Missing(request, "find_by", f"Which one do you mean: {names}?")


def _direction(way: str) -> str:
    """Return which way a time is put: what runs early or was brought forward is earlier."""
    words = set(way.lower().split())
    return (
        "earlier" if words & {"early", "earlier", "forward", "forwards", "up", "ahead"} else "later"
    )


def _unless_same(old: str | None, name: str, new: Any) -> dict[str, Any]:
    if new is None or (old is not None and str(new)[:16] == old[:16]):
        return {}
    return {name: new}


def _clock_alone(changes: dict[str, Any]) -> dict[str, Any]:
    """Return changes of a series without the day on which they were counted."""
    return {
        name: value.partition("T")[2][:5]
        if name in {"start_time", "end_time"} and "T" in value
        else value
        for name, value in changes.items()
    }


def _days_a_week(rule: str) -> int:
    parts = dict(part.split("=", 1) for part in rule.split(";"))
    if rule.startswith(_SELDOM):
        return len(_SELDOM)
    return len(parts.get("BYDAY", "").split(","))


def _spoken(thing: Thing) -> str:
    start = datetime.fromisoformat(thing.start or "")
    return f"{thing.title} on {start:%A}" + (
        f" at {start:%H:%M}" if "T" in (thing.start or "") else ""
    )
