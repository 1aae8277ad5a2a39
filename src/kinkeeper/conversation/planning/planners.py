"""The two planners together: rules first, a model where they see nothing in what seems to ask for something."""

from dataclasses import replace

from kinkeeper.conversation.model import Branch, Plan, Planner, PlanningContext
from kinkeeper.conversation.planning.own_words import is_copied
from kinkeeper.conversation.planning.rules import plan_of
from kinkeeper.conversation.planning.sharing import (
    NOT_FOR_A_FEW,
    for_speaker,
    halves,
    parted,
    said_of_audience,
    writes_for_all,
)
from kinkeeper.core.errors import UnavailableError


class Planners:
    """Rules where they understand the message, a model where they do not and something is asked for.

    Args:
        model: None where no model is set up.
    """

    def __init__(self, model: Planner | None) -> None:
        self._model = model

    async def plan(self, context: PlanningContext) -> Plan:
        """Return the next requests; see `kinkeeper.conversation.model.Planner`."""
        said = said_of_audience(context.text)
        if said is None:
            return await self._planned(context)
        rest = await self._planned(replace(context, text=said.rest)) if said.rest else Plan()
        if writes_for_all(rest):
            if said.is_for_few:
                return Plan(clarification=NOT_FOR_A_FEW)
            return _apart(context, rest) or for_speaker(rest)
        whole = await self._planned(context)
        return for_speaker(whole) if writes_for_all(whole) and not said.is_for_few else whole

    async def _planned(self, context: PlanningContext) -> Plan:
        by_rules = _from_rules(context)
        if self._model is None or not _leave_open(context, by_rules):
            return by_rules
        try:
            return await self._model.plan(context)
        except UnavailableError:
            return by_rules


def _apart(context: PlanningContext, whole: Plan) -> Plan | None:
    """Return a plan of which only one part is for its person alone; None where the message is all one."""
    for texts in halves(context.text):
        alone = [each if (said := said_of_audience(each)) is None else said.rest for each in texts]
        first, second = (plan_of(replace(context, text=each, results=())) for each in alone)
        plan = parted((first, second), texts)
        if plan is None:
            continue
        left = plan.actions[len(context.results) :]
        if [each.action for each in left] == [each.action for each in whole.actions]:
            return replace(whole, actions=left)
    return None


def _from_rules(context: PlanningContext) -> Plan:
    """Return what the rules read; of a message that was copied only as an offer, for somebody else may have written it."""
    plan = plan_of(context)
    if not is_copied(context.text):
        return plan
    offers = tuple(replace(each, is_offer=True) for each in plan.actions)
    return replace(plan, actions=offers, partial=None)


def _leave_open(context: PlanningContext, rest: Plan) -> bool:
    """Whether the rules see nothing in a message that seems to ask for something, or do not understand an edit.

    Args:
        context: The message and what is known around it.
        rest: What they would still do.
    """
    whole = plan_of(replace(context, results=())) if context.results else rest
    if whole.actions or whole.partial is not None:
        return False
    return context.triage.branch is Branch.ACT or bool(context.open_edit)
