"""Cuts a message into requests, with the reasons told beside them. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import islice

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, Missing, Step, content_words
from kinkeeper.conversation.planning.grammar import Grammar
from kinkeeper.conversation.planning.message import TIME_MARK
from kinkeeper.conversation.planning.people import is_person, is_speaker, members_in
from kinkeeper.conversation.told_audience import facts_in
from kinkeeper.household.model import Household
from kinkeeper.language.text import mask_stops, tokenise
from kinkeeper.reading.asked import asks_to_pass_on
from kinkeeper.reading.corrections import begins_by_setting_right
from kinkeeper.reading.job_claims import job_claim_in
from kinkeeper.reading.modality import Modality, modality_of
from kinkeeper.reading.replies import goes_on_asking, is_question
from kinkeeper.reading.times.model import TimeSpan

# Why something is wanted or so, told beside it: no part of what is to be done, nor news by itself.
# Pure.

_EDGES = " \t\n,;:!.?-–—"
_STOPS = frozenset(".!?;")
_TIME = re.compile(TIME_MARK)
_LONGEST = 600  # characters of a request with its reason


def wanted_of(clause: str, grammar: Grammar) -> str:
    """Return what a request asks for without why, whether that stands before or after it; else the clause as it is.

    "Add one to the list, Leo lost his ruler" and "Leo lost his ruler, so add one to the list" both add a ruler.

    Args:
        clause: With marks, without politeness.
        grammar: Knows how reasons are given, and requests begin.
    """
    if len(clause) > _LONGEST:
        return clause
    said = grammar.said
    for name in ("reason_first", "reason_so"):
        found = said[name].fullmatch(clause)
        if found is not None and _is_request(found["rest"], grammar):
            return _named_by(found["why"], found["rest"].strip(_EDGES), grammar) or clause
    found = said["reason_told"].fullmatch(clause)
    if found is not None and not said["condition"].search(found["why"]):
        told = _told(found["why"], found["rest"].strip(_EDGES), grammar)
        if told is not None:
            return told
    found = said["reason_last"].fullmatch(clause)
    if found is None or not _is_request(found["rest"], grammar):
        return clause
    if said["keeps_reason"].search(found["rest"]):
        return clause
    return _named_by(found["why"], found["rest"].strip(_EDGES), grammar) or clause


def _told(why: str, rest: str, grammar: Grammar) -> str | None:
    """Return a request behind a statement; None where nobody can tell that it is one."""
    if grammar.said["placeholder"].match(rest):
        return _named_by(why, rest, grammar)
    is_statement = not _TIME.search(why) and grammar.said["states"].search(why) is not None
    return rest if is_statement else None


def _is_request(rest: str, grammar: Grammar) -> bool:
    opening = grammar.openings.match(rest)
    rest = rest[opening.end() :] if opening is not None and opening.end() < len(rest) else rest
    return grammar.said["request"].match(rest) is not None


def _named_by(why: str, rest: str, grammar: Grammar) -> str | None:
    """Return a request in which "one" is what the reason says is missing; None where only the reason names it otherwise."""
    if grammar.said["placeholder"].match(rest) is None:
        return rest
    thing = thing_missing(why, grammar)
    return grammar.said["placeholder"].sub(rf"\g<verb> {thing}", rest) if thing else None


def thing_missing(why: str, grammar: Grammar) -> str | None:
    """Return what a statement says is lost, broken, used up or needed; None where it says nothing of the kind.

    Args:
        why: With marks.
        grammar: Knows how such things are told.
    """
    found = grammar.said["missing"].fullmatch(why.strip(_EDGES))
    if found is None:
        return None
    return next((each for each in found.groups() if each), None)


def without_reason(clause: str, grammar: Grammar) -> str:
    """Return what is to be taken away without why ("no ballet on Friday, the teacher has flu"); else the clause as it is.

    Args:
        clause: With marks.
        grammar: Knows how reasons are given.
    """
    if grammar.said["takes_away"].match(clause) is None:
        return clause
    return grammar.said["reason"].sub("", clause, count=1)


def news_of(clause: str, grammar: Grammar, *, is_asked: bool = False) -> Iterator[str]:
    """Yield the parts of a statement that may be the news in it, without what caused it, the likeliest first.

    Args:
        clause: With marks.
        grammar: Knows how reasons are given.
        is_asked: Whether the message ends in a question, which may be about what stands before a comma.
    """
    cause = grammar.telling["cause"].fullmatch(clause)
    if cause is not None:
        yield cause["rest"]
        return
    if grammar.aside["covered"].search(clause):
        yield clause
    first, comma, behind = clause.partition(",")
    if comma and not is_asked and grammar.said["reason"].fullmatch(f",{_TIME.sub(' ', behind)}"):
        yield first.strip()  # what keeps them has a time of its own
    yield grammar.said["reason"].sub("", clause, count=1)
    yield clause
    first, *others = clause.split(",")
    if others:
        yield others[-1].strip()
    if others and not is_asked and not any(_TIME.search(each) for each in others):
        yield first.strip()


@dataclass(slots=True)
class _Piece:
    """A piece of a message between two joints, with what goes on with it: `text[start:end]`."""

    start: int
    end: int
    tells: bool
    asks: bool


def told_beside(text: str, grammar: Grammar, household: Household, *, now: datetime) -> list[str]:
    """Return the statements of a message that has other parts as well, as written; none where it is one statement.

    What only says why something is asked for is no statement: "we're out, so add milk".

    Args:
        text: Plain.
        grammar: Knows where a clause may end, how requests begin, and how reasons are given.
    """
    pieces: list[_Piece] = []
    people, is_asked = household.members_by_word, False
    for start, end, mark in _between_joints(text, grammar):
        said = text[start:end]
        goes_on = is_asked and goes_on_asking(said, text[:start])
        is_asked = goes_on or is_question(tokenise(said), said, people)
        asks = is_asked or mark == "?" or _is_request(in_order(bare(said, grammar)), grammar)
        tells = not asks and bool(facts_in(said, household, now=now))
        is_new = asks or (tells and not begins_by_setting_right(said))
        if is_new or not pieces:
            pieces.append(_Piece(start, end, tells, asks))
        else:
            pieces[-1].end = end
    if len(pieces) < 2:  # noqa: PLR2004 - one statement, and nothing it could stand beside
        return []
    return [
        text[piece.start : piece.end].strip(_EDGES)
        for at, piece in enumerate(pieces)
        if piece.tells and not _is_reason(text, at, pieces, grammar)
    ]


def _between_joints(text: str, grammar: Grammar) -> Iterator[tuple[int, int, str]]:
    """Yield where the pieces of a text begin and end, and the mark behind each."""
    start = 0
    for joint in grammar.joints.finditer(mask_stops(text)):
        yield start, joint.start(), joint[0].strip()[:1]
        start = joint.end()
    yield start, len(text), text.rstrip()[-1:]


def _is_reason(text: str, at: int, pieces: Sequence[_Piece], grammar: Grammar) -> bool:
    """Whether a statement only says why what stands beside it is asked for."""
    piece, said = pieces[at], grammar.said
    alone = text[piece.start : piece.end]
    if thing_missing(alone, grammar) or said["reason"].match(f" {alone}"):
        return True
    if any(said[name].fullmatch(alone) for name in ("reason_so", "reason_first", "reason_last")):
        return True
    if any(
        said["reason_so"].fullmatch(text[piece.start : each.end]) for each in pieces[at + 1 :][:1]
    ):
        return True
    before = pieces[at - 1] if at else piece
    whole = text[before.start : piece.end] if before.asks else ""
    return without_reason(whole, grammar) != whole


Reader = Callable[[str], "list[Step] | None"]
"""Reads one clause; None where it asks for nothing."""

_LEADING_TIME = re.compile(
    rf"^(?P<time>(?:(?:at|on|in|by|for|from|every|this|coming|around|before|after)\s+)*(?:the\s+)?{TIME_MARK}(?:\s+(?:at|on|in)?\s*{TIME_MARK})*)[\s,:]+(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_MOST_STRIPPED = 8
_MOST_CUTS = 12
_BEGINNING = 300  # characters that tell whether a request begins, and whether it points at what ends before it
_LONGEST_CLOSING = 100
_MOST_NAMED = 6  # words before when to remind, and of what
_OF_WHAT = ("to ", "about ")


def bare(clause: str, grammar: Grammar, *names: str) -> str:
    """Return a clause without greetings, politeness and what the assistant is called.

    Args:
        clause: With marks.
        grammar: Knows what may stand around a request.
    """
    clause = clause.strip(_EDGES)
    for _ in range(_MOST_STRIPPED):
        before = clause
        for name in names:
            clause = re.sub(
                rf"^{re.escape(name)}\b[\s,:!.-]*|[\s,]+{re.escape(name)}$",
                "",
                clause,
                flags=re.IGNORECASE,
            )
        opening = grammar.openings.match(clause)
        if opening is not None and opening.end() < len(clause):
            clause = clause[opening.end() :]
        closing = grammar.closings.search(clause, max(0, len(clause) - _LONGEST_CLOSING))
        clause = (clause if closing is None else clause[: closing.start()]).strip(_EDGES)
        if clause == before:
            break
    return clause


def in_order(clause: str) -> str:
    """Return a clause with the time that it begins with at its end ("at five remind me to …")."""
    found = _LEADING_TIME.match(clause)
    return f"{found['rest']} {found['time']}" if found is not None else clause


def steps_of(case: Case, read: Reader) -> tuple[list[Step], tuple[str, ...]]:
    """Return the requests of a message: of its parts where each of them is one, else of the whole; and those not understood."""
    cutting = _Cutting(case, read)
    return cutting.steps(case.message.text) or [], tuple(cutting.unread)


class _Cutting:
    """Cuts one message; no part of it is read twice."""

    def __init__(self, case: Case, read: Reader) -> None:
        self._case = case
        self._read = cache(read)
        self._left = _MOST_CUTS
        self.unread: list[str] = []

    def steps(self, text: str) -> list[Step] | None:
        """Return the requests of a text, or None where it asks for nothing."""
        grammar, name = self._case.grammar, self._case.household.bot_name
        text = gone_on_with(bare(text, grammar, name), grammar)
        text = bare(wanted_of(text, grammar), grammar, name)
        for left, right, joint in _cuts(text, self._case):
            if self._left <= 0:
                break
            self._left -= 1
            found = self._of_both(left, right, joint)
            if found:
                return found
        whole = self._read(text)
        return self._apart(text, whole or ()) or whole or self._first(text)

    def _of_both(self, left: str, right: str, joint: str) -> list[Step] | None:
        grammar, is_stop = self._case.grammar, joint[:1] in _STOPS
        timed, is_one = _timed(left, right, self._case), _belongs(left, right, grammar)
        if timed is None and _is_told_apart(left, right, self._case):
            return self._and_told(left, right)
        if is_one and _is_need(joint, right, grammar):
            is_one = is_stop = (
                False  # what is missing makes a clause of its own only where it is read as one
            )
        if (is_one and timed is None) or _refers(left, right, grammar):
            return None
        right, is_stop = timed or right, is_stop or _asks_and_wants(left, right, grammar)
        first = self._read(bare(left, grammar, self._case.household.bot_name))
        first = self._apart(left, first or ()) or first
        is_stop = is_stop or (not first and self._is_kept(left))
        if not first and not is_stop:
            return None
        is_timed = any(each.has_time for each in self._case.message.times(right))  # and no line
        rest = self.steps(right if is_timed else _with_list(left, right, grammar))
        if first and rest:
            spans = self._case.message.times
            return [
                *first,
                *(_after(first[-1], rest, spans(left), spans(right)) if timed else rest),
            ]
        if is_stop and (first or rest):
            self._leave(right if first else left)
            return first or rest
        is_whole = first and not any(isinstance(each, Missing) for each in first)
        if is_whole and asks_to_pass_on(bare(right, grammar)):  # else it is what to write to them
            self._leave(right)
            return first
        return None

    def _and_told(self, left: str, right: str) -> list[Step] | None:
        """Return what is to be reminded of, and what is told behind it of another time; named where nothing was made of it."""
        first = self._read(bare(left, self._case.grammar))
        if any(isinstance(each, Missing) and each.field == "title" for each in first or ()):
            return None  # what to be reminded of comes only now
        rest = self.steps(right)
        if not first and rest:
            self._leave(left)
        elif not rest and not self._is_kept(right):
            self.unread.append(self._case.message.words(bare(right, self._case.grammar)))
        is_named = (
            modality_of(right) is Modality.NAMED
        )  # it may be one more thing to be reminded of
        told = [
            replace(each, is_offer=True) if is_named and isinstance(each, PlannedAction) else each
            for each in rest or ()
        ]
        return [*(first or ()), *told] or None

    def _apart(self, text: str, whole: Sequence[Step]) -> list[Step] | None:
        """Return what takes place by itself and what is told behind it: "Mia choir fri 4pm, Leo vet sat 9am, we need milk".

        Where the whole was read, only what is missing, and goes on a list, is no part of it.
        """
        case, grammar = self._case, self._case.grammar
        is_read = bool(whole) and not any(isinstance(each, Missing) for each in whole)
        for joint in islice(grammar.joints.finditer(mask_stops(text)), self._left):
            left, right = text[: joint.start()], text[joint.end() :]
            is_dated = not is_read and bool(case.message.title(right))
            is_dated = is_dated and all(map(self._names_day, (left, right)))
            needed = self._needed(right)
            if not (is_dated or needed) or not _TIME.search(left) or _belongs(left, right, grammar):
                continue
            self._left -= 1
            first = self._read(bare(left, grammar)) or ()
            if are_events(first):
                return [*first, *(needed or self._behind(right))]
        return None

    def _names_day(self, text: str) -> bool:
        return any(each.has_date or each.recurrence for each in self._case.message.times(text))

    def _behind(self, right: str) -> list[Step]:
        """Return what is told behind something that takes place; what nothing is made of is named."""
        grammar = self._case.grammar
        if rest := self.steps(right):
            return rest
        for joint in islice(grammar.joints.finditer(mask_stops(right)), self._left):
            if needed := self._needed(right[joint.end() :]):
                rest, right = needed, right[: joint.start()]
                break
        if not self._is_kept(right):
            self.unread.append(self._case.message.words(bare(right, grammar)))
        return rest or []

    def _needed(self, clause: str) -> list[Step]:
        """Return what puts on a list what a clause says is missing, at no time; nothing where it says more."""
        grammar = self._case.grammar
        if self._case.message.times(clause) or thing_missing(clause, grammar) is None:
            return []
        found = self._read(bare(clause, grammar)) or self._read(clause.strip(_EDGES)) or ()
        is_list = all(isinstance(each, PlannedAction) and each.domain == "notes" for each in found)
        return [*found] if is_list else []

    def _is_kept(self, clause: str) -> bool:
        """Whether a clause tells something that memory keeps."""
        said = self._case.message.words(clause)
        return bool(facts_in(said, self._case.household, now=self._case.now))

    def _first(self, text: str) -> list[Step] | None:
        """Return the requests of what stands before a statement or a request that nobody understands."""
        case, grammar = self._case, self._case.grammar
        for joint in islice(grammar.joints.finditer(mask_stops(text)), self._left):
            left, right = text[: joint.start()], text[joint.end() :]
            if _belongs(left, right, grammar) or _refers(left, right, grammar):
                continue
            asks = grammar.starts.match(in_order(bare(right[:_BEGINNING], grammar)))
            if not asks and not self._is_kept(right):
                continue
            self._left -= 1
            found = self._read(bare(left, grammar, case.household.bot_name))
            if found:
                self._leave(right)
                return _with_hour(found, right, case)
        return None

    def _leave(self, clause: str) -> None:
        """Note a clause that nothing was made of, where it asks for something."""
        said = bare(clause, self._case.grammar, self._case.household.bot_name)
        is_told = bool(self._case.message.times(said)) and modality_of(said) is Modality.TOLD
        is_asked = self._case.grammar.starts.match(in_order(said)) or asks_to_pass_on(said)
        if is_asked or (is_told and not self._is_kept(said)):
            self.unread.append(self._case.message.words(said))


def are_events(steps: Sequence[Step]) -> bool:
    """Whether steps only put something into the calendar."""
    return bool(steps) and all(
        isinstance(each, PlannedAction) and each.action == "create_event" for each in steps
    )


def _with_hour(steps: list[Step], told: str, case: Case) -> list[Step]:
    """Return one new event of which only the day is said as an offer at the hour that is told behind it: "…, be there at 6.45"."""
    hours = [each for each in case.message.times(told) if each.has_time]
    match steps:
        case [PlannedAction(action="create_event", params=params) as step] if len(hours) == 1:
            start = str(params.get("start_time"))
            if hours[0].has_date or "T" in start or members_in(told, case):
                return steps
            at = datetime.combine(date.fromisoformat(start), hours[0].begin.timetz())
            known = {**params, "start_time": at.isoformat()}
            return [replace(step, params=known, is_offer=True)]
        case _:
            return steps


def gone_on_with(text: str, grammar: Grammar) -> str:
    """Return a text in which a sentence that only says more of what the one before makes is a part of it.

    "Start a list for the party. We need cups"; "put the fair on the calendar; it is on Friday at 3".

    Args:
        text: With marks.
        grammar: Knows how such sentences begin.
    """
    text = grammar.said["list_goes_on"].sub(r"\g<first> with \g<rest>", text, count=1)
    return grammar.said["event_goes_on"].sub(r"\g<first>, \g<rest>", text, count=1)


def _with_list(left: str, right: str, grammar: Grammar) -> str:
    """Return a second request with the list that the first one names ("... from my list, and add soda")."""
    named = grammar.said["list_named"].search(left)
    if named is None:
        return right
    right = bare(right, grammar)
    if grammar.said["to_it"].search(right):
        return grammar.said["to_it"].sub(rf"\g<joint> the {named['list']}", right)
    return (
        f"{right} to the {named['list']}" if grammar.said["adds_only"].fullmatch(right) else right
    )


def _cuts(text: str, case: Case) -> Iterator[tuple[str, str, str]]:
    """Yield where a second request may begin: what is before, what is after, and what joins them."""
    grammar = case.grammar
    for joint in grammar.joints.finditer(mask_stops(text)):
        right = bare(text[joint.end() : joint.end() + _BEGINNING], grammar)
        joined = joint[0].strip()
        if (
            joined[:1] in _STOPS
            or _is_need(joined, text[joint.end() : joint.end() + _BEGINNING], grammar)
            or grammar.starts.match(in_order(right))
            or asks_to_pass_on(right)
            or _timed(text[: joint.start()], right, case)
            or _is_told_apart(text[: joint.start()], right, case)
            or _are_jobs(bare(text[: joint.start()], grammar), right, case)
        ):
            yield text[: joint.start()], text[joint.end() :], joined


def _are_jobs(left: str, right: str, case: Case) -> bool:
    """Whether two clauses each say who does a job: "Ann's doing ballet, I've got chess"."""
    people = case.household.members_by_word
    first, second = (job_claim_in(each, people) for each in (left, right))
    return bool(first and second) and not all(
        each is not None and each.may_be_own for each in (first, second)
    )


def _is_need(joint: str, right: str, grammar: Grammar) -> bool:
    """Whether a clause only tells what is missing, and is more than the reason for, or a part of, the one before."""
    return joint.strip(" ,") not in {"", "and", "&"} and thing_missing(right, grammar) is not None


def _timed(left: str, right: str, case: Case) -> str | None:
    """Return a second errand that has a time of its own, as is its request; None where it is none.

    "Pay rent at 9 and ring mum at 5"; of what one is reminded of, "remind me to" is said only once.
    """
    if (again := _reminded_apart(left, right, case)) is not None:
        return again
    grammar = case.grammar
    second, errand = in_order(bare(right, grammar)), grammar.said["errand"]
    if errand.fullmatch(second) is None or not _TIME.search(second):
        return None
    if grammar.describing["in_calendar"].search(second):
        return None
    first = in_order(bare(left, grammar))
    if not _TIME.search(first):
        return None
    verb, *rest = first.split(" ")
    if verb.lower() == "remind" and rest:
        return f"{verb} {rest[0]} to {second.removeprefix('to ')}"
    return second if errand.fullmatch(first) else None


def _reminded_apart(left: str, right: str, case: Case) -> str | None:
    """Return what follows a reminder at some time as a reminder at a time of its own; None where it is none.

    "Remind me at 6 to feed the cat and at 9 to lock up", "… and Leo at noon to …", "… and again at 5": who is
    reminded, or of what, is said only once. Both times have the same place: "at 6 to … and to … at 9" may be one.
    """
    first, second = (bare(each, case.grammar) for each in (left, right))
    if case.grammar.said["open_ended"].match(first) is None:
        return None
    head, what = next(_parted(first, is_led=None), ("", ""))
    if not head or not _TIME.search(what):
        return None
    is_last = _TIME.match(what[-1]) is not None
    again, is_hour = second.lower().startswith("again "), not case.message.title(second)
    if again or (is_hour and not is_last):
        return f"{head} {case.message.title(what)} {second[len('again ') :] if again else second}"
    is_led = not is_last and _LEADING_TIME.match(what) is not None
    if not is_led and (not is_last or case.grammar.said["keeps_reason"].search(what)):
        return None
    for name, rest in _parted(second, is_led=is_led):
        if not name:
            return f"{head} {rest}"
        if is_led and (is_person(name, case) or is_speaker(name)):
            return f"{head.split()[0]} {name} {rest}"
    return None


def _after(
    first: Step, rest: Sequence[Step], left: Sequence[TimeSpan], right: Sequence[TimeSpan]
) -> Sequence[Step]:
    """Return reminders of which only the hour is said as on the day of the one before them, and after it.

    "Tomorrow at 6 to … and at 9 to …": both are tomorrow evening. What cannot be after it is offered.

    Args:
        left: The times that are said of the one before.
        right: Those of the others.
    """
    known, said = (_param(each, "deadline") for each in (first, rest[0]))
    if known is None or said is None or "T" not in said or not right or _says_day(right[0]):
        return rest
    span, zone = right[0], right[0].begin.tzinfo
    before, new = datetime.fromisoformat(known).replace(tzinfo=zone), datetime.fromisoformat(said)
    is_sure = span.is_meridiem_known or "T" not in known
    hours = [new.hour] if is_sure else [new.hour % 12, new.hour % 12 + 12]
    on_day = [datetime.combine(before, time(each, new.minute), zone) for each in hours]
    later = [each for each in on_day if each > before]
    if not any(map(_says_day, left)) and (not later or (is_sure and new > before)):
        return rest
    by, rule = (later or on_day)[0] - new, _param(first, "rrule")
    moved = rest[:1] if any(map(_says_day, right)) else rest
    return [*(_moved(each, by, rule, is_offer=not later) for each in moved), *rest[len(moved) :]]


def _says_day(span: TimeSpan) -> bool:
    return span.has_date or span.is_away or bool(span.recurrence)


def _param(step: Step, name: str) -> str | None:
    """Return a parameter of a planned request; None where it is not known."""
    return step.params.get(name) if isinstance(step, PlannedAction) else None


def _moved(step: Step, by: timedelta, rule: str | None, *, is_offer: bool) -> Step:
    """Return a reminder at another time; one that comes as often as the one before, if nothing else is said."""
    at = _param(step, "deadline")
    if not isinstance(step, PlannedAction) or at is None:
        return step
    on = {"deadline": (datetime.fromisoformat(at) + by).isoformat()}
    again = {"rrule": rule} if rule and not step.params.get("rrule") else {}
    return replace(step, params={**step.params, **on, **again}, is_offer=step.is_offer or is_offer)


def _parted(clause: str, *, is_led: bool | None) -> Iterator[tuple[str, str]]:
    """Yield who is to be reminded, and when of what, where a clause may be parted so.

    Args:
        clause: With marks.
        is_led: Whether the time stands before what is to be done, not behind it; None where it may be either.
    """
    words = clause.split()
    for at in range(min(len(words), _MOST_NAMED)):
        rest = " ".join(words[at:])
        found = _LEADING_TIME.match(rest)
        led = found is not None and found["rest"].startswith(_OF_WHAT)
        ends = rest.startswith(_OF_WHAT) and (is_led is None or _TIME.match(rest[-1]) is not None)
        if (led and is_led is not False) or (ends and not is_led):
            yield " ".join(words[:at]), rest


def _asks_and_wants(left: str, right: str, grammar: Grammar) -> bool:
    """Whether one of two clauses is a question and the other a request, which no "and" makes one."""
    asked, wanted = grammar.said["asked"], grammar.said["request"]
    first, second = (bare(each, grammar) for each in (left, right))
    return any(
        asked.match(one) and wanted.match(other)
        for one, other in ((first, second), (second, first))
    )


def _belongs(left: str, right: str, grammar: Grammar) -> bool:
    """Whether what follows "and" still belongs to what one is to be reminded of ("to buy milk and cancel the gym")."""
    if grammar.said["absence"].fullmatch(bare(left, grammar)):
        return True  # what keeps somebody away is said behind it
    opened = grammar.said["open_ended"].match(bare(left, grammar))
    return opened is not None and grammar.said["clearly_new"].match(bare(right, grammar)) is None


_SAYS_OF_WHAT = 2
"""Words of a reminder, "remind" among them, from which it says of what."""


def _is_told_apart(left: str, right: str, case: Case) -> bool:
    """Whether what follows a reminder for some time tells of another: "remind me to ring Bob tomorrow, and Leo has judo on Friday".

    Where the reminder is itself of what is told ("that Mia has choir …", "to tell Bob …"), it is of all that is.
    """
    said, right = case.grammar.said, bare(right, case.grammar)
    reminder = bare(left, case.grammar)
    is_of_told = said["states"].search(reminder) or said["keeps_reason"].search(reminder)
    if is_of_told or said["open_ended"].match(reminder) is None or not _TIME.search(reminder):
        return False
    if len(content_words(_TIME.sub(" ", reminder))) < _SAYS_OF_WHAT:
        return False
    if said["imperative"].match(right) or not any(
        each.has_date for each in case.message.times(right)
    ):
        return False
    goes_on = said["nobody"].match(right) is not None and modality_of(right) is Modality.NAMED
    is_timed = any(each.has_time for each in case.message.times(right))
    return not goes_on and (is_timed or modality_of(right) is Modality.TOLD)


def _refers(left: str, right: str, grammar: Grammar) -> bool:
    """Whether the second sentence only makes sense with the first ("We need soap. Add it to the list")."""
    whole = f"{left[-_BEGINNING:]}. {right[:_BEGINNING]}"
    return any(grammar.said[name].fullmatch(whole) for name in ("trailing", "trailing_reminder"))
