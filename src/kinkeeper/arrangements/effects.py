"""What each act does to the arrangements."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from kinkeeper.arrangements import news, ownership
from kinkeeper.arrangements.draft import Draft
from kinkeeper.arrangements.model import JOBS, Told
from kinkeeper.arrangements.selection import NEWS, linked
from kinkeeper.reading.model import Act, Modality

_UNTRUE: Final = frozenset({Modality.JOKE, Modality.PAST, Modality.HYPOTHETICAL})

_EFFECTS: Final[Mapping[Act, Callable[[Told, Draft], None]]] = {
    Act.STATE: news.state,
    Act.CORRECT: news.correct,
    Act.REPORT_DONE: news.report_done,
    Act.ASK: ownership.ask,
    Act.REQUEST: ownership.ask,
    Act.OFFER: ownership.offer,
    Act.ASSIGN: ownership.assign,
    Act.PROMISE: ownership.promise,
    Act.ACCEPT: ownership.accept,
    Act.DECLINE: ownership.decline,
    Act.WITHDRAW: ownership.withdraw,
}


def apply(told: Told, draft: Draft) -> None:
    """Let one clause open, amend or close arrangements; jokes, stories and suppositions do nothing.

    Args:
        told: The clause.
        draft: Gets the result.
    """
    if told.modality in _UNTRUE or told.act not in _EFFECTS:
        return
    told = draft.linked_to_talk(told)
    if told.is_for_addressee and (said := draft.answered(told)):
        told = replace(told, who_for=(said[0].speaker,))
    if told.is_for_others and told.predicate in JOBS and not told.who_for:
        told = replace(told, likely_for=draft.last_named(told) or told.likely_for)
    if told.is_weekday and told.predicate not in NEWS and told.act is not Act.CORRECT:
        known = [draft.state.whole(each).when for each in linked(told, draft.state)]
        for each in known:
            told = replace(told, when=told.when.in_week_of(each))
    _EFFECTS[told.act](told, draft)
