"""Whoever may see a part of what was told sees that part: not its message, not what it said before, not what did it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.core.errors import DeniedError, NotFoundError
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.memory.browser import history
from kinkeeper.memory.episodes import insert_episodes, list_episodes, reply_id
from kinkeeper.memory.evidence import out_of
from kinkeeper.memory.facts import find_fact, list_facts, statements_of
from kinkeeper.memory.ingest import remember
from kinkeeper.memory.invariants import check
from kinkeeper.memory.journal import Cause, list_changes
from kinkeeper.memory.model import Category, Episode, Observation, Origin
from kinkeeper.memory.sessions import SessionMessage, session_of, take_in
from kinkeeper.store.store import Store
from live_household import HOUSEHOLD
from memory_chains import NOW

PLACES = ("cellar", "attic", "shed", "locker", "garage", "bike")
WORDS = (
    "quokka",
    "zither",
    "walnut",
    "copper",
    "violet",
    "saffron",
    "marble",
    "cactus",
    "tundra",
    "pelican",
    "lantern",
    "gravel",
    "mango",
    "velvet",
    "thimble",
    "orchid",
)
TELLERS, VIEWERS = ("john", "sarah"), ("john", "sarah", "leo", "mia")
ACTS = ("share", "narrow", "correct", "forget")


@dataclass(slots=True)
class Part:
    """One sentence that somebody told, with the words it said before, and who may read each.

    Attributes:
        teller: Who told it.
        place: What it is about.
        fact_id: Its fact.
        words: What it said, the present word last.
        audience: By word, the scope of those who may read it; None once it was forgotten.
    """

    teller: str
    place: str
    fact_id: str
    words: list[str]
    audience: dict[str, str | None] = field(default_factory=dict)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "memory.sqlite")) as opened:
        yield opened


@cache
def family() -> Household:
    return load_household(HOUSEHOLD)


def test_each_part_keeps_its_own_audience(store: Store) -> None:
    wrong = [
        line for number in range(24) for line in store.write_now(lambda c, n=number: _tried(c, n))
    ]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.nightly
def test_each_part_keeps_its_own_audience_in_many_cases(store: Store) -> None:
    wrong = [
        line
        for number in range(24, 300)
        for line in store.write_now(lambda c, n=number: _tried(c, n))
    ]
    assert not wrong, "\n".join(wrong[:20])


def _tried(conn: Connection, number: int) -> list[str]:
    """Return what anybody reads wrongly, or misses, after each act of a random story."""
    draw = random.Random(f"audience of parts {number}")  # noqa: S311  (reproducible)
    household = replace(family(), id=f"h{number}")
    words = iter(draw.sample(WORDS, len(WORDS)))
    parts = _told(conn, household, draw, words)
    wrong, done = [], []
    for step in range(4):
        part = draw.choice([each for each in parts if None not in each.audience.values()] or parts)
        act, at = draw.choice(ACTS), NOW + timedelta(hours=step + 1)
        _act(conn, household, part, act, words, at=at)
        done.append(f"{act} {part.place}")
        where = f"{number} {done}"
        wrong += [f"{where}: {each}" for each in _misread(conn, household, parts, at)]
        wrong += [f"{where}: {each}" for each in check(conn, household.id)]
    return wrong


def _told(
    conn: Connection, household: Household, draw: random.Random, words: Iterator[str]
) -> list[Part]:
    parts = []
    places = iter(draw.sample(PLACES, len(PLACES)))
    for number in range(3):
        teller = draw.choice(TELLERS)
        scope = draw.choice([HOUSEHOLD_SCOPE, person_scope(teller), person_scope(teller)])
        said = [(next(places), next(words)) for _ in range(2)]
        sentences = [f"The code of the {place} is {word}." for place, word in said]
        text, at = " ".join(sentences), NOW + timedelta(minutes=number)
        starts = [0, len(sentences[0]) + 1]
        episode = Episode(
            household=household.id,
            id=f"{household.id}-{number}",
            scope=scope,
            session=f"s{number}",
            text=text,
            member=teller,
            said_at=at,
            origin=Origin.SAID,
        )
        seen = [
            Observation(
                text=each,
                start=start,
                end=start + len(each),
                category=Category.CONSTRAINT,
                title=each,
                narrative=each,
            )
            for start, each in zip(starts, sentences, strict=True)
        ]
        remember(conn, episode, seen, at=at)
        reply = replace(
            episode, id=reply_id(household.id, episode.id), is_assistant=True, text=f"Saved: {text}"
        )
        insert_episodes(conn, [reply], at=at, is_read=True)
        stored = sorted(out_of(conn, household.id, [episode.id]), key=lambda each: each.start)
        parts += [
            Part(teller, place, str(each.fact_id), [word], {word: scope})
            for each, (place, word) in zip(stored, said, strict=True)
        ]
    return parts


def _act(
    conn: Connection,
    household: Household,
    part: Part,
    act: str,
    words: Iterator[str],
    *,
    at: datetime,
) -> None:
    right = _hand_of(household, part.teller, at)
    if find_fact(conn, Viewer.of(household.id, part.teller), part.fact_id) is None:
        return
    if act == "share":
        right.set_scope(conn, part.fact_id, is_private=False)
        part.audience[part.words[-1]] = HOUSEHOLD_SCOPE
    elif act == "narrow":
        right.set_scope(conn, part.fact_id, is_private=True)
        part.audience |= dict.fromkeys(part.words, person_scope(part.teller))
    elif act == "correct":
        word = next(words)
        right.edit(conn, part.fact_id, f"The code of the {part.place} is {word}.")
        part.audience[word] = part.audience[part.words[-1]]
        part.words.append(word)
    else:
        right.forget(conn, part.fact_id)
        part.audience |= dict.fromkeys(part.words)


def _hand_of(household: Household, member: str, now: datetime) -> SettingRight:
    (person,) = (each for each in household.members if each.id == member)
    return SettingRight(household=household, member=person, now=now)


def _misread(
    conn: Connection, household: Household, parts: Sequence[Part], at: datetime
) -> Iterator[str]:
    for member in VIEWERS:
        viewer = Viewer.of(household.id, member)
        surfaces = _surfaces(conn, viewer, at)
        for part in parts:
            for word, scope in part.audience.items():
                may_read = scope is not None and viewer.sees(scope)
                read = {name for name, text in surfaces.items() if word in text}
                if read and not may_read:
                    yield f"{member} reads {word} of the {part.place} in {sorted(read)}"
                if may_read and word == part.words[-1] and "facts" not in read:
                    yield f"{member} misses {word} of the {part.place}"


def _surfaces(conn: Connection, viewer: Viewer, at: datetime) -> dict[str, str]:
    known = list_facts(conn, viewer, now=at)
    actions = list_actions(conn, viewer, statuses=[*ActionStatus], now=at)
    return {
        "facts": "\n".join(each.narrative for each in known),
        "evidence": "\n".join(
            s.text for each in known for s in statements_of(conn, viewer, each.id)
        ),
        "history": "\n".join(
            version.fact.narrative + str(version.fact.details)
            for each in known
            for version in history(conn, viewer, each.id)
        ),
        "heard": "\n".join(each.text for each in list_episodes(conn, viewer)),
        "actions": "\n".join(str(each.proposal) for each in actions),
    }


def test_nobody_takes_back_what_changed_anothers_memory(store: Store) -> None:
    def steps(conn: Connection) -> None:
        household = family()
        part, *_ = _told(conn, household, random.Random(2), iter(WORDS))  # noqa: S311
        other = next(each for each in TELLERS if each != part.teller)
        own = _hand_of(household, part.teller, NOW)
        own.set_scope(conn, part.fact_id, is_private=True)
        own.edit(conn, part.fact_id, f"The code of the {part.place} is secret.")
        own.set_scope(conn, part.fact_id, is_private=False)
        for change in list_changes(conn, household.id):
            right = _hand_of(household, other, NOW)
            if change.cause is Cause.PRIVATE:
                with pytest.raises((DeniedError, NotFoundError)):
                    right.take_back(conn, change.id)
        assert part.words[0] not in _surfaces(conn, Viewer.of(household.id, other), NOW)["facts"]

    store.write_now(steps)


def test_what_one_forgets_stays_in_what_others_told_before_and_after(store: Store) -> None:
    def steps(conn: Connection) -> None:
        household = family()
        part, *_ = _told(conn, household, random.Random(1), iter(WORDS))  # noqa: S311
        other = next(each for each in TELLERS if each != part.teller)
        text = f"The code of the {part.place} is {part.words[0]}. It is new."
        for name in ("before", "after"):
            message = SessionMessage(
                content_session_id=name,
                user_message=text,
                assistant_response=f"Noted: {text}",
                member=other,
                timestamp=NOW,
            )
            take_in(conn, household.id, message, at=NOW)
            if name == "before":
                right = _hand_of(household, part.teller, NOW)
                right.forget(conn, part.fact_id)
        texts = [each.text for each in list_episodes(conn, Viewer.of(household.id, other))]
        assert texts.count(text) == texts.count(f"Noted: {text}") == 2
        again = SessionMessage(
            content_session_id="own", user_message=text, member=part.teller, timestamp=NOW
        )
        take_in(conn, household.id, again, at=NOW)
        own = list_episodes(
            conn, Viewer.of(household.id, part.teller), session=session_of(part.teller, "own")
        )
        assert [part.words[0] in each.text for each in own] == [False]

    store.write_now(steps)
