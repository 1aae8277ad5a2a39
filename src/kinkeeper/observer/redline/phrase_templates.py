"""Templates for lines in the group and titles of cards. Pure; the only producer of text said in a group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from kinkeeper.household.model import Named
from kinkeeper.household.vocabulary import GenericActivity
from kinkeeper.language.text import shorten, strip_controls
from kinkeeper.observer.model import TITLE, Extraction, RedlineOutcome, RedlineRule, Task
from kinkeeper.observer.wording.free_topics import may_be_spoken
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.reading.times import time_text

BOTH = "Both"
_WARNING = "⚠️"
_QUESTION = "❓"
_TASK_NOUNS = {
    Task.PICKUP: "pickup",
    Task.DROPOFF: "drop-off",
    Task.COVER: "cover",
    Task.ATTEND: "going along",
    Task.APPOINTMENT: "appointment",
    Task.CANCEL: "cancellation",
    Task.MOVE: "move",
    Task.OTHER: "task",
}
# (finite verb, imperative, -ing form, preposition before the activity)
_TASK_VERBS = {
    Task.PICKUP: ("picks up", "Pick up", "picking up", "from"),
    Task.DROPOFF: ("takes", "Take", "taking", "to"),
    Task.COVER: ("looks after", "Look after", "looking after", "during"),
    Task.ATTEND: ("goes with", "Go with", "going with", "to"),
}
_PRACTITIONER_ENDINGS = ("ist", "ian", "doctor", "dentist")
_WITHOUT_ARTICLE = frozenset(
    {"practice", "school", "daycare", "preschool", "work", "camp", "home", "church"}
)
_DETERMINERS = ("the ", "a ", "an ", "my ", "our ", "your ", "his ", "her ", "their ")
_LONG_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


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
        """Return who does what for whom: "John takes Mia to swimming"."""
        task, owner = extraction.task, self.names(owners)
        label = self.title(extraction)
        if task is Task.OTHER and label:
            return f"{owner}: {label}".removeprefix(": ")
        if task in _TASK_VERBS and extraction.child:
            return " ".join(filter(None, [owner, self._deed(task, extraction, imperative=False)]))
        if task is Task.COVER:
            return " ".join(filter(None, [owner, "covers", label]))
        if task is Task.ATTEND and label:
            return f"{owner} goes along to {self._whither(extraction)}"
        if task in _TASK_VERBS:
            return " ".join(filter(None, [owner, "does the", label, _TASK_NOUNS[task]]))
        return " ".join(filter(None, [owner, "has", self._subject(extraction)]))

    def _deed(self, task: Task, extraction: Extraction, *, imperative: bool) -> str:
        """Return a job for children without its owner: "picks up Leo from soccer"."""
        finite, order, _, preposition = _TASK_VERBS[task]
        verb = order if imperative else finite
        where = self._whither(extraction)
        where = f"{preposition} {where}" if where else ""
        return " ".join(filter(None, [verb, self.names(extraction.child), where]))

    def _subject(self, extraction: Extraction) -> str:
        """Return what an arrangement is about: "Leo's dentist appointment"."""
        children = self.names(extraction.child)
        task, label = extraction.task, self.title(extraction)
        if label:
            generic = self._general(extraction.activity)
            if generic and generic.is_appointment and label.endswith(_PRACTITIONER_ENDINGS):
                label = f"{label} appointment"
        elif task and task is not Task.OTHER:
            label = _TASK_NOUNS[task]
        names = {word.lower() for word in children.split()}
        if not children or (label and names & {each.strip("'’s") for each in label.split()}):
            return label or "plan"
        if task is Task.OTHER and " " in label:
            return f"{label} for {children}" if extraction.child != extraction.owners else label
        return f"{_possessive(children)} {label or 'plan'}"

    def _whither(self, extraction: Extraction) -> str:
        """Return what a job is for as it follows a preposition: "soccer", "the dentist", "the school fair"."""
        label = self.title(extraction)
        own = next((e.surface for e in extraction.entities if e.type == TITLE), None)
        if own is None or not label:
            return label and self._with_article(extraction.activity or "", label)
        return f"the {label}" if own.lower().startswith(_DETERMINERS) else label

    def _with_article(self, activity: str, label: str) -> str:
        generic = self._general(activity)
        is_own = any(activity == each.id for each in self._activities)
        is_bare = is_own or (generic and generic.category == "pursuit") or label in _WITHOUT_ARTICLE
        if is_bare or label.endswith(("ing", "'s", "s'")) or label.startswith(_DETERMINERS):
            return label
        return f"the {label}"

    def label(self, activity: str | None, task: str | None = None) -> str:
        """Return what people call an activity or a task."""
        if activity:
            names = {a.id: a.name for a in self._activities}
            return names.get(activity, activity.replace("-", " ").replace("_", " ")).lower()
        return _TASK_NOUNS[Task(task)] if task else "plan"

    def title(self, extraction: Extraction) -> str:
        """Return what an arrangement is called on a card, in the family's words unless the household has a name for it; "" for nothing."""
        longer = (each.value for each in extraction.entities if each.type == TITLE)
        is_named = any(each.id == extraction.activity for each in self._activities)
        if not is_named and (own := next(longer, "")):
            return own
        if extraction.activity is None:
            return ""
        generic = self._general(extraction.activity)
        said = (e.surface.lower() for e in extraction.entities if e.value == extraction.activity)
        named = (each for each in said if generic and each in generic.words)
        return next(named, self.label(extraction.activity))

    @property
    def _activities(self) -> Sequence[Named]:
        return self.participants.household.activities

    def _general(self, activity: str | None) -> GenericActivity | None:
        return self.participants.vocabulary.generic_activity(activity or "")

    def spoken_label(self, activity: str | None, task: str | None = None) -> str:
        """Return what is said aloud of an activity or a task; a message's own words only where they are plain nouns."""
        return self.label(activity if activity and self._may_be_spoken(activity) else None, task)

    def clock(self, moment: time) -> str:
        """Return a time of day as the household's region writes it."""
        return time_text.clock(moment, self.participants.household.locale)

    def day(self, day: date) -> str:
        """Return a day, short, as the household's region writes it: "Thu 5 Mar", "Thu Mar 5"."""
        return time_text.day_with_weekday(day, self.participants.household.locale)

    def names(self, members: Any) -> str:
        """Return display names joined: "Leo and Mia"."""
        return " and ".join(self.participants.name(member) for member in members)

    def _temporal(self, facts: Mapping[str, Any]) -> str:
        booked, children = facts["booked"], facts["child"]
        have = "have" if len(children) > 1 else "has"
        return (
            f"{_WARNING} {self.names(children)} {have} {self._slot_label(booked)} on "
            f"{_weekday(facts['day'])} {self._span(booked)}, but also {self._word(facts['label'])} "
            f"at {self._clock_text(facts['time'])}. Which one?"
        )

    def _resource(self, facts: Mapping[str, Any]) -> str:
        first, second = (self.participants.name(facts[key]) for key in ("first", "second"))
        slot, day = facts["slot"], _weekday(facts["day"])
        if facts["is_double"]:
            label = self._slot_label(slot).removeprefix(f"{first} has ")
            return (
                f"{_WARNING} {first} has {label} {self._span(slot)} on {day} and "
                f"{self._word(facts['label'])} at {self._clock_text(facts['time'])}. Swap one?"
            )
        both = f"{_WARNING} {first} and {second} are both"
        label, children = facts["label"], self.names(facts["child"])
        if label in set(_TASK_VERBS) and children:
            doing, preposition = _TASK_VERBS[Task(label)][2:]
            activity = slot["activity"]
            is_spoken = activity and self._may_be_spoken(activity)
            where = (
                f" {preposition} {self._with_article(activity, self.label(activity))}"
                if is_spoken
                else ""
            )
            return f"{both} {doing} {children}{where} on {day}. Who goes?"
        whom = f" for {children}" if children else ""
        return f"{both} down for {self._job(label, slot)}{whom} on {day}. Who goes?"

    def _missing(self, facts: Mapping[str, Any]) -> str:
        label, children = facts["label"], self.names(facts["child"])
        if label in set(_TASK_VERBS):
            doing = _TASK_VERBS[Task(label)][2]
            what = f"{doing} {children}" if children else f"doing the {self._word(label)}"
        else:
            word = self._word(label)
            what = f"in charge of {_possessive(children)} {word}" if children else f"doing {word}"
        when = [f"on {_weekday(facts['day'])}"] if facts["day"] else []
        when += [f"at {self._clock_text(facts['time'])}"] if facts["time"] else []
        return f"{_QUESTION} {' '.join([f'Who is {what}', *when])}?"

    def _mismatch(self, facts: Mapping[str, Any]) -> str:
        label = self.spoken_label(facts["label"])
        day = _weekday(facts["day"])
        if facts["booked"] is None:
            return f"{_QUESTION} No {label} {day}. Which day?"
        what = self._word(facts["task"]) if facts["task"] else "this"
        start = self._clock_of(facts["booked"]["start"])
        return (
            f"{_QUESTION} {what.capitalize()} {day} at {self._clock_text(facts['time'])}, "
            f"but {label} starts at {start}. Which time?"
        )

    def _summary(self, extraction: Extraction) -> str:
        task, owners, when = extraction.task, extraction.owners, self._when(extraction)
        subject = self._subject(extraction)
        if task is Task.CANCEL or task is Task.MOVE:
            verb = "Cancel" if task is Task.CANCEL else "Move"
            if not (extraction.child or extraction.activity):
                subject = "plan"
            to = when.replace("on ", "to ", 1) if task is Task.MOVE else when
            return " ".join(filter(None, [verb, subject, to]))
        if task in _TASK_VERBS and owners:
            return " ".join(filter(None, [self.care(extraction, owners), when]))
        if task in _TASK_VERBS and extraction.child:
            return " ".join(filter(None, [self._deed(task, extraction, imperative=True), when]))
        text = " ".join(filter(None, [f"{subject[:1].upper()}{subject[1:]}", when]))
        return f"{text} ({self.names(owners)})" if owners else text

    def _when(self, extraction: Extraction) -> str:
        days = ", ".join(self.day(day) for day in extraction.dates)
        days = f"on {days}" if days else ""
        if not extraction.times:
            return days
        start = extraction.times[0]
        end = next((end for begin, end in extraction.time_ranges if begin == start), None)
        clock = f"{self.clock(start)}–{self.clock(end)}" if end else self.clock(start)
        return f"{days} at {clock}".strip()

    def _may_be_spoken(self, activity: str) -> bool:
        vocabulary = self.participants.vocabulary
        is_named = any(activity == each.id for each in self._activities)
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


def _weekday(day: str) -> str:
    """Return the weekday of an ISO date."""
    return _LONG_DAYS[date.fromisoformat(day).weekday()]


def _possessive(names: str) -> str:
    return f"{names}'" if names.endswith("s") else f"{names}'s"
