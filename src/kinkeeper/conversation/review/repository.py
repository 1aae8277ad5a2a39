"""Past decisions of routing that may be reviewed, and what reviews said of them, as rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, func, insert, select

from kinkeeper.conversation.model import Mode
from kinkeeper.conversation.offer_labels import unsure_turns
from kinkeeper.conversation.review.model import Route
from kinkeeper.conversation.tables import routing_decisions, routing_reviews, turns
from kinkeeper.conversation.turn import TurnOutcome

_turns, _decisions, _reviews = turns.c, routing_decisions.c, routing_reviews.c
_ROUTED: tuple[str, ...] = (Mode.ACT.value, Mode.RESPOND.value, Mode.CLARIFY.value)
"""How a message can be routed that is no answer to a question and no courtesy: the rest leaves nothing to judge."""
_BY_ROUTER = ("router", "triage")
_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFigures:
    """What reviews came to.

    Attributes:
        reviewed: Decisions with a usable answer.
        disagreed: Of them, where the model would have taken another way.
        unusable: Decisions to which the model gave no usable answer.
        by_way: The former by "decided as X, reviewed as Y".
        models: Models with the version of the prompt, by how many decisions each reviewed.
    """

    reviewed: int = 0
    disagreed: int = 0
    unusable: int = 0
    by_way: Mapping[str, int] = field(default_factory=dict)
    models: Mapping[str, int] = field(default_factory=dict)


def not_reviewed(conn: Connection, household: str, *, since: datetime) -> list[tuple[str, str]]:
    """Return id and mode of turns whose routing nobody reviewed, those that bear on a bar first.

    Of the others the order of their ids decides, which has to do with nothing they say.
    """
    unsure = unsure_turns(household).subquery()
    query = (
        select(_turns.id, _decisions.mode)
        .join(
            routing_decisions,
            (_decisions.household == _turns.household) & (_decisions.turn == _turns.id),
        )
        .outerjoin(
            routing_reviews, (_reviews.household == _turns.household) & (_reviews.turn == _turns.id)
        )
        .where(
            _turns.household == household,
            _turns.received_at >= since,
            _turns.outcome == TurnOutcome.ANSWERED.value,
            _turns.text != "",
            _decisions.mode.in_(_ROUTED),
            _decisions.decided_by.in_(_BY_ROUTER),
            _reviews.turn.is_(None),
        )
        .order_by(_turns.id.not_in(select(unsure.c.turn)), _turns.id)
        .limit(_MOST)
    )
    return [(row.id, row.mode) for row in conn.execute(query)]


def reviewed_since(conn: Connection, household: str, since: datetime) -> int:
    """Return how many decisions were reviewed since then, with a usable answer or without."""
    query = select(func.count()).select_from(routing_reviews)
    found = conn.execute(query.where(_reviews.household == household, _reviews.at >= since))
    return int(found.scalar_one())


def last_said(conn: Connection, household: str) -> datetime | None:
    """Return when somebody last wrote to the assistant."""
    query = select(func.max(_turns.received_at)).where(_turns.household == household)
    found: datetime | None = conn.execute(query).scalar_one()
    return found


def add_review(
    conn: Connection,
    household: str,
    turn: str,
    *,
    route: Route | None,
    agrees: bool | None,
    model: str,
    prompt: int,
    at: datetime,
) -> None:
    """Store what a model said of a decision, once.

    Args:
        route: None where its answer was of no use.
        agrees: Whether that is what was decided; None likewise.
    """
    of_turn = (_reviews.household == household, _reviews.turn == turn)
    if conn.execute(select(_reviews.turn).where(*of_turn)).first() is not None:
        return  # another process was faster
    conn.execute(
        insert(routing_reviews).values(
            household=household,
            turn=turn,
            route=None if route is None else route.value,
            agrees=None if agrees is None else int(agrees),
            model=model,
            prompt=prompt,
            at=at,
        )
    )


def review_figures(conn: Connection, household: str, *, since: datetime) -> ReviewFigures:
    """Return what the reviews since then came to."""
    query = (
        select(
            _decisions.mode,
            _reviews.route,
            _reviews.agrees,
            _reviews.model,
            _reviews.prompt,
            func.count().label("number"),
        )
        .join(
            routing_decisions,
            (_decisions.household == _reviews.household) & (_decisions.turn == _reviews.turn),
        )
        .where(_reviews.household == household, _reviews.at >= since)
        .group_by(_decisions.mode, _reviews.route, _reviews.agrees, _reviews.model, _reviews.prompt)
    )
    rows = [*conn.execute(query)]
    usable = [row for row in rows if row.route is not None]
    against = [row for row in usable if not row.agrees]
    by_way: dict[str, int] = {}
    models: dict[str, int] = {}
    for row in against:
        way = f"decided as {row.mode.lower()}, reviewed as {row.route}"
        by_way[way] = by_way.get(way, 0) + row.number
    for row in usable:
        name = f"{row.model}, prompt {row.prompt}"
        models[name] = models.get(name, 0) + row.number
    return ReviewFigures(
        reviewed=sum(row.number for row in usable),
        disagreed=sum(row.number for row in against),
        unusable=sum(row.number for row in rows if row.route is None),
        by_way=dict(sorted(by_way.items())),
        models=dict(sorted(models.items())),
    )
