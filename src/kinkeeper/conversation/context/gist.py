"""The essence of an exchange in one line. Pure."""

from collections.abc import Sequence

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.context.topics import gloss_of
from kinkeeper.conversation.model import LONGEST_READ
from kinkeeper.language.text import shorten, strip_controls
from kinkeeper.memory.statements.sentences import parts_of

_LONGEST = 120
_OUTCOMES = {
    ResultStatus.DONE: "done", ResultStatus.AWAITING: "waiting for approval",
    ResultStatus.UNDER_WAY: "under way", ResultStatus.FAILED: "failed",
    ResultStatus.UNCLEAR: "asked back", ResultStatus.CANCELLED: "dropped",
}  # fmt: skip


def gist_of(text: str, results: Sequence[ActionResult]) -> str:
    """Return what an exchange came to; "" where it was about nothing.

    It holds the person's words and what receipts say, never the assistant's own words.

    Args:
        text: What the person said.
        results: What was done.
    """
    key = key_sentence(text)
    done = [
        f"{each.domain} {each.action.replace('_', ' ')} {_OUTCOMES[each.status]}"
        for each in results
    ]
    return " - ".join(part for part in (f"“{key}”" if key else "", ", ".join(done)) if part)


def key_sentence(text: str) -> str:
    """Return the sentence of a text that says most, clipped; "" where none says anything.

    Args:
        text: Any; beyond `LONGEST_READ` characters it is not read.
    """
    parts = [part.text for part in parts_of(text[:LONGEST_READ])]
    best = max(parts, key=lambda part: len(gloss_of(part).words), default="")
    if not gloss_of(best).words:
        return ""
    return shorten(" ".join(strip_controls(best).split()), _LONGEST)
