"""The whole program on group talks: what stands as a card in the end, against the outcomes that the writers noted.

Each talk is replayed as `kinkeeper observe` does, in a household without a file. A card of several is counted for the outcome
that it matches best; another one for the same outcome is needless. Mistakes of the writers of `SEEN` may be looked at.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, String, cast, select

from evals.arrangements import FOLDER, SEEN, Judged, Played, judged_in
from evals.reading import inbound_of
from evals.replayed import Stage, play, spoken_lines
from evals.report import Report, Table, share
from evals.talk_households import household_in
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.tables import action_sources
from kinkeeper.arrangements import Arrangement, State, Status, When
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.language.name_match import telling_stems
from kinkeeper.messaging.tables import messages
from kinkeeper.reading import Predicate
from training.corpus import HELD_OUT, Talk, read_corpus

_SAMPLED: Final = 4
_GRACE_PASSES: Final = timedelta(hours=2)
_MOST_WRONG: Final = 2
_STOOD: Final = frozenset(ActionStatus) - {ActionStatus.SUPERSEDED}
_PREDICATES: Final = {
    "pickup": Predicate.PICKUP,
    "dropoff": Predicate.DROPOFF,
    "cover": Predicate.COVER,
    "other": Predicate.TASK,
    "cancel": Predicate.CANCEL,
    "move": Predicate.MOVE,
}
_CHANGED: Final = {"cancel": Status.OFF, "move": Status.MOVED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What came of one talk.

    Attributes:
        played: Its outcomes, and the cards beside them.
        by_reader: Ids of the cards that only the trained reader saw.
        messages: How many there were.
        spoken: How often the assistant spoke.
    """

    played: Played
    by_reader: frozenset[str]
    messages: int
    spoken: int


def measure(*, root: Path, is_full: bool, writers: frozenset[str] | None = None) -> Report:
    """Replay group talks and judge the cards.

    Args:
        root: The repository.
        is_full: All talks instead of every fourth.
        writers: Whose; all but those held out for good where None.
    """
    talks = [
        (writer, talk)
        for writer, talk in read_corpus(root / FOLDER)
        if talk.surface == "group" and (writer in writers if writers else writer not in HELD_OUT)
    ]
    shown = [*_shown(islice(talks, 0, None, 1 if is_full else _SAMPLED))]
    halves = {
        "seen": [each for each in shown if each.played.writer in SEEN],
        "later": [each for each in shown if each.played.writer not in SEEN],
    }
    figures = {name: figures_of(own) for name, own in halves.items() if own}
    names = [*next(iter(figures.values()))]
    return Report(
        suite="cards",
        tables=(
            Table(
                title="Cards of whole group talks against the outcomes that their writers noted",
                columns=("writers", *names),
                rows=tuple((name, *own.values()) for name, own in figures.items()),
            ),
        ),
        floors=(),
        worst=tuple(_needless(halves["seen"])),
    )


def figures_of(shown: Sequence[Shown]) -> Mapping[str, float]:
    """Return counts, and shares in [0, 1] of outcomes and of cards."""
    judged = [each for one in shown for each in one.played.judged]
    found = [each for each in judged if each.view]
    near = {each.view.tells: each for each in found if each.view and _is_near(each)}
    by_reader = frozenset().union(*(one.by_reader for one in shown))
    cards = sum(one.played.shown for one in shown)
    heard = sum(one.messages for one in shown)
    return {
        "messages": heard,
        "outcomes": len(judged),
        "cards": cards,
        "found": len(near) / (len(judged) or 1),
        "right": share(bool(each.view) and not _wrong(each) for each in judged),
        "cards near": len(near) / (cards or 1),
        "again": sum(len(one.played.doubled) for one in shown) / (cards or 1),
        "by reader": len(by_reader),
        "of these near": share(each in near for each in by_reader),
        "spoken per 1,000": 1000 * sum(one.spoken for one in shown) / (heard or 1),
        **{
            name: share(name not in each.wrong for each in found)
            for name in ("predicate", "for", "by", "when")
        },
    }


def _wrong(judged: Judged) -> Sequence[str]:
    return [each for each in judged.wrong if each != "status"]


def _is_near(judged: Judged) -> bool:
    """Tell whether a card has the day, and at most two other fields differ."""
    return len(_wrong(judged)) <= _MOST_WRONG and "when" not in judged.wrong


def _needless(shown: Sequence[Shown]) -> Iterator[str]:
    for one in shown:
        near = {e.view.tells for e in one.played.judged if e.view and _is_near(e)}
        for each in one.played.needless:
            mark = "reader" if each.id in one.by_reader else "rules"
            yield f"{mark}: {each.what} {each.when.days} {each.evidence}"
        for judged in one.played.judged:
            if judged.view and judged.view.tells in one.by_reader - near:
                yield f"reader, wrong in {judged.wrong}: {judged.view.whole.what} for {judged.outcome.what}"


def _shown(talks: Iterator[tuple[str, Talk]]) -> Iterator[Shown]:
    with Stage() as stage:
        for number, (writer, talk) in enumerate(talks):
            household = replace(household_in(talk), id=f"talk-{number}")
            said = [*inbound_of(talk, household)]
            system = stage.opened_with(household)
            end = said[-1].sent_at + _GRACE_PASSES
            lines = [line for heard in play(system, said, until=end) for line in heard.lines]
            cards = system.store.read_now(partial(_cards, household=household, at=end))
            state = State(
                arrangements=tuple(cards), recent={str(each.number): () for each in talk.messages}
            )
            yield Shown(
                played=judged_in(writer, talk, household, state),
                by_reader=frozenset(each.id for each, mark in cards.items() if mark == "trained"),
                messages=len(said),
                spoken=len([*spoken_lines(lines)]),
            )


def _cards(conn: Connection, *, household: Household, at: datetime) -> Mapping[Arrangement, str]:
    """Return the cards that ever stood for themselves, and who saw each."""
    actions = list_actions(conn, Viewer.whole(household.id), statuses=_STOOD, now=at)
    rows = conn.execute(
        select(action_sources.c.action_id, messages.c.message_id)
        .join(messages, action_sources.c.source_id == cast(messages.c.id, String))
        .where(action_sources.c.household == household.id, messages.c.household == household.id)
    ).all()
    return {
        _arrangement(each, [row.message_id for row in rows if row.action_id == each.id]): str(
            each.proposal.extraction["extractor"]
        )
        for each in actions
        if each.proposal.extraction
    }


def _arrangement(action: PendingAction, sources: Sequence[str]) -> Arrangement:
    said: Mapping[str, Any] = action.proposal.extraction
    task = said["task"]
    owners = tuple(each for each in said["assigned_to"] if each != "unspecified")
    answered = (said["attribution"] or {}).get("source_message_id")
    times = [time.fromisoformat(each) for each in said["times"]]
    predicate = _PREDICATES.get(task or "", Predicate.EVENT)
    standing = (
        Status.OWNED
        if owners
        else Status.AGREED
        if predicate is Predicate.EVENT
        else Status.PROPOSED
    )
    return Arrangement(
        id=action.id,
        predicate=predicate,
        what=action.proposal.summary,
        stems=telling_stems(f"{action.proposal.summary} {said['activity'] or ''}"),
        who_for=tuple(said["child"]),
        who_does=owners,
        when=When(
            days=tuple(date.fromisoformat(each) for each in said["dates"]),
            start=times[0] if times else None,
        ),
        status=_CHANGED.get(
            task or "", Status.OFF if action.status is ActionStatus.WITHDRAWN else standing
        ),
        evidence=tuple({*sources, *([answered] if answered else [])}),
    )
