"""Taking back what was just done: "undo that" means the last thing done for this person in this thread."""

import re
from collections.abc import Sequence

from sqlalchemy import Connection

from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.requests.model import Asked, ResultStatus
from kinkeeper.actions.undo import undo
from kinkeeper.conversation.turn import Turn

# The whole message: "undo the meeting on Friday" is a request of its own kind.
_WANTED = re.compile(
    r"\W*(?:(?:oops|whoops|oh|no|wait|sorry|actually|please|can you|could you|pls)\W+)*"
    r"(?:undo|revert|reverse|take (?:that|it|this) back|put (?:that|it) back)"
    r"(?:\W+(?:that|it|this|the last (?:one|thing|change|step)|what you (?:just )?did|again|please|pls|now))*\W*",
    re.IGNORECASE,
)


def wants_undo(text: str) -> bool:
    """Whether a whole message asks for what was last done to be taken back. Pure."""
    return _WANTED.fullmatch(text) is not None


def take_back(conn: Connection, earlier: Sequence[Turn], asked: Asked) -> Receipt | None:
    """Take back the last thing that was done in a thread and still stands; None where there is none.

    Args:
        conn: In a write transaction.
        earlier: Turns of the thread before this one, oldest first.
        asked: Who asks, when.
    """
    done = [
        result.action_id
        for turn in earlier
        for result in turn.results
        if result.status is ResultStatus.DONE and result.action_id is not None
    ]
    for action_id in dict.fromkeys(reversed(done)):
        if load_action(conn, asked.household.id, action_id).undone_at is None:
            return undo(
                conn, action_id, member=asked.member, household=asked.household, now=asked.now
            )
    return None
