"""Imports episodes and facts from files of JSON lines; each is seen by those whom its author would have let see the same words."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.brain.evidence_search import Kind, check_kinds
from kinkeeper.cli.chat_files import BadLine
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import Where
from kinkeeper.cli.memory_opener import Memory, memory_opened
from kinkeeper.cli.opener import member_named
from kinkeeper.cli.terminal import Progress, answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock, instant_told, latest_told
from kinkeeper.household.model import Household, Member, resolve_sender
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    is_project,
    kept_from,
    narrowest,
    surprise_scope,
)
from kinkeeper.memory.episodes import count_episodes, episodes_by_id, insert_episodes
from kinkeeper.memory.facts import count_facts, facts_by_id
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import compares_meaning
from kinkeeper.memory.finding.vectors import drop_vectors
from kinkeeper.memory.ingest import ImportedFact, import_facts
from kinkeeper.memory.model import Category, Episode, FactStatus, Origin
from kinkeeper.memory.statements.classification import classify
from kinkeeper.memory.statements.discretion import speaks_of_self
from kinkeeper.memory.statements.secrecy import (
    CARRIED_ON,
    MOST_CARRIED_ON,
    audience_of,
    points_back,
    secrecy_of,
)
from kinkeeper.messaging.message_json import parse_record

_Wishes = deque[tuple[datetime, str]]


@dataclass(frozen=True, slots=True)
class Audiences:
    """Tells who may see lines that do not say so, in the order of their file.

    Attributes:
        household: Whose members may be named.
        importer: Counts as the author of what names none.
        asked: Ids of the lines whose words were read, because they do not say who may see them.
    """

    household: Household
    importer: Member
    asked: set[str] = field(default_factory=set)
    _wishes: dict[tuple[str, str | None], _Wishes] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=MOST_CARRIED_ON))
    )

    def of_fact(self, fact: ImportedFact) -> ImportedFact:
        """Return a fact that does not say who may see it with those who may.

        Args:
            fact: As its line has it.
        """
        self.asked.add(fact.id)
        return replace(fact, scope=_all_of(self._told(fact.text, None)))

    def of_episode(self, said: Episode, *, is_open: bool) -> Episode:
        """Return what was said with those who may see it; a wish holds for what its author says next in the same session.

        Args:
            said: As its line has it.
            is_open: Whether the line does not say who may see it.
        """
        told = self._told(said.text, said.speaker)
        before = self._wishes[said.session or "", said.speaker] if said.session else _Wishes()
        lately = {scope for then, scope in before if said.said_at - then <= CARRIED_ON}
        if told != {HOUSEHOLD_SCOPE} and secrecy_of(said.text, self.household, None) is not None:
            before.append((said.said_at, _all_of(told)))
        if not is_open:
            return said
        self.asked.add(said.id)
        return replace(said, scope=_all_of({*told, *lately}))

    def kept_afterwards(self, new: Sequence[Episode]) -> list[Episode]:
        """Return episodes, of which each is kept as its author asks right after it.

        Args:
            new: In the order of their file.
        """
        kept, people = [*new], self.household.members_by_word
        for at in range(len(kept) - 1, 0, -1):
            wish, before = kept[at], kept[at - 1]
            is_same = (wish.session, wish.speaker) == (before.session, before.speaker)
            is_kept = wish.session is not None and not is_project(before.scope)
            if is_same and is_kept and points_back(wish.text, people):
                kept[at - 1] = replace(before, scope=_all_of({before.scope, wish.scope}))
        return kept

    def _told(self, text: str, speaker: str | None) -> set[str]:
        """Return who may see words, by their author; where nobody knows whose they are, by all whose they may be.

        The fitted heads, which are slow, read only what tells of oneself.
        """
        author = self.importer if speaker is None else resolve_sender(self.household, speaker)
        scopes = {HOUSEHOLD_SCOPE}
        if author is not None:
            is_title = not speaks_of_self(text)
            scopes.add(audience_of(text, self.household, author.id, is_title=is_title))
        wish = None if speaker and author else secrecy_of(text, self.household, None)
        return scopes if wish is None else {*scopes, wish.scope}


def _all_of(scopes: set[str]) -> str:
    """Return the scope of those who may see all; where nobody may, of all but those whom it is kept from."""
    hidden = frozenset[str]().union(*map(kept_from, scopes))
    return narrowest(scopes) or (
        surprise_scope(hidden) if hidden else min(scopes - {HOUSEHOLD_SCOPE})
    )


def kept_as(fact: ImportedFact, evidence: Mapping[str, Episode]) -> ImportedFact:
    """Return a fact that no more people see than what it rests on.

    Args:
        fact: One that does not say who may see it.
        evidence: Stored episodes by id.
    """
    rests_on = {evidence[each].scope for each in fact.evidence if each in evidence}
    return replace(fact, scope=_all_of({fact.scope, *rests_on}))


T = TypeVar("T", bound=Episode | ImportedFact)

Writing = Callable[[Connection], Mapping[str, str]]
"""Stores rows, and returns the scopes of those that were new by their ids."""

_BATCH = 500


def import_memories(
    where: Where, file: Path, *, as_facts: bool, waits: bool, rebuilds: bool, by: str | None = None
) -> int:
    """Import a file and write a line for each; returns how many lines were bad.

    What does not say who may see it is seen by those whom its author would have let see it.

    Args:
        as_facts: Whether they are facts, and not episodes.
        waits: Whether to return only when all is found by its meaning too.
        rebuilds: Whether all vectors are made anew.
        by: Who imports, and counts as the author of what names none; the owner or the first adult where None.

    Raises:
        InputError: The file cannot be read, or no member is called so.
    """
    with memory_opened(where) as memory, lines_of(file) as lines:
        audiences = _audiences(memory, by)
        if as_facts:
            items = read_lines(lines, partial(fact_of, zone=memory.zone, audiences=audiences))
            bad = _import(memory, items, _store_facts, "facts imported", audiences)
        else:
            read = partial(
                episode_of, household=memory.household, zone=memory.zone, audiences=audiences
            )
            store = partial(_store_episodes, audiences)
            bad = _import(memory, read_lines(lines, read), store, "episodes imported", audiences)
        if rebuilds:
            memory.store.write_now(lambda conn: drop_vectors(conn, memory.household))
        if waits or rebuilds:
            asyncio.run(embed_all(memory))
    return bad


async def embed_all(memory: Memory) -> None:
    """Make all vectors that are missing, and show how far it is."""
    async with embedder_opened(memory.settings) as embedder:
        model = embedder if compares_meaning(embedder) else None
        if model is None:
            notice("searchable by words; EMBEDDER=minilm also compares meaning")
        work = EmbeddingWork(memory.store, memory.household, model)
        progress = Progress("made ready", total=memory.store.read_now(_waiting(memory)))
        while made := await work.run_once():
            progress.add(made)
        progress.finish()


def _waiting(memory: Memory) -> Callable[[Connection], int | None]:
    def count(conn: Connection) -> int | None:
        pending = count_episodes(conn, memory.household)["pending"]
        pending += count_facts(conn, memory.household).get(FactStatus.PENDING_EMBED, 0)
        return pending or None

    return count


def _audiences(memory: Memory, by: str | None) -> Audiences | None:
    household = memory.people
    if household is None:
        return None
    owner = household.member(household.owner or "") or next(iter(household.adults), None)
    importer = owner if by is None else member_named(household, by)
    return None if importer is None else Audiences(household, importer)


def _import(
    memory: Memory,
    items: Iterator[T | BadLine],
    store: Callable[[str, Sequence[T], Collection[str]], Writing],
    what: str,
    audiences: Audiences | None,
) -> int:
    bad, hidden, progress = 0, 0, Progress(what)
    asked = set[str]() if audiences is None else audiences.asked
    while batch := [*islice(items, _BATCH)]:
        good = [each for each in batch if not isinstance(each, BadLine)]
        new = memory.store.write_now(store(memory.household, good, asked))
        for each in batch:
            bad += isinstance(each, BadLine)
            answer_json(_report(each, new))
        hidden += sum(new[each] != HOUSEHOLD_SCOPE for each in new.keys() & asked)
        progress.add(len(good))
    progress.finish()
    if hidden:
        notice(f"{hidden} kept from some of the household: their words read like something private")
    return bad


def _report(item: Episode | ImportedFact | BadLine, new: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(item, BadLine):
        return item.record()
    return {"id": item.id, "status": "stored" if item.id in new else "known"}


def _store_episodes(
    audiences: Audiences | None, _household: str, given: Sequence[Episode], asked: Collection[str]
) -> Writing:
    new = audiences.kept_afterwards(given) if audiences is not None and asked else [*given]

    def store(conn: Connection) -> dict[str, str]:
        stored = {*insert_episodes(conn, new, at=SystemClock().now())}
        return {each.id: each.scope for each in new if each.id in stored}

    return store


def _store_facts(household: str, given: Sequence[ImportedFact], asked: Collection[str]) -> Writing:
    def store(conn: Connection) -> dict[str, str]:
        known = facts_by_id(conn, household, [each.id for each in given])
        rest_on = {one for each in given if each.id in asked for one in each.evidence}
        evidence = episodes_by_id(conn, household, rest_on)
        new = [
            kept_as(each, evidence) if each.id in asked else each
            for each in given
            if each.id not in known
        ]
        import_facts(conn, household, new, at=SystemClock().now())
        return {each.id: each.scope for each in new}

    return store


Line = TypeVar("Line")

_SOURCE = "import"
_MOST_HITS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A line of a file of queries.

    Attributes:
        text: What to look for.
        scopes: What is searched beside the household's, if anything.
        limit: Most hits.
        kinds: What may be found.
        as_of: As of when, aware; None where it is asked what holds now.
    """

    id: Any
    text: str
    scopes: frozenset[str]
    limit: int
    kinds: tuple[Kind, ...]
    as_of: datetime | None


def read_lines(
    lines: Iterable[bytes], read: Callable[[Mapping[str, Any]], Line]
) -> Iterator[Line | BadLine]:
    """Yield what each line says, in their order; blank lines are left out.

    Args:
        lines: Of a file of JSON objects.
    """
    for number, raw in enumerate(lines, start=1):
        line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
        if not line.strip():
            continue
        try:
            yield read(parse_record(line))
        except InputError as error:
            yield BadLine(number=number, error=str(error))


def episode_of(
    record: Mapping[str, Any], *, household: str, zone: ZoneInfo, audiences: Audiences | None = None
) -> Episode:
    """Return the episode of a record; where it does not say who may see it, its words tell.

    Args:
        zone: Of a time without an offset.
        audiences: Reads its words; None where no member is known, and all is the household's.
    """
    scope = _optional(record, "scope")
    said = Episode(
        household=household,
        id=_text(record, "id"),
        text=_text(record, "text"),
        speaker=_optional(record, "member") or _optional(record, "speaker"),
        session=_optional(record, "session"),
        scope=scope or HOUSEHOLD_SCOPE,
        said_at=instant_told(_text(record, "at"), zone),
        origin=Origin.IMPORTED,
        source=_SOURCE,
        channel=_SOURCE,
    )
    return said if audiences is None else audiences.of_episode(said, is_open=not scope)


def fact_of(
    record: Mapping[str, Any], *, zone: ZoneInfo, audiences: Audiences | None = None
) -> ImportedFact:
    """Return the fact of a record; where it names no category, or not who may see it, its words tell.

    Args:
        zone: Of a time without an offset.
        audiences: Reads its words; None where no member is known, and all is the household's.
    """
    text = _text(record, "text")
    told = classify(text)
    evidence = record.get("evidence", [])
    if not isinstance(evidence, list) or not all(isinstance(each, str) for each in evidence):
        raise InputError('"evidence" must be a list of episode ids')
    scope = _optional(record, "scope")
    fact = ImportedFact(
        id=_text(record, "id"),
        text=text,
        title=told.title,
        type=told.type,
        category=_category(record) or told.category,
        confidence=_share(record, "confidence"),
        at=instant_told(_text(record, "at"), zone),
        scope=scope or HOUSEHOLD_SCOPE,
        evidence=tuple(evidence),
    )
    return fact if scope or audiences is None else audiences.of_fact(fact)


def query_of(record: Mapping[str, Any], *, zone: ZoneInfo) -> Query:
    """Return the query of a record; as of a time it is one to memory alone unless it says otherwise.

    Args:
        zone: Of a time without an offset.
    """
    limit = record.get("k", 10)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit <= _MOST_HITS:
        raise InputError(f'"k" must be a number from 1 to {_MOST_HITS}')
    told = _optional(record, "as_of")
    as_of = None if told is None else latest_told(told, zone)
    usual = [kind.value for kind in Kind if as_of is None or kind is not Kind.EVENT]
    types = record.get("types", usual)
    if not isinstance(types, list) or not all(each in [*Kind] for each in types):
        raise InputError(f'"types" must be a list of {", ".join(Kind)}')
    kinds = tuple(kind for kind in Kind if kind in types)
    check_kinds(kinds, as_of=as_of)
    scope = _optional(record, "scope")
    return Query(
        id=record.get("id"),
        text=_text(record, "query"),
        limit=limit,
        scopes=frozenset({HOUSEHOLD_SCOPE} | ({scope} if scope else set())),
        kinds=kinds,
        as_of=as_of,
    )


def _text(record: Mapping[str, Any], name: str) -> str:
    value = _optional(record, name)
    if value is None or not value.strip():
        raise InputError(f'"{name}" is missing or empty')
    return value


def _optional(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(f'"{name}" must be text')
    # Halves of a character can be neither stored nor written out again.
    return None if value is None else value.encode("utf-8", "replace").decode()


def _share(record: Mapping[str, Any], name: str) -> float | None:
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f'"{name}" must be a number from 0 to 1')
    return float(value)


def _category(record: Mapping[str, Any]) -> Category | None:
    value = _optional(record, "category")
    if value is None:
        return None
    try:
        return Category(value)
    except ValueError as error:
        known = ", ".join(category.value for category in Category)
        raise InputError(f"unknown category {value!r}; choose one of {known}") from error
