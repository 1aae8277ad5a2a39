"""What is said in the group: one line from a template, with its buttons. Pure; the only producer of such text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from kinkeeper.language.text import shorten, strip_controls
from kinkeeper.language.when import regions
from kinkeeper.observer.model import Extraction, RedlineOutcome, RedlineRule, Task
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.observer.wording.plain_words import may_be_spoken

BOTH = "Both"
_WARNING = "⚠️"
_QUESTION = "❓"
_TASK_NOUNS = {
    Task.PICKUP: "pickup", Task.DROPOFF: "drop-off", Task.COVER: "cover", Task.ATTEND: "going along",
    Task.APPOINTMENT: "appointment", Task.CANCEL: "cancellation", Task.MOVE: "move", Task.OTHER: "task",
}  # fmt: skip
_TASK_VERBS = {
    Task.PICKUP: "picks up", Task.DROPOFF: "takes", Task.COVER: "covers", Task.ATTEND: "goes with",
}  # fmt: skip
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LONG_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Longest texts, in user-visible characters."""

    conflict: int = 280
    clarification: int = 200
    summary: int = 140


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrasing:
    """Turns verdicts into words for one household.

    Attributes:
        participants: Names and words of the household.
        limits: Longest texts.
    """

    participants: Participants
    limits: Limits

    def line(self, outcome: RedlineOutcome) -> str:
        """Return what to say for a verdict that speaks; never longer than its limit."""
        facts = outcome.facts
        match outcome.rule:
            case RedlineRule.TEMPORAL_CONFLICT:
                text, limit = self._temporal(facts), self.limits.conflict
            case RedlineRule.RESOURCE_CONFLICT:
                text, limit = self._resource(facts), self.limits.conflict
            case RedlineRule.TIME_MISMATCH:
                text, limit = self._mismatch(facts), self.limits.clarification
            case _:
                text, limit = self._missing(facts), self.limits.clarification
        return shorten(strip_controls(text), limit)

    def summary(self, extraction: Extraction) -> str:
        """Return one line for the pending list and the button's result."""
        return shorten(strip_controls(self._summary(extraction)), self.limits.summary)

    def care(self, extraction: Extraction, owners: Sequence[str]) -> str:
        """Return who does what for whom: "John takes Mia (swimming)"."""
        task, children = extraction.task, self.names(extraction.child)
        if task is Task.OTHER and extraction.activity:
            return f"{self.names(owners)}: {self.label(extraction.activity)}".removeprefix(": ")
        label = f"({self.label(extraction.activity)})" if extraction.activity else ""
        if task in _TASK_VERBS:
            is_verb = children or task is Task.COVER
            verb = _TASK_VERBS[task] if is_verb else f"does {_TASK_NOUNS[task]}"
        else:
            verb = "has"
        return " ".join(filter(None, [self.names(owners), verb, children, label]))

    def label(self, activity: str | None, task: str | None = None) -> str:
        """Return what people call an activity or a task."""
        if activity:
            names = {a.id: a.name for a in self.participants.household.activities}
            return names.get(activity, activity.replace("-", " ").replace("_", " ")).lower()
        return _TASK_NOUNS[Task(task)] if task else "plan"

    def spoken_label(self, activity: str | None, task: str | None = None) -> str:
        """Return what is said aloud of an activity or a task; a message's own words only where they are plain nouns."""
        return self.label(activity if activity and self._may_be_spoken(activity) else None, task)

    def clock(self, moment: time) -> str:
        """Return a time of day as the household's region writes it."""
        return regions.clock(moment, self.participants.household.locale)

    def day(self, day: date) -> str:
        """Return a day, short: "Thu 5 Mar"."""
        return f"{_DAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]}"

    def names(self, members: Any) -> str:
        """Return display names joined: "Leo and Mia"."""
        return " and ".join(self.participants.name(member) for member in members)

    def _temporal(self, facts: Mapping[str, Any]) -> str:
        booked = facts["booked"]
        return (
            f"{_WARNING} {self.names(facts['child'])}: {self._slot_label(booked)} "
            f"{self._span(booked)} {self._short_day(facts['day'])}, but {self._word(facts['label'])} "
            f"at {self._clock_text(facts['time'])}. Which one?"
        )

    def _resource(self, facts: Mapping[str, Any]) -> str:
        first, second = (self.participants.name(facts[key]) for key in ("first", "second"))
        slot, day = facts["slot"], self._short_day(facts["day"])
        if facts["is_double"]:
            return (
                f"{_WARNING} {first} has {self._slot_label(slot)} {self._span(slot)} {day} and "
                f"{self._word(facts['label'])} at {self._clock_text(facts['time'])}. Swap one?"
            )
        what = self._job(facts["label"], slot)
        whom = f" for {self.names(facts['child'])}" if facts["child"] else ""
        return f"{_WARNING} {first} and {second} both have {what}{whom} {day}. Who goes?"

    def _missing(self, facts: Mapping[str, Any]) -> str:
        parts = [self.names(facts["child"]) if facts["child"] else "", self._word(facts["label"])]
        if facts["day"]:
            parts.append(self._short_day(facts["day"]))
        if facts["time"]:
            parts.append(self._clock_text(facts["time"]))
        return f"{_QUESTION} {' '.join(part for part in parts if part)}: who?"

    def _mismatch(self, facts: Mapping[str, Any]) -> str:
        label = self.spoken_label(facts["label"])
        day = date.fromisoformat(facts["day"])
        if facts["booked"] is None:
            return f"{_QUESTION} No {label} {_LONG_DAYS[day.weekday()]}. Which day?"
        what = self._word(facts["task"]) if facts["task"] else "this"
        start = self._clock_of(facts["booked"]["start"])
        return (
            f"{_QUESTION} {what.capitalize()} {self._clock_text(facts['time'])} {self._short_day(facts['day'])}, "
            f"but {label} starts {start}. Which time?"
        )

    def _summary(self, extraction: Extraction) -> str:
        children = self.names(extraction.child)
        label = self.label(extraction.activity) if extraction.activity else ""
        owner = self.names(extraction.owners)
        task = extraction.task
        when = self._when(extraction)
        if task is Task.CANCEL:
            return " ".join(filter(None, ["Cancel", children, label, when]))
        if task is Task.MOVE:
            return " ".join(filter(None, ["Move", children, label, "to", when]))
        if owner and task in _TASK_VERBS:
            return " ".join(filter(None, [self.care(extraction, extraction.owners), when]))
        what = " ".join(filter(None, [children, label or (_TASK_NOUNS[task] if task else "")]))
        return " ".join(filter(None, [what or "Plan", when, f"— {owner}" if owner else ""]))

    def _when(self, extraction: Extraction) -> str:
        days = ", ".join(self.day(day) for day in extraction.dates)
        if not extraction.times:
            return days
        start = extraction.times[0]
        end = next((end for begin, end in extraction.time_ranges if begin == start), None)
        clock = f"{self.clock(start)}–{self.clock(end)}" if end else self.clock(start)
        return " ".join(filter(None, [days, clock]))

    def _may_be_spoken(self, activity: str) -> bool:
        household, vocabulary = self.participants.household, self.participants.vocabulary
        is_named = any(activity == each.id for each in household.activities)
        is_general = vocabulary.generic_activity(activity) is not None
        return is_named or is_general or may_be_spoken(activity)

    def _slot_label(self, slot: Mapping[str, Any]) -> str:
        return (
            self.spoken_label(slot["activity"], slot["task"])
            if slot["activity"] or slot["task"]
            else str(slot["label"])
        )

    def _job(self, label: str, slot: Mapping[str, Any]) -> str:
        own = self._word(label)
        activity = self.spoken_label(slot["activity"]) if slot["activity"] else ""
        return f"{activity} {own}" if activity and activity not in own else own

    def _word(self, label: str) -> str:
        return _TASK_NOUNS[Task(label)] if label in set(Task) else self.spoken_label(label)

    def _span(self, slot: Mapping[str, Any]) -> str:
        if not slot["start"]:
            return ""
        return f"{self._clock_of(slot['start'])}–{self._clock_of(slot['end'])}"

    def _clock_of(self, instant: str) -> str:
        zone = self.participants.household.zone
        return self.clock(datetime.fromisoformat(instant).astimezone(zone).time())

    def _clock_text(self, text: str) -> str:
        return self.clock(time.fromisoformat(text))

    def _short_day(self, day: str) -> str:
        return _DAYS[date.fromisoformat(day).weekday()]
