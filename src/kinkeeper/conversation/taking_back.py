"""Taking back what was just done: "undo that" means the last thing done for this person in this thread."""

import re
from collections.abc import Sequence

from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.requests.model import Asked, ResultStatus
from kinkeeper.actions.undo import undo
from kinkeeper.conversation.turn import Turn

# The whole message: "undo the meeting on Friday" is a request of its own kind.
_WANTED = re.compile(
    r"\W*(?:(?:oops|whoops|oh|no|nah|nope|ok|okay|hmm|wait|sorry|actually|please|can you|could you|pls)\W+)*"
    r"(?:undo|revert|reverse|take (?:that|it|this) back|put (?:that|it) back)"
    r"(?:\W+(?:that|it|this|the last (?:one|thing|change|step)|what you (?:just )?did|again|please|pls|now))*\W*",
    re.IGNORECASE,
)

# Said of what was ticked off or taken off a list, these take it back; said of what was made, they mean that thing.
_TAKEN_OFF = re.compile(
    r"\W*(?:(?:oops|whoops|oh|no|nah|nope|ok|okay|hmm|wait|sorry|actually|please)\W+)*"
    r"(?:(?:scratch|scrap|cancel|forget) (?:that|it|this)|(?:the )?wrong (?:one|task|thing)|not (?:that|this) one|"
    r"(?:that|it)(?:'s| is| was)(?: a mistake| wrong| not (?:done|finished)(?: yet)?))\W*",
    re.IGNORECASE,
)
_TICKING = frozenset({("task", "complete"), ("notes", "remove_line")})

_WRITTEN = frozenset({ActionStatus.EXECUTING, ActionStatus.DONE})


def wants_undo(text: str, earlier: Sequence[Turn] = ()) -> bool:
    """Whether a whole message asks for what was last done to be taken back. Pure.

    Args:
        text: The message.
        earlier: Turns of the thread before this one, oldest first.
    """
    if _WANTED.fullmatch(text) is not None:
        return True
    last = earlier[-1].results if earlier else ()
    is_ticked = bool(last) and all(
        (each.domain, each.action) in _TICKING and each.status is ResultStatus.DONE for each in last
    )
    return is_ticked and _TAKEN_OFF.fullmatch(text) is not None


def failed_last(earlier: Sequence[Turn]) -> bool:
    """Whether nothing came of what was asked for last, so that "undo that" can only mean something older. Pure."""
    last = earlier[-1].results if earlier else ()
    return bool(last) and all(
        each.status in {ResultStatus.FAILED, ResultStatus.UNCLEAR} for each in last
    )


def take_back(conn: Connection, earlier: Sequence[Turn], asked: Asked) -> Receipt | None:
    """Take back the last thing that was done in a thread and still stands; None where there is none.

    What this very message took back before a crash is not followed by what was done before it.

    Args:
        conn: In a write transaction.
        earlier: Turns of the thread before this one, oldest first.
        asked: Who asks, when.
    """
    results = [each for turn in earlier for each in turn.results if each.action_id is not None]
    told_undone = {each.action_id for each in results if each.status is ResultStatus.CANCELLED}
    spoken_of = dict.fromkeys(each.action_id for each in reversed(results) if each.action_id)
    actions = [load_action(conn, asked.household.id, each) for each in spoken_of]
    done = [
        each
        for each in actions
        if each.status in _WRITTEN
        and (each.undone_at is None or (each.id not in told_undone and each.undone_at >= asked.now))
    ]
    if not done:
        return None
    # A button decides, too, and what was decided last need not be what was asked last.
    last = max(done, key=lambda each: each.decided_at or each.created_at)
    return undo(conn, last.id, member=asked.member, household=asked.household, now=asked.now)
