"""The planner with a language model.

It is shown the person's own words first, and what others wrote only where these do not say which thing is meant: what
it wants then is asked about, whatever the stakes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import Catalogue, RequestKind
from kinkeeper.conversation.model import Plan, PlannedAction, PlanningContext, Source
from kinkeeper.conversation.planning.case import Case, Missing, Step, case_of
from kinkeeper.conversation.planning.model_answer import (
    PlanAnswer,
    PlannedRequest,
    answer_type,
    signature,
    typed,
)
from kinkeeper.conversation.planning.plan_grounding import (
    QUESTIONS,
    REFERENCES,
    Offered,
    grounded,
    offered,
    own_words,
)
from kinkeeper.conversation.planning.rule_planner import planned, vocabulary_of
from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.model import ModelGateway, Outcome
from kinkeeper.models.prompts import Data, load_prompt
from kinkeeper.models.structured import consult

STAGE: Final = "conversation.planner"
"""Name under which going on without a model is counted."""

REPHRASE: Final = "I had trouble understanding; could you rephrase?"
_PATIENCE = timedelta(seconds=10)  # what the rules read then stands
_TURNS_SHOWN, _THINGS_SHOWN, _LONGEST = 6, 30, 400


class ModelPlanner:
    """Asks a model; its times, recipients and things are held to what was said and what exists.

    Args:
        models: Answer, and count where there was no answer.
        catalogue: All that can be asked for, as it is when a turn comes.
    """

    def __init__(self, models: ModelGateway, catalogue: Callable[[], Catalogue]) -> None:
        self._models = models
        self._catalogue = catalogue
        self._prompt = load_prompt("kinkeeper.conversation.planning", "plan")

    async def plan(self, context: PlanningContext) -> Plan:
        """Return the next requests; see `kinkeeper.conversation.model.Planner`."""
        catalogue = self._catalogue()
        if context.results and not _has_read(context, catalogue):
            return Plan(source=Source.MODEL)
        kinds = tuple(catalogue)
        case = case_of(context, vocabulary_of(context.asked.household))
        said = await self._said(case, kinds)
        if said is not None:
            return said
        answer = await self._asked(case, case, kinds)
        if answer.question:
            question = QUESTIONS.get(answer.missing or "", REPHRASE)
            answer = answer.model_copy(update={"question": question})
        # What it asks and what it knows already may be others' wishes: neither is shown or kept for the answer.
        return replace(_held(answer, case, kinds), partial=None)

    async def _said(self, case: Case, kinds: Sequence[RequestKind]) -> Plan | None:
        """Return what the person's own words ask for; None where they do not tell and others' words may."""
        context = case.context
        own = own_words(context, case.grammar)
        ours = [kind for kind in kinds if not kind.is_foreign]
        if own is None or not ours or context.results or context.open_edit:
            return None
        answer = await self._asked(replace(case, context=own), case, ours)
        plan = replace(_held(answer, case, ours), is_said=True)
        missing = answer.missing if plan.partial is None else plan.partial["missing"]
        is_enough = bool(plan.actions) or missing not in {None, *REFERENCES}
        return plan if is_enough or not _has_more(case, kinds) else None

    async def _asked(self, shown: Case, case: Case, kinds: Sequence[RequestKind]) -> PlanAnswer:
        offer = offered(case)
        answer = await consult(
            self._models, self._prompt, _inputs(shown, offer, kinds),
            answer_type(kinds, offer.times),
            household=case.household.id, stage=STAGE, within=_PATIENCE,
        )  # fmt: skip
        if not isinstance(answer, Outcome):
            return answer.value
        if answer is Outcome.INVALID_OUTPUT:
            return PlanAnswer(actions=[], question=REPHRASE)
        raise UnavailableError(f"the model made no plan ({answer.value})")


def _held(answer: PlanAnswer, case: Case, kinds: Sequence[RequestKind]) -> Plan:
    """Return an answer as a plan, held to what was said and what exists."""
    offer, known = offered(case), {kind.key: kind for kind in kinds}
    steps = [_step(each, known[each.request], offer, case) for each in answer.actions]
    plan = replace(planned(steps), source=Source.MODEL, is_whole=not answer.looks_first)
    if answer.question and not any(isinstance(step, Missing) for step in steps):
        return replace(plan, clarification=answer.question)
    return plan


def _step(request: PlannedRequest, kind: RequestKind, offer: Offered, case: Case) -> Step:
    """Return a request as it may stand; one that reads is never an offer."""
    step = grounded(
        PlannedAction(
            domain=kind.domain, action=kind.name, params=typed(request, kind, offer.times),
            reasoning=request.asked_in,
        ),
        offer, case,
    )  # fmt: skip
    if isinstance(step, Missing) or kind.read is None:
        return step
    return replace(step, is_offer=False)


def _has_read(context: PlanningContext, catalogue: Catalogue) -> bool:
    """Whether something was looked up in this turn, on which more may be built."""
    kinds = (catalogue.find(each.domain, each.action) for each in context.results)
    return any(kind is not None and kind.read is not None for kind in kinds)


def _has_more(case: Case, kinds: Sequence[RequestKind]) -> bool:
    """Whether there is more to see than the person's own words."""
    answered = any(each.answer for each in case.context.history)
    return bool(case.things) or answered or any(kind.is_foreign for kind in kinds)


def _inputs(case: Case, offer: Offered, kinds: Sequence[RequestKind]) -> dict[str, Data]:
    context, household = case.context, case.household
    return {
        "requests": {kind.key: f"{kind.description} {signature(kind)}".strip() for kind in kinds},
        "family": {each.id: [each.name, *each.aliases] for each in household.members},
        "today": f"{case.now:%A %d %B %Y %H:%M}, {context.asked.member.id} is speaking",
        "times": {key: f"{iso} ({offer.words[key]})" for key, iso in offer.times.items()},
        "known": [
            {"kind": each.kind, "id": each.id, "title": each.title, "start": each.start or ""}
            for each in case.things[:_THINGS_SHOWN]
            if each.kind != "mail"
        ],
        "talk": [
            {"said": each.text[:_LONGEST], "answered": each.answer[:_LONGEST]}
            for each in context.history[-_TURNS_SHOWN:]
        ],
        "awaiting": [_told(each.domain, each.action, each.params) for each in context.open_edit],
        "done": [_told(each.domain, each.action, each.params) for each in context.results],
        "message": context.text[: 4 * _LONGEST],
    }  # fmt: skip


def _told(domain: str, name: str, params: Mapping[str, Any]) -> dict[str, Data]:
    return {
        "request": f"{domain}.{name}",
        "params": {key: str(value) for key, value in params.items()},
    }
