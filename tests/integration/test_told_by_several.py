"""One thing that several people told: whoever keeps, shares, corrects or forgets it does so for what they told alone."""

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Connection

from evals.memory_paths import Paths
from kinkeeper.core.errors import DeniedError
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope, surprise_scope
from kinkeeper.memory.context.prefetch import Streaming
from kinkeeper.memory.corrections import edit_fact, narrow_last, set_scope, set_told_scope
from kinkeeper.memory.episodes import insert_episodes, reply_id
from kinkeeper.memory.erasure import forget
from kinkeeper.memory.evidence import out_of
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.finding.search import Finder
from kinkeeper.memory.ingest import remember
from kinkeeper.memory.invariants import check
from kinkeeper.memory.journal import list_changes
from kinkeeper.memory.model import Category, Episode, Observation, Origin
from kinkeeper.memory.undo import undo
from kinkeeper.observer.wording.participants import compile_participants
from kinkeeper.store.store import Store
from live_household import HOUSEHOLD
from memory_chains import NOW, rows

OLD, NEW = "quokka", "zither"
TOLD = (
    ("The wifi password is {}.", "Our wifi password is {}.", "The password of the wifi is {}."),
    ("The alarm code is {}.", "Our alarm code is {}.", "The code of the alarm is {}."),
    (
        "The spare key is in the {} box.",
        "Our spare key is in the {} box.",
        "The spare key is in the {} box.",
    ),
)
TELLERS, VIEWERS = ("john", "sarah"), ("john", "sarah", "leo", "mia")
FROM_LEO = surprise_scope(["leo"])
ACTS = ("wish", "keep", "keep the fact", "share", "correct", "forget")
ALWAYS = ("page of facts", "begin with a query", "search", "brain")
"""Paths on which whoever may see it finds it."""


@dataclass(frozen=True, slots=True)
class Telling:
    """One time that somebody told it."""

    teller: str
    scope: str
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """Who told it to whom, in order, and what the teller of one of them does."""

    tellings: tuple[Telling, ...]
    act: str
    chosen: int

    @property
    def of(self) -> Telling:
        return self.tellings[self.chosen]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "memory.sqlite")) as opened:
        yield opened


@cache
def family() -> Household:
    return load_household(HOUSEHOLD)


def case(number: int) -> Case:
    draw = random.Random(f"told by several {number}")  # noqa: S311  (reproducible)
    wordings = draw.choice(TOLD)
    tellers = [*TELLERS, *draw.choices(TELLERS, k=draw.randrange(2))]
    draw.shuffle(tellers)
    tellings = []
    for teller in tellers:
        # Most tell the household: there what two told is one fact.
        scopes = (*[HOUSEHOLD_SCOPE] * 3, FROM_LEO, FROM_LEO, person_scope(teller))
        text = draw.choice(wordings).format(OLD)
        tellings.append(Telling(teller, draw.choice(scopes), text))
    return Case(tuple(tellings), ACTS[number % len(ACTS)], draw.randrange(len(tellings)))


def test_what_others_told_stays_with_those_they_told(store: Store) -> None:
    asyncio.run(_all_right(store, range(2 * len(ACTS))))


@pytest.mark.nightly
def test_what_others_told_stays_in_many_cases(store: Store) -> None:
    asyncio.run(_all_right(store, range(2 * len(ACTS), 8 * len(ACTS))))


async def _all_right(store: Store, numbers: Sequence[int]) -> None:
    wrong = [f"{case(each)}: {line}" for each in numbers for line in await _tried(store, each)]
    assert not wrong, "\n".join(wrong[:20])


async def _tried(store: Store, number: int) -> list[str]:
    """Return what is wrong after one case."""
    one, household = case(number), replace(family(), id=f"h{number}")
    now = store.write_now(lambda conn: _told(conn, household, one))
    before = store.read_now(rows)
    store.write_now(lambda conn: _act(conn, household, one, at=now))
    wrong = list(map(str, store.read_now(lambda conn: check(conn, household.id))))
    for viewer in VIEWERS:
        said = await _said(store, household, viewer, now + timedelta(hours=1))
        for word, scopes in _expected(one).items():
            may_see = any(Viewer.of(household.id, viewer).sees(each) for each in scopes)
            says = {path for path, text in said.items() if word in text.casefold()}
            if not may_see:
                wrong += [f"{viewer} reads {word} in {path}" for path in sorted(says)]
            else:
                wrong += [f"{viewer} misses {word} in {each}" for each in {*ALWAYS} - says]
    if one.act != "forget":
        store.write_now(lambda conn: _take_back(conn, household.id, now))
        if store.read_now(rows) != before:
            wrong.append("not as it was after taking it back")
    return wrong


def _told(conn: Connection, household: Household, one: Case) -> datetime:
    """Tell it, the chosen one in a session of its own; return when the last was said."""
    for place, telling in enumerate(one.tellings):
        at = NOW + timedelta(minutes=place)
        episode = Episode(
            household=household.id,
            id=f"{household.id}-{place}",
            scope=telling.scope,
            session=f"s{place}",
            text=telling.text,
            member=telling.teller,
            said_at=at,
            origin=Origin.SAID,
        )
        observation = Observation(
            text=telling.text,
            start=0,
            end=len(telling.text),
            category=Category.CONSTRAINT,
            title=telling.text,
            narrative=telling.text,
        )
        remember(conn, episode, [observation], at=at)
        reply = replace(
            episode,
            id=reply_id(household.id, episode.id),
            is_assistant=True,
            text=f"Saved: {telling.text}",
            said_at=at + timedelta(seconds=1),
        )
        insert_episodes(conn, [reply], at=at, is_read=True)
    return at + timedelta(minutes=1)


def _act(conn: Connection, household: Household, one: Case, *, at: datetime) -> None:
    member, episode_id = one.of.teller, f"{household.id}-{one.chosen}"
    viewer, own = Viewer.of(household.id, member), person_scope(member)
    (statement,) = out_of(conn, household.id, [episode_id])
    fact_id = str(statement.fact_id)
    if one.act == "wish":
        narrow_last(
            conn,
            household,
            session=f"s{one.chosen}",
            member=member,
            wish="keep that to yourself",
            at=at,
        )
    elif one.act in {"keep", "share"}:
        scope = own if one.act == "keep" else HOUSEHOLD_SCOPE
        set_told_scope(conn, viewer, episode_id, scope, by=member, at=at)
    elif one.act == "keep the fact":
        set_scope(conn, viewer, fact_id, own, by=member, at=at)
    elif one.act == "correct":
        edit_fact(conn, viewer, fact_id, one.of.text.replace(OLD, NEW), by=member, at=at)
    else:
        forget(conn, viewer, fact_id, by=member, at=at)


def _expected(one: Case) -> dict[str, set[str]]:
    """Return by word who may still find it: the scopes in which it is told after the act."""
    others = {each.scope for each in one.tellings if each.scope != one.of.scope}
    if one.act == "correct":
        return {OLD: others, NEW: {one.of.scope}}
    if one.act == "forget":
        return {OLD: others}
    theirs = {
        each.scope
        for each in one.tellings
        if each.scope == one.of.scope and each.teller != one.of.teller
    }
    moved = HOUSEHOLD_SCOPE if one.act == "share" else person_scope(one.of.teller)
    return {OLD: others | theirs | {moved}}


async def _said(store: Store, household: Household, member: str, now: datetime) -> dict[str, str]:
    clock = VirtualClock(now)
    finder = Finder(store, household.id, zone=household.zone)
    paths = Paths(
        store,
        household,
        member,
        clock=clock,
        finder=finder,
        streaming=Streaming(store, finder, clock),
        participants=compile_participants(household),
    )
    return await paths.says(
        ["What is the wifi password?", "What is the alarm code?", "Where is the spare key?"], ["s0"]
    )


def _take_back(conn: Connection, household: str, at: datetime) -> None:
    last, *_ = list_changes(conn, household)
    if last.made_at == at:
        undo(conn, household, last.id, by=None, at=at)


def test_nobody_takes_from_all_what_another_alone_told(store: Store) -> None:
    text = TOLD[0][0].format(OLD)
    one = Case((Telling("john", HOUSEHOLD_SCOPE, text),), "keep the fact", 0)

    def take(conn: Connection) -> None:
        _told(conn, family(), one)
        viewer = Viewer.of(family().id, "sarah")
        (fact,) = list_facts(conn, viewer, now=NOW)
        with pytest.raises(DeniedError):
            set_scope(conn, viewer, fact.id, person_scope("sarah"), by="sarah", at=NOW)
        assert list_facts(conn, Viewer.of(family().id, "john"), now=NOW) == [fact]

    store.write_now(take)
