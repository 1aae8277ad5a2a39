"""How much work of a household waits, runs, failed."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select

from kinkeeper.actions.bars import offsets_at
from kinkeeper.actions.outside.work_claims import work_states
from kinkeeper.background.cycles import cycle_counts
from kinkeeper.background.drift.repository import figures as thought_figures
from kinkeeper.conversation.review.repository import review_figures
from kinkeeper.conversation.turn_records import figures
from kinkeeper.core.time import midnight
from kinkeeper.household.model import Household
from kinkeeper.messaging.tables import failed_updates, outbox
from kinkeeper.observer.accounts.metrics import failures
from kinkeeper.observer.tables import observer_messages
from kinkeeper.store.nightly_backups import latest_trial, trial_record
from kinkeeper.web.views.health import Work

_MOST_FAILURES = 200


def load_work(conn: Connection, household: str, *, since: datetime) -> Work:
    """Return how much work stands where.

    Args:
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
    thought = thought_figures(conn, household, since=since)
    return Work(
        reading={row.state: row.number for row in read},
        sending={row.state: row.number for row in sent},
        failed_updates=failed,
        answering=talk.outcomes,
        stage_failures=talk.failures,
        outside=work_states(conn, household, since=since),
        goals=cycle_counts(conn, household, since=since),
        thoughts=thought.cycles,
        remarks=thought.remarks,
        questions=thought.questions,
    )


def workload_record(
    conn: Connection, household: Household, days: int, *, now: datetime
) -> dict[str, Any]:
    """Return how much work of the last days stands where, and which messages a person has to look at, as JSON.

    Args:
        days: How many local days, today included, > 0.
    """
    last = now.astimezone(household.zone).date()
    first = last - timedelta(days=days - 1)
    work = load_work(conn, household.id, since=midnight(first, household.zone))
    left = failures(conn, household.id)[-_MOST_FAILURES:]
    trial = latest_trial(conn)
    return {
        "first": first,
        "last": last,
        "reading": work.reading,
        "sending": work.sending,
        "answering": work.answering,
        "stage_failures": work.stage_failures,
        "outside": work.outside,
        "goals": work.goals,
        "thoughts": work.thoughts,
        "remarks": work.remarks,
        "questions": work.questions,
        "backup": None if trial is None else trial_record(trial),
        "reviews": _reviews(conn, household.id, since=midnight(first, household.zone)),
        "bars": offsets_at(conn, household.id, now).by_bar,
        "failed_updates": work.failed_updates,
        "manual_review": [
            {"message_id": each.message_id, "chat_id": each.chat_id, "error": each.error}
            for each in left
        ],
    }


def _reviews(conn: Connection, household: str, *, since: datetime) -> dict[str, int]:
    """Return what a strong model said of past answers, by how it came out."""
    found = review_figures(conn, household, since=since)
    counts = {
        "agreed": found.reviewed - found.disagreed,
        "disagreed": found.disagreed,
        "unusable": found.unusable,
    }
    return {name: count for name, count in counts.items() if count}
