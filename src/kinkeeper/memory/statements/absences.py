"""On which days people said that they have no time or are not there, and that they are free after all. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from kinkeeper.core.time import Interval, local_days
from kinkeeper.household.model import Household
from kinkeeper.language.text import tokenise
from kinkeeper.reading.deeds import clauses_of
from kinkeeper.reading.replies import is_question, tells_of_having_time
from kinkeeper.reading.times.reader import read

_WHENEVER = datetime(2000, 1, 5, 12, tzinfo=UTC)
"""Whether a day is named is the same whenever it is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTime:
    """That somebody has time on some days, or none, as it was told.

    Attributes:
        member: Id of who has it or not.
        days: When.
        is_free: Whether they have time.
    """

    member: str
    days: Interval
    is_free: bool


def times_told(
    text: str, teller: str | None, said_at: datetime, household: Household
) -> Iterator[ToldTime]:
    """Yield who has time on days that a message names, and who has none; what comes again and again is left out.

    Args:
        text: What was said, verbatim.
        teller: Member id of who said it.
        said_at: In the household's zone.
    """
    for clause in clauses_of(text):
        member, said = _whose(clause, teller, household)
        is_free = tells_of_having_time(said)
        if member is None or is_free is None:
            continue
        if is_question(tokenise(clause), clause, household.members_by_word):
            continue
        for span in read(clause, said_at, locale=household.locale):
            if span.has_date and span.recurrence is None:
                days = Interval(span.begin, span.until)
                if span.bound is not None:  # "not home till 9" leaves open from when on
                    day = span.begin.date()
                    days = local_days(day, day, household.zone)
                yield ToldTime(member=member, days=days, is_free=is_free)


def tells_of_time(text: str, household: Household) -> bool:
    """Return whether a message tells that somebody has time on a day, or none: the household plans by it."""
    whenever = _WHENEVER.astimezone(household.zone)
    return any(True for _ in times_told(text, "", whenever, household))


def _whose(clause: str, teller: str | None, household: Household) -> tuple[str | None, str]:
    """Return whom a clause is about, and the clause as they would say it themselves: "I can't" for "Ada can't"."""
    first, _, rest = clause.replace("’", "'").partition(" ")
    name, _, being = first.casefold().partition("'")
    named = household.members_by_word.get(name, frozenset())
    if len(named) != 1:
        return teller, clause
    (member,) = named
    if being == "s" or rest.casefold().startswith("is "):
        return member, f"I'm {rest if being else rest[len('is ') :]}"
    return member, f"I {rest}"
