"""Which parts of a message arrange something: its stretches, the telling lines of a letter, or none. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import islice, pairwise
from typing import Final

from kinkeeper.household.model import Member, Role
from kinkeeper.language.text import words_before
from kinkeeper.observer.model import Stance, Task
from kinkeeper.observer.wording.arrangement_times import day_alone
from kinkeeper.observer.wording.clauses import (
    CUES,
    TaskPhrase,
    clause_breaks,
    has_cue,
    task_phrases,
)
from kinkeeper.observer.wording.message_view import Reading, grammar
from kinkeeper.reading.corrections import is_taken_for_joke
from kinkeeper.reading.times.model import Grain, TimeSpan

_HOLDS = re.compile(
    r"(?<!\w)(?:i|we|you|<adult>) (?:(?:will|can|is|are|am) )?(?:have|has|get|gets|got|take|takes|do|does|having|getting|taking|doing)(?: got)? <(?:child|kids)>"
)
_DOES = re.compile(
    r"(?:^|(?<= ))(?P<doer>i|we|you|<adult>) (?:(?:will|can|am|are|is|just|then|also) )*"
    r"(?:take|takes|taking|do|does|doing|get|gets|getting|have|has|having|got|fetch|fetches|collect|collects|drop|drops|"
    r"bring|brings|drive|drives|run|runs|pick|picks|cover|covers|handle|handles|mind|minds|watch|watches|grab|grabs|on) "
    r"(?:(?:up|the|off|to) )*<(?:childs?|kids|act)>"
)
_ITEM = re.compile(
    r"<childs?>(?: (?:at|is|is at|has|from))? (?:<(?:time|datetime|range)>|\d{1,2}[.:][0-5]\d)(?! ?(?:to|at|with) )"
)
_MOST_CLAUSES = 60
_NEXT_OF_LIST = re.compile(r"<childs?> (?:at|from|around|about|by)? ?<(?:time|datetime)>(?: |$)")


def segments(reading: Reading) -> tuple[Reading, ...]:
    """Return the parts of a message that each arrange something of their own; the whole one otherwise.

    A part stands on its own where it names what is arranged, or who has somebody, and for which child or,
    of an activity, on which day. Only the first 60 clauses are looked at.
    """
    ends = [end for _, end in clause_breaks(reading.skeleton)]
    bounds = list(pairwise([0, *ends, len(reading.skeleton) + 1]))[:_MOST_CLAUSES]
    standing = _handed_out(reading, bounds) or [
        pair
        for number, pair in enumerate(bounds)
        if _stands_alone(reading.within(*pair))
        or (number and _goes_on(reading.within(*bounds[number - 1]), reading.within(*pair)))
    ]
    alone = [reading.within(*pair) for pair in standing]
    if listed := _children_with_hours(reading):
        return listed
    if _asks_after_change(alone):
        return _sharing_days_of(alone)
    if not all(part.of_kind("child", "group") for part in alone) and not all(
        part.of_kind("activity") for part in alone
    ):
        return (reading,)
    if len(standing) < 2:  # noqa: PLR2004 - two at least, or there is nothing to part
        return (reading,)
    parts: list[Reading] = []
    lead = (0, 0)
    for pair in standing:
        part = reading.within(*pair)
        if parts and _says_nothing_of_its_own(part):
            part = reading.within(*pair, lead=lead)
        else:
            lead = (pair[0], pair[0] + _before_child(part))
        parts.append(part)
    return _sharing_the_day(parts)


def _children_with_hours(reading: Reading) -> tuple[Reading, ...]:
    """The items of a list of children, each with an hour, under one heading ("meetings Fri: Ann 2.20, Ben 3pm")."""
    items = [match.start() for match in islice(_ITEM.finditer(reading.skeleton), _MOST_CLAUSES)]
    parts = [
        reading.within(first, last, lead=_heading(reading, items[0]))
        for first, last in pairwise([*items, len(reading.skeleton) + 1])
    ]
    children = {mention.id for part in parts for mention in part.of_kind("child")}
    if len(parts) < 2 or len(children) < len(parts) or task_phrases(parts[0]):  # noqa: PLR2004 - two make a list
        return ()
    days = [day_alone(span) for span in parts[0].spans if span.has_date]
    return tuple(
        part
        if any(span.has_date for span in part.spans)
        else replace(part, spans=(*days, *part.spans))
        for part in parts
    )


def _heading(reading: Reading, end: int) -> tuple[int, int]:
    """The stretch before a list, less the sign that closes it."""
    stretch = reading.skeleton[:end].rstrip(" .,:;")
    return (0, len(stretch))


def _asks_after_change(parts: Sequence[Reading]) -> bool:
    """Whether something is called off and then somebody is looked for ("no club Friday. Who can have Ann from 2?")."""
    if len(parts) != 2:  # noqa: PLR2004 - what is off, and what it leaves to do
        return False
    off, asked = parts
    is_off = any(phrase.task is Task.CANCEL for phrase in task_phrases(off))
    return is_off and bool(off.of_kind("activity")) and has_cue(asked, "wanted")


def _sharing_days_of(parts: Sequence[Reading]) -> tuple[Reading, ...]:
    off, asked = parts
    if any(span.has_date for span in asked.spans):
        return off, asked
    return off, replace(asked, spans=(*(s for s in off.spans if s.has_date), *asked.spans))


def _handed_out(reading: Reading, bounds: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The clauses of "you take Ann, I do Ben": each person a job of their own."""
    found = [
        (pair, match["doer"])
        for pair in bounds
        if (match := _DOES.search(reading.within(*pair).skeleton))
        and reading.within(*pair).of_kind("child", "group", "activity")
    ]
    if len({doer for _, doer in found}) < 2 or reading.is_question:  # noqa: PLR2004 - one doer is no sharing out
        return []
    return [pair for pair, _ in found]


def _goes_on(before: Reading, part: Reading) -> bool:
    """Whether a clause only adds another child with a time of their own ("get Ann at 3 | and Ben at 4")."""
    return (
        _gives_a_job(before)
        and bool(before.spans)
        and _NEXT_OF_LIST.match(part.skeleton) is not None
    )


def _sharing_the_day(parts: Sequence[Reading]) -> tuple[Reading, ...]:
    """Give the only day of a list of jobs to all of them ("I get Ann, John gets Ben on Monday")."""
    dated = [part for part in parts if any(span.has_date for span in part.spans)]
    if len(dated) != 1 or not all(_gives_a_job(part) for part in parts):
        return tuple(parts)
    days = [
        day_alone(span)
        for span in dated[0].spans
        if span.has_date and span.grain in {Grain.DAY, Grain.HOUR, Grain.MINUTE}
    ]
    return tuple(
        part if part is dated[0] else replace(part, spans=(*days, *part.spans)) for part in parts
    )


def _gives_a_job(part: Reading) -> bool:
    return _HOLDS.search(part.skeleton) is not None or bool(task_phrases(part))


def _says_nothing_of_its_own(part: Reading) -> bool:
    """Whether a part only lists child and activity, so that it shares the verb of the part before."""
    return not _gives_a_job(part) and not any(has_cue(part, name) for name, _ in CUES)


def _before_child(part: Reading) -> int:
    """Offset of the first child: what stands before it is said of the whole list."""
    return next((s.at for s in part.symbols if s.text in {"<child>", "<childs>", "<kids>"}), 0)


def _stands_alone(part: Reading) -> bool:
    has_what = (
        bool(part.of_kind("activity", "generic"))
        or any(pattern.search(part.skeleton) for pattern in grammar().tasks.values())
        or _HOLDS.search(part.skeleton) is not None
    )
    has_day = bool(part.of_kind("activity")) and any(span.has_date for span in part.spans)
    is_whose = bool(part.of_kind("child", "group")) or (has_day and not has_cue(part, "change"))
    return has_what and is_whose and not has_cue(part, "thing")


# Letters that are passed on: of all their lines, those that tell what takes place and when. Pure.

_LETTER: Final = re.compile(
    r"\b(?:dear (?:parents?|famil\w+|guardians?|carers?|caregivers?|residents?|members?|all|patients?|customers?|neighbou?rs?|"
    r"m(?:r|rs|s|x|iss)\b|sir|madam|players?|students?)|(?:please be|kindly be) (?:informed|advised|reminded)|kind regards|"
    r"(?:we are|we're) (?:pleased|delighted|writing) to|(?:we would|we'd) like to (?:inform|invite|remind))",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^.!?;\n]+")
_DEADLINE: Final = re.compile(
    r"(?:by|before|until|till|due|no later than|latest|deadline|return\w*|rsvp|reply)(?: \w+){0,2} ?$",
    re.IGNORECASE,
)
_OF_COURSE: Final = re.compile(
    r"(?<!\w)(?:leaves?|leaving|departs?|departing|starts?|starting|begins?|from|at|arrives?|arrive|meet|doors|report)(?!\w)"
)


def is_letter(reading: Reading) -> bool:
    """Return whether a message, or what it passes on, is a letter of a school, clinic or club."""
    return _LETTER.search(reading.text) is not None


def body_of(reading: Reading) -> Reading:
    """Return of a letter what it announces: the sentence that names the first day to come, with its hour.

    Other days in it are deadlines, the date of the letter, or what was before. A message that is no letter is
    returned as it is.

    Args:
        reading: The message, or a part of it.
    """
    if not is_letter(reading):
        return reading
    sentences = [match.span() for match in _SENTENCE.finditer(reading.skeleton)]
    told = next((span for span in sentences if _tells_day(reading.within(*span))), None)
    if told is None:
        return reading
    part = reading.within(*told)
    if any(span.has_time for span in part.spans):
        return part
    following = (span for span in sentences if span[0] >= told[1])
    hour = next((span for span in following if _tells_hour(reading.within(*span))), None)
    return part if hour is None else reading.within(*hour, lead=told)


def _tells_day(sentence: Reading) -> bool:
    return any(
        span.has_date
        and span.grain in {Grain.DAY, Grain.HOUR, Grain.MINUTE}
        and span.until > sentence.sent_at
        and not _is_deadline(sentence, span)
        for span in sentence.spans
    )


def _tells_hour(sentence: Reading) -> bool:
    has_hour = any(span.has_time and not span.has_date for span in sentence.spans)
    return has_hour and _OF_COURSE.search(sentence.skeleton) is not None


def _is_deadline(sentence: Reading, span: TimeSpan) -> bool:
    return _DEADLINE.search(sentence.text[: span.start_char].rstrip()) is not None


# What names days, children or activities and yet arranges nothing: told, quoted, a limit, yet to be
# asked for. Pure.

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
    """Whether it only tells of what has been, of what others said, or a joke."""
    if _QUOTED.search(reading.text) or is_taken_for_joke(reading.text):
        return True
    today = reading.sent_at.date()
    if dates and all(day < today for day in dates):
        return True
    if stance not in {Stance.STATES, Stance.ASSIGNS} or any(day > today for day in dates):
        return False
    return has_cue(reading, "past") and not has_cue(reading, "change")
