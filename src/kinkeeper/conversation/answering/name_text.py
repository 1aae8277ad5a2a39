"""What words of requests and findings are made of: whose times and names, what a thing is called. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.answering.spoken_times import series_words, span_words
from kinkeeper.household.model import Household
from kinkeeper.language.text import enumerated, shorten, strip_controls

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""An identity, which names nothing to a person."""

_LONGEST = 140
_LONGEST_BODY = 400
_NAMES = ("title", "summary", "subject", "text", "name", "narrative", "value", "line")
MOST: Final = 6
"""Things that are named one after the other."""

_FEW = 2
TITLES = ("title", "summary", "find_by", "subject", "query")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Whose words and times an answer uses.

    Attributes:
        household: Names, zone and locale.
        member: Id of the person spoken to.
        now: Aware, in the household's zone.
    """

    household: Household
    member: str
    now: datetime

    def name(self, person: str) -> str:
        """Return how a member or somebody else is named to the person spoken to."""
        member = self.household.member(person)
        if person == self.member:
            return "you"
        return member.name if member else plain(person)


@dataclass(frozen=True, slots=True)
class Words:
    """A request as words are made of it.

    Attributes:
        done: The request and what became of it.
        setting: Whose words count.
    """

    done: ActionResult
    setting: Setting

    def value(self, *names: str) -> Any:
        """Return the first of these that the receipt holds, else the plan, else None; an identity counts as nothing."""
        changes = self.done.params.get("changes")
        places = (
            self.done.result,
            changes if isinstance(changes, Mapping) else {},
            self.done.params,
        )
        return next(
            (
                place[name]
                for place in places
                for name in names
                if place.get(name) not in (None, "") and not _ID.fullmatch(str(place[name]))
            ),
            None,
        )

    @property
    def title(self) -> str:
        """What it is called, in quotation marks; "that" where nothing names it."""
        found = self.value(*TITLES)
        return f"“{plain(str(found))}”" if found else "that"

    @property
    def when(self) -> str:
        """When it is, with a space before it; empty where it has no time."""
        start = self.value("start", "start_time", "remind_at", "deadline", "on")
        end = self.value("end", "end_time")
        told = "" if start is None else span_words(
            str(start), str(end) if end else None, now=self.setting.now, locale=self.setting.household.locale
        )  # fmt: skip
        return f" {told}" if told else ""

    @property
    def series(self) -> str:
        """When a new event is, with a space before it: how often, where it recurs."""
        start, end, rule = self.value("start"), self.value("end"), self.value("rrule")
        if start is None or not rule:
            return self.when
        told = series_words(
            str(start), str(end) if end else None, str(rule), now=self.setting.now,
            locale=self.setting.household.locale,
        )  # fmt: skip
        return f" {told}"

    @property
    def people(self) -> str:
        """To whom it goes, joined."""
        found = self.value("to", "sender_name", "who")
        people = found if isinstance(found, list | tuple) else [found] if found else []
        return enumerated([self.setting.name(str(each)) for each in people]) or "somebody"

    @property
    def body(self) -> str:
        """Its text, in quotation marks, with a space before it; empty where it has none."""
        found = self.value("body", "text")
        return f" “{plain(str(found), _LONGEST_BODY)}”" if found else ""


def plain(text: str, limit: int = _LONGEST) -> str:
    """Return words that somebody wrote on one line, without what is invisible, and not too long."""
    return shorten(" ".join(strip_controls(text).split()), limit)


def name_of(item: Mapping[str, Any]) -> str:
    """Return what something that was found is called."""
    return next((plain(str(item[name])) for name in _NAMES if item.get(name)), "something")


def few(told: Sequence[str], count: int, mark: str) -> str:
    """Return the first of some things, and how many more there are.

    Args:
        told: Each in words.
        count: How many there are.
        mark: Between them.
    """
    shown = f"{mark} ".join(told[:MOST])
    return f"{shown} and {count - MOST} more" if count > MOST else shown


def is_shown(done: ActionResult, items: Sequence[Any]) -> bool:
    """Whether a card shows a longer list, so that words need not."""
    return done.card is not None and len(items) > _FEW


def listed(value: Any) -> Sequence[Any]:
    """Return a value of a request as a row of values: of one thing a row of one, of none an empty one.

    Args:
        value: As a receipt or a plan has it.
    """
    return value if isinstance(value, list | tuple) else [value] if value else []
