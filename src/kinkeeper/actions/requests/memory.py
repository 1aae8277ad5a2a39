"""Requests about memory: what is to be remembered, put right, looked for, or forgotten for good."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.memory import EditFact, SetScope, remembered_lines
from kinkeeper.actions.model import ActionType
from kinkeeper.actions.remembering import asked_to_remember
from kinkeeper.actions.requests.audience import SetAudience, is_private, scope_for
from kinkeeper.actions.requests.model import (
    Asked,
    Card,
    Found,
    Parameters,
    Prepared,
    RequestKind,
)
from kinkeeper.actions.requests.moments import Moment, said
from kinkeeper.actions.setting_right import forgetting_of
from kinkeeper.core.errors import DeniedError, InputError, NotFoundError, UnclearError
from kinkeeper.core.time import latest_told
from kinkeeper.household.viewing import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.language.naming import meant_by
from kinkeeper.language.text import shorten
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.finding.search import Finder, Search
from kinkeeper.memory.finding.showing import Hit
from kinkeeper.memory.model import Fact
from kinkeeper.memory.statements.sensitive import is_sensitive
from kinkeeper.store.store import Store

_MOST_COMPARED = 2000
_MOST_OPTIONS = 5
_MOST_FOUND = 8
_LONGEST_SUMMARY = 140
_LONGEST_OPTION = 80
_BEARS = 0.5


class StoreFact(Parameters):
    """What is to be remembered."""

    value: str = Field(min_length=1, description="the statement, as the person said it")
    key: str | None = Field(
        default=None, description="what it is about, where the value does not say"
    )
    category: str | None = Field(default=None, description="no more than a hint")
    private: bool | None = Field(
        default=None,
        description="whether only who asks may recall it; left out where they do not say",
    )


class UpdateFact(Parameters):
    """What is to be put right."""

    key: str = Field(min_length=1, description="words of what is remembered now")
    new_value: str = Field(min_length=1, description="the whole statement as it shall be")


class SearchMemory(Parameters):
    """What memories are about."""

    query: str = Field(min_length=1)
    as_of: str | None = Field(
        default=None,
        description="a day, or a time on it: what held then; left out for what holds now",
    )


class ForgetMemory(Parameters):
    """What is to be erased."""

    find_by: str = Field(min_length=1, description="the memory's id, or words of it")


def memory_requests(store: Store, finder: Finder) -> tuple[RequestKind, ...]:
    """Return the rows of the table of requests that are about memory.

    Args:
        store: Of the household.
        finder: Searches its memory.
    """
    requests = _MemoryRequests(store, finder)
    return (
        RequestKind(
            domain="memory", name="store", parameters=StoreFact, stakes=Stakes.LOW,
            description="Remember a statement for good.", progress="Remembering that…",
            prepare=requests.store, cost=0.8,
        ),
        RequestKind(
            domain="memory", name="update", parameters=UpdateFact, stakes=Stakes.LOW,
            description="Put right what is remembered.", progress="Putting that right…",
            prepare=requests.update,
        ),
        RequestKind(
            domain="memory", name="set_audience", parameters=SetAudience, stakes=Stakes.LOW,
            description="Let the household see something remembered, or keep it to oneself.",
            progress="Searching memory…", prepare=requests.set_audience,
        ),
        RequestKind(
            domain="memory", name="search", parameters=SearchMemory, stakes=Stakes.LOW,
            description="Find what is remembered about something or somebody.",
            progress="Searching memory…", read=requests.search,
        ),
        RequestKind(
            domain="memory", name="forget", parameters=ForgetMemory, stakes=Stakes.HIGH,
            description="Erase something remembered for good.", progress="Searching memory…",
            prepare=requests.forget,
        ),
    )  # fmt: skip


class _MemoryRequests:
    def __init__(self, store: Store, finder: Finder) -> None:
        self._store = store
        self._finder = finder

    async def store(self, wanted: StoreFact, asked: Asked) -> Prepared:
        text = _statement(wanted)
        scope = scope_for(wanted.private, asked, is_usual=is_sensitive(text))
        proposal = asked_to_remember(
            asked.household, asked.member, text, channel=asked.channel, now=asked.now, scope=scope,
            source_id=f"{asked.turn_id}:{asked.number}",
        )  # fmt: skip
        return Prepared(
            type=proposal.type, summary=proposal.summary, effects=proposal.effects,
            shown={"text": text},
            result={
                "title": text, "text": text, "private": is_private(scope), "is_told": wanted.private is not None,
                "memories": [*remembered_lines(proposal.effects)],
            },
        )  # fmt: skip

    async def set_audience(self, wanted: SetAudience, asked: Asked) -> Prepared:
        fact = await self._meant(wanted.find_by, asked.viewer, asked)
        if (fact.scope != HOUSEHOLD_SCOPE) is wanted.private:
            raise InputError("that is so already")
        if wanted.private and not asked.member.is_adult:
            # Nobody else could see the question, so their own yes would take it from all others.
            raise DeniedError("only an adult keeps to themselves what the family knows")
        # Whoever may not see it before or after must not read of it here either.
        effect = SetScope(
            fact_id=fact.id, narrative=fact.narrative, scope=person_scope(asked.member.id),
            is_private=wanted.private,
        )  # fmt: skip
        seen = "only by oneself" if wanted.private else "by the household"
        return Prepared(
            type=ActionType.MEMORY_FACT, effects=(effect.frozen(),),
            summary=shorten(f"Seen {seen}: {fact.narrative}", _LONGEST_SUMMARY),
            shown={"text": fact.narrative},
            result={
                "id": fact.id, "title": fact.narrative, "private": wanted.private,
                "memories": [fact.narrative],
            },
        )  # fmt: skip

    async def update(self, wanted: UpdateFact, asked: Asked) -> Prepared:
        viewer = asked.viewer
        fact = await self._meant(wanted.key, viewer, asked)
        text = wanted.new_value.strip()
        if text == fact.narrative:
            raise InputError("that is what I remember already")
        effect = EditFact(fact_id=fact.id, narrative=fact.narrative, scope=fact.scope, text=text)
        return Prepared(
            type=ActionType.MEMORY_FACT, effects=(effect.frozen(),),
            summary=shorten(f"Put differently: {text}", _LONGEST_SUMMARY),
            shown={"before": fact.narrative, "after": text},
            result={"id": fact.id, "title": text, "text": text, "before": fact.narrative},
        )  # fmt: skip

    async def search(self, wanted: SearchMemory, asked: Asked) -> Found:
        found = await self._finder.search(
            Search(
                text=wanted.query, viewer=asked.viewer,
                now=asked.now, limit=_MOST_FOUND, min_relevance=_BEARS,
                as_of=None if wanted.as_of is None else latest_told(wanted.as_of, asked.household.zone),
            )
        )  # fmt: skip
        items = tuple(
            {
                "id": hit.id,
                "text": hit.text,
                "when": said(Moment(at=hit.at), asked),
                "detail": hit.speaker or "",
            }
            for hit in found.hits
        )
        card = Card(kind="facts", title="What I remember", items=items)
        return Found(result={"facts": [_hit_json(hit) for hit in found.hits]}, card=card)

    async def forget(self, wanted: ForgetMemory, asked: Asked) -> Prepared:
        # All adults can read what awaits a yes, so nobody's own memories are among it.
        viewer = Viewer.of(asked.household.id)
        fact = await self._meant(wanted.find_by, viewer, asked)
        effect = await self._store.read(lambda conn: forgetting_of(conn, viewer, fact))
        return Prepared(
            type=ActionType.MEMORY_FACT, effects=(effect.frozen(),),
            summary=shorten(f"Forget for good: {fact.narrative}", _LONGEST_SUMMARY),
            shown={"text": fact.narrative}, result={"id": fact.id, "title": fact.narrative},
        )  # fmt: skip

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
            raise NotFoundError(f"I remember nothing like {words!r} that the household shares")
        if len(found) > 1:
            options = [shorten(fact.narrative, _LONGEST_OPTION) for fact in found[:_MOST_OPTIONS]]
            raise UnclearError(f"Which one do you mean: {'; '.join(options)}?", options=options)
        return found[0]


def _statement(wanted: StoreFact) -> str:
    value, key = wanted.value.strip(), (wanted.key or "").strip()
    if not value:
        raise InputError("say what I shall remember")
    if not key or meant_by(key, [value]):
        return value
    return f"{key}: {value}"


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "kind": hit.kind.value,
        "title": shorten(hit.text, _LONGEST_OPTION),
        "text": hit.text,
        "at": hit.at.isoformat(),
        "speaker": hit.speaker,
        "relevance": hit.relevance,
    }
