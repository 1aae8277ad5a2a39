"""Which deeds a question asks for, and which of those that somebody told answers it. Pure."""

from dataclasses import dataclass

from kinkeeper.brain.question import Question
from kinkeeper.household.model import Household
from kinkeeper.memory.finding.terms import stems, words
from kinkeeper.memory.statement_match import is_of_speaker
from kinkeeper.memory.statements.care import deeds_of, people_in
from kinkeeper.reading.asked import general_words
from kinkeeper.reading.coreference import root_of
from kinkeeper.reading.deeds import (
    Deed,
    DeedAsked,
    asks_for_deed,
    is_all_children,
    says_what,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeedQuestion:
    """A question for deeds.

    Attributes:
        household: Whose members may be named.
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
        found, named = list[Deed](), frozenset[str]()
        for each in deeds_of(text, self.household):
            named = people_in(each.text, self.household) or (
                named if each.points_back else frozenset()
            )
            if self._is_answered(each, named, teller):
                found.append(each)
        return found[-1] if found else None

    def _is_answered(self, deed: Deed, named: frozenset[str], teller: str | None) -> bool:
        is_own = not named and (deed.is_taken or deed.is_mine)
        about = {teller} if is_own else named
        # What is told of nobody may be of anybody: the answer quotes it.
        is_theirs = self.people <= about or not about
        is_said = self.content <= _roots_of(deed.text) if self.content else deed.is_care
        return is_said and is_theirs


def deed_question(
    question: Question, household: Household, asker: str | None
) -> DeedQuestion | None:
    """Return what deeds a question asks for; None where it asks for something else.

    Args:
        asker: Member id of who asks.
    """
    kind, about = asks_for_deed(question.text), question.without_times
    if kind is None:
        return None
    said = [each for each in words(about) if says_what(each) and not is_all_children(each)]
    roots = {root_of(stem) for word in said for stem in stems(word) if stem not in question.people}
    people = people_in(about, household)
    if asker is not None and is_of_speaker(about):
        people |= {asker}
    if not (roots or people):
        return None
    return DeedQuestion(
        household=household, content=frozenset(roots), people=people,
        is_all=kind is DeedAsked.ALL or not roots,
    )  # fmt: skip


def _roots_of(text: str) -> frozenset[str]:
    return frozenset(root_of(stem) for stem in stems(f"{text} {general_words(text)}"))
