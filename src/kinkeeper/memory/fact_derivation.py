"""What a fact is, given the line of statements it stands for. Pure."""

from dataclasses import replace
from datetime import datetime

from kinkeeper.memory.confidence import GONE, MOST, SUPPORT, confidence_now
from kinkeeper.memory.model import Fact, FactStatus, Origin, Statement
from kinkeeper.memory.timeline import End, Line
from kinkeeper.memory.transience import is_transient

_WEAKEST_FIRST = (Origin.OBSERVED, Origin.IMPORTED, Origin.SAID)
_STATUS = {
    End.OUTDATED: FactStatus.SUPERSEDED,
    End.RETRACTED: FactStatus.RETRACTED,
    End.NEVER: FactStatus.RETRACTED,
    End.EXPIRED: FactStatus.DEPRECATED,
}
_DIGITS = 9


def believed(line: Line) -> float:
    """Return how far what a line says is believed by its evidence alone, in [0, 1].

    Every further episode takes a share of the doubt away; a statement that cannot hold beside it,
    undecided, halves it.

    Args:
        line: Its statements and their own confidences.
    """
    return _supported(line) * 0.5 ** len(line.rivals)


def new_fact(line: Line, fact_id: str, *, now: datetime) -> Fact:
    """Return the fact of a line that had none.

    Args:
        line: What it stands for.
        fact_id: Its id.
        now: When it is stored, aware; its silence counts from here.
    """
    words = line.words
    status = status_of(line, now, held=FactStatus.PENDING_EMBED)
    starts = [each.valid_from for each in line.statements if each.valid_from]
    return Fact(
        household=words.household,
        id=fact_id,
        scope=words.scope,
        category=words.category,
        type=words.type,
        subject=words.subject,
        slot=words.slot,
        title=words.title,
        narrative=words.narrative,
        speaker=words.speaker,
        origin=min((each.origin for each in line.statements), key=_WEAKEST_FIRST.index),
        source=line.statements[0].episode_id,
        confidence=round(believed(line), _DIGITS),
        evidence_count=len(line.episodes),
        derived_from=line.episodes,
        status=status,
        is_contradicted=bool(line.rivals),
        is_edited=words.is_correction,
        is_transient=is_transient(words),
        held_from=line.held_from,
        valid_from=min(starts, default=None),
        valid_to=line.ended_at,
        said_at=words.said_at,
        created_at=now,
        last_evidence_at=max(each.said_at for each in line.statements),
        decayed_until=now,
        archived_at=None if status.is_active else line.ended_at,
    )


def updated_fact(old: Fact, line: Line, before: Line | None, *, now: datetime) -> Fact:
    """Return a fact as it is after its line became another.

    What silence took from the confidence of a transient fact stays taken, unless its line has new statements.

    Args:
        old: The fact as stored.
        line: What it stands for now.
        before: What it stood for, as far as that is still stored; None where nothing is known.
        now: Aware.
    """
    fact = new_fact(line, old.id, now=now)
    confidence, since = _carried(old, line, before, now=now)
    fact = replace(fact, confidence=confidence, decayed_until=since)
    status = fact.status
    if status.is_active and old.status is FactStatus.ACTIVE and fact.narrative == old.narrative:
        status = FactStatus.ACTIVE
    is_gone = fact.is_transient and confidence_now(fact, now) < GONE
    is_faded = old.status is FactStatus.DEPRECATED and status.is_active and is_gone
    return replace(
        fact,
        status=FactStatus.DEPRECATED if is_faded else status,
        details=old.details,
        created_at=old.created_at,
        seq=old.seq,
        last_evidence_at=_supported_at(fact, old, before),
        archived_at=old.archived_at if is_faded else fact.archived_at,
    )


def status_of(line: Line, now: datetime, *, held: FactStatus) -> FactStatus:
    """Return the status of a line's fact.

    Args:
        line: What it stands for.
        now: Aware; what ends later holds until then.
        held: Status of one that holds.
    """
    if line.end is None or line.ended_at is None:
        return held
    # What is over before it begins does not wait for its day to be over.
    return _STATUS[line.end] if line.ended_at <= max(now, line.held_from) else held


def _carried(
    old: Fact, line: Line, before: Line | None, *, now: datetime
) -> tuple[float, datetime]:
    """Return a confidence with what is new about its line, and up to when its silence is charged."""
    if before is None:
        return round(believed(line), _DIGITS), now
    is_same = line.episodes == before.episodes and len(line.rivals) == len(before.rivals)
    if is_same:
        return old.confidence, old.decayed_until
    is_untouched = old.decayed_until == now and old.confidence == round(believed(before), _DIGITS)
    if is_untouched or old.confidence == 0:
        return round(believed(line), _DIGITS), now
    was = min(1.0, confidence_now(old, now) / 0.5 ** len(before.rivals))
    kept = 1 - (1 - was) * (1 - _supported(line)) / max(1 - _supported(before), 1e-9)
    fresh = _said_since(line, before)
    # Heard again after a long silence is worth no less than heard first.
    support = max(kept, max((each.confidence for each in fresh), default=0.0))
    bounded = min(max(support, 0.0), max(MOST, was))
    return round(bounded * 0.5 ** len(line.rivals), _DIGITS), max(now, old.decayed_until)


def _supported_at(fact: Fact, old: Fact, before: Line | None) -> datetime:
    """Return when a fact was supported last, also by what does not state it; what went to another line supports that."""
    stated = max((each.said_at for each in before.statements), default=None) if before else None
    is_stated_only = old.last_evidence_at == stated
    return (
        fact.last_evidence_at
        if is_stated_only
        else max(fact.last_evidence_at, old.last_evidence_at)
    )


def _said_since(line: Line, before: Line) -> list[Statement]:
    known = {each.id for each in before.statements}
    return [each for each in line.statements if each.id not in known]


def _supported(line: Line) -> float:
    alone = max(each.confidence for each in line.statements)
    doubt = (1 - alone) * (1 - SUPPORT) ** (len(line.episodes) - 1)
    return max(alone, min(MOST, 1 - doubt))
