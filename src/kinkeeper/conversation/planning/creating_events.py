"""Reads what is to be put into the calendar, asked for or told, with its title, people and place. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import (
    Case,
    Groups,
    Missing,
    Step,
    action,
    best_match,
    content_words,
)
from kinkeeper.conversation.planning.message import LENGTH_MARK, TIME_MARK
from kinkeeper.conversation.planning.people import (
    by_owner,
    everybody,
    is_person,
    is_speaker,
    means_everybody,
    means_two_of_us,
    members_in,
    people_in,
    together,
    who_of,
)
from kinkeeper.conversation.planning.plan_times import (
    Moment,
    each_of,
    from_today,
    moment_of,
    on_each_day,
)
from kinkeeper.conversation.planning.task_rules import add as add_task
from kinkeeper.household.vocabulary import WordKind
from kinkeeper.reading.corrections import told_not_asked
from kinkeeper.reading.times.model import SpanKind, TimeSpan

# What an event may be called, and what is none. Pure.

POINTS_BACK = re.compile(
    r"^(?:it|that|this|them|those|everything|something|one|him|her|the (?:time|date)|time|date|up|(?:the )?(?:things?|stuff|rest|other(?: one)?))$",
    re.IGNORECASE,
)
"""Words that name nothing by themselves."""

DETERMINER = re.compile(
    r"^(?:(?:the|my|our|a|an|another|new|this|that|any|next)\s+)+", re.IGNORECASE
)
NO_EVENT = re.compile(
    r"\b(?:list|lists|to-do|note|notes|email|mail|alarm|reminder|timer|music|song|request|action|command|order|item|file|account|card|subscription|line|lines|message|messages|file|light|lights|volume|playlist|radio|podcast|taxi|uber|cab|pizza(?! (?:night|party|evening|lunch|dinner|making)))\b",
    re.IGNORECASE,
)
"""What lists, mails, devices and orders are made of, and no event."""


def is_appointment(title: str, case: Case) -> bool:
    """Whether a title speaks of something that stands in calendars."""
    if case.grammar.said["appointment"].search(title):
        return True
    words = title.lower().split()
    kinds = (WordKind.ACTIVITY, WordKind.GENERIC_ACTIVITY)
    parts = {
        " ".join(words[i:j])
        for i in range(len(words))
        for j in range(i + 1, min(i + 4, len(words) + 1))
    }
    return any(word.kind in kinds for part in parts for word in case.vocabulary.meanings(part))


def lowered(title: str) -> str:
    """Return a title as it stands in the middle of a sentence."""
    first = title.split(maxsplit=1)[0] if title else ""
    return title if first.isupper() or not content_words(title) else title[0].lower() + title[1:]


# What is to take place, out of the words that are left when its times are taken out: title, people,
# place. Pure.

_PIECES = re.compile(r"\s*[,;]\s*|\s+[-–—]\s+|\s*[()]\s*")
_BOTH = re.compile(r"\s+(?:both|all)$", re.IGNORECASE)
"""Behind names it adds nobody."""

_DETERMINER = re.compile(
    r"^(?:(?:the|my|our|his|her|their|its|a|an|another|some|new|this|that|any|next)\s+)+",
    re.IGNORECASE,
)
_LEFT_OVER = re.compile(
    r"^(?:that|for|to|called|titled|named|about|and|with us|in)\s+|\s+(?:to|on|at|for|in|from|by|and|is|are|will be|with|it's|starting|until|till|til|every|each|all|whole|of|(?:until|till|til) late|onwards|sharp|or so|ish|instead|too|as well|then|about|around|roughly|approximately|staying|lasting)$",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    rf"\b(?:for|lasting|takes|taking)\s+(?:about\s+)?{LENGTH_MARK}|^\s*(?:about\s+)?{LENGTH_MARK}(?:\s+long)?\s*$",
    re.IGNORECASE,
)
_COPULA = re.compile(
    rf"\s+(?:is|are|will be|starts?|begins?|comes?|takes? place)(?=\s+(?:(?:on|at|from|in|this|next)\s+)*{TIME_MARK})",
    re.IGNORECASE,
)
_UNREAD = re.compile(
    r"(?:^|[\s,])(?:(?:until|till|til|every|each|between)\b|(?:from|at|by)(?:$|\s+\d)).*|[,–-]\s*\d{1,2}(?:[:.]\d\d)?$|\b\d{1,2}[:.]\d\d\b|\b\d{1,2}\s*(?:onwards?|o'?clock)\b(?! [a-z])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What takes place, as far as it was said.

    Attributes:
        title: What it is called; empty where nothing names it.
        who: Ids of members who take part.
        responsible: Ids of members who see to it.
        is_whole: Whether all that sounds like a time was read as one.
        main: The words that say when it is: all but those that tell when a part of it is ("doors at 6:30").
    """

    title: str
    who: tuple[str, ...] = ()
    responsible: tuple[str, ...] = ()
    where: str | None = None
    is_whole: bool = True
    main: str = ""


def described(what: str, case: Case, *, who: str = "") -> Described:
    """Return what takes place by the words that describe it.

    Args:
        what: A part of the message, with marks.
        who: A part that names only people.
    """
    plain = _COPULA.sub("", case.grammar.describing["in_calendar"].sub(" ", what))
    parts = _PIECES.split(plain)
    beside = [part for part in parts[1:] if _tells_of_a_part(part, case)]
    parts = [part for part in parts if part not in beside]
    pieces = [case.message.title(_LENGTH.sub(" ", part)) for part in parts]
    pieces = [piece for piece in pieces if piece]
    found = Described(title="", who=tuple(_those_who(who, case)) if who else ())
    kept: list[str] = []
    for piece in pieces:
        more = _aside(piece, case) if kept else None
        found = found if more is None else _joined(found, more)
        kept += [piece] if more is None else []
    named = _headed(kept[0], case) if kept else Described(title="")
    title = ", ".join(each for each in (named.title, *kept[1:]) if each)
    return replace(
        _joined(found, named),
        title=", ".join([title, *map(case.message.words, beside)]),
        is_whole=is_person(title, case) or _UNREAD.search(title) is None,
        main=", ".join(parts),
    )


def _tells_of_a_part(words: str, case: Case) -> bool:
    """Whether words say at which hour a part of it is; the hour of the whole is said elsewhere."""
    times = case.message.times(words)
    says_hour = bool(times) and all(each.has_time and not each.has_date for each in times)
    return says_hour and case.grammar.describing["part_of_it"].match(words) is not None


def _joined(found: Described, more: Described) -> Described:
    return Described(
        title=found.title or more.title,
        who=_once(found.who, more.who),
        responsible=_once(found.responsible, more.responsible),
        where=found.where or more.where,
    )


def _once(*ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for several in ids for each in several))


def _aside(piece: str, case: Case) -> Described | None:
    """Return what a piece beside the title says of people or place; None where it says something else."""
    taking = case.grammar.describing["taking"].fullmatch(piece)
    if taking is not None and (members := who_of(taking["who"], case)):
        others = [each for each in members_in(piece, case) if each not in members]
        return Described(title="", responsible=tuple(members), who=tuple(others))
    going = case.grammar.describing["going"].fullmatch(piece)
    if going is not None:
        members = _those_who(going["who"], case)
        if members or means_two_of_us(going["who"], case):
            return Described(title="", who=tuple(members))
    place = case.grammar.describing["at_place"].fullmatch(piece)
    return Described(title="", where=place["where"]) if place is not None else None


def _those_who(words: str, case: Case) -> list[str]:
    return together(words, case) or who_of(_BOTH.sub("", words), case)


def _headed(head: str, case: Case) -> Described:
    """Return what the title's own piece says: who takes part, who sees to it, where it is."""
    says, head = case.grammar.describing, _trimmed(by_owner(head, case))
    who: list[str] = []
    responsible: list[str] = []
    for name, people in (
        ("ends_taking", responsible),
        ("ends_going", who),
        ("ends_for", who),
        ("begins_with", who),
    ):
        match = says[name].fullmatch(head)
        if match is None or not _is_people(match["who"], case):
            continue
        members = _those_who(match["who"], case)
        if members or means_two_of_us(match["who"], case):
            head = match["title"]
            people.extend(members)
    begun = says["begins_having"].match(head)
    head = head[begun.end() :] if begun is not None else head
    title, where = _placed(_trimmed(head), case)
    present = everybody(case) if means_everybody(title, case) else [*who, *members_in(title, case)]
    return Described(title=title, where=where, who=_once(present), responsible=_once(responsible))


def _is_people(words: str, case: Case) -> bool:
    """Whether words name nobody but members ("me", "gran", "Leo and Mia", "all of us")."""
    each = [part for part in re.split(r"\s*(?:,|&|\band\b|\bboth\b)\s*", words.strip()) if part]
    is_of_us = means_everybody(words, case) or case.grammar.said["two_of_us"].fullmatch(words)
    return bool(is_of_us) or all(
        is_person(part, case) or part.lower() in {"me", "i", "us", "we", "myself"} for part in each
    )


def _trimmed(title: str) -> str:
    """Return a title without what is left over at its ends when times are taken out."""
    before = None
    while title != before:
        before = title
        title = _LEFT_OVER.sub("", _DETERMINER.sub("", title.strip(" ,"))).strip(" ,")
    return title


def _placed(title: str, case: Case) -> tuple[str, str | None]:
    """Return a title without the place at its end, and the place."""
    found = case.grammar.describing["ends_at_place"].fullmatch(title)
    if found is None or members_in(found["where"], case):
        return title, None
    title = " ".join(each for each in (_trimmed(found["title"]), found["more"]) if each)
    return title, found["where"]


_ENDS_BY = re.compile(
    rf"[\s,]+(?:and |then )?(?:be |is |are |will be )?(?:back|home|finish(?:ed|es|ing)?|over|done|ends?|ending|stay(?:s|ing)?|there|here|leav(?:es?|ing)|go(?:es|ing)?|return(?:s|ing)?|fl(?:y|ies|ying))(?: again| home| there| over| on)*(?: by| at| on| around| about| till| until)* (?:the )?(?P<end>{TIME_MARK})",
    re.IGNORECASE,
)
_STAYS = re.compile(r"\b(?:stay(?:s|ing)?|there|here)\b", re.IGNORECASE)
"""Says an end only with "till"."""

_SAME_TIME = re.compile(
    r"[\s,]*\b(?:at )?(?:the |its )?(?:same|usual|normal) (?:time|hour)(?: (?:as (?:usual|before|always|last time|ever)))?",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"\s+(?:(?:back|down|up) )?(?:in )?again(?= |,|$)", re.IGNORECASE)
_HOURS_LOST = re.compile(
    r"\bfrom \d[\d:.]* to (?:at )?\d[\d:.]*,? (?:starting|beginning|from)\b", re.IGNORECASE
)
"""Hours that ran into the day from which on it is so."""

INSTEAD = re.compile(r"\b(?:instead|rather than)\b", re.IGNORECASE)
"""Tells that something else was known before."""

_NOON = 12
_BUSY, _AWAY = "Busy", "Away"

_LONGEST_NAME = 6  # words of what is named and not told


def absent(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "book me off on Friday, I'm at the clinic 9 to 12": what keeps somebody away is what takes place.

    "I won't be here on Friday" is only told, and offered.
    """
    if groups.get("told"):
        return _told_absent(groups, case)
    who = who_of(groups["who"], case)
    if not who:
        return None
    what = groups["what"] or groups["away"]
    moment = moment_of(case.message.times(" ".join(groups.values())), case.now)
    return created(f"{what} {groups['when']}", moment, case, groups=groups)


def _told_absent(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Return the offer to note who will not be at home."""
    who, when = people_in(groups["who2"], case), groups["when2"]
    is_all = groups["who2"].lower() == "we"
    moment = moment_of(case.message.times(when), case.now)
    is_asked = case.message.text.rstrip().endswith("?")
    if moment is None or moment.day is None or _is_over(moment, case) or is_asked:
        return None
    said = {"who": "all of us" if is_all else groups["who2"], "block": _AWAY}
    return (
        as_offer(created(f"{_AWAY} {when}", moment, case, groups=said)) if who or is_all else None
    )


def create(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "put dinner with the Garcias on Friday at 7"; without a place in the calendar a time is needed."""
    what, whole = groups.get("what", ""), " ".join(groups.values())
    is_placed = bool(groups.get("calendar")) or ("early" in groups and "firm" not in groups)
    if NO_EVENT.search(what) and not groups.get("calendar"):
        return None
    if case.grammar.said["hearsay"].match(what):
        return None
    moment = moment_of(case.message.times(whole), case.now)
    if "weak" in groups and not is_appointment(what, case):
        return None
    if "bare" in groups and case.grammar.said["no_line"].search(what):
        return None
    if "firm" in groups and case.grammar.said["elsewhere"].search(what):
        return None
    if moment is None and not is_placed and not ("firm" in groups and is_appointment(what, case)):
        return None
    tail = groups.get("tail", "")
    return created(f"{what} {tail}" if tail else what, moment, case, groups=groups)


def stated(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "meeting with Sarah at 3pm", "Otis has a party on Sunday": what takes place, and nothing else.

    What is told of times to come and might be for the calendar, but was not clearly said to be, is offered.
    """
    said, what = case.grammar.said, groups["what"] or groups.get("being", "")
    moment = moment_of(case.message.times(what), case.now)
    if moment is None or (moment.day is None and moment.start is None):
        return None
    text = case.message.text
    is_request = (
        said["request"].search(text.partition(what)[2]) is not None
    )  # "…, can you remind me?"
    ends_asking = text.rstrip().endswith("?") and not is_request
    is_asked = ends_asking or said["asked"].match(text) is not None
    is_busy = _only_ends(case.message.times(what))
    if is_asked or is_busy or _is_over(moment, case) or said["past"].search(case.message.text):
        return None
    title = described(what, case).title
    if said["no_event"].search(title) and not groups.get("being"):
        return None
    who = groups.get("who", "")
    if not who and said["errand_told"].match(title):
        task = add_task({"what": what}, case)
        return task if moment.start is not None else as_offer(task)
    if _is_certain(moment, title, who, case):
        return created(what, moment, case, groups=groups)
    is_thing = "compound" in told_not_asked(title)
    if not who and not is_thing and said["own_errand"].fullmatch(title):
        return as_offer(add_task({"what": what}, case))
    if moment.day is None or not (is_thing or _is_told(title, case, groups)):
        return None
    return as_offer(created(what, moment, case, groups=groups))


def _only_ends(spans: Sequence[TimeSpan]) -> bool:
    """Whether of the hours only the last is told: "Ben is at soccer until 7"."""
    hours = [each for each in spans if each.has_time]
    return bool(hours) and all(each.bound == "until" for each in hours)


def _is_over(moment: Moment, case: Case) -> bool:
    if moment.rule is not None:
        return False
    if moment.start is not None:
        return moment.start <= case.now
    return moment.day is not None and moment.day < case.now.date()


def _is_certain(moment: Moment, title: str, who: str, case: Case) -> bool:
    """Whether a statement is plainly of an appointment, and not of another one than was known before."""
    if INSTEAD.search(case.message.text):
        return False
    stands = is_appointment(title, case)
    if moment.start is None:
        return stands and (bool(who) or _is_name(title.split(",", maxsplit=1)[0], case))
    if moment.is_part:
        return stands and moment.end is not None
    is_visit = bool(who) and case.grammar.said["visit"].search(case.message.text) is not None
    return stands or is_visit


def _is_told(title: str, case: Case, groups: Groups) -> bool:
    """Whether something of a day to come is told or named, and no more than talked about."""
    who, said = groups.get("who", ""), case.grammar.said
    if said["told"].search(title) or said["nobody"].match(who):
        return False
    if groups.get("being") or (who and said["visit"].search(who)):
        return True
    return not who and _is_name(title, case)


def _is_name(title: str, case: Case) -> bool:
    """Whether words name something without saying anything of it or asking for it ("inset day")."""
    said = case.grammar.said
    if said["told"].search(title) or said["imperative"].match(title):
        return False
    return 0 < len(title.split()) <= _LONGEST_NAME


def as_offer(steps: Sequence[Step] | None) -> Sequence[Step] | None:
    """Return steps that only propose what they would do; None for none."""
    return [
        replace(each, is_offer=True) if isinstance(each, PlannedAction) else each
        for each in steps or ()
    ] or None


def created(
    what: str, moment: Moment | None, case: Case, *, groups: Groups
) -> Sequence[Step] | None:
    """Return what puts something new into the calendar, or asks what has to be known of it.

    Args:
        what: The words for it, with marks.
        groups: All that was read of the clause; "who" names only people.
    """
    what, is_same_time = _AGAIN.sub("", _SAME_TIME.sub("", what)), _SAME_TIME.search(what)
    what, moment, aside = _over_by(what, moment, case)
    found = described(what, case, who=groups.get("who", ""))
    title = found.title
    if groups.get("being"):
        being = described(what, case)
        found = replace(found, where=being.where, responsible=being.responsible)
        title = _of_whom(groups["who"], being.title)
    if POINTS_BACK.match(title):
        return None
    if not title and groups.get("block") and moment is not None:
        title = _BUSY
    known = {
        "summary": title,
        "location": found.where,
        "who": list(found.who),
        "responsible": list(found.responsible),
    }
    if moment is None or not title:
        return [_unknown(title, moment, known)]
    if is_same_time is not None and moment.start is None:
        moment = _at_known_hour(moment, title, case)
        if moment.start is None:
            return [_unknown(title, moment, known)]
    known["summary"] = f"{title}, {aside}" if aside else title
    said = case.message.times(what)
    if _only_ends(said):
        return [_without_start(title, moment, known)]
    if moment.rule is None and moment.start is not None and any(map(_opens, said)):
        return [_on_days(title, known)]
    moment = on_each_day(from_today(moment, said, case.now), said)
    days = case.message.several(what)
    is_torn = not days and case.message.is_torn(found.main, recurs=moment.rule is not None)
    is_lost = any(_HOURS_LOST.search(each.surface) for each in said if not each.has_time)
    if not found.is_whole or is_torn or is_lost:
        question = f"I couldn't read all of the times. When exactly is {lowered(title)}?"
        return [
            Missing(
                action("calendar", "create_event", {"summary": title, "who": list(found.who)}),
                "start_time",
                question,
            )
        ]
    moments = [moment_of(each, case.now) for each in each_of(days, said, moment)]
    times = [_times(each, case, groups) for each in moments if each is not None]
    return [
        action("calendar", "create_event", known | each)
        for each in times or [_times(moment, case, groups)]
    ]


def _at_known_hour(moment: Moment, title: str, case: Case) -> Moment:
    """Return a day with the hours of what is known by the same name; as it is where that has none."""
    events = {each.id: each for each in case.things if each.kind == "event" and each.start}
    known = best_match(title, events.values())
    if known is None or moment.day is None or "T" not in (known.start or ""):
        return moment
    start = datetime.fromisoformat(known.start or "")
    begin = datetime.combine(moment.day, start.timetz())
    length = datetime.fromisoformat(known.end) - start if known.end else None
    return replace(moment, start=begin, end=begin + length if length else None, is_part=False)


def _over_by(what: str, moment: Moment | None, case: Case) -> tuple[str, Moment | None, str]:
    """Take "home by 12", "back at 6" for the end; where no beginning was said it stays beside the title."""
    found = _ENDS_BY.search(what)
    end = next(iter(case.message.times(found["end"])), None) if found is not None else None
    if found is None or end is None or end.has_time is end.has_date:
        return what, moment, ""
    rest = f"{what[: found.start()]} {what[found.end() :]}"
    if end.has_date:
        stay = _till(end.begin.date(), rest, case)
        return (rest, stay, "") if stay is not None else (what, moment, "")
    if _STAYS.search(found[0]) and end.bound != "until":
        return what, moment, ""
    begins = moment_of(case.message.times(rest), case.now)
    if begins is None or begins.start is None:
        return rest, begins, case.message.words(found[0])
    over = datetime.combine(begins.start.date(), end.begin.timetz())
    if over <= begins.start and over.hour < _NOON:
        over += timedelta(hours=_NOON)
    return rest, replace(begins, end=over if over > begins.start else None, is_part=False), ""


def _till(last: date, rest: str, case: Case) -> Moment | None:
    """Return what begins on a day and is over with another: "off to Rome on the 4th, back on the 7th"."""
    begins = moment_of(case.message.times(rest), case.now)
    if begins is None or begins.day is None or begins.start or begins.rule or last <= begins.day:
        return None
    return replace(begins, days=(last - begins.day).days + 1)


def _unknown(title: str, moment: Moment | None, known: Mapping[str, Any]) -> Missing:
    """Return what has to be asked of an event without a time or name."""
    field = "start_time" if title else "summary"
    question = f"When is {lowered(title)}?" if title else "What should I put in the calendar?"
    if not title and moment is None:
        question = "What should I put in the calendar, and when?"
    known = {**known, "start_time": moment and moment.text}
    return Missing(action("calendar", "create_event", known), field, question)


def _without_start(title: str, moment: Moment, known: Mapping[str, Any]) -> Missing:
    """Return the question when something begins of which only the end was said: "at the office till 8"."""
    over = moment.start
    question = f"When does {lowered(title)} start? I only know when it ends."
    known = {**known, "end_time": over and over.isoformat()}
    return Missing(action("calendar", "create_event", known), "start_time", question)


def _opens(span: TimeSpan) -> bool:
    """Whether a time is the day from which on something is so: "at 4 from January on"."""
    is_day = span.has_date and not span.has_time and span.kind is not SpanKind.RANGE
    return is_day and span.bound == "from"


def _on_days(title: str, known: Mapping[str, Any]) -> Missing:
    """Return the question how often something is of which only the hour and the first day were said."""
    title = title.removesuffix(" onwards").removesuffix(" on").removeprefix("on ")
    known = {**known, "summary": title}
    question = f"On which days is {lowered(title)}, at what time, and from when on?"
    return Missing(action("calendar", "create_event", known), "start_time", question)


def _of_whom(who: str, being: str) -> str:
    """Return what somebody is or does as a title: "Piet away for work", "At my sister's"."""
    name = re.sub(r"(?:'s|'ll| is| are|'ll be| will be)+$", "", who).strip()
    if is_speaker(name) or re.match(r"^(?:i'm|we're|i am|we are|i'll|we'll)", who, re.IGNORECASE):
        return being[:1].upper() + being[1:]
    return f"{name[:1].upper()}{name[1:]} {being}".strip()


def _times(moment: Moment, case: Case, groups: Groups) -> dict[str, Any]:
    lengths = case.message.lengths(" ".join(groups.values()))
    end = moment.end if not moment.is_part or groups.get("block") else None
    if end is None and lengths and moment.start is not None:
        end = moment.start + (lengths[0].until - lengths[0].begin)
    if moment.start is None and moment.day is not None and moment.days > 1:
        last = moment.day + timedelta(days=moment.days - 1)
        return {"start_time": moment.text, "end_time": last.isoformat(), "rrule": moment.rule}
    return {"start_time": moment.text, "end_time": end and end.isoformat(), "rrule": moment.rule}
