"""A digest in words: fixed templates, filled with what is stored. Pure."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta

from kinkeeper.actions.model import PendingAction
from kinkeeper.core.time import day_ending_at
from kinkeeper.digest.model import Digest, Unassigned
from kinkeeper.household.model import Household
from kinkeeper.language.text import enumerated, shorten, strip_controls
from kinkeeper.reading.times import regions

_MOST_LINES = 100
_LONGEST_LINE = 140
_UNTIL_NEXT = timedelta(hours=40)
"""Longest time between two digests: a day, and quiet hours that hold the next one back."""

_NOBODY = {
    "pickup": "is picking {who} up{source}",
    "dropoff": "is taking {who}{target}",
    "cover": "is looking after {who}",
    "attend": "is going{target} with {who}",
    "appointment": "is going{target} with {who}",
}


class DigestWords:
    """Puts the digests of one household into words.

    Args:
        household: Theirs.
    """

    def __init__(self, household: Household) -> None:
        self._household = household

    def text(self, digest: Digest, *, address: str | None = None, most: int = _MOST_LINES) -> str:
        """Return a whole digest.

        Args:
            digest: Not empty.
            most: Most lines of one kind, > 0; what expires before the next digest is named all the same.
            address: Where the pages are, if people can reach them; the end of the text points there.
        """
        parts = [
            self._waiting(digest, most),
            self._tomorrow(digest, most),
            self._expired(digest, most),
        ]
        if address is not None:
            parts.append(f"Decide here: {address}/digest")
        return "\n\n".join(part for part in parts if part)

    def headline(self, count: int) -> str:
        """Return that so many plans wait, in a sentence."""
        return f"{_plans(count, 'is', 'are')} waiting for your OK"

    def nobody(self, job: Unassigned) -> str:
        """Return that nobody has taken on a job: "Nobody is picking Ben up from hurling tomorrow at 5pm"."""
        who = enumerated([self._name(child) for child in job.children], last="and")
        template = _NOBODY.get(job.task or "")
        if template is None or not who:
            what = " ".join(filter(None, [who, job.what or job.task or "it"]))
            doing = f"has taken on “{shorten(strip_controls(what), _LONGEST_LINE)}”"
        else:
            source = f" from {job.what}" if job.what else ""
            target = f" to {job.what}" if job.what else ""
            doing = template.format(who=who, source=source, target=target)
        at = "" if job.start is None else f" at {self.clock(job.start)}"
        return f"Nobody {doing} tomorrow{at}"

    def clock(self, at: time) -> str:
        """Return a time of day as the household's region writes it: "6pm", "18:00"."""
        return regions.clock(at, self._household.locale)

    def expires(self, instant: datetime) -> str:
        """Return until when something waits: "until the end of Thu 14 May"."""
        zone = self._household.zone
        local = instant.astimezone(zone)
        day = day_ending_at(instant, zone)
        if day is None:
            clock = self.clock(local.time().replace(second=0, microsecond=0))
            return f"until {self._day(local.date())} at {clock}"
        return f"until the end of {self._day(day)}"

    def _day(self, day: date) -> str:
        return regions.short_day(day, self._household.locale)

    def _waiting(self, digest: Digest, most: int) -> str:
        waiting = digest.others_waiting
        if not waiting:
            return ""
        lines = [f"• {_line(each)} ({self.expires(each.expires_at)})" for each in waiting]
        soon = sum(each.expires_at <= digest.at + _UNTIL_NEXT for each in waiting)
        return "\n".join([f"{self.headline(len(waiting))}:", *_cut(lines, max(most, soon))])

    def _tomorrow(self, digest: Digest, most: int) -> str:
        return "\n".join(_cut([f"{self.nobody(each)}." for each in digest.unassigned], most))

    def _expired(self, digest: Digest, most: int) -> str:
        if not digest.expired:
            return ""
        count = len(digest.expired)
        them = "it" if count == 1 else "them"
        head = f"{_plans(count)} expired because nobody confirmed {them}. You can still restore {them}:"
        return "\n".join([head, *_cut([f"• {_line(each)}" for each in digest.expired], most)])

    def _name(self, member_id: str) -> str:
        return self._household.names.get(member_id, member_id)


def _plans(count: int, one: str = "", many: str = "") -> str:
    verb = one if count == 1 else many
    return " ".join(filter(None, [str(count), "plan" if count == 1 else "plans", verb]))


def _line(action: PendingAction) -> str:
    return shorten(strip_controls(action.proposal.summary), _LONGEST_LINE)


def _cut(lines: Sequence[str], most: int) -> Iterator[str]:
    yield from lines[:most]
    if len(lines) > most:
        yield f"… and {len(lines) - most} more"
