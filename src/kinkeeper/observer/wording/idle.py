"""What names days, children or activities and yet arranges nothing: told, quoted, a limit, yet to be asked for. Pure."""

import re
from collections.abc import Sequence
from datetime import date

from kinkeeper.household.model import Member, Role
from kinkeeper.language.text import words_before
from kinkeeper.observer.model import Stance
from kinkeeper.observer.wording.clauses import TaskPhrase, has_cue
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.reading.times.model import TimeSpan

_QUOTED = re.compile(
    r"\b(?:said|says|goes|asked|asks|asking|wrote|was like|texted|told \w+)\b[^\"\u201c]{0,20}[\"\u201c]",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"(?:till?|until|since)\b", re.IGNORECASE)
_DUE = re.compile(r"\bdue (?:by |on |in )?$", re.IGNORECASE)
_LEAVE = re.compile(
    r"(?:(?:<adult>|please|hey|hi|so)(?: ?,)? ?)*+(?:can|could|may) (?!(?:you|somebody|any ?body|<adult>)(?!\w))"
)


def arranges_nothing(
    reading: Reading,
    phrase: TaskPhrase | None,
    *,
    stance: Stance,
    dates: Sequence[date],
    sender: Member | None,
) -> bool:
    """Return whether a message only tells, or asks for what somebody else has yet to allow.

    Args:
        reading: The message, or a part of it.
        phrase: What is to be done, if named; with one, nothing is merely asked about.
        stance: What the sender does with it.
        dates: Local days it names.
        sender: Who wrote it, if known.
    """
    if _is_told(reading, stance=stance, dates=dates):
        return True
    if phrase is not None:
        return False
    return _asks_leave(reading, sender) or (
        stance is Stance.STATES and _is_yet_to_be_asked(reading)
    )


def is_mere_time(reading: Reading) -> bool:
    """Whether nothing is said but a day or time, which alone arranges nothing for who says it."""
    return all(isinstance(symbol.item, TimeSpan) for symbol in reading.symbols)


def is_a_limit(reading: Reading) -> bool:
    """Whether the day only says until when something holds or is due ("no sport till Friday", "money due Friday")."""
    dated = [span for span in reading.spans if span.has_date]
    return bool(dated) and all(
        _LIMIT.match(span.surface) or _DUE.search(words_before(reading.text, span.start_char))
        for span in dated
    )


def _asks_leave(reading: Reading, sender: Member | None) -> bool:
    """Whether a child asks to be allowed something, which arranges nothing before somebody says yes."""
    is_child = sender is not None and sender.role is Role.CHILD
    return is_child and _LEAVE.match(reading.skeleton) is not None


def _is_yet_to_be_asked(reading: Reading) -> bool:
    """Whether somebody means to ask first ("will ask for the 4 pm batch"), or asks if it is as always."""
    return has_cue(reading, "intends") or (reading.is_question and has_cue(reading, "stands"))


def _is_told(reading: Reading, *, stance: Stance, dates: Sequence[date]) -> bool:
    """Whether it only tells of what has been, or of what others said."""
    if _QUOTED.search(reading.text):
        return True
    today = reading.sent_at.date()
    if dates and all(day < today for day in dates):
        return True
    if stance not in {Stance.STATES, Stance.ASSIGNS} or any(day > today for day in dates):
        return False
    return has_cue(reading, "past") and not has_cue(reading, "change")
