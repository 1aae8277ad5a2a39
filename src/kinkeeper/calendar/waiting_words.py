"""What an occurrence waits for, in words: "not confirmed yet", and who claims it or was asked. Pure."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.calendar.model import Change, Occurrence
from kinkeeper.language.text import enumerated

NOT_CONFIRMED = "not confirmed yet"

_CANCELLED = f"may be cancelled, {NOT_CONFIRMED}"


def waiting_record(occurrence: Occurrence, zone: ZoneInfo) -> dict[str, Any]:
    """Return as JSON whether an occurrence is confirmed, and the open proposals about it.

    Args:
        occurrence: Any.
        zone: The household's.
    """
    return {
        "confirmed": occurrence.is_confirmed,
        "waiting": [
            {
                "action_id": each.action_id,
                "change": each.change.value,
                "claimed_by": list(each.claimed_by),
                "asked": list(each.asked),
                "moved_to": each.moved_to and each.moved_to.start.astimezone(zone).isoformat(),
            }
            for each in occurrence.waiting
        ],
    }


def waiting_words(
    record: Mapping[str, Any], *, name: Callable[[str], str], moment: Callable[[datetime], str]
) -> str:
    """Return what an occurrence waits for; empty of one that nothing is proposed about.

    Args:
        record: Holds what `waiting_record` returns.
        name: Returns what a member id is called; may be "you".
        moment: Returns an instant in words, with its preposition: "on Friday at 6pm".
    """
    is_confirmed = record.get("confirmed", True)
    notes = (
        _note(each, name, moment)
        for each in record.get("waiting") or ()
        if is_confirmed or _tells_who(each)
    )
    return ", and ".join(dict.fromkeys(notes)) or ("" if is_confirmed else NOT_CONFIRMED)


def occurrence_waiting(
    occurrence: Occurrence,
    zone: ZoneInfo,
    *,
    name: Callable[[str], str],
    moment: Callable[[datetime], str],
) -> str:
    """Return what `waiting_words` does, of an occurrence itself."""
    return waiting_words(waiting_record(occurrence, zone), name=name, moment=moment)


def _note(
    waiting: Mapping[str, Any],
    name: Callable[[str], str],
    moment: Callable[[datetime], str],
) -> str:
    claimed, asked = (
        sorted((name(each) for each in waiting[key]), key=lambda each: each != "you")
        for key in ("claimed_by", "asked")
    )
    if len(claimed) > 1:
        return f"{enumerated(claimed)} both claim it, {NOT_CONFIRMED}"
    if asked and not claimed:
        return f"{_were(asked)} asked, {NOT_CONFIRMED}"
    match waiting["change"]:
        case Change.CANCEL:
            return _CANCELLED
        case Change.MOVE if waiting["moved_to"]:
            to = moment(datetime.fromisoformat(waiting["moved_to"])).removeprefix("on ")
            return f"may move to {to}, {NOT_CONFIRMED}"
        case Change.ASSIGN | Change.UPDATE if claimed:
            return f"{claimed[0]} would be in charge, {NOT_CONFIRMED}"
        case _:
            return f"a change is {NOT_CONFIRMED}"


def _tells_who(waiting: Mapping[str, Any]) -> bool:
    """Whether a proposal tells more of who is in charge than the occurrence that it would add."""
    return len(waiting["claimed_by"]) != 1 and bool(waiting["claimed_by"] or waiting["asked"])


def _were(people: Sequence[str]) -> str:
    is_one = len(people) == 1 and people[0] != "you"
    return f"{enumerated(people)} {'was' if is_one else 'were'}"
