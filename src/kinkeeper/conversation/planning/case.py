"""What the rules know while they read one message: who asks, what is known, what was done before. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from kinkeeper.conversation.model import PlannedAction, PlanningContext
from kinkeeper.conversation.planning.grammar import Grammar, load_grammar
from kinkeeper.conversation.planning.message import Message, read_message
from kinkeeper.conversation.planning.named import Thing, things_of
from kinkeeper.household.model import Household
from kinkeeper.household.vocabulary import Vocabulary

Groups = Mapping[str, str]
"""What a rule found in a clause, by name; empty where it found nothing."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A request of which one thing has to be asked.

    Attributes:
        action: What is known of it.
        field: Name of the parameter that is missing.
        question: What to ask.
    """

    action: PlannedAction
    field: str
    question: str


Step = PlannedAction | Missing


@dataclass(frozen=True)
class Case:
    """One message with all that the rules may look at.

    Attributes:
        context: What the planner was given.
        message: The text with marks.
        grammar: How requests are put.
        vocabulary: Words of the household.
    """

    context: PlanningContext
    message: Message
    grammar: Grammar
    vocabulary: Vocabulary

    @cached_property
    def things(self) -> Sequence[Thing]:
        """Tasks, events and the like that were looked up or spoken of, the latest first; most messages name none."""
        return things_of(self.context)

    @property
    def now(self) -> datetime:
        """When it was said, aware, in the household's zone."""
        return self.context.asked.now

    @property
    def household(self) -> Household:
        """Whose assistant is asked."""
        return self.context.asked.household

    def open_tasks(self) -> Iterator[Thing]:
        """Yield the tasks that are known to be open."""
        return (each for each in self.things if each.kind == "task" and each.is_open)


@lru_cache(maxsize=8)  # a turn plans its message once a step
def _read(text: str, now: datetime, household: Household) -> Message:
    return read_message(text, now, household, load_grammar())


def case_of(context: PlanningContext, vocabulary: Vocabulary) -> Case:
    """Return what the rules need to read a message."""
    grammar = load_grammar()
    asked = context.asked
    return Case(
        context=context,
        message=_read(context.text, asked.now, asked.household),
        grammar=grammar, vocabulary=vocabulary,
    )  # fmt: skip


def action(domain: str, name: str, params: Mapping[str, Any], reasoning: str = "") -> PlannedAction:
    """Return a planned request without the parameters that are not known."""
    known = {key: value for key, value in params.items() if value not in (None, "", [], (), {})}
    return PlannedAction(domain=domain, action=name, params=known, reasoning=reasoning)
