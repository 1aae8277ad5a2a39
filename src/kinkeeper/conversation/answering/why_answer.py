"""Why the last answer was what it was, told from what was done and read for it, and from nothing else. Pure."""

from typing import Final

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.answering.name_text import Setting, plain
from kinkeeper.conversation.answering.request_text import to_do
from kinkeeper.conversation.model import AnswerContext, Exchange
from kinkeeper.conversation.routing.asking_why import asks_why
from kinkeeper.language.text import enumerated

_MOST: Final = 3
_ASKS_FIRST: Final = "I ask first before anything is sent, moved, cancelled or deleted, and before I save something you only mentioned"
_SET: Final = "“{text}” got a standard reply: I didn't look anything up or change anything."
_NOT_READ: Final = (
    "I couldn't tell what “{text}” was asking for, so I asked you and changed nothing."
)


def explained(context: AnswerContext) -> str | None:
    """Return why the last answer was given; None where the message does not ask that.

    Args:
        context: The turn; its history tells what was done then.
    """
    asked = context.asked
    last = next((each for each in reversed(context.history) if not asks_why(each.text)), None)
    if last is None or context.results or not asks_why(context.text):
        return None
    setting = Setting(household=asked.household, member=asked.member.id, now=asked.now)
    said = plain(last.text)
    parts = [_of(done, setting) for done in last.results[:_MOST]]
    if not parts and not last.used:
        return (_NOT_READ if last.clarification else _SET).format(text=said)
    used = dict.fromkeys(f"“{plain(str(each['text']))}”" for each in last.used)
    rests = enumerated([*used][:_MOST])
    if not parts:
        return f"You said “{said}”, and I answered from {rests}."
    told = f"You said “{said}”. {' '.join(parts)}"
    return f"{told} I based that on {rests}." if rests and _has_read(last) else told


def _has_read(exchange: Exchange) -> bool:
    return any(not done.action_id for done in exchange.results)


def _of(done: ActionResult, setting: Setting) -> str:
    """Return why one request went as it did, as a sentence."""
    todo = to_do(done, setting)
    match done.status:
        case ResultStatus.AWAITING:
            return f"I understood that you wanted me to {todo}. {_ASKS_FIRST}."
        case ResultStatus.DONE if done.action_id:
            return f"I understood that you wanted me to {todo}, so I did."
        case ResultStatus.DONE:
            return f"To answer, I had to {todo}."
        case ResultStatus.FAILED | ResultStatus.UNCLEAR:
            why = plain(done.error or "").rstrip(".")
            return f"I tried to {todo}, but it didn't work{': ' + why if why else ''}."
        case _:
            return f"I understood that you wanted me to {todo}."
