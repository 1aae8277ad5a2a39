"""The planner with a language model.

It is shown the person's own words first, and of what exists and was done only these words; what others wrote only where
they do not say which thing is meant: what it wants then is asked about, whatever the stakes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from pydantic import Field

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.requests.model import Catalogue, Parameters, RequestKind
from kinkeeper.conversation.model import (
    TAKE_BACK,
    Exchange,
    Mode,
    Plan,
    PlannedAction,
    PlanningContext,
    Source,
)
from kinkeeper.conversation.planning.case import Case, Missing, Step, case_of
from kinkeeper.conversation.planning.model_answer import (
    PlanAnswer,
    PlannedRequest,
    answer_type,
    signature,
    typed,
)
from kinkeeper.conversation.planning.model_gate import (
    gated,
    in_own_clauses,
    may_complete,
    takes_back,
)
from kinkeeper.conversation.planning.plan_grounding import (
    QUESTIONS,
    REFERENCES,
    Offered,
    awaited,
    grounded,
    hands_on,
    offered,
    own_words,
    taking_back,
)
from kinkeeper.conversation.planning.rule_planner import as_offers, planned, vocabulary_of
from kinkeeper.conversation.planning.shown import Shown, shown
from kinkeeper.core.beside import beside
from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.model import ModelGateway, Outcome
from kinkeeper.models.prompts import Data, load_prompt
from kinkeeper.models.structured import consult

STAGE: Final = "conversation.planner"
"""Name under which going on without a model is counted."""

REPHRASE: Final = "I had trouble understanding; could you rephrase?"
_PATIENCE = timedelta(seconds=10)  # what the rules read then stands
_TURNS_SHOWN, _LONGEST = 6, 400
_PLEASANT = frozenset({Mode.ACKNOWLEDGE, Mode.IGNORE, Mode.CANCEL})


class _TakeBack(Parameters):
    """What is to be as if it had not been asked for."""

    what: str = Field(description='key of "lately"')


_TAKING_BACK = RequestKind(
    domain=TAKE_BACK[0],
    name=TAKE_BACK[1],
    parameters=_TakeBack,
    stakes=Stakes.LOW,
    description="Drop what waits, or undo what was just done.",
    progress="",
)
"""Only a turn can carry it out, which knows what was done in its thread."""


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
        view = shown(case)
        answer = await self._asked(case, view, kinds)
        if answer.question:
            question = QUESTIONS.get(answer.missing or "", REPHRASE)
            answer = answer.model_copy(update={"question": question})
        plan, _ = await beside(lambda: _held(answer, case, view, kinds))
        # What it asks and what it knows already may be others' wishes: neither is shown or kept for the answer.
        return replace(plan, partial=None)

    async def _said(self, case: Case, kinds: Sequence[RequestKind]) -> Plan | None:
        """Return what the person's own words ask for; None where they do not tell and others' words may."""
        context = case.context
        own = own_words(context, case.grammar)
        ours = [kind for kind in kinds if not kind.is_foreign]
        if own is None or not ours or context.results:
            return None
        view = shown(case, [*(each.text for each in own.history), context.text])
        answer = await self._asked(case, view, ours)
        plan, missing = await beside(lambda: _held(answer, case, view, ours))
        plan = replace(plan, is_said=True)
        if context.open_edit:
            plan = as_offers(plan)  # it awaits a yes, whatever changes about it
        is_enough = bool(plan.actions) or missing not in {None, *REFERENCES}
        return plan if is_enough or not _has_more(case, kinds) else None

    async def _asked(self, case: Case, view: Shown, kinds: Sequence[RequestKind]) -> PlanAnswer:
        offer, kinds = offered(case), _with_taking_back(kinds, view)
        answer = await consult(
            self._models,
            self._prompt,
            _inputs(case, view, offer, kinds),
            answer_type(kinds, offer.times),
            household=case.household.id,
            stage=STAGE,
            within=_PATIENCE,
        )
        if not isinstance(answer, Outcome):
            return answer.value
        if answer is Outcome.INVALID_OUTPUT:
            return PlanAnswer(actions=[], question=REPHRASE)
        raise UnavailableError(f"the model made no plan ({answer.value})")


def _held(
    answer: PlanAnswer, case: Case, view: Shown, kinds: Sequence[RequestKind]
) -> tuple[Plan, str | None]:
    """Return an answer as a plan, held to what was said and what exists, and what is missing in it.

    A request of which something is missing is kept for the person's answer only if it may run with it.
    """
    known = {kind.key: kind for kind in _with_taking_back(kinds, view)}
    asked = [(known[each.request], each.asked_in) for each in answer.actions]
    steps = [
        _step(each, kind, view, case) for each, (kind, _) in zip(answer.actions, asked, strict=True)
    ]
    plan = replace(planned(steps), source=Source.MODEL, is_whole=not answer.looks_first)
    if not in_own_clauses(plan.actions, case):
        plan = as_offers(plan)
    for (kind, words), step in zip(asked, steps, strict=True):
        if isinstance(step, Missing):
            if not may_complete(replace(step.action, reasoning=words), kind, case):
                plan = replace(plan, partial=None)
            return plan, step.field
    if answer.question:
        plan = replace(plan, clarification=answer.question)
    return plan, answer.missing


def _step(request: PlannedRequest, kind: RequestKind, view: Shown, case: Case) -> Step:
    """Return a request as it may stand."""
    offer = offered(case, view)
    params = typed(request, kind, offer.times)
    wanted = PlannedAction(
        domain=kind.domain, action=kind.name, params=params, reasoning=request.asked_in
    )
    if kind is _TAKING_BACK:
        step = taking_back(wanted, view)
        if isinstance(step, Missing):
            return step
        thing = next(
            each for each in view.done.values() if each.action_id == step.params["action_id"]
        )
        return replace(step, is_offer=not takes_back(request.asked_in, thing, case))
    step, waiting = grounded(wanted, offer, case), awaited(wanted, view)
    known = {} if waiting is None else waiting.params
    return step if isinstance(step, Missing) else gated(step, kind, case, known)


def _with_taking_back(kinds: Sequence[RequestKind], view: Shown) -> Sequence[RequestKind]:
    """Return requests, with that to take something back where there is anything."""
    is_any = any(each.action_id for each in view.done.values())
    return (*kinds, _TAKING_BACK) if is_any else kinds


def _has_read(context: PlanningContext, catalogue: Catalogue) -> bool:
    """Whether something was looked up in this turn, on which more may be built."""
    kinds = (catalogue.find(each.domain, each.action) for each in context.results)
    return any(kind is not None and kind.read is not None for kind in kinds)


def _has_more(case: Case, kinds: Sequence[RequestKind]) -> bool:
    """Whether there is more to see than the person's own words."""
    answered = any(each.answer for each in case.context.history)
    return bool(case.things) or answered or any(kind.is_foreign for kind in kinds)


def _inputs(
    case: Case, view: Shown, offer: Offered, kinds: Sequence[RequestKind]
) -> dict[str, Data]:
    context, household = case.context, case.household
    return {
        "requests": {kind.key: f"{kind.description} {signature(kind)}".strip() for kind in kinds},
        "family": {each.id: [each.name, *each.aliases] for each in household.members},
        "today": f"{case.now:%A %d %B %Y %H:%M}, {context.asked.member.id} is speaking",
        "times": {key: f"{iso} ({offer.words[key]})" for key, iso in offer.times.items()},
        "lists": view.lists,
        "known": view.known,
        "lately": {alias: view.told(each) for alias, each in view.done.items()},
        "talk": [*_talk(case, view)],
        "awaiting": [
            alias
            for alias, each in view.done.items()
            if any(each is edited for edited in context.open_edit)
        ],
        "done": [view.told(each) for each in context.results],
        "message": context.text[: 4 * _LONGEST],
    }


def _talk(case: Case, view: Shown) -> Iterator[dict[str, Data]]:
    """Yield what was said before; beside the person's own words only what came of it."""
    for each in case.context.history[-_TURNS_SHOWN:]:
        if view.words is not None and (not each.text or hands_on(each.text, case.grammar)):
            continue
        told: dict[str, Data] = {"said": each.text[:_LONGEST]}
        came = [
            alias for alias, done in view.done.items() if any(done is one for one in each.results)
        ]
        answered = "" if view.words is not None else _answered(each)[:_LONGEST]
        yield told | ({"came": came} if came else {}) | ({"answered": answered} if answered else {})


def _answered(before: Exchange) -> str:
    """Return what an earlier turn was answered as far as it tells anything: pleasantries differ from turn to turn."""
    if before.clarification is not None:
        return before.clarification
    if any(each.action_id for each in before.results):
        return " ".join(each.error for each in before.results if each.error)
    return "" if before.mode in _PLEASANT else before.answer
