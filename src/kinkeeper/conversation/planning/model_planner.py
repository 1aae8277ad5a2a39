"""The planner with a language model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from pydantic import BaseModel

from kinkeeper.actions.requests.catalogue import Catalogue
from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.conversation.model import Plan, PlannedAction, PlanningContext, Source
from kinkeeper.conversation.planning.case import Case, Missing, case_of
from kinkeeper.conversation.planning.grounding import Offered, grounded, offered
from kinkeeper.conversation.planning.model_answer import PlanAnswer, answer_type
from kinkeeper.conversation.planning.rules import planned, vocabulary_of
from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.consulting import consult
from kinkeeper.models.model import ModelGateway, Outcome
from kinkeeper.models.prompt_data import Data
from kinkeeper.models.prompts import load_prompt

STAGE: Final = "conversation.planner"
"""Name under which going on without a model is counted."""

REPHRASE: Final = "I had trouble understanding; could you rephrase?"
_PATIENCE = timedelta(seconds=20)
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
        domains = context.triage.domains or catalogue.domains
        kinds = catalogue.of(domains) or tuple(catalogue)
        case = case_of(context, vocabulary_of(context.asked.household))
        offer = offered(case)
        answer = await self._asked(case, offer, kinds)
        steps = [
            grounded(_as_planned(each.domain, each.action, each.params), offer, case)
            for each in answer.actions
        ]
        if answer.question and not any(isinstance(step, Missing) for step in steps):
            return _with_question(planned(steps), answer)
        return replace(planned(steps), source=Source.MODEL)

    async def _asked(self, case: Case, offer: Offered, kinds: Sequence[RequestKind]) -> PlanAnswer:
        answer = await consult(
            self._models, self._prompt, _inputs(case, offer, kinds), answer_type(kinds),
            household=case.household.id, stage=STAGE, within=_PATIENCE,
        )  # fmt: skip
        if not isinstance(answer, Outcome):
            return answer.value
        if answer is Outcome.INVALID_OUTPUT:
            return PlanAnswer(actions=[], question=REPHRASE)
        raise UnavailableError(f"the model made no plan ({answer.value})")


def _as_planned(domain: str, name: str, params: object) -> PlannedAction:
    given = (
        params.model_dump(mode="json", by_alias=True, exclude_none=True)
        if isinstance(params, BaseModel)
        else {}
    )
    return PlannedAction(domain=domain, action=name, params=given, reasoning="by the model")


def _with_question(plan: Plan, answer: PlanAnswer) -> Plan:
    return replace(plan, clarification=answer.question, source=Source.MODEL)


def _inputs(case: Case, offer: Offered, kinds: Sequence[RequestKind]) -> dict[str, Data]:
    context, household = case.context, case.household
    return {
        "requests": {kind.key: kind.description for kind in kinds},
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
