"""The two planners together: a model where one is set up, and the rules as its fallback and second reader."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import structlog

from kinkeeper.conversation.ban_heard import ban_in
from kinkeeper.conversation.model import Branch, Plan, PlannedAction, Planner, PlanningContext
from kinkeeper.conversation.planning.audience_wishes import (
    NOT_FOR_A_FEW,
    Said,
    halves,
    kept_by_name,
    narrowed,
    own_affairs,
    own_matters,
    parted,
    said_of_audience,
    titled_as_own,
    writes_for_all,
    written_by,
)
from kinkeeper.conversation.planning.case import case_of
from kinkeeper.conversation.planning.frame_planner import names_nothing, proposed, weighed
from kinkeeper.conversation.planning.model_gate import agreed
from kinkeeper.conversation.planning.plan_grounding import is_copied
from kinkeeper.conversation.planning.rule_planner import (
    as_offers,
    plan_of,
    vocabulary_of,
    with_day_asked,
)
from kinkeeper.conversation.told_audience import KEEP, carried_scope, scope_of_same
from kinkeeper.core.beside import beside, read_beside
from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.viewers import kept_from
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.statements.care import only_denies
from kinkeeper.memory.statements.secrecy import has_own_news, points_back, secrecy_of
from kinkeeper.reading.corrections import sets_itself_right, without_doubt

log = structlog.get_logger()


class Planners:
    """A model reads every message first; the rules read alone where there is none, or no answer in time.

    Args:
        model: None where no model is set up.
    """

    def __init__(self, model: Planner | None) -> None:
        self._model = model

    async def plan(self, context: PlanningContext) -> Plan:
        """Return the next requests; see `kinkeeper.conversation.model.Planner`."""
        plan, asked = await self._for_audience(context), context.asked
        plan = titled_as_own(plan, context.text)
        if asked.is_shared:
            return plan  # others read along
        own, is_adult = own_matters(plan, asked), asked.member.is_adult
        if not own:
            return plan
        return await beside(lambda: own_affairs(plan, own, context.text, is_adult=is_adult))

    async def _for_audience(self, context: PlanningContext) -> Plan:
        """Return the next requests, each for whom the message says may see it."""
        asked = context.asked
        wish = secrecy_of(context.text, asked.household, asked.member.id, is_group=asked.is_shared)
        if wish is not None and points_back(context.text, asked.household.members_by_word):
            return await self._kept_afterwards(context)
        said = said_of_audience(context.text)
        if wish is not None and (said is None or (wish.rest and said.rest.startswith(wish.rest))):
            said = Said(wish.rest, is_for_few=said is not None and said.is_for_few)
        if said is None:
            plan = await self._planned(context)
            return plan if asked.is_shared else _carried_on(context, plan)
        hidden = kept_from("" if wish is None else wish.scope)
        rest = await self._planned(replace(context, text=said.rest)) if said.rest else Plan()
        if writes_for_all(rest):
            if said.is_for_few and not hidden:
                return Plan(clarification=NOT_FOR_A_FEW)
            return _apart(context, rest, hidden) or narrowed(rest, hidden)
        if wish is not None and not (asked.is_shared or rest.actions):
            case = case_of(context, vocabulary_of(asked.household))
            kept = await beside(lambda: kept_by_name(case, hidden))
            if kept.actions:
                return kept
        whole = await self._planned(context)
        if has_own_news(context.text, asked.household.members_by_word) and all(
            map(_is_audience, whole.actions)
        ):
            return rest  # the wish is about that news, and about nothing done before
        if wish is not None and wish.rest and _is_of_wish(whole, wish.rest, rest):
            return rest
        return (
            narrowed(whole, hidden)
            if writes_for_all(whole) and (hidden or not said.is_for_few)
            else whole
        )

    async def _kept_afterwards(self, context: PlanningContext) -> Plan:
        """Return the plan of a message that only asks to keep secret what was said or done before it."""
        asked = context.asked
        plan = await self._planned(replace(context, text=KEEP))
        before = context.history[-1].text if context.history else ""
        wish = secrecy_of(
            f"{before}\n{context.text}", asked.household, asked.member.id, is_group=asked.is_shared
        )
        return narrowed(plan, kept_from("" if wish is None else wish.scope))

    async def _planned(self, context: PlanningContext) -> Plan:
        plan = await self._read(context)
        # What was not done ticks nothing off, whatever the task has in common with it.
        if not only_denies(context.text, context.asked.household):
            return plan
        kept = (each for each in plan.actions if (each.domain, each.action) != ("task", "complete"))
        return replace(plan, actions=tuple(kept))

    async def _read(self, context: PlanningContext) -> Plan:
        by_rules = await _by_rules(context)
        if context.triage.branch is Branch.SOCIAL:
            return by_rules
        if self._model is None:
            return await beside(lambda: read_by_both(by_rules, context))
        try:
            plan = await self._model.plan(context)
        except UnavailableError:
            return await beside(lambda: read_by_both(by_rules, context))
        plan = await beside(lambda: with_day_asked(plan, context))
        if without_doubt(context.text) is not None:
            plan = as_offers(plan)
        return plan if context.results else await beside(lambda: _merged(plan, by_rules, context))


def read_by_both(by_rules: Plan, context: PlanningContext) -> Plan:
    """Return what the rules read; where they read nothing, what the trained reader makes of it, as offers."""
    if by_rules.clarification or context.results or context.open_edit:
        return by_rules
    asked = context.asked
    if ban_in(context.text, context.history, asked.household, now=asked.now) is not None:
        return by_rules  # it puts nothing into the calendar, nor takes anything out of it
    case = case_of(context, vocabulary_of(context.asked.household))
    is_guess = all(each.is_offer and each.action == "create_event" for each in by_rules.actions)
    if not is_guess and not names_nothing(by_rules, case):
        return by_rules
    try:
        found = proposed(context)
    except UnavailableError as error:
        log.warning("planner.trained_reader.failed", error=type(error).__name__)
        return by_rules
    read = found.plan
    is_new = all(each.action == "create_event" for each in read.actions)
    if read.actions and not (by_rules.actions and is_new):
        return read
    if by_rules.actions and is_guess:
        return weighed(by_rules, found.chance, context)
    return by_rules if by_rules.actions else replace(by_rules, held=read.held)


def _carried_on(context: PlanningContext, plan: Plan) -> Plan:
    """Return a plan that keeps what is new in it as secret as the thread asked.

    A secret that was told is about what is told next, where it was announced about what is asked for next, too, and
    about whatever is later asked for that means the same.
    """
    asked = context.asked
    is_told = bool(plan.actions) and all(each.is_offer for each in plan.actions)
    carried = carried_scope(
        context.text,
        context.history,
        asked.household,
        asked.member.id,
        now=asked.now,
        is_announced=not is_told,
    )
    if carried is not None:
        return narrowed(plan, kept_from(carried), only_new=True)
    alone = len(plan.actions) + bool(plan.partial) == 1
    return replace(
        plan,
        actions=tuple(
            one for each in plan.actions for one in _of_secret(each, context, is_alone=alone)
        ),
    )


def _of_secret(
    planned: PlannedAction, context: PlanningContext, *, is_alone: bool
) -> Sequence[PlannedAction]:
    """Return a request that is as secret as what it means of the thread."""
    asked, about = context.asked, written_by(planned)
    scope = scope_of_same(
        context.text if is_alone else about,
        context.history,
        asked.household,
        asked.member.id,
        now=asked.now,
        about=about,
    )
    if scope is None:
        return [planned]
    return narrowed(Plan(actions=(planned,)), kept_from(scope), only_new=True).actions


async def _by_rules(context: PlanningContext) -> Plan:
    """Return what the rules read; a long message does not hold up the event loop."""
    return await read_beside(context.text, lambda: _from_rules(context))


def _apart(context: PlanningContext, whole: Plan, hidden: Collection[str]) -> Plan | None:
    """Return a plan of which only one part is for its person alone; None where the message is all one."""
    for texts in halves(context.text):
        alone = [each if (said := said_of_audience(each)) is None else said.rest for each in texts]
        # Each has to say by itself what it asks for: "remind me at ten" of what was said before is no part of its own.
        parts = (replace(context, text=each, results=(), history=()) for each in alone)
        first, second = map(plan_of, parts)
        plan = parted((first, second), texts, hidden)
        if plan is None:
            continue
        left = plan.actions[len(context.results) :]
        if [each.action for each in left] == [each.action for each in whole.actions]:
            return replace(whole, actions=left)
    return None


def _from_rules(context: PlanningContext) -> Plan:
    """Return what the rules read; as an offer where the message is in doubt, or copied: somebody else may have written it."""
    sure = without_doubt(context.text)
    plan = plan_of(context if sure is None else replace(context, text=sure))
    is_told = bool(plan.actions) and all(map(_is_told, plan.actions))
    if sure is not None and is_told and sets_itself_right(context.text):
        # What is told and set right at once is not taken back: it is kept as it was said.
        plan = plan_of(context)
    if sure is not None:
        return as_offers(plan)
    return replace(as_offers(plan), partial=None) if is_copied(context.text) else plan


def _is_told(step: PlannedAction) -> bool:
    """Whether something is only to be remembered."""
    return (step.domain, step.action) == ("memory", "store")


def _merged(by_model: Plan, by_rules: Plan, context: PlanningContext) -> Plan:
    """Return a model's plan beside what the rules read.

    What both read needs no question because of the model, request by request. What only the rules would write is offered: the
    model may be right that nobody asked for it.
    """
    if by_model.actions and _same(by_model, by_rules):
        return by_rules
    held = agreed(by_model, by_rules, case_of(context, vocabulary_of(context.asked.household)))
    if held.actions or held.clarification:
        return held
    return as_offers(by_rules) if by_rules.actions else by_rules


def _same(one: Plan, other: Plan) -> bool:
    """Whether two plans ask for the same requests, and for nothing else."""
    is_one_open, is_other_open = (each.clarification is not None for each in (one, other))
    return is_one_open == is_other_open and [
        (each.domain, each.action, dict(each.params)) for each in one.actions
    ] == [(each.domain, each.action, dict(each.params)) for each in other.actions]


def _is_of_wish(plan: Plan, told: str, rest: Plan) -> bool:
    """Whether what a plan writes or asks was read out of the wish for secrecy, and not out of what is told beside it."""
    if plan.clarification and not plan.actions:
        return rest.clarification is None
    words = {*stems(told)}
    written = [each for each in plan.actions if not _is_audience(each)]
    return bool(words and written) and all(
        words.isdisjoint(stems(" ".join(map(str, each.params.values())))) for each in written
    )


def _is_audience(planned: PlannedAction) -> bool:
    """Whether it only changes who may see something."""
    return planned.action == "set_audience"
