"""Requests about what the assistant itself has done, and what awaits somebody's yes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field
from sqlalchemy import Connection

from kinkeeper.actions.authority import is_anothers, is_told_by_another
from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction
from kinkeeper.actions.repository import list_actions, open_actions
from kinkeeper.actions.requests.event_search import find_around
from kinkeeper.actions.requests.event_views import occurrence_json
from kinkeeper.actions.requests.model import Asked, Card, Found, Parameters, RequestKind
from kinkeeper.actions.requests.parameters import Moment, read_moment, said
from kinkeeper.actions.requests.request_runner import decider_of
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import Interval, midnight
from kinkeeper.language.name_match import meant_by
from kinkeeper.store.store import Store


class ListDone(Parameters):
    """What was done, since when."""

    since: str | None = Field(
        default=None, description="ISO 8601 date or date-time; default is today"
    )
    until: str | None = Field(default=None, description="ISO 8601 date or date-time")
    kind: ActionType | None = Field(default=None, description="only changes to things of this kind")


class ListWaiting(Parameters):
    """What awaits a yes."""

    query: str | None = Field(default=None, description="only what these words are about")


def record_requests(store: Store) -> tuple[RequestKind, ...]:
    """Return the rows of the table of requests that tell what was done and what awaits a yes."""
    requests = _RecordRequests(store)
    return (
        RequestKind(
            domain="memory",
            name="list_done",
            parameters=ListDone,
            stakes=Stakes.LOW,
            description="List what was written or changed for the household, and who asked for it.",
            progress="Checking what was done…",
            read=requests.done,
        ),
        RequestKind(
            domain="memory",
            name="list_waiting",
            parameters=ListWaiting,
            stakes=Stakes.LOW,
            description="List what is waiting for approval.",
            progress="Checking what is waiting…",
            read=requests.waiting,
        ),
    )


class _RecordRequests:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def done(self, wanted: ListDone, asked: Asked) -> Found:
        today = midnight(asked.now.date(), asked.household.zone)
        since = today if wanted.since is None else read_moment(wanted.since, asked).at
        until = asked.now if wanted.until is None else read_moment(wanted.until, asked).at

        def load(conn: Connection) -> list[PendingAction]:
            return list_actions(conn, asked.viewer, statuses={ActionStatus.DONE}, now=asked.now)

        found = [
            each
            for each in await self._store.read(load)
            if each.undone_at is None
            and wanted.kind in {None, each.proposal.type}
            and since <= (each.decided_at or each.created_at) <= until
        ]
        result = {"since": since.isoformat(), "until": until.isoformat()}
        told = _told(found, asked)
        return Found(result={"done": told, **result}, card=_card("Done", told))

    async def waiting(self, wanted: ListWaiting, asked: Asked) -> Found:
        def load(conn: Connection) -> tuple[list[Mapping[str, Any]], Mapping[str, Any] | None]:
            found = [
                each
                for each in open_actions(conn, asked.viewer, now=asked.now)
                if _may_see(each, asked)
            ]
            if wanted.query is not None:
                meant = meant_by(wanted.query, [each.proposal.summary for each in found])
                found = [found[place] for place in meant]
            told: list[Mapping[str, Any]] = [
                {**_as_json(each, asked), "decider": decider_of(conn, each, asked).value}
                for each in found
            ]
            return told, None if wanted.query is None else _standing(conn, wanted.query, asked)

        told, standing = await self._store.read(load)
        result = {"waiting": told} if wanted.query is None else {"waiting": told, "event": standing}
        return Found(result=result, card=_card("Waiting for approval", told))


def _standing(conn: Connection, words: str, asked: Asked) -> Mapping[str, Any] | None:
    """Return what words mean in the calendar, as JSON; None where there is nothing."""
    nothing = Interval(asked.now, asked.now)
    try:
        return occurrence_json(find_around(conn, words, nothing, asked), asked)
    except NotFoundError:
        return None


def _card(title: str, told: Sequence[Mapping[str, Any]]) -> Card | None:
    items = tuple({name: each[name] for name in ("id", "text", "when")} for each in told)
    return Card(kind="result", title=title, items=items) if items else None


def _told(found: Iterable[PendingAction], asked: Asked) -> list[Mapping[str, Any]]:
    """Return what somebody may be told of some actions, as JSON."""
    return [_as_json(each, asked) for each in found if _may_see(each, asked)]


def _as_json(action: PendingAction, asked: Asked) -> Mapping[str, Any]:
    at = (action.decided_at or action.created_at).astimezone(asked.household.zone)
    return {
        "id": action.id,
        "text": action.proposal.summary,
        "by": action.proposal.request.get("asked_by"),
        "at": at.isoformat(),
        "when": said(Moment(at=at), asked),
        "type": action.proposal.type.value,
    }


def _may_see(action: PendingAction, asked: Asked) -> bool:
    """Whether somebody may be told of an action: what was said to the assistant is its adults', memories and mail are whose they are.

    Where others read along, neither memories nor mail are told.
    """
    proposal, me = action.proposal, asked.member
    if proposal.type in {ActionType.MEMORY_FACT, ActionType.EMAIL} and asked.is_shared:
        return False
    is_mine = proposal.request.get("asked_by") == me.id
    if is_mine:
        return True
    if proposal.type is ActionType.MEMORY_FACT or is_anothers(action, me, asked.household):
        return False
    return me.is_adult or not is_told_by_another(action, me.id)
