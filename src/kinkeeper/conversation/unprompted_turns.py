"""Says something in a thread that nobody asked for just now: a turn with an answer and no message."""

from datetime import datetime

from sqlalchemy import Connection, insert

from kinkeeper.conversation import events
from kinkeeper.conversation.model import EventName, Mode
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.threads import count_turn, load_thread
from kinkeeper.conversation.turn import TurnOutcome
from kinkeeper.conversation.turns import find_turn
from kinkeeper.core.ids import stable_id
from kinkeeper.jobs.leases import WorkState


def post_to_thread(
    conn: Connection, household: str, thread_id: str, text: str, *, key: str, now: datetime
) -> bool:
    """Say something in a thread that nobody asked for just now: a reminder that is due.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        thread_id: Of a thread.
        text: What to say.
        key: Identifies it; the same one again says nothing.
        now: Aware.

    Returns:
        Whether it was said now; not where it was before, or the thread does not exist.
    """
    thread = load_thread(conn, household, thread_id, locked=True)
    turn_id = stable_id(household, "posted", thread_id, key)
    if thread is None or find_turn(conn, household, turn_id) is not None:
        return False
    conn.execute(
        insert(turns).values(
            household=household, id=turn_id, thread=thread_id, member=thread.member,
            login=thread.login, position=thread.turns + 1, channel=thread.channel,
            client_message_id=f"posted:{turn_id}", text="", received_at=now, due_at=now,
            state=WorkState.DONE.value, outcome=TurnOutcome.POSTED.value, mode=Mode.RESPOND.value,
            answer=text, finished_at=now,
        )
    )  # fmt: skip
    count_turn(conn, thread, at=now)
    done = {
        "turn_id": turn_id,
        "trace_id": turn_id,
        "mode": Mode.RESPOND.value,
        "text": text,
        "used": [],
    }
    told: list[events.Told] = [(EventName.TOKEN, {"text": text}), (EventName.DONE, done)]
    events.append(conn, household, thread_id, told, turn_id=turn_id, at=now)
    return True
