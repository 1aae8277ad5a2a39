"""What changed in memory, and how one remembered thing came to be what it is. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kinkeeper.memory.browser import Version
from kinkeeper.memory.erasure import Erasure
from kinkeeper.memory.journal import Cause, ChangeSet
from kinkeeper.memory.model import Fact, FactStatus
from kinkeeper.memory.upkeep.runs import ChangeKind, Told
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.known import Recollection, fact_href
from kinkeeper.web.views.people import Person

CAUSES = {
    Cause.WRITE: "New statement",
    Cause.IMPORT: "Imported",
    Cause.CORRECT: "Corrected",
    Cause.EDIT: "Edited",
    Cause.WRONG: "Marked as incorrect",
    Cause.RETRACT: "Marked as outdated",
    Cause.PRIVATE: "Who sees it",
    Cause.DECIDE: "Decided",
    Cause.CONSOLIDATE: "Nightly upkeep",
    Cause.FORGET: "Forgotten",
    Cause.MEND: "Mended",
}
_LEFT = {
    FactStatus.SUPERSEDED: "Replaced by something newer",
    FactStatus.MERGED_INTO: "Merged",
    FactStatus.DEPRECATED: "Not mentioned for a long time",
    FactStatus.RETRACTED: "No longer true",
}
_WISHES = {
    ChangeKind.MERGED: "Would be merged",
    ChangeKind.SUPERSEDED: "Would be replaced by something newer",
    ChangeKind.FADED: "Not mentioned for a long time",
}
_SHORT = 3

Pair = tuple[Fact | None, Fact | None]
"""A fact before and after a change; None where there was or is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """What happened to one remembered thing.

    Attributes:
        before: What was remembered; empty of something new.
        after: What is remembered; empty of what is no longer.
    """

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change, which is taken back as a whole.

    Attributes:
        line: What it did, in one line.
        at: When, in few words.
        spoken: When, in full.
        lines: What became of each remembered thing.
        is_long: Whether there are so many that they are folded away.
        more: What is not listed, in words.
        undo_id: To take it back; empty where that is not possible.
        undone: Who took it back and when, in words; empty where it stands.
    """

    kind: str
    line: str
    at: str
    spoken: str
    lines: tuple[FactChange, ...]
    is_long: bool
    more: str
    undo_id: str
    undone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NightQuestion:
    """What a night wants to do and may not without a yes.

    Attributes:
        text: Why it is asked.
        lines: What would become of each remembered thing.
        more: What is not listed, in words.
        is_answered: Whether a yes was said, and the next night does it.
    """

    id: str
    line: str
    text: str
    lines: tuple[FactChange, ...]
    more: str
    is_answered: bool


def fact_changes(pairs: Iterable[Pair]) -> tuple[FactChange, ...]:
    """Return what became of facts, in words; what changed neither words nor use is left out."""
    found = (_fact_change(before, after) for before, after in pairs)
    return tuple(each for each in found if each is not None)


def unlisted(pairs: Sequence[Pair], *, beyond: int) -> str:
    """Return in words what is not listed: what only grew surer or less sure, and what there is no room for.

    Args:
        pairs: Facts before and after.
        beyond: How many more facts changed.
    """
    counted: Counter[str] = Counter()
    for before, after in pairs:
        if before is None or after is None or _fact_change(before, after) is not None:
            continue
        if after.confidence != before.confidence:
            surer = after.confidence > before.confidence
            counted["became more certain" if surer else "became less certain"] += 1
    words = [f"{count} {what}" for what, count in sorted(counted.items())]
    return ", ".join([*words, *([f"{beyond} more"] if beyond else [])])


def is_long(lines: Sequence[FactChange]) -> bool:
    """Whether lines are so many that they are folded away."""
    return len(lines) > _SHORT


def wishes(told: Iterable[Told]) -> tuple[FactChange, ...]:
    """Return what would become of facts that a night wants to let go; only losses are told.

    Args:
        told: What the night wants, as far as the viewer may see it.
    """
    return tuple(
        FactChange(
            what=_WISHES[each.difference.kind],
            before=each.fact.narrative if each.fact else "",
            after=each.other.narrative if each.other else "",
        )
        for each in told
        if each.difference.kind in _WISHES
    )


def _fact_change(before: Fact | None, after: Fact | None) -> FactChange | None:
    held, holds = _words(before), _words(after)
    if held and holds:
        if held != holds:
            return FactChange(what="Reworded", before=held, after=holds)
        if before and after and before.scope != after.scope:
            return FactChange(what="Audience changed", before="", after=holds)
        return None
    if holds:
        return FactChange(what="Again" if before else "New", before="", after=holds)
    if held:
        what = _LEFT.get(after.status, "Removed") if after else "Removed"
        return FactChange(what=what, before=held, after="")
    return None


def _words(fact: Fact | None) -> str:
    """Return the words of a fact that may be recalled; empty where it may not."""
    return fact.narrative if fact is not None and fact.status.is_active else ""


# How one remembered thing came to be what it is, and what forgetting it erases. Pure.

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
    """
    wording, lines, shown = recollection.wording, [], ""
    for each in reversed(versions):
        change, narrative = each.change, each.fact.narrative
        if change is not None:
            by = change.made_by if change.made_by in recollection.people.members else None
            lines.append(
                VersionLine(
                    at=wording.moment(change.made_at),
                    spoken=wording.long_moment(change.made_at),
                    iso=wording.local(change.made_at).isoformat(timespec="seconds"),
                    what=_what(change, each.fact),
                    by=recollection.people.of(by) if by else None,
                    line=narrative if narrative != shown else "",
                )
            )
        shown = narrative
    return tuple(lines)


def standing_of(fact: Fact, follower: Fact | None, wording: Wording) -> Standing:
    """Return whether a fact still holds, and what came after it.

    Args:
        follower: What took its place or took it in, where the viewer may see it.
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
