"""What makes gists, episodes and facts out of exchanges, for one household of a process."""

from kinkeeper.bootstrap.member_names import members_by_name
from kinkeeper.conversation.encoding.job import Encoding
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.jobs.job import Enqueuer
from kinkeeper.memory.extracting import SessionReading
from kinkeeper.store.store import Store


def encoding_of(
    household: Household, store: Store, clock: Clock, queue: Enqueuer | None = None
) -> Encoding:
    """Return what encodes a household's exchanges.

    Args:
        household: Theirs.
        store: Its database.
        clock: Tells when a talk is over.
        queue: Takes the later stages; None where workers are to find them by themselves.
    """
    reading = SessionReading(
        store, household.id, people=members_by_name(household), guardians=household.guardians, zone=household.zone,
        locale=household.locale, clock=clock,
    )  # fmt: skip
    return Encoding(store, household, clock=clock, reading=reading, queue=queue)
