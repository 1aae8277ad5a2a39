"""What is remembered: all of it, what a search finds, and what it was on another day."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.memory_proposals import asked_to_remember
from kinkeeper.actions.model import ActionType
from kinkeeper.core.beside import beside
from kinkeeper.core.time import last_of
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory.browser import as_of, evidence_of, first_remembered, sharing_words
from kinkeeper.memory.facts import facts_seen, list_facts
from kinkeeper.memory.finding.search import Found, Hit, HitKind, Search
from kinkeeper.memory.model import Fact
from kinkeeper.memory.statements.secrecy import audience_of
from kinkeeper.memory.undecided import undecided
from kinkeeper.memory.upkeep.questions import Answer as Answered
from kinkeeper.web.access import door
from kinkeeper.web.access.model import READERS
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.memory.fact import Told, notice_of, setting_right, told
from kinkeeper.web.pages.page_queries import load_ground, load_standing
from kinkeeper.web.views.cards import Card, lapses_at
from kinkeeper.web.views.known import Evidence, OpenQuestion
from kinkeeper.web.views.memory_page import Answer, ShelfView, asked_for, shelves, shown_day

router = APIRouter(include_in_schema=False)

_MOST_READ = 10_000
_MOST_FOUND = 20
_MOST_ASKED = 3
_ANSWERS: Mapping[str, Literal[Answered.KEEP_BOTH, Answered.NEWER, Answered.OLDER]] = {
    "both": Answered.KEEP_BOTH, "newer": Answered.NEWER, "older": Answered.OLDER,
}  # fmt: skip


@router.get("/memory")
async def memory_page(
    request: Request,
    person: door.Viewer,
    *,
    q: Annotated[str, Query(max_length=300)] = "",
    on: Annotated[str, Query(max_length=10)] = "",
    of: Annotated[str, Query(max_length=64)] = "",
    page: Annotated[int, Query(ge=1, le=10_000)] = 1,
    outcome: Annotated[Told | None, Query(alias="told")] = None,
    action: Annotated[str, Query(max_length=64)] = "",
) -> HTMLResponse:
    """Show what is remembered."""
    desk = desk_of(request, person)
    viewer = desk.viewer
    text, day = q.strip(), shown_day(on, desk.wording)
    view = ShelfView(of=of, page=page, on=day.isoformat() if day else "")
    # What was known on another day is looked through by words: the index holds what is known now.
    found = await _search(desk, viewer, text) if text and day is None else None

    def read(conn: Connection) -> Mapping[str, Any]:
        facts = [] if found else _listed(conn, desk, text, day)
        answers = _answers(conn, desk, viewer, found.hits) if found else ()
        evidence = evidence_of(conn, viewer, [fact.id for fact in facts])
        is_plain = not text and day is None
        return {
            "notice": notice_of(outcome, action),
            "asked": asked_for(
                text, day, first=first_remembered(conn, viewer), count=len(facts) + len(answers),
                wording=desk.wording,
            ),
            "waiting": _waiting(conn, desk) if is_plain and not of else (),
            "undecided": _undecided(conn, desk) if is_plain and not of else (),
            "shelves": shelves(desk.recollection, facts, evidence, view),
            "view": view,
            "found": answers,
        }  # fmt: skip

    return await show("memory.html", desk, "memory", read)


@router.post("/memory/remember")
async def remember(
    request: Request,
    person: door.Decider,
    *,
    text: Annotated[str, Form(min_length=1, max_length=500)],
    private: Annotated[str, Form(max_length=3)] = "",
) -> RedirectResponse:
    """Store what somebody wants remembered, at once."""
    desk = desk_of(request, person)
    scope = person_scope(person.member.id)
    if private != "yes":
        is_title = not person.member.is_adult  # what others tell is heard by rules alone
        scope = await beside(
            lambda: audience_of(text, desk.house.household, person.member.id, is_title=is_title)
        )
    proposal = asked_to_remember(
        desk.house.household, person.member, text.strip(), channel="web", now=desk.now, scope=scope
    )
    receipt = await desk.house.store.write(
        lambda conn: approvals.request(
            conn, proposal, member=person.member, household=person.household, now=desk.now
        )
    )
    return told("/memory", Told.REMEMBERED, receipt)


@router.post("/memory/questions/{question_id}")
async def settle_question(
    request: Request,
    person: door.Decider,
    question_id: Annotated[str, Path(max_length=64)],
    holds: Annotated[Literal["both", "newer", "older"], Form()],
) -> RedirectResponse:
    """Say which of two things hold that may not both be true."""
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(
        lambda conn: setting_right(desk).settle_question(conn, question_id, _ANSWERS[holds])
    )
    return told("/memory", Told.SETTLED, receipt)


async def _search(desk: Desk, viewer: Viewer, text: str) -> Found:
    return await desk.house.finder.search(
        Search(text=text, viewer=viewer, now=desk.now, limit=_MOST_FOUND)
    )


def _listed(conn: Connection, desk: Desk, text: str, day: date | None) -> Sequence[Fact]:
    """Return what is known, or was at the end of a day; with a text, what of that is about it."""
    viewer = desk.viewer
    if day is None:
        return list_facts(conn, viewer, now=desk.now, limit=_MOST_READ)
    then = as_of(conn, viewer, last_of(day, desk.wording.zone))
    return (sharing_words(then, text) if text else then)[:_MOST_READ]


def _answers(
    conn: Connection, desk: Desk, viewer: Viewer, hits: Sequence[Hit]
) -> tuple[Answer, ...]:
    ids = [hit.id for hit in hits if hit.kind is HitKind.FACT]
    facts = facts_seen(conn, viewer, ids)
    evidence = evidence_of(conn, viewer, ids)
    recollection, wording = desk.recollection, desk.wording
    answers = []
    for hit in hits:
        if hit.kind is HitKind.FACT and hit.id in facts:
            known = recollection.known(facts[hit.id], evidence.get(hit.id, ()))
            answers.append(Answer(fact=known))
        elif hit.kind is HitKind.EPISODE:
            turn = Evidence(
                text=hit.text, speaker=recollection.speaker(hit.speaker),
                at=wording.moment(hit.at), spoken=wording.long_moment(hit.at),
                iso=wording.local(hit.at).isoformat(timespec="seconds"),
            )  # fmt: skip
            answers.append(Answer(turn=turn))
    return tuple(answers)


def _undecided(conn: Connection, desk: Desk) -> Sequence[OpenQuestion]:
    """Return a few of the pairs that only a person settles, for those who may."""
    if not desk.person.may_decide:
        return ()
    pairs = undecided(conn, desk.viewer, now=desk.now, limit=_MOST_ASKED)
    return [desk.recollection.question(each) for each in pairs]


def _waiting(conn: Connection, desk: Desk) -> Sequence[Card]:
    """Return the cards of what was heard and is not remembered without a yes."""
    if desk.person.role not in READERS:
        return ()
    actions = [
        action
        for action in desk.open_actions(conn)
        if action.proposal.type is ActionType.MEMORY_FACT
    ]
    standing = load_standing(conn, desk.viewer, actions)
    return [
        desk.cards.card(action, load_ground(conn, desk.household, action), standing)
        for action in sorted(actions, key=lapses_at)
    ]
