"""What somebody asks memory on its page, and how it is answered in one line. Pure."""

from dataclasses import dataclass
from datetime import date, datetime

from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.known import Evidence, KnownFact


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked.

    Attributes:
        text: To search for; empty shows all.
        day: ISO date as of whose end memory is shown; empty for now.
        first: ISO date of the first thing remembered, or today.
        today: ISO date.
        sentence: What is shown, in words; empty where it is simply all.
        nothing: What is said where nothing is found.
    """

    text: str
    day: str
    first: str
    today: str
    sentence: str = ""
    nothing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One thing found: something remembered, or what was said.

    Attributes:
        fact: The fact, if it is one.
        turn: The words, if it is what was said.
    """

    fact: KnownFact | None = None
    turn: Evidence | None = None


def shown_day(wanted: str, wording: Wording) -> date | None:
    """Return the past day that is asked for; None for today, days to come, and what is no day.

    Args:
        wanted: ISO date as a form sends it, which may be empty.
        wording: Tells what today is.
    """
    try:
        day = date.fromisoformat(wanted)
    except ValueError:
        return None
    return day if day < wording.today else None


def asked_for(
    text: str, day: date | None, *, first: datetime | None, count: int, wording: Wording
) -> Asked:
    """Return what was asked, with its answer in one line.

    Args:
        text: To search for.
        day: Past day as of whose end memory is shown, if one.
        first: When the first thing was remembered, if any.
        count: How many things are shown.
        wording: For the day.
    """
    began = wording.local(first).date() if first else wording.today
    return Asked(
        text=text, day=day.isoformat() if day else "",
        first=min(began, day or began).isoformat(), today=wording.today.isoformat(),
        sentence=_sentence(text, day, count, wording), nothing=_nothing(text, day, wording),
    )  # fmt: skip


def _sentence(text: str, day: date | None, count: int, wording: Wording) -> str:
    if not text and day is None:
        return ""
    number = "One thing" if count == 1 else f"{count or 'No'} things"
    what = f"{number} found" if text else f"{number} remembered"
    return f"{what}, as of {wording.long_day(day)}." if day else f"{what}."


def _nothing(text: str, day: date | None, wording: Wording) -> str:
    if text:
        return "Nothing in memory matches this."
    if day is not None:
        return f"There were no memories yet on {wording.long_day(day)}."
    return "No memories yet."
