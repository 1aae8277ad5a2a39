"""Whether a message tells its teller's own affairs, of a kind that people keep to themselves.

The heads read what the message means, by the embedder of the package, beside its words. Without the embedder they read
words alone, and that is counted.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.resources import files
from textwrap import wrap
from typing import Final

from kinkeeper.core.errors import UnavailableError
from kinkeeper.language.dictionary import first_names
from kinkeeper.language.sorting.sorter import Kind, sorted_by
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.memory.statements.clauses import unframed
from kinkeeper.memory.statements.names import kin, kin_canons
from kinkeeper.memory.statements.sentences import LONGEST_MESSAGE, parts_of
from kinkeeper.memory.statements.slots import slots
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.memory.statements.subjects import ME
from kinkeeper.models.embedding.embedder import HashingEmbedder, Vectors, WithWords, hashed, joined
from kinkeeper.models.embedding.minilm import REMEDY, shared_minilm, weights_path
from kinkeeper.observability.failures import surviving
from kinkeeper.reading.asked import LimitKind, forbids, general_words, reacts
from kinkeeper.reading.modality import Modality, begins_bare, modality_of
from kinkeeper.reading.times import read
from kinkeeper.reading.times.model import SpanKind

# Whether a statement is of a kind that people keep to themselves: about their own health, feelings,
# money, keys or love. Pure.

_BODILY = ("health", "body")
_OWN = (*_BODILY, "feelings", "love")
_UNLESS_SHARED = ("money", "keys", "plans")
_GIFTS = "gifts"
_OUTSIDERS = frozenset(
    {
        "best friend",
        "boss",
        "coach",
        "colleague",
        "flatmate",
        "friend",
        "landlord",
        "neighbour",
        "sitter",
        "teacher",
    }
)
"""Slots of those who are neither family nor see to the family's health."""
_OF_DAYS = frozenset({SpanKind.DATE, SpanKind.DATETIME, SpanKind.RANGE})
_ANY_DAY = datetime(2026, 1, 1, tzinfo=UTC)
"""From when times are read where it only counts that they are some."""


def is_sensitive(text: str, *, with_gifts: bool = True) -> bool:
    """Return whether a statement tells of whoever speaks what is nobody else's business unless they say so.

    What is told of others, of a child for one, and what those around have to know (an allergy) is not.

    Args:
        text: One statement, as it was said.
        with_gifts: Whether what they want to give is, too.
    """
    core, _ = unframed(" ".join(text.replace("’", "'").lower().split()).rstrip(" .!"))
    patterns = _patterns()
    if patterns["concerns_others"].search(core) or not patterns["self"].search(core):
        return False
    if patterns["toward"].search(core):
        return True
    own = patterns["of_others"].sub(" ", core)
    if not patterns["self"].search(own):
        return False
    topics = _OWN if patterns["shared"].search(core) else (*_OWN, *_UNLESS_SHARED)
    if with_gifts:
        topics = (*topics, _GIFTS)
    bodily = own
    if not patterns["intimate"].search(own):
        bodily = patterns["of_named"].sub(r"\g<edge> ", _with_people(own, text))
    return any(patterns[name].search(bodily if name in _BODILY else own) for name in topics)


def is_health_of_outsider(text: str) -> bool:
    """Return whether somebody who is no family is told to have or take something: whoever tells it was trusted with it.

    What they did ("the sitter gave him his medicine") is for all to know.

    Args:
        text: The whole message, verbatim, which names nobody of the household.
    """
    core = text.replace("’", "'").lower()
    patterns = _patterns()
    if patterns["concerns_others"].search(core):
        return False
    known = slots().nouns
    nouns = {known.get(canon_of(_bare(each))) for each in core.split()}
    who = {each.name for each in nouns if each is not None and each.is_person}
    return (
        bool(who)
        and who <= _OUTSIDERS
        and any(
            any(patterns[each].search(part.text) for each in _BODILY)
            and modality_of(part.text) is not Modality.PAST
            for part in parts_of(core)
        )
    )


def is_health_of_other(text: str) -> bool:
    """Return whether a sentence with no word for its teller, but for whose kin somebody is, tells of health: a dose, a weight.

    What people keep to themselves whoever's it is ("the pill") is none.

    Args:
        text: A sentence about somebody else.
    """
    core, patterns = text.replace("’", "'").lower(), _patterns()
    return (
        not speaks_of_self(patterns["of_others"].sub(" ", core))
        and patterns["intimate"].search(core) is None
        and (bool(general_words(core)) or speaks_of_health(core))
    )


def _with_people(core: str, text: str) -> str:
    """Return a statement with "@" for each word for somebody: a first name, kin, or what is written as a name.

    Args:
        core: Of the statement, in small letters.
    """
    written = {each.lower() for each in map(_bare, text.split()[1:]) if each.istitle()}
    bodily = [_patterns()[name] for name in _BODILY]
    people = {
        word
        for word in map(_bare, core.split())
        if word in written or word in first_names() or word in kin()
        if not any(each.search(word) for each in bodily)
    }
    return " ".join(
        each.replace(word, "@") if (word := _bare(each)) in people else each
        for each in core.split()
    )


def _bare(word: str) -> str:
    """Return a word without marks and the end of a possessive."""
    return word.strip(".,;:!?()'\"").removesuffix("'s").removesuffix("’s")


def holds_sensitive(message: str, *, with_gifts: bool = True) -> bool:
    """Return whether any sentence of a message is sensitive.

    Args:
        with_gifts: Whether gifts count.
    """
    parts = (part.text for part in parts_of(message))
    return any(is_sensitive(text, with_gifts=with_gifts) for text in (*_lines(message), *parts))


def speaks_of_self(text: str) -> bool:
    """Return whether any word of a text is for whoever speaks."""
    return _patterns()["self"].search(text.lower()) is not None


def speaks_of_health(text: str) -> bool:
    """Return whether a text speaks of anybody's health or body."""
    core = text.replace("’", "'").lower()
    return any(_patterns()[name].search(core) for name in _BODILY)


def is_grave(text: str) -> bool:
    """Return whether a sentence tells a grave or intimate affair of somebody's, and nothing that those around have to know."""
    core = text.replace("’", "'").lower()
    found = any(_patterns()[name].search(core) for name in ("grave", "intimate"))
    return found and not concerns_others(text)


def concerns_others(text: str) -> bool:
    """Return whether those around have to know what a text tells of somebody: an allergy, what they cannot eat."""
    found = _patterns()["concerns_others"].search(text.lower())
    return found is not None or reacts(text) or forbids(text, LimitKind.DIET)


def tells_of_speaker(message: str) -> bool:
    """Return whether a message tells what its speaker is, does or meets with: no plan, and nothing that concerns others.

    Args:
        message: The whole message, verbatim.
    """
    return any(
        _patterns()["speaker"].search(part.text.lower()) is not None
        and not concerns_others(part.text)
        and not _is_planned(part.text)
        for part in parts_of(message)
    )


def _is_planned(text: str) -> bool:
    """Whether a sentence tells what will be on a day."""
    is_ahead = any(span.kind in _OF_DAYS and span.has_date for span in read(text, _ANY_DAY))
    return is_ahead and modality_of(text) is not Modality.PAST


def _lines(message: str) -> Iterator[str]:
    """Yield the lines of a message, long ones in pieces: a search in one holds up every other thread to its end."""
    for line in message.splitlines():
        for start in range(0, len(line), LONGEST_MESSAGE):
            yield line[start : start + LONGEST_MESSAGE]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    path = files("kinkeeper.reading") / "data" / "sensitive.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: re.compile("".join(map(str.strip, pattern.strip("\n").split("\n"))))
        for name, pattern in data.items()
    }


KIND: Final = Kind(
    name="discretion", package="kinkeeper.memory.statements", cue_names=(), cues_of=lambda _: {}
)
OWN, WISH = "own", "wish"
"""Labels of the heads; their thresholds are in the weights, as a chance of one half."""

STAGE: Final = "memory.discretion"
"""Name under which it is counted that messages were judged by their words alone."""

LONGEST_JUDGED: Final = 2_000
"""Characters of a message that are judged; the rules read on."""

_PIECE: Final = 400
_EVEN: Final = 0.5
_SURE: Final = 0.8
"""Chance from which the teller's own affair is kept for them: at one half, too much of the household's is."""
_SURER: Final = 0.9
"""The same where no word is the teller's."""
_MOST_PLAIN_WORDS: Final = 10
_PARTNER: Final = "partner"
"""Slot of whom somebody lives with or goes out with: what is told of them with no name is often of how the two stand."""
_WHERE: Final = "place"
"""Family of what tells where something is."""
_SHARED_SLOTS: Final = frozenset(
    {
        "name",
        "surname",
        "nickname",
        "pronouns",
        "age",
        "birthday",
        "birthplace",
        "nationality",
        "mother tongue",
        "handedness",
        "eye colour",
        "shoe size",
        "clothes size",
        "home",
        "address",
        "school",
        "employer",
        "works from",
        "email",
        "phone number",
    }
)
"""What people who live together know of each other: telling that it changed is not telling a secret."""


def seems_private(text: str, *, is_minors: bool = False) -> bool:
    """Return whether what is told seems to be its teller's own affair, or to hold a wish for secrecy.

    What is said without a word of the teller ("I", "my") is rarely an affair of theirs: others may have to know it.
    Blocks for some milliseconds; the last messages are remembered.

    Args:
        text: The whole message, verbatim.
        is_minors: Whether its teller is no adult: what they tell of themselves is theirs in doubt.
    """
    least = _SURER
    if speaks_of_self(text[:LONGEST_JUDGED]):
        least = _EVEN if is_minors else _SURE
    own, wish = _chances(text)
    return wish >= _EVEN or (own >= least and not _is_shared_identity(text[:LONGEST_JUDGED]))


def seems_own_title(title: str) -> bool:
    """Return whether something for nobody but its teller, which names nobody, seems an affair of their own. Blocks as `seems_private` does."""
    names_somebody = "@" in _with_people(title.lower(), title)
    return not names_somebody and _chances(f"my own {title}")[0] >= _SURER


def leaves_out_teller(message: str) -> bool:
    """Return whether a sentence tells an affair of its teller's without a word for them: "lost the job", "results were clear".

    A bare verb or thing at its beginning is read as theirs, but where a thing is kept is told for all. Blocks as
    `seems_private` does.

    Args:
        message: The whole message, verbatim, which names nobody of the household.
    """
    return any(
        begins_bare(part.text) and not concerns_others(part.text) and _is_own_if_tellers(part.text)
        for part in parts_of(message[:LONGEST_JUDGED])
    )


def _is_own_if_tellers(text: str) -> bool:
    first, *others = (canon_of(_bare(each.lower())) for each in text.split()[:2])
    slot = slots().nouns.get(first)
    if slot is not None and slot.name == _PARTNER:
        return kin_canons().isdisjoint(others) and _chances(f"I {text}")[0] >= _SURE
    return (
        kin_canons().isdisjoint((first, *others))
        and is_sensitive(f"my {text}")
        and not any(each.family == _WHERE for each in read_statement(text))
        and _chances(f"my own {text}")[0] >= _EVEN
    )


@lru_cache(maxsize=256)
def _chances(text: str) -> tuple[float, float]:
    """Return the highest chances that a piece of a text is its teller's own affair, and that it holds a wish."""
    pieces = wrap(text[:LONGEST_JUDGED], _PIECE)
    if not pieces:
        return 0.0, 0.0
    model, vectors = vectors_of(pieces)
    found = [
        sorted_by(KIND, model, piece, vector).chances
        for piece, vector in zip(pieces, vectors, strict=True)
    ]
    return max(each[OWN] for each in found), max(each[WISH] for each in found)


def _is_shared_identity(text: str) -> bool:
    """Return whether a short message only says who its teller is, or where to find them."""
    if len(text.split()) > _MOST_PLAIN_WORDS:
        return False
    readings = read_statement(text)
    return bool(readings) and all(
        each.subject == ME and each.slot in _SHARED_SLOTS and not each.is_retraction
        for each in readings
    )


def vectors_of(texts: Sequence[str]) -> tuple[str, Vectors]:
    """Return vectors of texts and the name of what made them. Blocks."""
    words = hashed(texts)
    with surviving(STAGE):
        weights = weights_path()
        if weights is None:
            raise UnavailableError(f"the embedder is not installed; {REMEDY}")
        minilm = shared_minilm(weights)
        return WithWords(minilm).model, joined(minilm.embed_now(texts), words)
    return HashingEmbedder().model, words
