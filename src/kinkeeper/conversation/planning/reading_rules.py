"""Which rule is read by what, and sentences that point back at what was just said. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning import (
    around_events,
    calendar_questions,
    changing_events,
    creating_events,
    day_questions,
    lifts,
    list_rules,
    mail_rules,
    memory_rules,
    record_rules,
    task_rules,
)
from kinkeeper.conversation.planning.amendments import amended
from kinkeeper.conversation.planning.case import Case, Groups, Step
from kinkeeper.conversation.planning.clauses import bare, in_order
from kinkeeper.conversation.planning.follow_up_questions import continued, goes_on
from kinkeeper.conversation.planning.following_up import followed, set_right
from kinkeeper.conversation.planning.grammar import LONGEST_CLAUSE
from kinkeeper.conversation.planning.reasons import thing_missing, without_reason
from kinkeeper.conversation.planning.references import pointed
from kinkeeper.conversation.planning.relative import onto_what_waits
from kinkeeper.conversation.planning.told_changes import told
from kinkeeper.conversation.planning.write_guard import guarded

_READERS: Final[Mapping[str, Callable[[Groups, Case], Sequence[Step] | None]]] = {
    "memory.called": memory_rules.called, "memory.store": memory_rules.store,
    "memory.forget": memory_rules.forget, "memory.search": memory_rules.search,
    "memory.ask": memory_rules.ask,
    "records.waiting": record_rules.waiting, "records.done": record_rules.done,
    "tasks.long_before": around_events.long_before, "tasks.around": around_events.around,
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
    "events.question": day_questions.ask,
    "events.find_time": calendar_questions.find_time,
    "events.absent": creating_events.absent, "events.placed": creating_events.placed, "events.create": creating_events.create, "events.stated": creating_events.stated,
    "events.moved": changing_events.moved, "events.nudged": changing_events.nudged,
    "events.taken": lifts.taken_on, "events.move": changing_events.move,
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
        case: What is known.
    """
    if not clause or len(clause) > LONGEST_CLAUSE:
        return None
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
    news = told(said, case)
    if news is not None:
        return [onto_what_waits(each, case) for each in news]
    for form in dict.fromkeys((clause, in_order(clause))):
        for name, groups in case.grammar.found(form):
            steps = guarded(
                _READERS[name](groups, case) or (), form, case, rule=name, groups=groups
            )
            if steps:
                return steps
    return continued(clause, case)


def _pointing_back(clause: str, case: Case) -> list[Step] | None:
    """Read "milk is finished, put it on the list": the second half says what to do with the first."""
    reminding = case.grammar.said["trailing_reminder"].fullmatch(clause)
    if reminding is not None and _EARLY.search(case.message.words(reminding["rest"])):
        first = bare(reminding["first"], case.grammar, case.household.bot_name)
        steps = read_clause(first, case)
        if steps and (case.grammar.starts.match(first) or _are_events(steps)):
            return [*steps, *(read_clause(f"remind me{reminding['rest']}", case) or ())]
    if reminding is not None:
        what = case.grammar.said["obligation"].sub("", reminding["first"], count=1)
        return read_clause(f"remind me to {what} {reminding['rest']}", case)
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


def _are_events(steps: Sequence[Step]) -> bool:
    """Whether steps only put something into the calendar."""
    return all(isinstance(each, PlannedAction) and each.action == "create_event" for each in steps)


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
        r"^(?:i|we)(?:'re|'m|'ve|'ll| are| am| have| will)?(?: got| having| going to| have| be)*\s+|^there(?:'s| is)\s+", "", what,
        flags=re.IGNORECASE,
    )  # fmt: skip
