"""The planner that needs no model: what a message asks for, by rules, and which rule is read by what."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from kinkeeper.conversation.model import Branch, Plan, PlannedAction, PlanningContext, Source
from kinkeeper.conversation.planning import (
    calendar_questions,
    changing_events,
    creating_events,
    goal_rules,
    list_rules,
    mail_rules,
    memory_rules,
    participation,
    reminders,
    task_rules,
)
from kinkeeper.conversation.planning.amendments import amended, another_hour
from kinkeeper.conversation.planning.calendar_questions import continued, goes_on
from kinkeeper.conversation.planning.case import (
    Case,
    Groups,
    Missing,
    Step,
    action,
    case_of,
    last_addressed,
)
from kinkeeper.conversation.planning.childs_bans import may_asked, tells_ban
from kinkeeper.conversation.planning.claimed_jobs import claimed, claimed_before, is_of_nothing_said
from kinkeeper.conversation.planning.clauses import (
    are_events,
    bare,
    in_order,
    steps_of,
    thing_missing,
    without_reason,
)
from kinkeeper.conversation.planning.follow_ups import (
    ASK,
    at_each,
    completed,
    edited,
    followed,
    open_question,
    set_right,
    with_name,
)
from kinkeeper.conversation.planning.grammar import LONGEST_CLAUSE, word_sets
from kinkeeper.conversation.planning.mail_rules import is_reference
from kinkeeper.conversation.planning.memory_rules import told_facts
from kinkeeper.conversation.planning.message import TIME_MARK
from kinkeeper.conversation.planning.option_choice import option_chosen
from kinkeeper.conversation.planning.people import (
    is_unknown_pair,
    members_in,
    who_of,
    words_for_people,
)
from kinkeeper.conversation.planning.plan_times import Kept, without
from kinkeeper.conversation.planning.references import again, more, pointed
from kinkeeper.conversation.planning.relative import (
    on_day_spoken_of,
    onto_card,
    onto_new,
    onto_what_waits,
    together,
)
from kinkeeper.conversation.planning.reminders import OF_WHAT_STANDS, on_its_eve
from kinkeeper.conversation.planning.stepping_back import stepped_back
from kinkeeper.conversation.planning.told_changes import looked_for, told
from kinkeeper.conversation.planning.told_events import LOOKED_FOR
from kinkeeper.conversation.planning.write_guard import guarded
from kinkeeper.conversation.routing.confirmation import agrees
from kinkeeper.conversation.routing.intent import asks_about, asks_why
from kinkeeper.conversation.told_audience import MOST_CARRIED, share_within
from kinkeeper.household.vocabulary import compile_vocabulary
from kinkeeper.reading.asked import asked_saying
from kinkeeper.reading.corrections import before_left_out, without_people_left_out
from kinkeeper.reading.times.model import TimeSpan
from kinkeeper.reading.times.time_text import day as day_text

# Whether a message asks for something that this assistant cannot do at all, such as translating or
# ordering a taxi. Pure.

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_COUNTDOWN = re.compile(
    rf"how (?:many|long)\b[^{TIME_MARK[1:-1]}]*?(?:{TIME_MARK}|\b(?:until|till|til|before|to) (?:the )?{TIME_MARK}(?:'s)?(?: day)?)\W*",
    re.IGNORECASE,
)
_UNITS = re.compile(
    r"\b(?:days?|weeks?|months?|sleeps?|nights?|hours?|long)\b.*\b(?:until|till?|before|to)\b",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 4
"""Words that open a request, of which a table may speak."""


def is_out_of_scope(case: Case) -> bool:
    """Return whether a message asks for a service that there is no request for."""
    request, words, opens = _opening(case)
    tables = word_sets("out_of_scope")
    if not opens.isdisjoint(tables["verbs"]):
        return True
    said = {*words[1:]}
    has_object = any(
        not opens.isdisjoint(tables[verbs]) and not said.isdisjoint(tables[things])
        for verbs, things in (("getting", "services"), ("switching", "devices"))
    )
    is_product = not opens.isdisjoint(tables["making"]) and _ends_in(words, tables["products"])
    return has_object or is_product or _is_countdown(request, case)


def is_search(case: Case) -> bool:
    """Return whether a message wants something found that is not kept here.

    Args:
        case: The message, of which no rule made anything.
    """
    _, words, opens = _opening(case)
    tables = word_sets("out_of_scope")
    return not opens.isdisjoint(tables["finding"]) and tables["kept"].isdisjoint(words)


def _opening(case: Case) -> tuple[str, list[str], set[str]]:
    """Return a request without politeness, its words, and what it begins with."""
    request = bare(case.message.text, case.grammar, case.household.bot_name)
    words = [each.lower() for each in _WORD.findall(request)]
    opens = {"_".join(words[:length]) for length in range(1, _MOST_WORDS + 1)}
    return request, words, opens


def _ends_in(words: list[str], products: frozenset[str]) -> bool:
    """Whether the thing that is to be made is a product: the first noun phrase ends in it, not something it is for."""
    ends = (
        at for at, each in enumerate(words) if each in {"for", "about", "with", "to", "in", "on"}
    )
    first = words[1 : next(ends, len(words))]
    return bool(first) and first[-1] in products


def _is_countdown(request: str, case: Case) -> bool:
    """Whether it is to be reckoned how long it is until a day that is no event."""
    return (
        _COUNTDOWN.fullmatch(request) is not None
        and _UNITS.search(case.message.words(request)) is not None
    )


# Which rule is read by what, and sentences that point back at what was just said. Pure.

_READERS: Final[Mapping[str, Callable[[Groups, Case], Sequence[Step] | None]]] = {
    "memory.called": memory_rules.called, "memory.store": memory_rules.store,
    "memory.forget": memory_rules.forget, "memory.search": memory_rules.search,
    "memory.ask": memory_rules.ask,
    "records.waiting": memory_rules.waiting, "records.done": memory_rules.done,
    "tasks.long_before": reminders.long_before, "tasks.around": reminders.around,
    "tasks.remind": task_rules.remind, "tasks.alarm": task_rules.alarm, "tasks.add": task_rules.add, "tasks.owed": task_rules.owed,
    "tasks.list": task_rules.listed, "tasks.whether": task_rules.whether, "tasks.complete": task_rules.complete,
    "tasks.done": task_rules.done, "tasks.delete": task_rules.delete,
    "tasks.update": task_rules.update, "tasks.priority": task_rules.priority,
    "lists.append": list_rules.append, "lists.wanted": list_rules.wanted,
    "lists.dictated": list_rules.append, "lists.enumerated": list_rules.enumerated, "lists.show": list_rules.show,
    "lists.holds": list_rules.holds, "lists.buying": list_rules.buying,
    "lists.clear": list_rules.clear, "lists.remove": list_rules.remove, "lists.create": list_rules.create, "lists.titled": list_rules.create,
    "lists.note": list_rules.note, "lists.search": list_rules.search,
    "mail.write": mail_rules.write, "mail.told": mail_rules.passed_on, "mail.reply": mail_rules.reply,
    "mail.search": mail_rules.search,
    "tasks.asked": task_rules.listed, "lists.asked": list_rules.show,
    "mail.asked": mail_rules.asked, "events.asked": calendar_questions.asked,
    "events.question": calendar_questions.ask,
    "events.find_time": calendar_questions.find_time,
    "events.absent": creating_events.absent, "events.joined": participation.joined, "events.placed": participation.placed, "events.create": creating_events.create, "events.stated": participation.stated,
    "events.moved": changing_events.moved, "events.nudged": changing_events.nudged,
    "events.taken": changing_events.taken_on, "events.move": changing_events.move,
    "events.rename": changing_events.rename, "events.relocate": changing_events.relocate,
    "events.invite": changing_events.invite, "events.cancel": changing_events.cancel,
}  # fmt: skip

_ADDING = frozenset({"add", "put", "note", "schedule", "book", "stick", "pop", "write", "save"})
_CHECKING = frozenset({"check", "tick", "cross", "mark", "strike"})
_EARLY = re.compile(r"\b(?:before|earlier|ahead|in advance)\b", re.IGNORECASE)
_PREDICATE = re.compile(
    r"\s+(?:is|are|was|were|has been|have been|got|'s)(?: now| all| already)* (?:done|off|cancelled|canceled|finished|over|paid|sorted|fixed|bought|not happening).*$"
    r"|^(?:i|we)(?:'ve| have)?(?: already| just)? (?:got|bought|have|did|done|finished|paid)\s+|\s+already$",
    re.IGNORECASE,
)


def read_clause(clause: str, case: Case) -> list[Step] | None:
    """Return what one clause asks for, or None where it asks for nothing.

    Args:
        clause: With marks, without politeness; one of more than 300 characters is not read.
    """
    steps = _read_clause(clause, case)
    return on_day_spoken_of(steps, clause, case) if steps else steps


def _read_clause(clause: str, case: Case) -> list[Step] | None:
    if not clause or len(clause) > LONGEST_CLAUSE:
        return None
    if (recalled := memory_rules.recalled(clause, case)) is not None:
        return recalled
    if (of_goal := goal_rules.certain(clause, case)) is not None:
        return of_goal
    if tells_ban(clause, case):
        return None
    if (asked := may_asked(clause, case)) is not None:
        return asked
    said, clause = clause, without_reason(clause, case.grammar)
    back = (
        amended(said, case)
        or pointed(clause, case)
        or followed(clause, case)
        or set_right(clause, case)
        or _pointing_back(clause, case)
    )
    if back is None and goes_on(case):
        back = continued(clause, case)
    if back is not None:
        return [onto_what_waits(each, case) for each in back]
    news = claimed(said, case) or told(said, case)
    if news is not None:
        return [onto_what_waits(each, case) for each in news]
    found = _by_rules(clause, case) or continued(clause, case) or looked_for(said, case)
    return found or goal_rules.sought(clause, case)


def _by_rules(clause: str, case: Case) -> list[Step] | None:
    """Return what the first rule that fits a clause makes of it; None where none does."""
    for form in dict.fromkeys((clause, in_order(clause))):
        for name, groups in case.grammar.found(form):
            steps = guarded(
                _READERS[name](groups, case) or (), form, case, rule=name, groups=groups
            )
            if steps:
                return steps
    return None


def _pointing_back(clause: str, case: Case) -> list[Step] | None:
    """Read "milk is finished, put it on the list": the second half says what to do with the first."""
    reminding = case.grammar.said["trailing_reminder"].fullmatch(clause)
    whom = (reminding["who"] if reminding is not None else None) or "me"
    if reminding is not None and _EARLY.search(case.message.words(reminding["rest"])):
        first = bare(reminding["first"], case.grammar, case.household.bot_name)
        steps = read_clause(first, case)
        if steps and (case.grammar.starts.match(first) or are_events(steps)):
            return [*steps, *(read_clause(f"remind {whom}{reminding['rest']}", case) or ())]
    if reminding is not None:
        what = case.grammar.said["obligation"].sub("", reminding["first"], count=1)
        # What is told before it is what to be reminded of, and no news of something known.
        return _by_rules(f"remind {whom} to {what} {reminding['rest']}", case)
    remembering = case.grammar.said["trailing_memory"].fullmatch(clause)
    if remembering is not None:
        return read_clause(f"remember that {remembering['first']}", case)
    found = case.grammar.said["trailing"].fullmatch(clause)
    if found is None:
        return None
    first = bare(found["first"], case.grammar, case.household.bot_name)
    verb, rest = found["verb"].lower(), found["rest"].strip()
    if case.grammar.said["hollow"].fullmatch(first):
        return None
    if verb in _ADDING:
        return _added(first, rest, case)
    named = _PREDICATE.sub("", first).strip()
    if verb in _CHECKING:
        rest = re.sub(r"^off\b|^(?:as )?done\b", "", rest).strip()
        return read_clause(f"mark {named} as done {rest}".strip(), case)
    return read_clause(f"{verb} {named} {rest}".strip(), case)


def _added(first: str, rest: str, case: Case) -> list[Step] | None:
    missing, owed = thing_missing(first, case.grammar), case.grammar.said["obligation"]
    what = missing or owed.sub("", first, count=1)
    if re.search(r"\b(?:to|on|onto|in|into)\b.*\w", rest):
        if (
            what == first
            and case.grammar.said["told"].search(first)
            and not case.message.times(first)
        ):
            return None  # a statement, and nobody can tell what of it is meant
        return read_clause(f"add {_who_first(what)} {rest}".strip(), case)
    stated = read_clause(first, case)
    if stated is not None:
        return stated
    if case.message.times(first):
        return read_clause(f"schedule {_who_first(what)}", case)
    return None


def _who_first(what: str) -> str:
    """Return what is scheduled by a statement: "we're having the Lees over" is about the Lees."""
    return re.sub(
        r"^(?:i|we)(?:'re|'m|'ve|'ll| are| am| have| will)?(?: got| having| going to| have| be)*\s+|^there(?:'s| is)\s+",
        "",
        what,
        flags=re.IGNORECASE,
    )


_MOST_ACTIONS = 8
_NEW = frozenset({"create_event", "create"})
_DATED = ("start_time", "deadline")
_OF_DAYS = (*_DATED, "end_time", "remind_at")
_ENDING = frozenset({"delete_event", "delete"})
_FOR_PEOPLE = frozenset({"calendar", "task"})
_WHO_ELSE = "Who do you mean besides you?"
_WHICH_JOB = "Which job do you mean? Say for example “I'll take Leo to soccer tomorrow”."
_WHICH_DAYS = "I can't tell which days to leave out. On which days is it, and at what time?"
_CHANGING = frozenset({"changes", "find_by", "rrule"})


def plan_of(context: PlanningContext) -> Plan:
    """Return what a message asks for by the rules. Pure.

    Args:
        context: The message and what is known around it.
    """
    names = words_for_people(vocabulary_of(context.asked.household))
    text, left_out = without_people_left_out(context.text, names)
    if left_out:
        of_all = replace(context, text=text)
        plan = _without_people(with_day_asked(_plan_of(of_all), of_all), left_out, of_all)
        if plan is not None:
            return plan
    return with_day_asked(_plan_of(context), context)


def _without_people(plan: Plan, left_out: str, context: PlanningContext) -> Plan | None:
    """Return a plan for everybody without those who are left out, who see no reminder of it; None where it is for nobody of them."""
    hidden = {*who_of(left_out, case_of(context, vocabulary_of(context.asked.household)))}
    others = sorted(hidden - {context.asked.member.id})
    actions = tuple(_without_any(each, hidden, others) for each in plan.actions)
    return replace(plan, actions=actions) if actions != plan.actions else None


def _without_any(planned: PlannedAction, hidden: set[str], others: Sequence[str]) -> PlannedAction:
    who = planned.params.get("who")
    if planned.action not in _NEW or not isinstance(who, list) or hidden.isdisjoint(who):
        return planned
    kept = {"kept_from": others} if planned.domain == "task" and others else {}
    known = {**planned.params, "who": [each for each in who if each not in hidden], **kept}
    return replace(planned, params=known)


def with_day_asked(plan: Plan, context: PlanningContext) -> Plan:
    """Return a plan that asks, or proposes, where nobody can tell which day or half of it, which days left out, or whom the message means.

    Weekday and date may not agree, an exception name no days, and "both of us" mean one of several grown-ups.

    Args:
        context: What was planned.
    """
    case = case_of(context, vocabulary_of(context.asked.household))
    plan = _with_both_asked(_with_exceptions(plan, case), case)
    for span in case.message.times(case.message.text):
        if span.other_day is not None:
            plan = _unsure(plan, span.begin.date(), span.other_day, case)
        if span.is_half_open:
            plan = _half_asked(plan, span.begin.time())
    return plan


def _half_asked(plan: Plan, at: time) -> Plan:
    """Return a plan that asks of which half of the day the hour is at which something new would stand in the calendar."""
    said = f"T{at:%H:%M}"
    new = [each for each in plan.actions if each.action == "create_event" and not each.is_offer]
    open_ = [each for each in new if said in str(each.params.get("start_time"))]
    if len(open_) != 1 or plan.partial:
        return replace(
            plan,
            actions=tuple(
                replace(each, is_offer=each.is_offer or each in open_) for each in plan.actions
            ),
        )
    question = f"Is that {at.hour % 12:02}:{at:%M} in the morning or {at.hour % 12 + 12}:{at:%M} in the evening?"
    missing = planned(
        [
            *(each for each in plan.actions if each not in open_),
            Missing(open_[0], "start_time", question),
        ]
    )
    return replace(plan, actions=missing.actions, clarification=question, partial=missing.partial)


def _unsure(plan: Plan, day: date, other: date, case: Case) -> Plan:
    """Return a plan in which what would be new on a day is asked about, and what would change there is only proposed."""
    said = (f"{day:%Y-%m-%d}", f"{day:%Y%m%d}")
    sure, asked = list[PlannedAction](), list[tuple[PlannedAction, str]]()
    for each in plan.actions:
        name = next((key for key in _DATED if str(each.params.get(key)).startswith(said)), None)
        is_open = name is not None and not each.is_offer and plan.partial is None and not asked
        if name is not None and is_open:
            asked.append((each, name))
            continue
        is_unsure = not _CHANGING.isdisjoint(each.params) and any(
            form in str(each.params) for form in said
        )
        sure.append(replace(each, is_offer=each.is_offer or name is not None or is_unsure))
    if not asked:
        return replace(plan, actions=tuple(sure))
    days = [
        day_text(each, today=case.now.date(), locale=case.household.locale)
        for each in sorted((day, other))
    ]
    [(planned_action, name)] = asked
    question = f"Which day do you mean: {days[0]} or {days[1]}?"
    missing = planned([*sure, Missing(planned_action, name, question)])
    return replace(plan, actions=missing.actions, clarification=question, partial=missing.partial)


def _with_exceptions(plan: Plan, case: Case) -> Plan:
    """Return a plan in which what recurs leaves out what the message names as an exception; it asks where that cannot be."""
    left_out: Sequence[TimeSpan] | None = case.message.left_out
    if left_out and any(each.action in _ENDING for each in plan.actions):
        return Plan(clarification=_WHICH_DAYS, source=plan.source)
    behind = case.message.text[len(before_left_out(case.message.text)) :]
    if case.message.times(behind) and not members_in(behind, case):
        left_out = None
    plan = _with_days_asked(plan, case.message.times(behind) if left_out is None else left_out)
    steps = [_with_exception(each, left_out, case.household.zone) for each in plan.actions]
    asked = [each for each in steps if isinstance(each, Missing)]
    partial = plan.partial
    if partial and partial["params"].get("rrule"):
        known = action(partial["domain"], partial["action"], partial["params"])
        step = _with_exception(known, left_out, case.household.zone)
        asked += [step] if isinstance(step, Missing) else []
        partial = None if isinstance(step, Missing) else {**partial, "params": dict(step.params)}
    sure = tuple(each for each in steps if isinstance(each, PlannedAction))
    if not asked:
        return replace(plan, actions=sure, partial=partial)
    missing = planned([*sure, asked[0]])
    return replace(plan, actions=sure, clarification=missing.clarification, partial=missing.partial)


def _with_days_asked(plan: Plan, left_out: Sequence[TimeSpan]) -> Plan:
    """Return a plan that asks on which days something new is, where it is on one of those that are left out: "on Monday, not this week"."""
    new = [
        each
        for each in plan.actions
        if each.action in _NEW
        and not each.params.get("rrule")
        and any(
            span.begin.date().isoformat()
            <= str(each.params.get(key))[:10]
            < span.until.date().isoformat()
            for span in left_out
            for key in _DATED
        )
    ]
    if not new or plan.partial:
        return plan
    day = next(key for key in _DATED if new[0].params.get(key))
    name = "title" if new[0].domain == "task" else "summary"
    known = {key: each for key, each in new[0].params.items() if key not in _OF_DAYS}
    known[name] = before_left_out(str(known.get(name, ""))).strip(" ,")
    sure = [each for each in plan.actions if each not in new]
    missing = planned([*sure, Missing(replace(new[0], params=known), day, _WHICH_DAYS)])
    return replace(
        plan, actions=missing.actions, clarification=_WHICH_DAYS, partial=missing.partial
    )


def _with_both_asked(plan: Plan, case: Case) -> Plan:
    """Return a plan that asks who the two of "both of us" are, where several grown-ups may be meant."""
    new = [each for each in plan.actions if each.action in _NEW and each.domain in _FOR_PEOPLE]
    if not new or plan.partial or not is_unknown_pair(case):
        return plan
    missing = planned(
        [*(each for each in plan.actions if each is not new[0]), Missing(new[0], "who", _WHO_ELSE)]
    )
    return replace(plan, actions=missing.actions, clarification=_WHO_ELSE, partial=missing.partial)


def _with_exception(
    planned: PlannedAction, left_out: Sequence[TimeSpan] | None, zone: ZoneInfo
) -> Step:
    """Return what is to recur without the times that are left out; asked about where that cannot be said.

    Args:
        left_out: None where nobody can tell which.
    """
    params, rule = planned.params, planned.params.get("rrule")
    day = next((key for key in _DATED if params.get(key)), None)
    if planned.action not in _NEW or not rule or day is None:
        return planned
    name = "title" if planned.domain == "task" else "summary"
    about, start = before_left_out(str(params.get(name, ""))), str(params[day])
    try:
        first = date.fromisoformat(start[:10])
        kept = Kept(rule=rule, first=first) if left_out == () else None
        kept = without(str(rule), first, left_out) if left_out else kept
    except ValueError:
        return planned  # a model's; refused where it is carried out
    is_single = kept is not None and bool(kept.left_out) and planned.domain == "task"
    if kept is None or is_single or about != str(params.get(name, "")):
        known = {key: each for key, each in params.items() if key not in {*_OF_DAYS, "rrule"}}
        return Missing(replace(planned, params={**known, name: about}), day, _WHICH_DAYS)
    by = kept.first - first
    moved = {key: _later(str(params[key]), by, zone) for key in _OF_DAYS if params.get(key)}
    days = {"except_days": [each.isoformat() for each in kept.left_out]} if kept.left_out else {}
    return replace(planned, params={**params, **moved, "rrule": kept.rule, **days})


def _later(moment: str, by: timedelta, zone: ZoneInfo) -> str:
    """Return an ISO 8601 day or time some days later, at the same hour of the wall clock."""
    if "T" not in moment:
        return (date.fromisoformat(moment) + by).isoformat()
    at = datetime.fromisoformat(moment)
    return ((at.astimezone(zone) if at.tzinfo else at.replace(tzinfo=zone)) + by).isoformat()


def _plan_of(context: PlanningContext) -> Plan:
    is_recalled = asked_saying(context.text, context.asked.household.members_by_word) is not None
    if not is_recalled and (
        (context.history and asks_why(context.text)) or asks_about(context.text)
    ):
        return Plan(source=Source.RULES)
    case = case_of(context, vocabulary_of(context.asked.household))
    if (steps := _of_jobs(case)) is not None:
        return replace(planned(steps[len(context.results) :]), is_whole=True)
    if is_of_nothing_said(case) or context.triage.branch is Branch.SOCIAL:
        question = _WHICH_JOB if is_of_nothing_said(case) else None
        return Plan(clarification=question, source=Source.RULES)
    if is_out_of_scope(case) and not context.open_edit:
        return Plan(source=Source.RULES)
    if context.open_edit and not context.results:
        return _edited(case) if agrees(context.text) else _still_offered(_edited(case))
    steps = _answered(case)
    if steps is None:
        steps = another_hour(case)
    if steps is None:
        steps = memory_rules.state_asked(case) or memory_rules.remarks_set(case)
    if steps is not None:
        return planned(steps[len(context.results) :])
    found, unread = (reminded, ()) if (reminded := reminders.after_dose(case)) else _read(case)
    found = found or stepped_back(case, is_rest=True) or []
    read = [_named(step, case) for step in found]
    held = [(step.action if isinstance(step, Missing) else step).params for step in read]
    read += [
        each
        for each in told_facts(case, is_all=not found)
        if share_within(str(each.params["value"]), held, case.household) < MOST_CARRIED
    ]
    steps = _in_turn(_chained(read, context), context)
    plan = planned(steps[len(context.results) :])
    looks = any(each.reasoning == LOOKED_FOR for each in plan.actions)
    is_whole = len(steps) == len(read) == len(plan.actions) and not looks
    return replace(plan, is_whole=is_whole, unread=unread)


def _of_jobs(case: Case) -> list[Step] | None:
    """Return what it comes to that the speaker cannot do a job, or takes one on that was just asked about; None where they say neither."""
    back = stepped_back(case)
    return back if back is not None else claimed_before(case)


def _read(case: Case) -> tuple[list[Step], tuple[str, ...]]:
    """Return what a message asks for, and what it asks for that nothing was made of."""
    steps, unread = steps_of(case, lambda clause: read_clause(clause, case))
    steps = steps or more(case.message.text, case) or []
    if not any(isinstance(each, PlannedAction) for each in steps):
        steps = on_its_eve(case) or steps
    return [
        one for each in together(onto_new(steps, case)) for one in onto_card(each, case)
    ], unread


def _edited(case: Case) -> Plan:
    text = bare(case.message.text, case.grammar, case.household.bot_name)
    steps = (
        another_hour(case)
        or amended(text, case)
        or again(text, case)
        or edited(case.context.open_edit, case)
    )
    steps = steps or _read(case)[0]
    return planned(steps) if steps else Plan(clarification=ASK)


def _still_offered(plan: Plan) -> Plan:
    """Return a corrected plan in which what would be new is still only proposed; all else asks by its stakes."""
    return replace(
        plan,
        actions=tuple(
            replace(each, is_offer=each.is_offer or each.action in _NEW) for each in plan.actions
        ),
    )


def as_offers(plan: Plan) -> Plan:
    """Return a plan of which nothing is done before a person says yes."""
    return replace(plan, actions=tuple(replace(each, is_offer=True) for each in plan.actions))


def _answered(case: Case) -> list[Step] | None:
    """Return the request that the message completes; None where it is no answer to a question."""
    partial = open_question(case)
    if partial is None:
        option = option_chosen(case)
        return None if option is None else [option]
    if case.grammar.said["quit"].fullmatch(case.message.text.strip(" .!")):
        return []
    if _read(case)[0]:
        return None
    if partial["missing"] in _DATED and not case.message.spans:
        # What answers when something is may be a bare hour, or several.
        context = replace(case.context, text=f"at {case.context.text}")
        case = case_of(context, vocabulary_of(case.household))
    step = completed(partial, case)
    return [*at_each(step, case)] if step is not None else None


def _chained(steps: list[Step], context: PlanningContext) -> list[Step]:
    """Return steps in which what is put "then" is put where a search of this message found room.

    Until the search has been carried out, what rests on it waits.
    """
    searched = [isinstance(step, PlannedAction) and step.action == "find_free" for step in steps]
    if True not in searched:
        return steps
    rooms = [
        room
        for result in context.results
        if result.action == "find_free"
        for room in result.result.get("free", ())
    ]
    chained: list[Step] = []
    for step in steps:
        if isinstance(step, Missing) and step.field == "start_time":
            if rooms:
                params = {**step.action.params, "start_time": rooms[0]["start"]}
                chained.append(replace(step.action, params=params))
            elif context.results:
                chained.append(step)
        else:
            chained.append(step)
    return chained


def _in_turn(steps: list[Step], context: PlanningContext) -> list[Step]:
    """Return steps without reminders of nothing named, where what comes before may be what they are of.

    "Book the dentist and remind me an hour before" speaks of what has been booked by then.
    """
    if len(steps) <= 1 or context.results:
        return steps
    return [steps[0], *(step for step in steps[1:] if not _waits(step))]


def _waits(step: Step) -> bool:
    """Whether a request is of what a request before it makes."""
    if isinstance(step, Missing):
        return step.field == "title"
    return step.reasoning == OF_WHAT_STANDS


def _named(step: Step, case: Case) -> Step:
    """Return a request whose "him" is whoever was written to, or spoken of, last."""
    planned = step.action if isinstance(step, Missing) else step
    to = planned.params.get("to") or planned.params.get("sender_name")
    names = [to] if isinstance(to, str) else to or []
    if (planned.domain, planned.action) == ("memory", "store"):
        fact = with_name(str(planned.params["value"]), case)
        return replace(planned, params={**planned.params, "value": fact})
    if planned.domain != "email" or not any(map(is_reference, names)):
        return step
    known = last_addressed(case.context)
    key = "to" if "to" in planned.params else "sender_name"
    if not known:
        question = "Who do you mean?"
        params = {name: value for name, value in planned.params.items() if name != key}
        return Missing(replace(planned, params=params), key, question)
    value = known if key == "to" else known[0]
    found = replace(planned, params={**planned.params, key: value})
    return replace(step, action=found) if isinstance(step, Missing) else found


def planned(steps: list[Step]) -> Plan:
    """Return steps as a plan: what is known is done, the first thing that is missing is asked for."""
    actions = tuple(step for step in steps if isinstance(step, PlannedAction))[:_MOST_ACTIONS]
    missing = next((step for step in steps if isinstance(step, Missing)), None)
    if missing is None:
        return Plan(actions=actions, source=Source.RULES)
    return Plan(
        actions=actions,
        clarification=missing.question,
        source=Source.RULES,
        partial={
            "domain": missing.action.domain,
            "action": missing.action.action,
            "params": dict(missing.action.params),
            "missing": missing.field,
        },
    )


vocabulary_of = lru_cache(maxsize=8)(compile_vocabulary)
