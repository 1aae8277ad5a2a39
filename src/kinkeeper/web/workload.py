"""How much work of a household waits, runs, failed."""

from datetime import datetime

from sqlalchemy import Connection, func, select

from kinkeeper.actions.outside.figures import work_states
from kinkeeper.conversation.records import figures
from kinkeeper.messaging.tables import failed_updates, outbox
from kinkeeper.observer.tables import observer_messages
from kinkeeper.web.views.health import Work


def load_work(conn: Connection, household: str, *, since: datetime) -> Work:
    """Return how much work stands where.

    Args:
        conn: Any transaction.
        household: Tenant key.
        since: Aware; what was sent or came in before does not count.
    """
    reading, sending = observer_messages.c, outbox.c
    read = conn.execute(
        select(reading.state, func.count().label("number"))
        .where(reading.household == household, reading.sent_at >= since)
        .group_by(reading.state)
    )
    sent = conn.execute(
        select(sending.state, func.count().label("number"))
        .where(sending.household == household, sending.created_at >= since)
        .group_by(sending.state)
    )
    failed = conn.execute(
        select(func.count())
        .select_from(failed_updates)
        .where(failed_updates.c.household == household)
    ).scalar_one()
    talk = figures(conn, household, since=since)
    return Work(
        reading={row.state: row.number for row in read},
        sending={row.state: row.number for row in sent},
        failed_updates=failed, answering=talk.outcomes, stage_failures=talk.failures,
        outside=work_states(conn, household, since=since),
    )  # fmt: skip
