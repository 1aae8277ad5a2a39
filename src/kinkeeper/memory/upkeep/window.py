"""What a run looks at: what is new or was changed since the last one, as much as fits into one run."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from kinkeeper.memory.change_numbers import Changed, last_seq
from kinkeeper.memory.episodes import episodes_changed
from kinkeeper.memory.facts import count_facts, facts_changed
from kinkeeper.memory.model import Episode, Fact
from kinkeeper.memory.upkeep.runs import looked_up_to

MOST_EPISODES = 200
"""What they bear out is written in one transaction, for which all who write wait; more follow in a run of their own."""

MOST_FACTS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a run looks at.

    Attributes:
        from_seq: Change number after which it begins.
        to_seq: Change number up to which it looks at everything.
        last_seq: Highest change number that there was when it was read.
        facts: Active ones that are new or were changed.
        episodes: New ones.
        active: Number of active facts of the household.
    """

    from_seq: int
    to_seq: int
    last_seq: int
    facts: Sequence[Fact]
    episodes: Sequence[Episode]
    active: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left for another run."""
        return self.to_seq == self.last_seq


def read_window(conn: Connection, household: str) -> Window:
    """Return what the next run of a household looks at.

    Args:
        conn: In a transaction.
        household: Tenant key.
    """
    start, end = looked_up_to(conn, household), last_seq(conn, household)
    facts = facts_changed(conn, household, after_seq=start, limit=MOST_FACTS)
    episodes = episodes_changed(conn, household, after_seq=start, limit=MOST_EPISODES)
    to_seq = min(_reached(facts, MOST_FACTS, end), _reached(episodes, MOST_EPISODES, end))
    counts = count_facts(conn, household)
    return Window(
        from_seq=start,
        to_seq=to_seq,
        last_seq=end,
        facts=[
            each.value
            for each in facts
            if each.value and each.value.status.is_active and each.seq <= to_seq
        ],
        episodes=[each.value for each in episodes if each.value and each.seq <= to_seq],
        active=sum(count for status, count in counts.items() if status.is_active),
    )


def _reached(
    changed: Sequence[Changed[Fact]] | Sequence[Changed[Episode]], most: int, end: int
) -> int:
    return changed[-1].seq if len(changed) == most else end
