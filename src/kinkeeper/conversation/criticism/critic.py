"""Looks at what steps came to: sets right in silence what can be taken back, asks about what cannot."""

import re
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.model import FROM_CHAT
from kinkeeper.actions.receipts import Outcome as Undone
from kinkeeper.actions.repository import find_of_slot, load_action
from kinkeeper.actions.requests.model import (
    ActionResult,
    Asked,
    Catalogue,
    RequestKind,
    ResultStatus,
)
from kinkeeper.actions.requests.request_runner import perform, result_of
from kinkeeper.actions.reversal import undo
from kinkeeper.conversation.criticism.judge import Judge, Judged
from kinkeeper.conversation.criticism.model import Effect, Reviewed, Step, Verdict
from kinkeeper.conversation.model import PlannedAction, Source
from kinkeeper.conversation.planning.case import Case, Missing, action, case_of, content_words
from kinkeeper.conversation.planning.plan_grounding import Offered, grounded, offered
from kinkeeper.conversation.planning.rule_planner import vocabulary_of
from kinkeeper.models.model import ModelGateway, Outcome
from kinkeeper.store.store import Store

# What of a critic's correction may stand: less than was done, or what the person said word for
# word. Pure.

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def narrowed(
    done: PlannedAction, wrong: Mapping[str, Any], kind: RequestKind, *, offer: Offered, case: Case
) -> PlannedAction | None:
    """Return a request with its wrong parameters set right; None where nothing of it rests on the person's words.

    What was done in the person's own words stands: one model's word against another's is no reason to change it.

    Args:
        done: As it was carried out.
        wrong: Its wrong parameters with the values that a model calls right; None takes one away.
        offer: Times that the message names, under keys.
        case: The message and what is known.
    """
    known = kind.parameters.model_json_schema().get("properties", {})
    if not wrong or any(name not in known for name in wrong):
        return None
    if not all(_is_said(value, offer, case) for value in wrong.values()):
        return None
    if any(_was_said(done.params.get(name), offer, case) for name in wrong):
        return None
    right = {
        name: offer.times.get(value, value) if isinstance(value, str) else value
        for name, value in wrong.items()
    }
    step = grounded(action(done.domain, done.action, {**done.params, **right}), offer, case)
    if isinstance(step, Missing) or dict(step.params) == dict(done.params):
        return None
    is_whole = all(name in step.params for name, value in wrong.items() if value is not None)
    return step if is_whole else None


def _was_said(value: object, offer: Offered, case: Case) -> bool:
    """Whether what was done with a parameter is what the message says; what was left out is not."""
    return value is not None and (value in offer.times.values() or _is_said(value, offer, case))


def _is_said(value: object, offer: Offered, case: Case) -> bool:
    """Whether the person said something in this very message, or it takes something away."""
    if value is None:
        return True
    if isinstance(value, list):
        return bool(value) and all(_is_said(each, offer, case) for each in value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    words = str(value).strip()
    if words in offer.times:
        return True
    said = case.context.text
    if not set(_NUMBER.findall(words)) <= set(_NUMBER.findall(said)):
        return False
    if "@" in words:
        return words.casefold() in said.casefold().split()
    content = content_words(words)
    return content <= content_words(said) and bool(content or _NUMBER.search(words))


_FITS, _WRONG = "fits", "wrong"
_AGAIN = 1000  # added to a request's number: what takes its place is a request of its own
_LOOKED_AT = frozenset({ResultStatus.DONE, ResultStatus.AWAITING})
_TAKEN_BACK = frozenset({Undone.UNDONE, Undone.ALREADY_UNDONE})


class ModelCritic:
    """Has a light model look at steps that rules did not make, or whose outcome others wrote.

    It approves nothing: what awaits a person awaits them still. What it sets right are words of the person's own
    message; where it fails, is late or says what nobody said, the step stands as it was.

    Args:
        models: Answer, and count where there was no answer.
        store: The household's database.
    """

    def __init__(self, models: ModelGateway, store: Store) -> None:
        self._judge = Judge(models)
        self._store = store

    async def review(self, step: Step, catalogue: Catalogue) -> Reviewed:
        """Return a step as it stands after a second look; see `Critic`."""
        result, kind = step.result, step.kind
        is_open = step.source is Source.MODEL or kind.is_foreign
        if not is_open or result.status not in _LOOKED_AT:
            return Reviewed(result=result)
        began = perf_counter()
        reviewed, verdict = await self._corrected_before(step), _WRONG
        if reviewed is None:
            reviewed, verdict = await self._judged(step, catalogue)
        return replace(
            reviewed,
            verdict=Verdict(
                number=step.asked.number,
                request=kind.key,
                verdict=verdict,
                effect=_effect(reviewed, result),
                ms=round((perf_counter() - began) * 1000, 3),
            ),
        )

    async def _judged(self, step: Step, catalogue: Catalogue) -> tuple[Reviewed, str]:
        """Return what stands after the model's word on a step, and that word."""
        case = case_of(step.context, vocabulary_of(step.asked.household))
        offer, kind, result = offered(case), step.kind, step.result
        answer = await self._judge.judge(
            Judged(
                household=step.asked.household.id,
                text=step.context.text,
                kind=kind,
                result=result,
                offer=offer,
            )
        )
        if isinstance(answer, Outcome):
            return Reviewed(result=result), answer.value
        if answer.fits:
            return Reviewed(result=result), _FITS
        done = PlannedAction(domain=kind.domain, action=kind.name, params=result.params)
        right = narrowed(done, answer.params, kind, offer=offer, case=case)
        return await self._acted_on(step, right, catalogue), _WRONG

    async def _corrected_before(self, step: Step) -> Reviewed | None:
        """Return what an earlier run of the turn, which broke off, had put in the place of a step."""
        if step.result.action_id is None:
            return None
        asked = step.asked

        def stored(conn: Connection) -> ActionResult | None:
            found = find_of_slot(
                conn,
                asked.household.id,
                source_type=FROM_CHAT,
                source_id=asked.turn_id,
                slot=str(asked.number + _AGAIN),
            )
            return result_of(found) if found and can_be_undone(found) else None

        again = await self._store.read(stored)
        return None if again is None else await self._in_place_of(step.result, again, asked)

    async def _acted_on(
        self, step: Step, right: PlannedAction | None, catalogue: Catalogue
    ) -> Reviewed:
        """Set right what is safe, and ask about the rest."""
        result = step.result
        if not await self._is_safe(step):
            return Reviewed(result=result, question=_question(result))
        if right is None:
            return Reviewed(result=result)
        asked = replace(step.asked, number=step.asked.number + _AGAIN)
        again = await perform(
            catalogue,
            self._store,
            asked,
            domain=right.domain,
            action=right.action,
            params=right.params,
        )
        if again.status is not ResultStatus.DONE:
            return Reviewed(result=result)
        return await self._in_place_of(result, again, asked)

    async def _in_place_of(
        self, result: ActionResult, again: ActionResult, asked: Asked
    ) -> Reviewed:
        """Let only one of two stand: the correction, or where the first cannot be taken back the first."""
        if not await self._took_back(result, asked):
            await self._took_back(again, asked)
            return Reviewed(result=result)
        return Reviewed(result=again)

    async def _is_safe(self, step: Step) -> bool:
        """Whether a step only read, or can be taken back."""
        result, household = step.result, step.asked.household.id
        if result.status is ResultStatus.AWAITING:
            return False
        if result.action_id is None:
            return True
        action_id = result.action_id
        action = await self._store.read(lambda conn: load_action(conn, household, action_id))
        return can_be_undone(action)

    async def _took_back(self, result: ActionResult, asked: Asked) -> bool:
        """Take back what a result wrote, if it wrote anything; returns whether it stands no more."""
        action_id = result.action_id
        if action_id is None:
            return True

        def back(conn: Connection) -> bool:
            receipt = undo(
                conn, action_id, member=asked.member, household=asked.household, now=asked.now
            )
            return receipt.outcome in _TAKEN_BACK

        return await self._store.write(back)


def _effect(reviewed: Reviewed, before: ActionResult) -> Effect:
    if reviewed.question is not None:
        return Effect.PAUSED
    return Effect.NONE if reviewed.result is before else Effect.CORRECTED


def _question(result: ActionResult) -> str:
    what = f": {result.summary}" if result.summary else ""
    return f"Before I go on, is this really what you meant{what}?"
