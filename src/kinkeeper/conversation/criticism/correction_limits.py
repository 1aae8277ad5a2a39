"""What of a critic's correction may stand: less than was done, or what the person said word for word. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, Missing, action
from kinkeeper.conversation.planning.named import content_words
from kinkeeper.conversation.planning.plan_grounding import Offered, grounded

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def narrowed(
    done: PlannedAction, wrong: Mapping[str, Any], kind: RequestKind, *, offer: Offered, case: Case
) -> PlannedAction | None:
    """Return a request with its wrong parameters set right; None where nothing of it rests on the person's words.

    What was done in the person's own words stands: one model's word against another's is no reason to change it.

    Args:
        done: As it was carried out.
        wrong: Its wrong parameters with the values that a model calls right; None takes one away.
        kind: Of the request.
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
    step = grounded(action(done.domain, done.action, {**done.params, **wrong}), offer, case)
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
