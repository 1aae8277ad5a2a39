"""Requests about memory: what is to be remembered, put right, looked for, or forgotten for good."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field
from sqlalchemy import Connection

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.memory import EditFact, SetScope, SetToldScope, remembered_lines
from kinkeeper.actions.memory_proposals import asked_to_remember
from kinkeeper.actions.model import ActionType
from kinkeeper.actions.requests.model import Asked, Card, Found, Parameters, Prepared, RequestKind
from kinkeeper.actions.requests.parameters import (
    ForWhom,
    Moment,
    SetAudience,
    becomes_seen,
    is_private,
    kept_scope,
    said,
    scope_for,
)
from kinkeeper.actions.setting_right import forgetting_of
from kinkeeper.core.beside import beside
from kinkeeper.core.errors import DeniedError, InputError, NotFoundError, UnclearError
from kinkeeper.core.time import latest_told
from kinkeeper.household.model import members_by_name
from kinkeeper.household.viewers import Viewer, audience_json, person_scope
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import shorten
from kinkeeper.memory.context.session_facts import Names, name_of
from kinkeeper.memory.corrections import check_may_set_scope, turns_of
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.finding.search import Finder, Search
from kinkeeper.memory.finding.visible_results import Hit
from kinkeeper.memory.model import Episode, EpisodeKind, Fact
from kinkeeper.store.store import Store

_MOST_COMPARED = 2000
_MOST_OPTIONS = 5
_MOST_FOUND = 8
_LATELY = 20
_LONGEST_SUMMARY = 140
_LONGEST_OPTION = 80
_BEARS = 0.5


class StoreFact(ForWhom):
    """What is to be remembered."""

    value: str = Field(min_length=1, description="the statement, as the person said it")
    key: str | None = Field(default=None, description="what it is about, if the value does not say")
    category: str | None = Field(default=None, description="only a hint")


class UpdateFact(Parameters):
    """What is to be put right."""

    key: str = Field(min_length=1, description="words from the current memory")
    new_value: str = Field(min_length=1, description="the whole statement after the correction")


class SearchMemory(Parameters):
    """What memories are about."""

    query: str = Field(min_length=1)
    as_of: str | None = Field(
        default=None, description="a date or date-time: what was true then; default is now"
    )
    said_by: str | None = Field(default=None, description="only what this person said")


class ForgetMemory(Parameters):
    """What is to be erased."""

    find_by: str = Field(min_length=1, description="the memory's id, or words from it")


def memory_requests(store: Store, finder: Finder) -> tuple[RequestKind, ...]:
    """Return the rows of the table of requests that are about memory."""
    requests = _MemoryRequests(store, finder)
    return (
        RequestKind(
            domain="memory",
            name="store",
            parameters=StoreFact,
            stakes=Stakes.LOW,
            description="Remember a statement for good.",
            progress="Remembering that…",
            prepare=requests.store,
            cost=0.8,
        ),
        RequestKind(
            domain="memory",
            name="update",
            parameters=UpdateFact,
            stakes=Stakes.LOW,
            description="Correct something remembered.",
            progress="Correcting that…",
            prepare=requests.update,
        ),
        RequestKind(
            domain="memory",
            name="set_audience",
            parameters=SetAudience,
            stakes=Stakes.LOW,
            description="Share a memory with the household, or make it private.",
            progress="Searching memory…",
            prepare=requests.set_audience,
        ),
        RequestKind(
            domain="memory",
            name="search",
            parameters=SearchMemory,
            stakes=Stakes.LOW,
            description="Find what is remembered about something or somebody.",
            progress="Searching memory…",
            read=requests.search,
        ),
        RequestKind(
            domain="memory",
            name="forget",
            parameters=ForgetMemory,
            stakes=Stakes.HIGH,
            description="Erase something remembered for good.",
            progress="Searching memory…",
            prepare=requests.forget,
        ),
    )


class _MemoryRequests:
    def __init__(self, store: Store, finder: Finder) -> None:
        self._store = store
        self._finder = finder

    async def store(self, wanted: StoreFact, asked: Asked) -> Prepared:
        text = _statement(wanted)
        is_title = not asked.member.is_adult  # what others tell is heard by rules alone
        scope = await beside(lambda: scope_for(wanted, asked, text=text, is_title=is_title))
        proposal = asked_to_remember(
            asked.household,
            asked.member,
            text,
            channel=asked.channel,
            now=asked.now,
            scope=scope,
            source_id=f"{asked.turn_id}:{asked.number}",
        )
        return Prepared(
            type=proposal.type,
            summary=proposal.summary,
            effects=proposal.effects,
            shown={"text": text},
            result={
                "title": text,
                "text": text,
                **audience_json(scope),
                "is_told": wanted.private is not None,
                "memories": [*remembered_lines(proposal.effects)],
            },
        )

    async def set_audience(self, wanted: SetAudience, asked: Asked) -> Prepared:
        if (said := await self._own_words(wanted.find_by, asked)) is not None:
            return _audience_of_words(said, kept_scope(said.scope, wanted, asked), asked)
        fact = await self._meant(wanted.find_by, asked.viewer, asked)
        scope = kept_scope(fact.scope, wanted, asked)
        _check_may_change(fact.scope, scope, asked)

        def turns(conn: Connection) -> tuple[str, ...]:
            check_may_set_scope(conn, asked.viewer, fact.id)
            return turns_of(conn, asked.viewer, fact.id)

        # Whoever may not see it before or after must not read of it here either.
        effect = SetScope(
            fact_id=fact.id,
            narrative=fact.narrative,
            scope=person_scope(asked.member.id),
            new_scope=scope,
            episodes=await self._store.read(turns),
        )
        return Prepared(
            type=ActionType.MEMORY_FACT,
            effects=(effect.frozen(),),
            summary=shorten(f"{becomes_seen(scope, asked)}: {fact.narrative}", _LONGEST_SUMMARY),
            shown={"text": fact.narrative},
            result={
                "id": fact.id,
                "title": fact.narrative,
                **audience_json(scope),
                "memories": [fact.narrative],
            },
        )

    async def update(self, wanted: UpdateFact, asked: Asked) -> Prepared:
        viewer = asked.viewer
        fact = await self._meant(wanted.key, viewer, asked)
        text = wanted.new_value.strip()
        if text == fact.narrative:
            raise InputError("I already remember that")
        effect = EditFact(fact_id=fact.id, narrative=fact.narrative, scope=fact.scope, text=text)
        return Prepared(
            type=ActionType.MEMORY_FACT,
            effects=(effect.frozen(),),
            summary=shorten(f"Corrected: {text}", _LONGEST_SUMMARY),
            shown={"before": fact.narrative, "after": text},
            result={"id": fact.id, "title": text, "text": text, "before": fact.narrative},
        )

    async def search(self, wanted: SearchMemory, asked: Asked) -> Found:
        said_by = (wanted.said_by or "").casefold()
        who = asked.household.member(members_by_name(asked.household).get(said_by, said_by))
        query = wanted.query if who is not None else f"{wanted.query} {said_by}".strip()
        found = await self._finder.search(
            Search(
                text=query,
                viewer=asked.viewer,
                now=asked.now,
                limit=_MOST_FOUND,
                min_relevance=_BEARS,
                speakers=None if who is None else frozenset({who.id, who.name.casefold()}),
                as_of=None
                if wanted.as_of is None
                else latest_told(wanted.as_of, asked.household.zone),
            )
        )
        names = asked.household.names
        items = tuple(
            {
                "id": hit.id,
                "text": hit.text,
                "when": said(Moment(at=hit.at), asked),
                "detail": name_of(hit.speaker, names) or "",
            }
            for hit in found.hits
        )
        card = Card(kind="facts", title="What I remember", items=items)
        return Found(result={"facts": [_hit_json(hit, names) for hit in found.hits]}, card=card)

    async def forget(self, wanted: ForgetMemory, asked: Asked) -> Prepared:
        fact = await self._meant(wanted.find_by, asked.viewer, asked)
        effect = await self._store.read(lambda conn: forgetting_of(conn, asked.viewer, fact))
        return Prepared(
            type=ActionType.MEMORY_FACT,
            effects=(effect.frozen(),),
            params={
                "find_by": fact.id
            },  # what it was found by may be words that nobody else may read
            summary=shorten(f"Forget for good: {fact.narrative}", _LONGEST_SUMMARY),
            shown={"text": fact.narrative},
            result={"id": fact.id, "title": fact.narrative},
        )

    async def _own_words(self, text: str, asked: Asked) -> Episode | None:
        """Return what this person said lately in exactly these words, if anything."""
        lately = await self._store.read(
            lambda conn: list_episodes(conn, asked.viewer, kind=EpisodeKind.TURN, limit=_LATELY)
        )
        own = (each for each in lately if each.member == asked.member.id and each.text == text)
        return next(own, None)

    async def _meant(self, words: str, viewer: Viewer, asked: Asked) -> Fact:
        """Return the one fact that is meant.

        Raises:
            NotFoundError: None is.
            UnclearError: Several can be.
        """
        known: Sequence[Fact] = await self._store.read(
            lambda conn: list_facts(conn, viewer, now=asked.now, limit=_MOST_COMPARED)
        )
        found = [fact for fact in known if fact.id == words.strip()]
        found = found or [
            known[place] for place in meant_by(words, [each.narrative for each in known])
        ]
        if not found:
            raise NotFoundError(f"I don't remember anything like {words!r}")
        if len(found) > 1:
            options = [shorten(fact.narrative, _LONGEST_OPTION) for fact in found[:_MOST_OPTIONS]]
            raise UnclearError(f"Which one do you mean: {'; '.join(options)}?", options=options)
        return found[0]


def _check_may_change(before: str, after: str, asked: Asked) -> None:
    """Refuse a change of who may see something that its person may not ask for.

    Nobody else could read the question, so a child's own yes would take it from all others, or tell it to them.

    Raises:
        InputError: It is so already.
        DeniedError: They are no adult.
    """
    if before == after:
        raise InputError("it's already like that")
    if asked.member.is_adult:
        return
    if is_private(before):
        raise DeniedError(
            "an adult has to approve what the whole family will see; say “remember that …” with the whole sentence"
        )
    raise DeniedError("only an adult can hide something the family knows")


def _audience_of_words(said: Episode, scope: str, asked: Asked) -> Prepared:
    _check_may_change(said.scope, scope, asked)
    effect = SetToldScope(
        episode_id=said.id, text=said.text, new_scope=scope, scope=person_scope(asked.member.id)
    )
    return Prepared(
        type=ActionType.MEMORY_FACT,
        effects=(effect.frozen(),),
        summary=shorten(f"{becomes_seen(scope, asked)}: {said.text}", _LONGEST_SUMMARY),
        shown={"text": said.text},
        result={"id": said.id, "title": said.text, **audience_json(scope)},
    )


def _statement(wanted: StoreFact) -> str:
    value, key = wanted.value.strip(), (wanted.key or "").strip()
    if not value:
        raise InputError("tell me what to remember")
    if not key or meant_by(key, [value]):
        return value
    return f"{key}: {value}"


def _hit_json(hit: Hit, names: Names) -> dict[str, Any]:
    return {
        "id": hit.id,
        "kind": hit.kind.value,
        "title": shorten(hit.text, _LONGEST_OPTION),
        "text": hit.text,
        "at": hit.at.isoformat(),
        "speaker": name_of(hit.speaker, names),
        "relevance": hit.relevance,
    }
