"""Reads requests about tasks and reminders. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import (
    Case,
    Groups,
    Missing,
    Step,
    Thing,
    action,
    best_match,
    content_words,
)
from kinkeeper.conversation.planning.people import (
    PRONOUNS,
    is_person,
    is_speaker,
    means_two_of_us,
    members_in,
    one_of,
    people_in,
    together,
    without_people,
)
from kinkeeper.conversation.planning.plan_times import (
    Moment,
    daily_until,
    each_of,
    moment_of,
    reminded_at,
)
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.reading.corrections import before_setting_right
from kinkeeper.reading.deeds import may_tell_of, particles_in
from kinkeeper.reading.own_lists import OWN_LIST, names_own_list
from kinkeeper.reading.times.model import TimeSpan

_ASK_WHEN_OFTEN = "At which times each day? I remind at set times, so please name each of them."
_OFTEN = re.compile(
    r"\b(?:once|twice|thrice|(?:two|three|four|several|a few|\d) times)\b[^.,]*$", re.IGNORECASE
)
_ASK_WHEN = "I can only remind you at a day and time that I can tell. When should it be?"
_ASK_WHAT = "What should I remind you of?"
_BEFORE_WHAT = "Before what? Please say what I should remind you of, and on which day."
_LISTS = frozenset({"and", "&"})
_MOST_AT_ONCE = 8
_TOO_OFTEN = ("FREQ=HOURLY", "FREQ=MINUTELY")
_URGENT = frozenset({"high", "top", "urgent", "important", "critical", ""})
_AGAIN = re.compile(
    r"^(?:it|that|this|them|those|these|both|all|each|either|neither|(?:both|all|each|either|some) of (?:it|them|those|these|that))$",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"^(?:un)?till?\b", re.IGNORECASE)
_EVE = re.compile(
    r"\b(?:the|a|one) (?P<unit>day|evening|night|morning|week)(?: (?:before|prior|earlier|ahead)| in advance)\b(?=\s*(?:$|[,.!?]|at\b|to\b))",
    re.IGNORECASE,
)
_OF_ALL = re.compile(
    r"\b(?:are there|is there|there are|everybody|everyone|anybody|all (?:of us|the))\b",
    re.IGNORECASE,
)
_BASE: Final = {
    "paid": "pay",
    "bought": "buy",
    "sent": "send",
    "rung": "ring",
    "fed": "feed",
    "spoken to": "speak to",
}
_SOON: Final = timedelta(hours=3)
_QUOTED = re.compile(r"'(?P<words>.+)'")
_NOT_SOMEBODY = re.compile(r"^not (?:\w+|(?:my|the|our) \w+)$", re.IGNORECASE)
"""Says who is not meant, and nothing to do."""

_FINITE = re.compile(
    r"^(?:it|that|this|there|he|she|they|what|everything|nothing|work|school|you)$", re.IGNORECASE
)


def remind(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "remind me to call mom tomorrow at 5"."""
    who, what, when = (groups.get(name, "") for name in ("who", "what", "when"))
    is_theirs = who.lower() in PRONOUNS
    is_known = not who or is_theirs or is_speaker(who) or is_person(who, case)
    if not is_known and not _several(who, case) and not means_two_of_us(who, case):
        return None
    if groups.get("told") and is_speaker(who):
        return None
    is_eve = eve_of(f"{when} {what}", case) is not None
    if is_eve or (is_theirs and not what):
        # Before what, and whom, is known once what was said before it is done.
        return [Missing(action("task", "create", {}), "title", _BEFORE_WHAT)]
    if "not" in groups:
        what = f"not to {what}"
    if (untimed := _at_no_time(groups, case)) is not None:
        return [untimed]
    return None if is_theirs else _reminders(what, when, who, case)


def _at_no_time(groups: Groups, case: Case) -> Missing | None:
    """Return the question when to remind where only a condition, or a time that never comes, is named; None where it is not.

    "When the bus is here to wave", "on the 40th to pay Ann": what is to be done stands behind "to".
    """
    what = groups.get("what", "")
    first, is_condition = what.partition(" ")[0], groups.get("joint", "").lower() == "when"
    is_deed = case.grammar.said["imperative"].match(what) is not None
    is_told = _bare(what) != what or is_person(first, case) or is_speaker(first)
    is_before = "loose" in groups and " to " in what and not (is_deed or is_told)
    is_timed = bool(case.message.times(f"{groups.get('when', '')} {what}"))
    if is_timed or not (is_condition or is_before):
        return None
    condition, _, deed = what.partition(" to ")
    known = {"title": case.message.words(deed or condition)}
    return Missing(action("task", "create", known), "deadline", _ASK_WHEN)


def _reminders(what: str, when: str, who: str, case: Case) -> Sequence[Step] | None:
    """Return a reminder for each time that was said."""
    said = f"{when} {what}"
    if not what:
        return [_missing_title(moment_of(case.message.free_times(said), case.now))]
    return _at_each(what, said, case, who=who) or None


def _at_each(what: str, said: str, case: Case, *, who: str) -> Sequence[Step]:
    """Return a reminder for each time; asked about where not all of them can be told ("at 5 and 6 eggs")."""
    if (at := _other_time_at(what, said, case)) is not None:
        return _with_time_in_it(what, at, said, case, who=who)
    moments, title = _moments(said, case), case.message.title(what)
    words = title.lower().split()
    is_torn = bool(words) and (words[-1] in _LISTS or (words[0] in _LISTS and words[1:2] != ["to"]))
    is_torn |= any(map(str.isdigit, title[len(before_setting_right(title)) :]))
    if 0 < len(moments) <= _MOST_AT_ONCE and not is_torn and not _OFTEN.search(what):
        steps = [_created(what, each, case, who=who, is_reminder=True) for each in moments]
        return [step for each in steps for step in each or ()]
    moment = moment_of(case.message.free_times(said), case.now)
    rule = (moment.rule if moment is not None else None) or ""
    if rule.startswith(_TOO_OFTEN):
        rule = ";".join(["FREQ=DAILY", *(each for each in rule.split(";") if "UNTIL" in each)])
    known = {"rrule": rule} if rule else {}
    found = _created(_OFTEN.sub("", what), None, case, who=who) or ()
    return [
        Missing(replace(each, params={**each.params, **known}), "deadline", _ASK_WHEN_OFTEN)
        if isinstance(each, PlannedAction)
        else each
        for each in found
    ]


def _other_time_at(what: str, said: str, case: Case) -> int | None:
    """Return where what is to be done names another day or hour than that at which to remind of it; None where it does not."""
    if case.message.several(said):
        return None
    spans = case.message.free_times(said)
    day = next((each.begin.date() for each in spans if each.has_date and not each.recurrence), None)
    hour = next((each.begin.time() for each in spans if _is_hour(each)), None)
    return next(
        (
            at
            for at, each in enumerate(what)
            if (span := case.message.spans.get(each)) in spans
            and (
                (_is_day(span) and span.begin.date() != (day or span.begin.date()))
                or (_is_hour(span) and span.begin.time() != hour)
            )
        ),
        None,
    )


def _is_day(span: TimeSpan) -> bool:
    return span.has_date and span.bound is None and not span.recurrence


def _is_hour(span: TimeSpan) -> bool:
    return span.has_time and span.bound is None and span.part_of_day is None


def _with_time_in_it(what: str, at: int, said: str, case: Case, *, who: str) -> Sequence[Step]:
    """Return a reminder of what has a time of its own: "remind me tomorrow to tell Ann that the fair is on Sunday".

    Which of the times is the reminder's is sure only where it stands before what is to be done, and that is one thing.
    """
    own = said.removesuffix(what[at:])
    moment = moment_of(case.message.free_times(own), case.now)
    before = case.message.free_times(own.removesuffix(what[:at]))
    is_sure = any(_is_day(each) or _is_hour(each) for each in before)
    is_sure &= case.grammar.joints.search(what[:at]) is None
    steps = _created(what[:at], moment, case, who=who, is_reminder=True) or ()
    rest = case.message.words(what[at:])
    return [
        replace(
            each,
            params={
                **each.params,
                "title": f"{each.params['title']} {rest}".replace(" for at ", " for "),
            },
            is_offer=each.is_offer or not is_sure,
        )
        if isinstance(each, PlannedAction)
        else each
        for each in steps
    ]


def _moments(said: str, case: Case) -> Sequence[Moment | None]:
    """Return each time that a part says; none where it is several times a day, and not all of them are said."""
    listed = case.message.several(said)
    lengths = case.message.lengths(said)
    spans = daily_until(case.message.free_times(said), listed, lengths, case.now)
    moment = moment_of(spans, case.now)
    often = max((each.often for each in spans), default=1)
    is_hourly = moment is not None and (moment.rule or "").startswith(_TOO_OFTEN)
    if is_hourly or often > max(len(listed), 1):
        return ()
    known = {*case.message.times(said)} - {*spans}
    several = [[each for each in hour if each not in known] for hour in listed]
    moments = each_of(several, spans, moment) if moment is not None else several
    return [moment_of(each, case.now) for each in moments] or [moment]


def owed(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "I need to ring the plumber before Friday": told, not asked for, so it is offered."""
    what, who = groups["what"], groups.get("who", "")
    if not case.grammar.said["own_errand"].fullmatch(case.message.title(what)):
        return None
    if who and not is_person(who, case):
        return None
    moment = moment_of(case.message.free_times(what), case.now)
    steps = _created(what, moment, case, who=who, is_reminder=True) or ()
    return [replace(each, is_offer=True) for each in steps if isinstance(each, PlannedAction)]


def eve_of(part: str, case: Case) -> re.Match[str] | None:
    """Return where a part speaks of "the day before", which means nothing without what it is before."""
    return _EVE.search(case.message.words(part))


def alarm(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "set an alarm for 6:30", "set a timer for ten minutes", "set a reminder for Friday to …"."""
    kind, what = groups["kind"].lower(), groups["what"]
    when = " ".join(groups.get(name, "") for name in ("early", "when", "more"))
    whole = f"{when} {what}"
    moment = moment_of(case.message.free_times(whole), case.now)
    if kind.startswith(("countdown", "timer")) or "timer" in groups:
        return _timer(groups, case)
    if what:
        return _at_each(what, whole, case, who="")
    if kind in {"alarm", "", "wake-up call", "wake up call"}:
        if moment is None:
            return [
                Missing(action("task", "create", {"title": "Alarm"}), "deadline", "For what time?")
            ]
        title = "Alarm" if kind == "alarm" else "Wake up"
        return [
            action("task", "create", {"title": title, **_when(each, case, is_reminder=True)})
            for each in _moments(whole, case) or [moment]
        ]
    return [_missing_title(moment)]


def _timer(groups: Groups, case: Case) -> Sequence[Step]:
    lengths = [*case.message.lengths(case.message.text), *case.message.times(case.message.text)]
    title = case.message.title(groups["what"]) or "Timer"
    if not lengths:
        return [Missing(action("task", "create", {"title": title}), "deadline", "For how long?")]
    first = lengths[0]
    end = first.until if first in case.message.lengths(case.message.text) else first.begin
    return [action("task", "create", {"title": title, "deadline": end.isoformat()})]


def add(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "add buy stamps to my to-do list"."""
    what = groups["what"]
    if _AGAIN.match(what):
        return None
    spans = case.message.free_times(f"{what} {groups.get('when', '')}")
    return _created(what, moment_of(spans, case.now), case, who=groups.get("who", ""))


def listed(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "what's on my list?", "Ben's tasks"; what "there is" is asked of everybody's."""
    if groups.get("whose") and not members_in(groups["whose"], case, as_owners=True):
        return None
    spans = case.message.times(groups.get("when", ""))
    moment = moment_of([each for each in spans if each.begin != case.now], case.now)
    named = members_in(case.message.text, case, as_owners=True)
    is_of_all = _OF_ALL.search(case.message.text) is not None
    whose: Mapping[str, Any] = {"who": named} if named or is_of_all else {}
    if moment is None or moment.day is None:
        return [_list(whose), *_own_list(case)]
    last = moment.day + timedelta(days=max(moment.days, 1))
    return [_list({"due_before": last.isoformat(), **whose})]


def _own_list(case: Case) -> Iterator[PlannedAction]:
    """Yield a look at the speaker's own list where they ask for it, and it is there."""
    is_there = any(each.kind == "note" and each.title == OWN_LIST for each in case.things)
    if is_there and names_own_list(case.message.text):
        yield PlannedAction(domain="notes", action="list", params={"title": OWN_LIST})


def whether(groups: Groups, case: Case) -> Sequence[Step]:
    """Read "has the bill been paid?", "did anyone sign the form?"."""
    verb = groups["verb"].lower()
    query = f"{_BASE.get(verb, verb)} {_bare(case.message.words(groups['what']))}"
    return [_list({"query": query, "status": "all", "who": []})]


def _list(params: Mapping[str, Any]) -> PlannedAction:
    return PlannedAction(domain="task", action="list", params=params)


def complete(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "mark the bins as done"."""
    what = case.message.title(groups["what"])
    return None if _AGAIN.match(what) else [action("task", "complete", {"find_by": _bare(what)})]


def done(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "I've paid the school trip": only what is known to be open is completed by a statement."""
    what = _bare(case.message.title(groups["what"]))
    if _FINITE.match(what) or not content_words(without_people(what, case)) - particles_in(what):
        return None  # neither whom it is done for nor "up" or "off" names a task
    said = f"{groups.get('verb', '')} {what}"
    tasks = [*case.open_tasks()]
    thing = best_match(said, tasks) or best_match(what, tasks)
    if thing is not None:
        step = action("task", "complete", {"find_by": thing.id or thing.title})
        is_later = "elided" in groups and _is_due_later(thing, case)
        return [replace(step, is_offer=is_later or not _tells_deed(thing, what, groups, case))]
    is_told = "verb" not in groups or not groups["verb"]
    names_one = groups["what"].lower().startswith(("the ", "my ", "our "))
    if is_told and names_one and not tasks and case.message.text.lower().find("done with") >= 0:
        return [action("task", "complete", {"find_by": what})]
    return None


def _tells_deed(task: Thing, what: str, groups: Groups, case: Case) -> bool:
    """Whether a report tells a task's own deed, and no other one done to the same thing.

    The deed of a task is its first word, unless the report names all of it as the thing.
    """
    title, told = without_people(task.title, case), groups.get("verb") or groups.get("elided", "")
    unsaid = content_words(title) - content_words(what)
    if not (told and unsaid):
        return True
    verb = told.lower().split()[0]
    deed = next(each.lower() for each in title.split() if content_words(each))
    ways = particles_in(title), particles_in(f"{told} {what}")
    shared = ways[0] & ways[1]
    if all(ways) and not shared:
        return False  # "took out" tells nothing of what is to be taken in
    is_same = canon_of(verb) == canon_of(deed) or may_tell_of(verb, deed, shared)
    return (content_words(deed) <= unsaid and is_same) or verb in shared


def _is_due_later(task: Thing, case: Case) -> bool:
    """Whether a task is due hours later today: what was done this morning may be due again tonight."""
    if task.start is None or "T" not in task.start:
        return False
    due = datetime.fromisoformat(task.start).astimezone(case.household.zone)
    return due.date() == case.now.date() and due - case.now > _SOON


def delete(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "delete the task about stamps"."""
    about, what = groups.get("about", ""), groups["what"]
    named = case.message.title(about or what) or case.message.words(about or what)
    if not named:
        moment = moment_of(case.message.times(f"{what} {groups.get('when', '')}"), case.now)
        said = case.message.words(f"{what} {groups.get('when', '')}")
        if moment is None:
            return None
        return [action("task", "delete", {"find_by": said or "alarm", "on": moment.partial})]
    if _AGAIN.match(named):
        return None
    if "known" not in groups:
        return [action("task", "delete", {"find_by": _bare(named)})]
    known = best_match(_bare(named), case.open_tasks())
    return [action("task", "delete", {"find_by": known.id or known.title})] if known else None


def update(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "push the dentist task to Friday"."""
    what = _bare(case.message.title(groups.get("about") or groups["what"]))
    if not what or _AGAIN.match(what):
        return None
    known = best_match(what, case.open_tasks())
    if "known" in groups and known is None:
        return None
    find_by = what if known is None or "known" not in groups else known.id or known.title
    return [
        action(
            "task", "update", {"find_by": find_by, "changes": deadline_changes(groups["to"], case)}
        )
    ]


def deadline_changes(part: str, case: Case) -> dict[str, object]:
    """Return what a new time of a task changes."""
    moment = moment_of(case.message.times(part), case.now)
    if moment is not None:
        return {
            "deadline": _put_off(moment, case.message.times(part)),
            **({"rrule": moment.rule} if moment.rule else {}),
        }
    lengths = case.message.lengths(part)
    minutes = int((lengths[0].until - lengths[0].begin).total_seconds() // 60) if lengths else 0
    return {"shift_minutes": minutes} if minutes else {}


def _put_off(moment: Moment, spans: Sequence[TimeSpan]) -> str | None:
    """Return the new time: "till Saturday", which as a span begins now, puts something off to its end."""
    if moment.day is not None and moment.days > 1 and _UNTIL.match(spans[-1].surface):
        return (moment.day + timedelta(days=moment.days - 1)).isoformat()
    return moment.partial


def priority(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "make the plumber task high priority"."""
    what, level = _bare(case.message.title(groups["what"])), groups["level"].lower()
    if not what or _AGAIN.match(what):
        return None
    level = "high" if level in _URGENT else "normal" if level == "medium" else level
    return [action("task", "update", {"find_by": what, "changes": {"priority": level}})]


def _created(
    what: str, moment: Moment | None, case: Case, *, who: str, is_reminder: bool = False
) -> Sequence[Step] | None:
    title = case.message.title(what)
    title = re.sub(
        r"^(?:and )?(?:to|about|that|of|i (?:have|need) to|we (?:have|need) to)\s+",
        "",
        title,
        flags=re.IGNORECASE,
    )
    quoted = _QUOTED.fullmatch(title)
    title = quoted["words"] if quoted is not None else title
    if _NOT_SOMEBODY.match(title):
        return None
    if not title or _AGAIN.match(title):
        return [_missing_title(moment)] if not title else None
    params = {"title": title, **_when(moment, case, is_reminder=is_reminder)}
    if several := _several(who, case):
        params["who"] = several
    elif who and not is_speaker(who) and not means_two_of_us(who, case):
        params["who"] = one_of(who, case)
    return [action("task", "create", params)]


def _several(who: str, case: Case) -> list[str]:
    """Return the members whom words name where they are several, the speaker among "all of us"; none where not."""
    if all_of_us := together(who, case):
        return list(dict.fromkeys([case.context.asked.member.id, *all_of_us]))
    named = people_in(who, case)
    return list(named) if len(named) > 1 else []


def _when(moment: Moment | None, case: Case, *, is_reminder: bool) -> dict[str, str | None]:
    if moment is None:
        return {}
    return {
        "deadline": moment.text,
        "rrule": moment.rule,
        "remind_at": reminded_at(moment, case.now) if is_reminder else None,
    }


def _missing_title(moment: Moment | None) -> Missing:
    known = {"deadline": moment.text, "rrule": moment.rule} if moment is not None else {}
    return Missing(action("task", "create", known), "title", _ASK_WHAT)


def _bare(words: str) -> str:
    return re.sub(r"^(?:the|my|our|a|an|to)\s+", "", words, flags=re.IGNORECASE)
