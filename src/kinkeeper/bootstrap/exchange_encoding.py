"""What makes gists, episodes and facts out of exchanges, for one household of a process."""

from collections.abc import Sequence

from sqlalchemy import Connection

from kinkeeper.actions.session_words import propose_statements
from kinkeeper.conversation.context.repository import ENCODING
from kinkeeper.conversation.encoding.job import Encoding
from kinkeeper.core.time import Clock
from kinkeeper.household.member_names import members_by_name
from kinkeeper.household.model import Household
from kinkeeper.jobs.job import Pace
from kinkeeper.jobs.row_worker import RowWorker
from kinkeeper.memory.extraction_job import SessionReading
from kinkeeper.memory.model import Episode, Observation
from kinkeeper.store.store import Store


def reading_of(household: Household, store: Store, clock: Clock) -> SessionReading:
    """Return what reads facts out of what was said in a household's sessions.

    Args:
        household: Theirs.
        store: Its database.
        clock: Tells when something is stored.
    """

    def propose(conn: Connection, episode: Episode, found: Sequence[Observation]) -> None:
        propose_statements(conn, household, episode, found, now=clock.now())

    return SessionReading(
        store, household.id, people=members_by_name(household), guardians=household.guardians, zone=household.zone,
        locale=household.locale, clock=clock, propose=propose,
    )  # fmt: skip


def encoding_of(household: Household, store: Store, clock: Clock) -> Encoding:
    """Return what encodes a household's exchanges.

    Args:
        household: Theirs.
        store: Its database.
        clock: Tells when a talk is over.
    """
    return Encoding(
        store, household, clock=clock, reading=reading_of(household, store, clock)
    )  # fmt: skip


def encoding_worker(household: Household, store: Store, clock: Clock, pace: Pace) -> RowWorker:
    """Return what has a household's exchanges encoded.

    Args:
        household: Theirs.
        store: Its database.
        clock: Tells when a talk is over.
        pace: How often to look for what is due.
    """
    job = encoding_of(household, store, clock).as_job()
    return RowWorker(store, job, topic=(ENCODING, household.id), clock=clock, pace=pace)
