"""The pages of memory: what is known, why it is believed, what was said, what belongs together, what changed."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.memory_proposals import asked_to_remember
from kinkeeper.actions.model import ActionType, PendingAction
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.core.beside import beside
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.time import last_of
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory import concepts, journal
from kinkeeper.memory.browser import as_of, evidence_of, first_remembered, history, sharing_words
from kinkeeper.memory.concepts import Concept, Relation
from kinkeeper.memory.corrections import may_set_scope
from kinkeeper.memory.episodes import list_episodes, outdated_spans
from kinkeeper.memory.erasure import preview_forget
from kinkeeper.memory.facts import (
    facts_by_id,
    facts_seen,
    find_fact,
    list_facts,
    load_fact,
    statements_of,
)
from kinkeeper.memory.finding.search import Found, Hit, HitKind, Search
from kinkeeper.memory.journal import ChangeSet
from kinkeeper.memory.memory_export import Exported, exported_lines
from kinkeeper.memory.model import Fact
from kinkeeper.memory.statements.secrecy import audience_of
from kinkeeper.memory.tables import facts as fact_rows
from kinkeeper.memory.undecided import undecided
from kinkeeper.memory.undo import is_anothers, may_take_back
from kinkeeper.memory.upkeep import runs
from kinkeeper.memory.upkeep.questions import Answer as Answered
from kinkeeper.memory.upkeep.rollback import keep_all
from kinkeeper.memory.upkeep.runs import ChangeKind, RunState, tell
from kinkeeper.web.access import door
from kinkeeper.web.access.door import Decider
from kinkeeper.web.access.model import READERS
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.page_queries import load_ground, load_standing
from kinkeeper.web.route_parts import LARGEST_NUMBER, ToldTime
from kinkeeper.web.views.cards import Card, Notice, lapses_at
from kinkeeper.web.views.concept_map import concept_map
from kinkeeper.web.views.known import (
    Answer,
    Evidence,
    OpenQuestion,
    ShelfView,
    asked_for,
    days_of,
    fact_href,
    shelves,
    shown_day,
)
from kinkeeper.web.views.memory_changes import (
    CAUSES,
    Change,
    FactChange,
    NightQuestion,
    Pair,
    erasure_lines,
    fact_changes,
    is_long,
    standing_of,
    unlisted,
    versions_of,
    wishes,
)

# What became of a change that somebody made on a page of memory, told on the next page.


class Told(StrEnum):
    """What became of it."""

    REMEMBERED = "remembered"
    ASKED = "asked"
    EDITED = "edited"
    WRONG = "wrong"
    OVER = "over"
    SETTLED = "settled"
    PRIVATE = "private"
    SHARED = "shared"
    FORGOTTEN = "forgotten"
    UNDONE = "undone"
    APPROVED = "approved"
    LEFT = "left"
    NOTHING = "nothing"


_WORDS = {
    Told.REMEMBERED: "Saved.",
    Told.ASKED: "It needs an adult's approval.",
    Told.EDITED: "Saved.",
    Told.WRONG: "Marked as incorrect.",
    Told.OVER: "Marked as outdated.",
    Told.SETTLED: "Settled.",
    Told.PRIVATE: "Only you can see it now.",
    Told.SHARED: "Everyone in the household can see it now.",
    Told.FORGOTTEN: "Erased.",
    Told.UNDONE: "Undone.",
    Told.APPROVED: "It will be done within a few minutes.",
    Told.NOTHING: "Nothing was changed, because something else changed in the meantime. Please check again.",
    Told.LEFT: "Nothing was changed.",
}


def notice_of(told: Told | None, action: str) -> Notice | None:
    """Return what is said at the top of a page.

    Args:
        told: What became of what; None says nothing.
        action: Id of the action, where it can be taken back.
    """
    if told is None:
        return None
    is_good = told is not Told.NOTHING
    return Notice(text=_WORDS[told], undo_id=action if is_good else "", is_good=is_good)


def setting_right(desk: Desk) -> SettingRight:
    """Return what a person does to memories, for whoever makes the request."""
    return SettingRight(household=desk.person.household, member=desk.person.member, now=desk.now)


def told(path: str, wish: Told, receipt: Receipt) -> RedirectResponse:
    """Send the person to a page that tells what became of their wish.

    Args:
        wish: What is told where it came true.
    """
    if receipt.outcome is Outcome.ASKED:
        return back_to(path, Told.ASKED)
    if receipt.outcome is not Outcome.DONE:
        return back_to(path, Told.NOTHING)
    return back_to(path, wish, action=receipt.action if can_be_undone(receipt.action) else None)


def back_to(path: str, told: Told, *, action: PendingAction | None = None) -> RedirectResponse:
    """Send the person to a page that tells something.

    Args:
        action: What can be taken back, if anything.
    """
    query = urlencode({"told": told.value, **({"action": action.id} if action else {})})
    return RedirectResponse(f"{path}?{query}", HTTPStatus.SEE_OTHER)


router = APIRouter(include_in_schema=False)

FactId = Annotated[str, Path(max_length=200)]


@router.get("/memory/facts/{fact_id}")
async def fact_page(
    request: Request,
    person: door.Viewer,
    fact_id: FactId,
    *,
    outcome: Annotated[Told | None, Query(alias="told")] = None,
    action: Annotated[str, Query(max_length=64)] = "",
) -> HTMLResponse:
    """Show one remembered thing."""
    desk = desk_of(request, person)
    viewer = desk.viewer

    def read(conn: Connection) -> Mapping[str, Any]:
        fact = load_fact(conn, viewer, fact_id)
        said = statements_of(conn, viewer, fact_id)
        words = desk.recollection
        doubt = find_fact(conn, viewer, fact.doubted_by) if fact.doubted_by else None
        follower = fact.superseded_by or fact.merged_into_id
        return {
            "notice": notice_of(outcome, action),
            "fact": words.known(fact, said),
            "may_set_scope": may_set_scope(conn, viewer, fact_id),
            "whose": words.whose(fact, said),
            "evidence": words.evidence(said),
            "versions": versions_of(history(conn, viewer, fact_id), words),
            "otherwise": words.told(doubt) if doubt else None,
            "state": standing_of(
                fact, find_fact(conn, viewer, follower) if follower else None, desk.wording
            ),
        }

    return await show("memory_fact.html", desk, "memory", read)


@router.post("/memory/facts/{fact_id}/edit")
async def edit(
    request: Request,
    person: Decider,
    fact_id: FactId,
    text: Annotated[str, Form(min_length=1, max_length=1000)],
) -> RedirectResponse:
    """Put it in a person's own words."""
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(
        lambda conn: setting_right(desk).edit(conn, fact_id, text.strip())
    )
    return told(fact_href(fact_id), Told.EDITED, receipt)


@router.post("/memory/facts/{fact_id}/wrong")
async def wrong(request: Request, person: Decider, fact_id: FactId) -> RedirectResponse:
    """Take it out of use: it never was true."""
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(lambda conn: setting_right(desk).wrong(conn, fact_id))
    return told(fact_href(fact_id), Told.WRONG, receipt)


@router.post("/memory/facts/{fact_id}/over")
async def over(request: Request, person: Decider, fact_id: FactId) -> RedirectResponse:
    """Take it out of use: it was so, and is so no more."""
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(lambda conn: setting_right(desk).over(conn, fact_id))
    return told(fact_href(fact_id), Told.OVER, receipt)


@router.post("/memory/facts/{fact_id}/doubt")
async def settle(
    request: Request,
    person: Decider,
    fact_id: FactId,
    holds: Annotated[str, Form(pattern="^(this|other)$")],
) -> RedirectResponse:
    """Say whether it holds, or what somebody said otherwise."""
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(
        lambda conn: setting_right(desk).settle(conn, fact_id, is_changed=holds == "other")
    )
    return told(fact_href(fact_id), Told.SETTLED, receipt)


@router.post("/memory/facts/{fact_id}/scope")
async def set_scope(
    request: Request,
    person: Decider,
    fact_id: FactId,
    private: Annotated[str, Form(pattern="^(yes|no)$")],
) -> RedirectResponse:
    """Keep it to oneself, or let the household see it."""
    desk, is_private = desk_of(request, person), private == "yes"
    receipt = await desk.house.store.write(
        lambda conn: setting_right(desk).set_scope(conn, fact_id, is_private=is_private)
    )
    return told(fact_href(fact_id), Told.PRIVATE if is_private else Told.SHARED, receipt)


@router.get("/memory/facts/{fact_id}/forget")
async def forget_page(request: Request, person: Decider, fact_id: FactId) -> HTMLResponse:
    """Say what would be erased, and ask."""
    desk = desk_of(request, person)
    viewer = desk.viewer

    def read(conn: Connection) -> Mapping[str, Any]:
        said = statements_of(conn, viewer, fact_id)
        return {
            "fact": desk.recollection.known(load_fact(conn, viewer, fact_id), said),
            "evidence": desk.recollection.evidence(said),
            "erased": erasure_lines(preview_forget(conn, viewer, fact_id)),
        }

    return await show("memory_forget.html", desk, "memory", read)


@router.post("/memory/facts/{fact_id}/forget")
async def forget(
    request: Request,
    person: Decider,
    fact_id: FactId,
    sure: Annotated[str, Form(max_length=3)] = "",
) -> RedirectResponse:
    """Erase it for good."""
    if sure != "yes":
        raise InputError("this cannot be undone; tick the box to confirm")
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(lambda conn: setting_right(desk).forget(conn, fact_id))
    await asyncio.to_thread(desk.house.store.fold_log)
    return told("/memory", Told.FORGOTTEN, receipt)


_MOST_READ = 10_000
_MOST_FOUND = 20
_MOST_ASKED = 3
_ANSWERS: Mapping[str, Literal[Answered.KEEP_BOTH, Answered.NEWER, Answered.OLDER]] = {
    "both": Answered.KEEP_BOTH,
    "newer": Answered.NEWER,
    "older": Answered.OLDER,
}


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
                text,
                day,
                first=first_remembered(conn, viewer),
                count=len(facts) + len(answers),
                wording=desk.wording,
            ),
            "waiting": _waiting(conn, desk) if is_plain and not of else (),
            "undecided": _undecided(conn, desk) if is_plain and not of else (),
            "shelves": shelves(desk.recollection, facts, evidence, view),
            "view": view,
            "found": answers,
        }

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
                text=hit.text,
                speaker=recollection.speaker(hit.speaker),
                at=wording.moment(hit.at),
                spoken=wording.long_moment(hit.at),
                iso=wording.local(hit.at).isoformat(timespec="seconds"),
            )
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


# What was said to the assistant, newest first.


_A_PAGE = 40


@router.get("/memory/heard")
async def heard_page(
    request: Request, person: door.Viewer, *, before: Annotated[ToldTime | None, Query()] = None
) -> HTMLResponse:
    """Show what was said, by day."""
    desk = desk_of(request, person)
    since = before if before is None or before.tzinfo else before.replace(tzinfo=desk.wording.zone)

    def read(conn: Connection) -> Mapping[str, Any]:
        found = list_episodes(conn, desk.viewer, before=since, limit=_A_PAGE)
        outdated = outdated_spans(conn, desk.household, [each.id for each in found], at=desk.now)
        is_full = len(found) == _A_PAGE
        earlier = urlencode({"before": found[-1].said_at.isoformat()}) if is_full else ""
        return {
            "days": days_of(found, outdated, desk.recollection),
            "earlier": f"/memory/heard?{earlier}" if earlier else "",
        }

    return await show("memory_heard.html", desk, "memory", read)


# What belongs together, as a picture and as a list.


@router.get("/memory/map")
async def map_page(request: Request, person: door.Viewer) -> HTMLResponse:
    """Show the concepts and what joins them."""
    desk = desk_of(request, person)
    viewer = desk.viewer
    store, household = desk.house.store, desk.household
    if await store.read(lambda conn: concepts.is_behind(conn, household)):
        await concepts.follow_all_facts(store, household)

    def read(conn: Connection) -> Mapping[str, Any]:
        found = concepts.concept_map(conn, viewer, now=desk.now)
        facts = facts_seen(
            conn, viewer, {each for relation in found.relations for each in relation.facts}
        )

        def named(concept: Concept) -> str:
            name = desk.recollection.speaker(concept.name).name
            said = (
                line for each in found.relations if each.source == name for line in lines_of(each)
            )
            return next(filter(None, (concepts.told_as(name.split(), line) for line in said)), name)

        def lines_of(relation: Relation) -> Sequence[str]:
            return [facts[each].narrative for each in relation.facts if each in facts]

        drawn = concept_map(found.concepts, found.relations, named=named, told=lines_of)
        return {"map": drawn}

    return await show("memory_map.html", desk, "memory", read)


# All that the viewer may see of memory, to take along: one JSON object a line.


@router.get("/memory/export")
async def export(
    request: Request, person: door.Reader, *, what: Annotated[Exported, Query()] = Exported.FACTS
) -> Response:
    """Answer facts or episodes as JSONL, for `kinkeeper import` and other programs."""
    desk = desk_of(request, person)
    viewer, names = desk.viewer, desk.house.household.names
    text = await desk.house.store.read(
        lambda conn: "".join(exported_lines(conn, desk.household, what, names=names, viewer=viewer))
    )
    name = f"{desk.household}-{what.value}-{desk.wording.today.isoformat()}.jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(text, media_type="application/x-ndjson", headers=headers)


_RUNS_A_PAGE = 20
_MOST_LINES = 25

ChangeId = Annotated[str, Path(max_length=64)]


@router.get("/memory/changes")
async def changes_page(
    request: Request,
    person: door.Viewer,
    *,
    before: Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER)] = None,
    outcome: Annotated[Told | None, Query(alias="told")] = None,
) -> HTMLResponse:
    """Show what changed, newest first."""
    desk = desk_of(request, person)
    viewer = desk.viewer

    def read(conn: Connection) -> Mapping[str, Any]:
        found = journal.list_changes(conn, desk.household, before=before, limit=_RUNS_A_PAGE)
        shown = [_shown(conn, desk, viewer, each) for each in found]
        is_full = len(found) == _RUNS_A_PAGE
        return {
            "notice": notice_of(outcome, ""),
            "changes": [each for each in shown if each is not None],
            "question": None if before else _question(conn, desk, viewer),
            "earlier": f"/memory/changes?before={found[-1].number}" if is_full else "",
        }

    return await show("memory_changes.html", desk, "memory", read)


@router.post("/memory/changes/{change_id}/undo")
async def undo(request: Request, person: door.Decider, change_id: ChangeId) -> RedirectResponse:
    """Take a change back as a whole."""
    desk = desk_of(request, person)

    def work(conn: Connection) -> Receipt:
        return setting_right(desk).take_back(conn, change_id)

    return told("/memory/changes", Told.UNDONE, await desk.house.store.write(work))


@router.post("/memory/nights/{run_id}/answer")
async def answer(
    request: Request,
    person: door.Decider,
    run_id: Annotated[str, Path(max_length=64)],
    answer: Annotated[str, Form(pattern="^(yes|no)$")],
) -> RedirectResponse:
    """Let the next night do what this one asks for, or leave everything as it is."""
    desk = desk_of(request, person)

    def settle(conn: Connection) -> None:
        if answer == "yes":
            runs.approve(conn, desk.household, run_id)
        else:
            keep_all(conn, desk.household, run_id, by=person.member.id, at=desk.now)

    await desk.house.store.write(settle)
    return back_to("/memory/changes", Told.APPROVED if answer == "yes" else Told.LEFT)


def _touched(conn: Connection, desk: Desk, change_id: str) -> Sequence[str]:
    """Return the ids of the facts that a change touched."""
    images = journal.images_of(conn, desk.household, change_id)
    return [each.row_id for each in images if each.table == fact_rows.name]


def _hidden(conn: Connection, viewer: Viewer, ids: Sequence[str]) -> set[str]:
    """Return those of the facts that the viewer may not see."""
    found = facts_by_id(conn, viewer.household, ids)
    return {each.id for each in found.values() if not viewer.sees(each.scope)}


def _shown(conn: Connection, desk: Desk, viewer: Viewer, change: ChangeSet) -> Change | None:
    """Return a change as far as the viewer may see it; None where they may see nothing of it."""
    ids = _touched(conn, desk, change.id)
    hidden = _hidden(conn, viewer, ids)
    seen = [each for each in ids if each not in hidden]
    if (ids and not seen) or is_anothers(conn, viewer, change.id):
        return None
    pairs = [_pair(conn, viewer, each, change) for each in seen[:_MOST_LINES]]
    is_before_sharing = change.undone_at is None and not any(map(any, pairs))
    if is_before_sharing and facts_by_id(conn, viewer.household, seen):
        return None
    lines = fact_changes(pairs)
    may_undo = (
        may_take_back(conn, viewer, change) and journal.why_not_undoable(conn, change) is None
    )
    wording = desk.wording
    return Change(
        kind=CAUSES[change.cause],
        line=_line(desk, change, lines),
        at=wording.moment(change.made_at),
        spoken=wording.long_moment(change.made_at),
        lines=lines,
        is_long=is_long(lines),
        more=unlisted(pairs, beyond=len(seen) - len(pairs)),
        undo_id=change.id if may_undo else "",
        undone=_undone(desk, change),
    )


def _pair(conn: Connection, viewer: Viewer, fact_id: str, change: ChangeSet) -> Pair:
    """Return a fact right before and right after a change; nothing of one that is gone."""
    try:
        versions = history(conn, viewer, fact_id)
    except NotFoundError:
        return None, None
    before: Fact | None = None
    for version in reversed(versions):
        if version.change is not None and version.change.id == change.id:
            return before, version.fact
        before = version.fact
    return None, None


def _line(desk: Desk, change: ChangeSet, lines: Sequence[FactChange]) -> str:
    by = change.made_by if change.made_by in desk.people.members else None
    name = desk.people.of(by).name if by else ""
    if len(lines) == 1:
        return f"By {name}" if name else ""
    count = f"{len(lines)} things changed" if lines else "Nothing changed"
    return f"{count} by {name}" if name else count


def _undone(desk: Desk, change: ChangeSet) -> str:
    if change.undone_at is None:
        return ""
    by = f" by {desk.recollection.speaker(change.undone_by).name}" if change.undone_by else ""
    return f"Undone{by} {desk.wording.moment(change.undone_at)}."


def _question(conn: Connection, desk: Desk, viewer: Viewer) -> NightQuestion | None:
    """Return what a night waits for, if it does."""
    run = runs.open_question(conn, desk.household)
    if run is None:
        return None
    report = run.report
    losses = [each for each in ChangeKind if each.is_loss]
    told_of = tell(conn, run, viewer=viewer, kinds=losses, limit=_MOST_LINES)
    lines = wishes(told_of)
    return NightQuestion(
        id=run.id,
        line=f"Archive {report.leaving} of {report.active} memories?",
        text="Nightly upkeep asks before archiving more than 5% of all memories. "
        "You can restore them for 90 days.",
        lines=lines,
        more=_and_more(report.leaving - len(lines)),
        is_answered=run.state is RunState.APPROVED,
    )


def _and_more(count: int) -> str:
    return f"and {count} more" if count > 0 else ""
