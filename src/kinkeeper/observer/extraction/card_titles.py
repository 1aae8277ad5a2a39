"""What a card is called: the phrase of the message that the trained reader sees its subject in. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile
from typing import Final

from kinkeeper.language.lexicon import Mention
from kinkeeper.observer.model import TITLE, Entity, Extraction
from kinkeeper.observer.wording.message_view import Reading, Symbol
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.observer.wording.plain_words import is_noun_phrase
from kinkeeper.reading.model import Frame, Predicate, Slot, SlotName

LONGEST_TITLE: Final = 60
"""Characters."""

_PERSON_SYMBOLS: Final = frozenset({"<child>", "<adult>", "<kids>"})
_WAYS: Final = frozenset({Predicate.PICKUP, Predicate.DROPOFF, Predicate.COVER})
_SAYS_LITTLE: Final = frozenset(
    {"appointment", "church", "hospital", "religious service", "repair"}
)
_POINTS: Final = frozenset(
    {"thing", "things", "stuff", "one", "ones", "mine", "yours", "this", "that", "these", "those"}
)
_LED_TO: Final = frozenset({"to", "from", "at", "for", "after", "during"})
_LONG: Final = 4
_VERB_ENDS: Final = ("s", "d")
"""Of a verb told of somebody else, or of the past: "gets", "moved"."""
_ARTICLES: Final = frozenset(
    {"the", "a", "an", "my", "our", "your", "his", "her", "their", "this", "that", "some"}
)
LED_IN: Final = _ARTICLES | {"to", "for", "at", "on", "of"}
"""Words before a phrase that are no part of a title."""

_OBJECTS: Final = _ARTICLES | {"it", "them", "him", "by", "<child>", "<adult>"}


def called(
    extraction: Extraction, seen: Sequence[Frame], reading: Reading, participants: Participants
) -> Extraction:
    """Return what is read with the family's words for it on the card, where the household has no name for it.

    A general word gives way to the phrase in which it stands, and to any other one only where it says next to nothing.

    Args:
        extraction: By the rules.
        seen: The frames of its words.
        reading: The whole message.
        participants: The household compiled.
    """
    is_named = any(each.id == extraction.activity for each in participants.household.activities)
    if is_named or extraction.is_in_own_words:
        return extraction
    general = [each for each in reading.of_kind("generic") if each.id == extraction.activity]
    is_open = not general or extraction.activity in _SAYS_LITTLE
    for frame in sorted(seen, key=lambda each: each.predicate in _WAYS):
        for slot in frame.slots:
            title = _noun_phrase(slot, reading) if _may_name(slot, frame, reading) else None
            is_around = title and any(title.start <= each.start < title.end for each in general)
            if title is not None and (is_around or is_open):
                return replace(extraction, entities=(*extraction.entities, title))
    return extraction


def _may_name(slot: Slot, frame: Frame, reading: Reading) -> bool:
    """Tell whether a slot says what it is about: of a way, where from or where to."""
    if frame.predicate not in _WAYS:
        return slot.name is SlotName.WHAT
    is_end = slot.name in {SlotName.WHAT, SlotName.WHERE}
    before = [each for each in reading.symbols if each.end <= slot.start]
    while before and (before[-1].text in _ARTICLES or _is_owner(before[-1])):
        before.pop()
    return is_end and bool(before) and before[-1].text in _LED_TO


def _noun_phrase(slot: Slot, reading: Reading) -> Entity | None:
    """Return the noun phrase that a slot holds or begins, without whom it is for; None where it holds none."""
    symbols = [each for each in reading.symbols if slot.start <= each.start < slot.end]
    if len(symbols) > 1 and symbols[-1].text in _PERSON_SYMBOLS and symbols[-2].text == "for":
        symbols = symbols[:-2]
    symbols = [*dropwhile(_is_owner, symbols)]
    if not symbols or {each.text for each in symbols} <= _PERSON_SYMBOLS | _POINTS:
        return None
    symbols = symbols + _rest(symbols[-1], reading)
    if not is_noun_phrase(reading.text, symbols) or _is_deed(symbols, reading):
        return None
    start, end = symbols[0].start, symbols[-1].end
    before = next((each for each in reversed(reading.symbols) if each.end <= start), None)
    if before is not None and before.text in _ARTICLES:
        start = before.start
    return Entity(
        type=TITLE, surface=reading.text[start:end], start=start, end=end,
        value=_as_written(reading.text, start, end),
    )  # fmt: skip


def _as_written(text: str, start: int, end: int) -> str:
    """Return a phrase with the capitals of its names, but not those of a sentence or of a shout."""
    words = [*dropwhile(lambda each: each.lower() in LED_IN, text[start:end].split())]
    is_first = not text[:start].rstrip() or text[:start].rstrip()[-1] in '.!?"“:'
    if is_first or text[start:end].isupper():
        words = [each.lower() for each in words]
    return " ".join(words)[:LONGEST_TITLE]


def _rest(last: Symbol, reading: Reading) -> list[Symbol]:
    """Return the noun with which a phrase goes on that was cut short ("eye" of "the eye clinic on Thursday")."""
    after = [each for each in reading.symbols if each.start >= last.end][:2]
    if not after or reading.text[last.end : after[0].start] != " ":
        return []
    word, text = after[0], reading.text
    is_last = len(after) == 1 or text[word.end : after[1].start] != " " or not is_noun_phrase(text, after[1:])  # fmt: skip
    is_noun = word.text == "<generic>" or (
        word.item is None and len(word.text) >= _LONG and not word.text.endswith(_VERB_ENDS)
    )
    return [word] if is_last and is_noun and is_noun_phrase(text, [word]) else []


def _is_deed(symbols: Sequence[Symbol], reading: Reading) -> bool:
    """Tell whether the one word of a phrase is what somebody does to something ("ring the plumber")."""
    following = next((each for each in reading.symbols if each.start >= symbols[-1].end), None)
    is_led = following is not None and following.text in _OBJECTS
    return len(symbols) == 1 and is_led


def _is_owner(symbol: Symbol) -> bool:
    """Tell whether a unit says whose something is; cards say so themselves."""
    return isinstance(symbol.item, Mention) and symbol.item.surface.endswith(
        ("'s", "’s", "s'", "s’")
    )
