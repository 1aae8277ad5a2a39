"""Earlier turns as one may look back at them: without what holds no more, and without answers that rested on it.

A turn keeps its words as they were said, for its person to read. What is handed on to the next turn is cut like
everything that memory shows: by what became of the statements that were read out of it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from kinkeeper.actions.action_retention import gone_sources
from kinkeeper.actions.model import FROM_CHAT, ActionType
from kinkeeper.conversation.answering.names_and_times import plain
from kinkeeper.conversation.model import Exchange
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.turn import Turn, turn_of
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.finding.visible_results import Hit, HitKind, Key, shown
from kinkeeper.memory.redaction import has_forgotten, without_forgotten
from kinkeeper.memory.sessions import turns_now
from kinkeeper.store.prepared import Prepared, is_one_of

_BY_ID = Prepared(
    select(turns).where(
        turns.c.household == bindparam("of_household"), is_one_of(turns.c.id, "of_turns")
    )
)
_LEAD = 12
"""So many words may stand before what was forgotten: "please remember for all of us that …"."""

_KEPT_WORDS, _OF_WORDS = (ActionType.MEMORY_FACT, ActionType.NOTE), frozenset({"memory", "notes"})
_MEMORY, _TURN = "memory", "turn"
_KINDS = {
    HitKind.FACT.value: HitKind.FACT,
    HitKind.EPISODE.value: HitKind.EPISODE,
    _MEMORY: HitKind.FACT,
}


def cut_turns(
    conn: Connection,
    household: str,
    turn_ids: Collection[str],
    *,
    member: str,
    thread: str,
    now: datetime,
) -> Mapping[str, Turn]:
    """Return by id those of some turns that hold no more as they were said, with the words and results that are left."""
    left = turns_now(conn, household, turn_ids, member=member, thread=thread, now=now)
    gone = gone_sources(conn, household, FROM_CHAT, turn_ids)
    is_any_forgotten = has_forgotten(conn, household)
    wanted = {*turn_ids} if is_any_forgotten else {*left, *gone}
    rows = (
        _BY_ID.mappings(conn, {"of_household": household, "of_turns": [*wanted]}) if wanted else ()
    )
    found = [turn_of(row) for row in rows]
    texts = _words_left(conn, found, left, gone, is_any_forgotten=is_any_forgotten)
    return {
        turn.id: replace(turn, text=texts[turn.id], results=() if turn.id in gone else turn.results)
        for turn in found
        if texts[turn.id] != turn.text or turn.id in gone
    }


def _words_left(
    conn: Connection,
    found: Sequence[Turn],
    left: Mapping[str, str],
    gone: Collection[str],
    *,
    is_any_forgotten: bool,
) -> dict[str, str]:
    """Return by id the words of turns without what holds no more, was forgotten, or asked for what is undone."""
    texts = {turn.id: "" if turn.id in gone else left.get(turn.id, turn.text) for turn in found}
    if not is_any_forgotten:
        return texts
    return {
        turn.id: without_forgotten(
            conn,
            turn.household,
            texts[turn.id],
            scope=person_scope(turn.member),
            speaker=turn.member,
            lead=_LEAD,
        )
        for turn in found
    }


def looked_back(
    conn: Connection, viewer: Viewer, earlier: Sequence[Turn], *, now: datetime
) -> list[Exchange]:
    """Return the turns of a thread as what was said before.

    Args:
        earlier: The turns, oldest first.
    """
    if not earlier:
        return []
    ids = [turn.id for turn in earlier]
    theirs = {"member": earlier[0].member, "thread": earlier[0].thread_id}
    now_left = turns_now(conn, viewer.household, ids, **theirs, now=now)
    forgotten = gone_sources(conn, viewer.household, FROM_CHAT, ids, types=_KEPT_WORDS)
    is_any = has_forgotten(conn, viewer.household)
    left = _words_left(conn, earlier, now_left, forgotten, is_any_forgotten=is_any)
    cut = {turn.id for turn in earlier if left[turn.id] != turn.text}
    said = [_without_results(turn, left[turn.id], forgotten) for turn in earlier]
    gone = _stems(turn.text for turn in earlier if turn.id in cut) - _stems(
        each.text for each in said
    )
    told = {name for turn in earlier for name in _told_in(turn)}
    before = cut_turns(conn, viewer.household, told, **theirs, now=now)
    keys = [key for turn in earlier for key in _rests_on(turn)]
    here = shown(conn, viewer, keys, now=now) if keys else {}
    return [
        replace(each, answer="")
        if turn.id in cut
        or _takes_up(turn, gone)
        or _is_stale(turn, here)
        or not before.keys().isdisjoint(_told_in(turn))
        else each
        for turn, each in zip(earlier, said, strict=True)
    ]


def _without_results(turn: Turn, text: str, forgotten: Collection[str]) -> Exchange:
    """Return a turn as what was said before, without the memories and notes that it made and that are gone."""
    exchange = replace(turn.exchange, text=text)
    if turn.id not in forgotten:
        return exchange
    kept = tuple(each for each in turn.results if each.domain not in _OF_WORDS)
    return replace(exchange, results=kept)


def without_words(earlier: Iterable[Turn]) -> list[Exchange]:
    """Return turns as what was done in them, for where nobody can tell which of their words hold."""
    return [replace(turn.exchange, text="", answer="", used=()) for turn in earlier]


def _rests_on(turn: Turn) -> Mapping[Key, str]:
    """Return what an answer took out of memory, and in which words; without words where requests listed it by title."""
    actions = {done.action_id for done in turn.results}
    return {
        Key(_KINDS[each["kind"]], each["id"]): "" if each["kind"] == _MEMORY else each["text"]
        for each in turn.used
        if each["kind"] in _KINDS and each["id"] not in actions
    }


def _told_in(turn: Turn) -> list[str]:
    """Return in which turns stood what an answer took out of the talk; they may be long past."""
    return [each["id"] for each in turn.used if each["kind"] == _TURN]


def _is_stale(turn: Turn, here: Mapping[Key, Hit]) -> bool:
    """Whether an answer rests on what memory shows no more, or shows in other words."""
    return any(
        key not in here or (text and plain(here[key].text) != text)
        for key, text in _rests_on(turn).items()
    )


def _takes_up(turn: Turn, gone: frozenset[str]) -> bool:
    """Whether an answer has words of what holds no more that its question did not have."""
    return bool(gone) and not gone.isdisjoint({*stems(turn.answer or "")} - {*stems(turn.text)})


def _stems(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(stem for text in texts for stem in stems(text))
