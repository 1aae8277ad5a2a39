"""The planner that needs no model: what a message asks for, by rules."""

from dataclasses import replace
from functools import lru_cache

from kinkeeper.conversation.model import Plan, PlannedAction, PlanningContext, Source
from kinkeeper.conversation.planning.amendments import amended
from kinkeeper.conversation.planning.card_edits import ASK, edited
from kinkeeper.conversation.planning.case import Case, Missing, Step, case_of
from kinkeeper.conversation.planning.clauses import bare, steps_of
from kinkeeper.conversation.planning.follow_up_answers import completed, open_question
from kinkeeper.conversation.planning.following_up import with_name
from kinkeeper.conversation.planning.mail_rules import is_reference
from kinkeeper.conversation.planning.named import last_addressed
from kinkeeper.conversation.planning.out_of_scope import is_out_of_scope
from kinkeeper.conversation.planning.reading_rules import read_clause
from kinkeeper.conversation.planning.references import more
from kinkeeper.conversation.planning.relative import together
from kinkeeper.conversation.planning.reminders import OF_WHAT_STANDS
from kinkeeper.conversation.planning.told_facts import told_facts
from kinkeeper.conversation.routing.asking_about import asks_about
from kinkeeper.conversation.routing.asking_why import asks_why
from kinkeeper.conversation.routing.confirmation import agrees
from kinkeeper.household.vocabulary import compile_vocabulary

_MOST_ACTIONS = 8
_NEW = frozenset({"create_event", "create"})


def plan_of(context: PlanningContext) -> Plan:
    """Return what a message asks for by the rules. Pure.

    Args:
        context: The message and what is known around it.
    """
    if (context.history and asks_why(context.text)) or asks_about(context.text):
        return Plan(source=Source.RULES)
    case = case_of(context, vocabulary_of(context.asked.household))
    if is_out_of_scope(case) and not context.open_edit:
        return Plan(source=Source.RULES)
    if context.open_edit and not context.results:
        return _edited(case) if agrees(context.text) else _still_offered(_edited(case))
    steps = _answered(case)
    if steps is not None:
        return planned(steps[len(context.results) :])
    read = [_named(step, case) for step in _read(case)] or [*told_facts(case)]
    steps = _in_turn(_chained(read, context), context)
    plan = planned(steps[len(context.results) :])
    return replace(plan, is_whole=len(steps) == len(read) == len(plan.actions))


def _read(case: Case) -> list[Step]:
    steps = steps_of(case, lambda clause: read_clause(clause, case))
    return together(steps or more(case.message.text, case) or [])


def _edited(case: Case) -> Plan:
    text = bare(case.message.text, case.grammar, case.household.bot_name)
    steps = amended(text, case) or edited(case.context.open_edit, case) or _read(case)
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
    """Return a plan of which nothing is done before a person says yes.

    Args:
        plan: Any.
    """
    return replace(plan, actions=tuple(replace(each, is_offer=True) for each in plan.actions))


def _answered(case: Case) -> list[Step] | None:
    """Return the request that the message completes; None where it is no answer to a question."""
    partial = open_question(case)
    if partial is None:
        return None
    if case.grammar.said["quit"].fullmatch(case.message.text.strip(" .!")):
        return []
    if _read(case):
        return None
    step = completed(partial, case)
    return [step] if step is not None else None


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
        actions=actions, clarification=missing.question, source=Source.RULES,
        partial={
            "domain": missing.action.domain, "action": missing.action.action,
            "params": dict(missing.action.params), "missing": missing.field,
        },
    )  # fmt: skip


vocabulary_of = lru_cache(maxsize=8)(compile_vocabulary)
