"""Offers of the trained reader, and what it held back, with what people said next: what the regulator moves their bar by."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, CompoundSelect, Connection, Select, and_, select, union_all

from kinkeeper.actions.bars import Bar, Label
from kinkeeper.actions.model import FROM_CHAT, ActionStatus
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.actions.tables import pending_actions
from kinkeeper.conversation.commit import HELD
from kinkeeper.conversation.planning.frame_planner import LEAST_SURE
from kinkeeper.conversation.tables import routing_decisions, routing_reviews, turns
from kinkeeper.memory.finding.terms import stems

_SOON: Final = timedelta(minutes=5)
"""What is said later is no second try."""
_ALIKE: Final = 0.5
_SIGNALS: Final = {
    ActionStatus.DONE: "confirmed",
    ActionStatus.REJECTED: "dismissed",
    ActionStatus.SUPERSEDED: "corrected",
}
_LET_GO: Final = "let go"
_CAME_OF_IT: Final = frozenset({ResultStatus.DONE.value, ResultStatus.AWAITING.value})

WANTED: Final = "act"
"""What a review says of a message that asks for something."""

_next = turns.alias("next")
_actions, _turns = pending_actions.c, turns.c


def offer_labels(conn: Connection, household: str, since: datetime) -> Iterator[Label]:
    """Yield what was offered since then, and what was held back, as far as the next message or a press tells of it.

    What was held back was wanted if the person tried again in other words and then got something; else it was right
    to hold it, or what a bar keeps back would look as if it had never been said.
    """
    names = (_actions.status, _actions.undone_at, _actions.extraction_confidence)
    offered = _with_next(
        select(*names, _actions.created_at.label("at")),
        pending_actions,
        _actions.source_id == _turns.id,
    ).where(
        _actions.household == household,
        _actions.source_type == FROM_CHAT,
        _actions.extraction_confidence < 1,
        _actions.created_at >= since,
    )
    for row in conn.execute(offered):
        signal = "undone" if row.undone_at is not None else _SIGNALS.get(ActionStatus(row.status))
        if signal is None and _tries_again(row):
            signal = "rephrased"
        if signal is not None:
            yield _label(row.extraction_confidence, row.at, signal, is_wanted=signal == "confirmed")
    routed = routing_decisions.c
    held = routed.signals[HELD].as_float()
    hidden = _with_next(
        select(held.label("sureness"), routed.at), routing_decisions, routed.turn == _turns.id
    ).where(routed.household == household, routed.at >= since, held.is_not(None))
    for row in conn.execute(hidden):
        is_missed = _tries_again(row) and not _came_of(row.results)
        signal = "rephrased" if is_missed else _LET_GO
        yield _label(row.sureness, row.at, signal, is_wanted=is_missed)


def unsure_turns(household: str) -> CompoundSelect[Any]:
    """Return the query of the turns in which something unsure was offered or held back, each with how sure it was."""
    routed = routing_decisions.c
    held = routed.signals[HELD].as_float()
    offered = select(
        _actions.source_id.label("turn"), _actions.extraction_confidence.label("sureness")
    ).where(
        _actions.household == household,
        _actions.source_type == FROM_CHAT,
        _actions.extraction_confidence < 1,
    )
    hidden = select(routed.turn, held.label("sureness")).where(
        routed.household == household, held.is_not(None)
    )
    return union_all(offered, hidden)


def review_labels(conn: Connection, household: str, since: datetime) -> Iterator[Label]:
    """Yield what was offered since then, and what was held back, with what a strong model said about the message.

    What was wanted is what comes of a message that asks for something.
    """
    unsure, routed = unsure_turns(household).subquery(), routing_decisions.c
    reviewed = (
        select(unsure.c.sureness, routed.at, routing_reviews.c.route, routing_reviews.c.model)
        .join(routing_reviews, routing_reviews.c.turn == unsure.c.turn)
        .join(
            routing_decisions,
            and_(
                routed.household == routing_reviews.c.household,
                routed.turn == routing_reviews.c.turn,
            ),
        )
        .where(
            routing_reviews.c.household == household,
            routing_reviews.c.route.is_not(None),
            routed.at >= since,
        )
    )
    for row in conn.execute(reviewed):
        signal, is_wanted = f"reviewed as {row.route}", row.route == WANTED
        label = _label(row.sureness, row.at, signal, is_wanted=is_wanted)
        yield replace(label, by=row.model)


def _label(sureness: float, at: datetime, signal: str, *, is_wanted: bool) -> Label:
    score = round(sureness - LEAST_SURE, 4)
    return Label(bar=Bar.OFFERS, score=score, is_wanted=is_wanted, at=at, signal=signal)


def _with_next(query: Select[Any], table: Any, is_of: ColumnElement[bool]) -> Select[Any]:
    """Return a query with the turn of each row, and the message after it."""
    follows = and_(
        _next.c.household == _turns.household,
        _next.c.thread == _turns.thread,
        _next.c.position == _turns.position + 1,
    )
    return (
        query.add_columns(
            _turns.text,
            _turns.received_at,
            _turns.results,
            _next.c.text.label("next_text"),
            _next.c.received_at.label("next_at"),
            _next.c.results.label("next_results"),
        )
        .select_from(table)
        .join(turns, and_(_turns.household == table.c.household, is_of))
        .outerjoin(_next, follows)
    )


def _tries_again(row: Any) -> bool:
    """Whether the next message says much the same, soon, and something came of it."""
    if row.next_at is None or row.next_at - row.received_at > _SOON:
        return False
    said, again = {*stems(row.text)}, {*stems(row.next_text)}
    is_alike = len(said & again) >= _ALIKE * len(said | again) > 0
    return is_alike and _came_of(row.next_results)


def _came_of(results: Any) -> bool:
    return any(
        each["status"] in _CAME_OF_IT and each["action_id"] is not None for each in results or ()
    )
