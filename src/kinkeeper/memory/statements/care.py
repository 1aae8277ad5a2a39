"""What is told of deeds that are over, in a household: whom they were for, and which of them answers a question. Pure."""

from dataclasses import dataclass

from kinkeeper.household.model import Household, Member
from kinkeeper.memory.finding.terms import stems, words
from kinkeeper.memory.statement_match import is_of_speaker
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.memory.statements.names import kin_canons, person_canons
from kinkeeper.reading.asked import general_words
from kinkeeper.reading.coreference import root_of
from kinkeeper.reading.deeds import (
    Deed,
    DeedAsked,
    asks_for_deed,
    clauses_of,
    deeds_told,
    is_all_children,
    says_what,
)


def is_report(text: str, household: Household) -> bool:
    """Return whether a message tells what was done for a child, a pet or the house, or happened to them: who minds them next asks for it.

    Args:
        text: The whole message, verbatim.
    """
    return any(
        not each.is_mine and (each.is_chore or _is_of_charge(each, household))
        for each in deeds_told(text)
    )


def is_told_of_self(text: str, household: Household) -> bool:
    """Return whether a message tells what its teller took, or did not: that is theirs alone."""
    return any(each.is_taken and not _people_in(each.text, household) for each in deeds_told(text))


def without_care(text: str, household: Household) -> str:
    """Return a message without the clauses that tell of care for a child or a pet: they are no affairs of its teller's."""
    told = {
        each.text
        for each in deeds_told(text)
        if each.is_care and not each.is_mine and _is_of_charge(each, household)
    }
    return " ".join(each for each in clauses_of(text) if each not in told)


def _is_of_charge(deed: Deed, household: Household) -> bool:
    """Whether a deed is about a child or a pet."""
    children = {each.id for each in household.children}
    is_of_pet = not {*map(canon_of, words(deed.text))}.isdisjoint(kin_canons() - person_canons())
    return is_of_pet or not children.isdisjoint(_people_in(deed.text, household))


def _people_in(text: str, household: Household) -> frozenset[str]:
    """Return the ids of members whom a text names."""
    said = {*stems(text)}
    named = {each.id for each in household.members if not said.isdisjoint(_called(each))}
    if any(map(is_all_children, words(text))):
        named |= {each.id for each in household.children}
    return frozenset(named)


def _called(member: Member) -> frozenset[str]:
    return frozenset(stem for name in (member.name, *member.aliases) for stem in stems(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeedQuestion:
    """A question for deeds.

    Attributes:
        content: Roots of the words that tell what deed it is; none where all are asked for.
        people: Ids of the members whom it names.
        is_all: Whether it asks for all deeds.
    """

    household: Household
    content: frozenset[str]
    people: frozenset[str]
    is_all: bool

    def answer_in(self, text: str, teller: str | None) -> Deed | None:
        """Return the deed in a message that answers it, if one does.

        Args:
            text: What was said, verbatim.
            teller: Member id of who said it.
        """
        if not self.content <= _roots_of(text):
            return None
        found = [each for each in deeds_told(text) if self._is_answered(each, teller)]
        return found[-1] if found else None

    def _is_answered(self, deed: Deed, teller: str | None) -> bool:
        named = _people_in(deed.text, self.household)
        is_own = not named and (deed.is_taken or deed.is_mine)
        about = named or ({teller} if is_own else set[str | None]())
        # Whoever is said to have done something for the house may have had help.
        is_theirs = self.people <= about or not about
        is_said = self.content <= _roots_of(deed.text) if self.content else deed.is_care
        return is_said and is_theirs and (bool(self.people) or bool(self.content))


def deed_question(
    text: str, household: Household, asker: str | None, *, about: str
) -> DeedQuestion | None:
    """Return what deeds a question asks for; None where it asks for something else.

    Args:
        asker: Member id of who asks.
        about: The question without its times.
    """
    kind = asks_for_deed(text)
    if kind is None:
        return None
    names = {stem for each in household.members for stem in _called(each)}
    said = [each for each in words(about) if says_what(each) and not is_all_children(each)]
    content = {root_of(stem) for word in said for stem in stems(word) if stem not in names}
    people = _people_in(about, household)
    if asker is not None and is_of_speaker(about):
        people |= {asker}
    if not (content or people):
        return None
    return DeedQuestion(
        household=household, content=frozenset(content), people=people,
        is_all=kind is DeedAsked.ALL or not content,
    )  # fmt: skip


def _roots_of(text: str) -> frozenset[str]:
    return frozenset(root_of(stem) for stem in stems(f"{text} {general_words(text)}"))
