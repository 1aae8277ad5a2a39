"""Which deeds a question asks for, and which of those that somebody told answers it. Pure."""

from dataclasses import dataclass
from functools import cache

from kinkeeper.brain.question import Question
from kinkeeper.household.model import Household
from kinkeeper.language.dictionary import may_be_name
from kinkeeper.memory.finding.terms import stems, words
from kinkeeper.memory.statement_match import is_of_speaker
from kinkeeper.memory.statements.care import deeds_of, frees_others, people_in
from kinkeeper.reading.asked import general_words, medicine_words
from kinkeeper.reading.coreference import root_of
from kinkeeper.reading.deeds import Deed, DeedAsked, asks_for_deed, is_all_children, says_what
from kinkeeper.reading.replies import words_for_fetching


@dataclass(frozen=True, slots=True, kw_only=True)
class DeedQuestion:
    """A question for deeds.

    Attributes:
        household: Whose members may be named.
        content: Roots of the words that tell what deed it is; none where all are asked for.
        people: Ids of the members whom it names.
        kind: Whether it is done, when last, or all deeds.
    """

    household: Household
    content: frozenset[str]
    people: frozenset[str]
    kind: DeedAsked

    @property
    def is_of_medicine(self) -> bool:
        """Whether any medicine is asked for."""
        return bool(self.content) and self.content <= _medicine()

    def answer_in(self, text: str, teller: str | None) -> Deed | None:
        """Return the deed in a message that answers it, if one does.

        Args:
            text: What was said, verbatim.
            teller: Member id of who said it.
        """
        if not (self.is_of_medicine or self.content <= _roots_of(text)):
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
        is_own = not named and (deed.is_mine or (deed.is_taken and not deed.points_back))
        about = {teller} if is_own else named
        # What is told of nobody may be of anybody: the answer quotes it.
        is_theirs = self.people <= about or not about
        is_said = self.content <= _roots_of(deed.text) if self.content else deed.is_care
        return is_theirs and (is_said or (self.is_of_medicine and self._may_be_medicine(deed)))

    def _may_be_medicine(self, deed: Deed) -> bool:
        """Whether it gives what no dictionary has and nobody is called: no list has the names of all medicines."""
        people = self.household.members_by_word
        said = [each for each in words(deed.text) if each.isalpha() and each not in people]
        is_named = any(map(may_be_name, said))
        return deed.is_care and is_named and not general_words(deed.text)


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
        household=household,
        content=frozenset(roots),
        people=people,
        kind=kind if roots else DeedAsked.ALL,
    )


def frees_of(text: str, question: Question, household: Household) -> bool:
    """Whether a message says that others need not do the job for a child for which a question asks who does it."""
    who = people_in(question.text, household)
    if not who or not (frees_others(text, household) and who <= people_in(text, household)):
        return False
    asked, told = _words_of_job(question.without_times), _words_of_job(text)
    names = {root_of(stem) for stem in question.people}
    return not (asked & told) <= names


def _words_of_job(text: str) -> set[str]:
    """Return the roots of words that tell one job from another; all words for fetching somebody are one."""
    said = {root_of(stem) for word in words(text) for stem in stems(word)}
    fetching = {root_of(stem) for word in words_for_fetching() for stem in stems(word)}
    plain = {root_of(stem) for word in words(text) if says_what(word) for stem in stems(word)}
    return plain | fetching if said & fetching else plain


@cache
def _medicine() -> frozenset[str]:
    return frozenset(root_of(stem) for stem in stems(" ".join(medicine_words())))


def _roots_of(text: str) -> frozenset[str]:
    return frozenset(root_of(stem) for stem in stems(f"{text} {general_words(text)}"))
