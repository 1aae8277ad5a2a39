"""How one remembered thing came to be what it is, and what forgetting it erases. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kinkeeper.memory.browser import Version
from kinkeeper.memory.erasure import Erasure
from kinkeeper.memory.journal import ChangeSet
from kinkeeper.memory.model import Fact, FactStatus
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.known import Recollection, fact_href
from kinkeeper.web.views.memory_changes import CAUSES
from kinkeeper.web.views.people import Person

_OVER = {
    FactStatus.SUPERSEDED: "Replaced by:",
    FactStatus.MERGED_INTO: "Merged with:",
    FactStatus.DEPRECATED: "Archived because it wasn't mentioned for a long time.",
    FactStatus.RETRACTED: "No longer true, or never was.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionLine:
    """One step of a fact's history.

    Attributes:
        at: When, in few words.
        spoken: When, in full.
        iso: When, for machines.
        what: What happened, in words.
        by: Who did it, if a person.
        line: What it said from then on; empty where its words stayed the same.
    """

    at: str
    spoken: str
    iso: str
    what: str
    by: Person | None
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Whether a fact still holds.

    Attributes:
        is_over: Whether it is out of use.
        text: Why, in words; empty while it holds.
        href: Page of what came after it, if anything.
        line: Words of what came after it.
    """

    is_over: bool
    text: str = ""
    href: str = ""
    line: str = ""


def versions_of(versions: Sequence[Version], recollection: Recollection) -> tuple[VersionLine, ...]:
    """Return a fact's history, oldest first.

    Args:
        versions: Newest first; one without a change is how it was before anything that is kept.
        recollection: Names people and moments.
    """
    wording, lines, shown = recollection.wording, [], ""
    for each in reversed(versions):
        change, narrative = each.change, each.fact.narrative
        if change is not None:
            by = change.made_by if change.made_by in recollection.people.members else None
            lines.append(
                VersionLine(
                    at=wording.moment(change.made_at), spoken=wording.long_moment(change.made_at),
                    iso=wording.local(change.made_at).isoformat(timespec="seconds"),
                    what=_what(change, each.fact), by=recollection.people.of(by) if by else None,
                    line=narrative if narrative != shown else "",
                )
            )  # fmt: skip
        shown = narrative
    return tuple(lines)


def standing_of(fact: Fact, follower: Fact | None, wording: Wording) -> Standing:
    """Return whether a fact still holds, and what came after it.

    Args:
        fact: Which.
        follower: What took its place or took it in, where the viewer may see it.
        wording: For its end.
    """
    if fact.status.is_active:
        if fact.valid_to is not None and fact.valid_to <= wording.now:
            day = wording.long_day(wording.local(fact.valid_to).date())
            return Standing(is_over=True, text=f"It was true until {day}.")
        return Standing(is_over=False)
    text = _OVER[fact.status]
    if follower is None:
        return Standing(is_over=True, text=text.rstrip(":") + "." if text.endswith(":") else text)
    return Standing(is_over=True, text=text, href=fact_href(follower.id), line=follower.narrative)


def erasure_lines(erasure: Erasure) -> Iterable[str]:
    """Return in words what forgetting erases."""
    counted = (
        (erasure.facts, "memory with all its earlier versions"),
        (erasure.statements, "sentence it is based on"),
        (erasure.episodes, "passage cut out of what was said"),
    )
    for count, what in counted:
        number = len(count)
        if number:
            yield f"{number} {what}" if number == 1 else f"{number} {_several(what)}"


def _several(what: str) -> str:
    first, _, rest = what.partition(" ")
    if first == "memory":
        return "memories with all their earlier versions"
    return f"{first}s {rest}"


def _what(change: ChangeSet, fact: Fact) -> str:
    if not fact.status.is_active:
        return f"{CAUSES[change.cause]}; not in use since"
    return CAUSES[change.cause]
