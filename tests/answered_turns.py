"""Turns to be answered: what was asked, what came of it, and what is said."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

from asking import FAMILY, NOW, RUTH
from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.conversation.answering.answerer import Answerer
from kinkeeper.conversation.model import Answer, AnswerContext, Branch, Mode, Triage, TurnType
from kinkeeper.household.model import Member

TOMORROW_AT_FIVE = (NOW + timedelta(days=1)).replace(hour=17).isoformat()


def asked(turn: str = "turn", *, member: Member = RUTH, now: datetime = NOW) -> Asked:
    """Return who asks."""
    return Asked(
        household=FAMILY, member=member, now=now, channel="web", thread_id="thread", turn_id=turn
    )


def outcome(
    request: str, status: ResultStatus = ResultStatus.DONE, *, is_write: bool = True, **more: Any
) -> ActionResult:
    """Return what became of a request, "domain.name"."""
    domain, action = request.split(".")
    values = {"params": {}, "action_id": "action" if is_write else None} | more
    return ActionResult(domain=domain, action=action, status=status, **values)


def turn(
    text: str,
    *results: ActionResult,
    mode: Mode = Mode.RESPOND,
    branch: Branch = Branch.RESPOND,
    kind: TurnType = TurnType.CHAT,
    member: Member = RUTH,
    **more: Any,
) -> AnswerContext:
    """Return a turn that is to be answered."""
    triage = Triage(type=kind, branch=branch, mode=mode)
    values = {"triage": triage, "results": results} | more
    return AnswerContext(asked=asked(text, member=member), text=text, mode=mode, **values)


def answered(context: AnswerContext, answerer: Answerer | None = None) -> Answer:
    """Return the answer of a turn; its pieces are the text."""
    return asyncio.run(_answered(context, answerer or Answerer()))[1]


def shown(context: AnswerContext, answerer: Answerer) -> tuple[str, Answer]:
    """Return what reached the person, piece by piece, and the answer."""
    return asyncio.run(_answered(context, answerer))


async def _answered(context: AnswerContext, answerer: Answerer) -> tuple[str, Answer]:
    pieces = [piece async for piece in answerer.answer(context)]
    answer = pieces.pop()
    assert isinstance(answer, Answer)
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    assert text.strip() == answer.text.strip()
    return text, answer
