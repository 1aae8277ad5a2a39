"""What is told of others in the household, or of all: everybody may want to know it, so that is offered. Pure."""

from dataclasses import replace

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, action
from kinkeeper.conversation.planning.people import who_of
from kinkeeper.memory.model import Observation
from kinkeeper.memory.statements.durability import is_lasting
from kinkeeper.memory.statements.extraction import observe

_MOST_OFFERED = 3


def told_facts(case: Case) -> list[PlannedAction]:
    """Return offers to remember for all what a message tells for good of others at home.

    What somebody tells of themselves is kept for them without a word, as all that is told is.
    """
    names = case.household.words_for_people
    return [
        replace(_stored(told), is_offer=True)
        for told in observe(case.context.text, said_at=case.now, locale=case.household.locale)
        if told.correction is None and is_lasting(told.text, names) and _is_of_others(told, case)
    ][:_MOST_OFFERED]


def _is_of_others(told: Observation, case: Case) -> bool:
    return bool(set(who_of(told.text, case)) - {case.context.asked.member.id})


def _stored(told: Observation) -> PlannedAction:
    params = {"category": told.category.value, "value": told.narrative, "private": False}
    return action("memory", "store", params)
