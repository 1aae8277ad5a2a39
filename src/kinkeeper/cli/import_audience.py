"""Who may see what a file of memories tells: those whom its author would have let see the same words. Pure."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from kinkeeper.household.model import Household, Member, resolve_sender
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    is_project,
    kept_from,
    narrowest,
    surprise_scope,
)
from kinkeeper.memory.ingest import ImportedFact
from kinkeeper.memory.model import Episode
from kinkeeper.memory.statements.discretion import speaks_of_self
from kinkeeper.memory.statements.secrecy import (
    CARRIED_ON,
    MOST_CARRIED_ON,
    audience_of,
    points_back,
    secrecy_of,
)

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
