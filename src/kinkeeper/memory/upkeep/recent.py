"""Recent episodes that no fact rests on yet. Statements only."""

from sqlalchemy import Connection, select

from kinkeeper.memory.evidence import out_of
from kinkeeper.memory.memory_rows import episode_from_row
from kinkeeper.memory.model import Episode, EpisodeKind, Origin
from kinkeeper.memory.rulings import Ruling
from kinkeeper.memory.tables import episodes
from kinkeeper.memory.upkeep.questions import QuestionKind, known_ids, question_id
from kinkeeper.memory.verdicts import verdicts_on

_columns = episodes.c
_ORIGINS = [origin.value for origin in Origin if origin.may_become_fact]


def recent_unused(conn: Connection, household: str, *, limit: int) -> list[Episode]:
    """Return the latest episodes that could become a fact, support none, and are in no question, oldest change first.

    Args:
        conn: In a transaction.
        household: Tenant key.
        limit: Most episodes that are looked at, > 0.
    """
    query = (
        select(episodes)
        .where(
            _columns.household == household, _columns.kind == EpisodeKind.TURN.value,
            _columns.is_assistant.is_(False), _columns.origin.in_(_ORIGINS),
        )
        .order_by(_columns.seq.desc())
        .limit(limit)
    )  # fmt: skip
    found = [episode_from_row(dict(row)) for row in conn.execute(query).mappings()]
    ids = [each.id for each in found]
    used = {each.episode_id for each in out_of(conn, household, ids) if each.fact_id}
    # A verdict of support names the episode where others name a statement.
    used |= {
        str(each.newer)
        for each in verdicts_on(conn, household, ids)
        if each.ruling is Ruling.SUPPORT
    }
    asked = {question_id(QuestionKind.LEARN, [each]): each for each in ids}
    used |= {asked[each] for each in known_ids(conn, household, asked)}
    return [each for each in reversed(found) if each.id not in used]
