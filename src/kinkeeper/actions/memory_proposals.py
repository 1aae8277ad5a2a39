"""Proposals to remember something: asked for by somebody, or overheard. Pure."""

from collections.abc import Sequence
from datetime import datetime

from kinkeeper.actions.consent import Origin as Asked
from kinkeeper.actions.effects.memory import RememberFact, Sentence, Words
from kinkeeper.actions.model import ActionType, Proposal
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household, Member, members_by_name
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, narrowest, person_scope
from kinkeeper.language.text import shorten
from kinkeeper.memory.model import Observation, Origin
from kinkeeper.memory.statements.classification import classify_personal
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.statements.secrecy import secrecy_of

ASKED_FOR = "REMEMBER"
"""Type of the source of what somebody asked to be remembered."""

_SURE = 0.9
_LONGEST_SUMMARY = 140


def asked_to_remember(
    household: Household,
    member: Member,
    text: str,
    *,
    channel: str,
    now: datetime,
    scope: str = HOUSEHOLD_SCOPE,
    source_id: str | None = None,
) -> Proposal:
    """Return the proposal for what a member wants remembered; it is what they say, whatever it is.

    Args:
        text: What is to be remembered, not blank.
        scope: Who may recall it; a wish for secrecy in the words narrows it, and is not remembered itself.
        source_id: What identifies the request, so that it counts once; made from its words and time where None.
    """
    wish = secrecy_of(text, household, member.id)
    if wish is not None:
        scope = narrowest({scope, wish.scope}) or person_scope(member.id)
        text = wish.rest or text
    said_at = now.astimezone(household.zone)
    request = source_id or stable_id(household.id, member.id, text, now.isoformat())
    words = Words(
        id=stable_id(household.id, ASKED_FOR, request),
        text=text,
        speaker=member.name,
        member=member.id,
        said_at=said_at,
        channel=channel,
        origin=Origin.SAID,
    )
    found = observe(
        text, said_at=said_at, locale=household.locale, people=members_by_name(household)
    )
    sentences = [sentence_of(each, text) for each in found] or [_as_it_stands(text)]
    return proposal_of(
        words,
        sentences,
        household=household,
        scope=scope,
        is_wanted=True,
        source=(ASKED_FOR, request, "0"),
        asked=Asked.SAID,
    )


def proposal_of(
    words: Words,
    sentences: Sequence[Sentence],
    *,
    household: Household,
    source: tuple[str, str, str],
    asked: Asked,
    chat_id: str | None = None,
    merge_key: str | None = None,
    scope: str = HOUSEHOLD_SCOPE,
    is_wanted: bool = False,
) -> Proposal:
    """Return the proposal to remember sentences.

    Args:
        sentences: What to remember, at least one.
        source: Type, id and slot of where it comes from.
        asked: How it came to be known.
        chat_id: Chat it comes from, if any.
        merge_key: Equal for proposals of the same thing; None never merges.
        scope: Who may recall it.
        is_wanted: Whether somebody asks for it by name.
    """
    effect = RememberFact(
        words=words,
        sentences=tuple(sentences),
        scope=scope,
        is_wanted=is_wanted,
        people=people_named(household, words.text),
        guardians=household.guardians,
    )
    lines = " ".join(sentence.narrative for sentence in sentences)
    source_type, source_id, slot = source
    return Proposal(
        household=household.id,
        type=ActionType.MEMORY_FACT,
        source_type=source_type,
        source_id=source_id,
        slot=slot,
        chat_id=chat_id,
        extraction={},
        extraction_confidence=min(each.confidence for each in sentences),
        summary=remembering_line(words, lines),
        effects=(effect.frozen(),),
        choices=(),
        merge_key=merge_key,
        origin=asked,
    )


def sentence_of(found: Observation, text: str) -> Sentence:
    """Return what was read out of words in the form that is frozen."""
    correction = found.correction
    return Sentence(
        start=found.start,
        end=found.end,
        category=found.category,
        type=found.type,
        title=found.title,
        narrative=found.narrative,
        confidence=found.confidence,
        completed="" if found.text == text[found.start : found.end] else found.text,
        valid_from=found.valid_from,
        valid_to=found.valid_to,
        is_correction=correction is not None,
        is_retraction=correction is not None and correction.is_retraction,
        corrects=correction.corrects if correction is not None else None,
    )


def remembering_line(words: Words, lines: str, *, is_named: bool = False) -> str:
    """Return the title of a card that asks whether to remember something.

    Args:
        is_named: Whether it names the speaker in any case; else only of what was overheard.
    """
    is_plain = words.origin is Origin.SAID and not is_named
    opening = "Remember" if is_plain else f"Remember, {words.speaker} said"
    return shorten(f"{opening}: {lines}", _LONGEST_SUMMARY)


def people_named(household: Household, text: str) -> dict[str, str]:
    """Return the ids of the members that a text names, by what it may call them, folded."""
    folded = text.casefold()
    return {
        name.casefold(): member.id
        for member in household.members
        for name in (member.name, *member.aliases)
        if name.casefold() in folded
    }


def _as_it_stands(text: str) -> Sentence:
    """Return words as one sentence: who asks for it need not put it as a statement."""
    found = classify_personal(text)
    return Sentence(
        start=0,
        end=len(text),
        category=found.category,
        type=found.type,
        title=found.title,
        narrative=text,
        confidence=_SURE,
    )
