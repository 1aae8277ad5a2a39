"""Whom a clause is about: the clause in the form in which sentences are compared, once for each who may be meant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinkeeper.memory.statements.canonical_words import Word, lexicon, words_of
from kinkeeper.memory.statements.clauses import Clause
from kinkeeper.memory.statements.names import kin
from kinkeeper.memory.statements.slots import SUBJECT

ME = "me"
"""Subject of what is told of oneself, or of nobody."""

_FIRST_PERSON = frozenset(
    ["i", "we", "me", "us", "my", "our", "mine", "ours", "myself", "ourselves"]
)
_OWN = frozenset(["my", "our"])
_PRONOUNS = frozenset(["he", "she", "they", "his", "her", "their", "him", "them"])
_OF_OTHERS = frozenset(["his", "her", "their"])
_POSSESSIVE = "'s"
_AND = "and"
_ARTICLES = frozenset(["a", "an", "the", "this", "that", "these", "those"])
_AUXILIARIES = frozenset(
    ["will", "would", "shall", "can", "could", "do", "does", "did", "may", "might"]
)
_CALLED = frozenset(["called", "named", "name"])
_DO = frozenset(["do", "does", "did"])
_NOUNS_IN_ING = frozenset(
    (
        "nothing",
        "something",
        "anything",
        "everything",
        "thing",
        "king",
        "morning",
        "evening",
        "wedding",
        "spring",
        "ring",
        "string",
    )
)
_PAST_LIKE_PRESENT = frozenset(
    (
        "run",
        "set",
        "put",
        "cut",
        "hit",
        "split",
        "read",
        "become",
        "come",
        "let",
        "shut",
        "cost",
        "beat",
        "quit",
    )
)
_PREPOSITIONS = frozenset(
    (
        "in",
        "on",
        "at",
        "of",
        "for",
        "during",
        "after",
        "before",
        "from",
        "until",
        "by",
        "with",
        "every",
        "each",
    )
)
_PLACES = frozenset(["upstairs", "downstairs", "opposite"])
_ASIDES = _PLACES | {"next", "across", "from"}
_LONGEST_ASIDE = 5
_LONGEST_LEAD = 6
_SHORTEST_PAST = 5
"""Letters of the shortest regular past form that is looked for: "shed", "bed" and "need" are none."""
_S = Word(SUBJECT, SUBJECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A clause as told of one subject.

    Attributes:
        subject: Whom it is about: `ME`, or canonical words of a person; a slash for "my son's teacher".
        words: Canonical words; `SUBJECT` stands for whom it is about.
        sentence: The same, each followed by a space.
        is_negative: Whether it says that something is not so.
        is_former: Whether its verb tells of what was.
        is_event: Whether its verb tells of something that came about and may last.
    """

    clause: Clause
    subject: str
    words: tuple[str, ...]
    sentence: str
    is_negative: bool
    is_former: bool
    is_event: bool


def told_of(clause: Clause) -> tuple[Told, ...]:
    """Return a clause as told of each that it may be about, somebody named before the speaker."""
    words = [word for word in words_of(clause.text) if word.text not in _ARTICLES]
    words = _without_whence(_subject_first(words, clause.names), clause.names)
    return tuple(_told(clause, subject, told) for subject, told in _subjects(words, clause.names))


def _subject_first(words: list[Word], names: frozenset[str]) -> list[Word]:
    """Return words with what stands before their subject behind them: "at eight Grandpa …", "of all pies I …"."""
    if not words or words[0].text not in _PREPOSITIONS:
        return words
    for place in range(2, min(len(words) - 1, _LONGEST_LEAD)):
        word, following = words[place], words[place + 1]
        is_subject = word.canon in names or word.text in kin() or word.text in _PRONOUNS
        if is_subject and following.canon in lexicon().verbs and words[place - 1].text not in _OWN:
            return [*words[place:], *words[:place]]
    return words


def _without_whence(words: list[Word], names: frozenset[str]) -> list[Word]:
    """Return words without what only tells which of that name is meant: "Mrs Lund next door has a key"."""
    end = 0
    while end < len(words) and words[end].canon in names:
        end += 1
    if not end or end >= len(words) or words[end].text not in _ASIDES:
        return words
    first = end + 1 + (words[end].text not in _PLACES)
    for place in range(first, min(len(words) - 1, end + _LONGEST_ASIDE)):
        if words[place].canon in lexicon().verbs and words[place - 1].text not in _OWN:
            return [*words[:end], *words[place:]]
    return words


def _told(clause: Clause, subject: str, words: Sequence[Word]) -> Told:
    negations = lexicon().negations
    kept = [word for word in words if word.text not in lexicon().fillers]
    is_negative = any(word.text in negations for word in kept)
    plain, is_former = _without_auxiliaries(
        [word for word in kept if word.text not in negations], is_negative=is_negative
    )
    said = [word.canon for word in plain if word.text != _POSSESSIVE]
    told = tuple(
        word for at, word in enumerate(said) if word != SUBJECT or said[at - 1 : at] != [SUBJECT]
    )
    verb = next((word for word in told if word in lexicon().verbs and word != "be"), "")
    return Told(
        clause=clause,
        subject=subject,
        words=told,
        sentence=" ".join((*told, "")),
        is_event=verb in lexicon().events,
        is_negative=is_negative,
        is_former=is_former,
    )


def _subjects(words: Sequence[Word], names: frozenset[str]) -> Iterator[tuple[str, list[Word]]]:
    is_of_other = False
    for place in range(len(words)):
        found = _person_at(words, place, names)
        if found is not None:
            is_of_other = True
            subject, end = found
            own = _OF_OTHERS if not place else frozenset()
            yield (
                subject,
                [*words[:place], _S, *(_S if word.text in own else word for word in words[end:])],
            )
            if not place and len(words) > 1 and words[1].text == _AND:
                yield words[0].canon, [_S, *words[1:]]
    mine = [_S if word.text in _FIRST_PERSON else word for word in words]
    if _S in mine or not is_of_other or words[0].text in kin():
        yield ME, mine


def _person_at(words: Sequence[Word], place: int, names: frozenset[str]) -> tuple[str, int] | None:
    """Return the person named at a place, and where the naming ends.

    At the beginning of a clause somebody is its subject, further on only who owns something in it.
    """
    if place == 0 and words[0].text in _PRONOUNS:
        return _PRONOUN_KEYS.get(words[0].text, words[0].text), 1
    if words[place].text in _OWN or (place == 0 and words[0].text in kin()):
        found = _kin_at(words, place + (words[place].text in _OWN), names)
    else:
        found = _name_at(words, place, names)
    if found is None:
        return None
    key, end = found
    if end < len(words) and words[end].text == _POSSESSIVE:
        whose, end = _owned_at(words, end + 1, names, is_first=not place)
        return key + whose, end
    if (
        place
        or end >= len(words)
        or words[end].text in {"and", ",", "or"}
        or words[end].text in _FIRST_PERSON
    ):
        return None
    return key, end


def _owned_at(
    words: Sequence[Word], start: int, names: frozenset[str], *, is_first: bool
) -> tuple[str, int]:
    """Return whom of somebody's it is about: "/wife" of "tom's wife drives" or "tom's wife's car", "" of "tom's wife is"."""
    inner = _kin_at(words, start, names)
    if inner is None or inner[1] >= len(words):
        return "", start
    key, end = inner
    following = words[end]
    if following.text == _POSSESSIVE:
        return f"/{key}", end + 1
    does = following.canon in lexicon().verbs and not _names(words[end:], names)
    return (f"/{key}", end) if does and is_first else ("", start)


def _names(words: Sequence[Word], names: frozenset[str]) -> bool:
    """Whether words say who somebody is, or when something is: "is Ida", "is called Ida", "is on Monday"."""
    if words[0].canon != "be":
        return False
    said = [word for word in words[1:] if word.text not in lexicon().negations]
    if not said or said[0].text in _CALLED or said[0].canon in names:
        return True
    # "Gran's physio is on Thursdays": what is done there, not who does it.
    when = [word.canon for word in said if word.text not in lexicon().light][:1]
    return when[:1] != [] and (when[0] in lexicon().times or when[0][0].isdigit())


_PRONOUN_KEYS = {"his": "he", "him": "he", "her": "she", "their": "they", "them": "they"}


def _kin_at(words: Sequence[Word], start: int, names: frozenset[str]) -> tuple[str, int] | None:
    """Return "older brother" or "brother tom" at a place after "my"."""
    noun = next(
        (at for at in range(start, min(len(words), start + 3)) if words[at].text in kin()), None
    )
    if noun is None or any(
        word.text in {_POSSESSIVE, "and", "of"} or word.canon == "be" for word in words[start:noun]
    ):
        return None
    end = noun + 1
    while end < len(words) and words[end].text in kin():
        end += 1
    while end < len(words) and words[end].canon in names:
        end += 1
    return " ".join(
        word.canon for word in words[start:end] if word.text not in lexicon().fillers
    ), end


def _name_at(words: Sequence[Word], place: int, names: frozenset[str]) -> tuple[str, int] | None:
    """Return "tom", "tom miller" or "tom and ida" at a place."""
    end = place
    while end < len(words) and (
        words[end].canon in names or _joins_names(words, place, end, names)
    ):
        end += 1
    if end == place or end == len(words):
        return None
    is_owner = words[end].text == _POSSESSIVE
    if not is_owner and (place or not _is_of_others(words[end:])):
        return None
    named = [word.canon for word in words[place:end]]
    return " ".join(sorted(named) if "and" in named else named).removeprefix("and "), end


def _joins_names(words: Sequence[Word], start: int, place: int, names: frozenset[str]) -> bool:
    return (
        start < place < len(words) - 1
        and words[place].text == "and"
        and words[place + 1].canon in names
    )


def _is_of_others(words: Sequence[Word]) -> bool:
    """Whether words go on with what somebody else does ("is", "lives", "moved"), but not "is where I live"."""
    if any(word.text in _FIRST_PERSON for word in words):
        return False
    return (
        words[0].canon in lexicon().verbs
        or words[0].text in _AUXILIARIES | lexicon().negations | lexicon().fillers
    )


def _without_auxiliaries(words: Sequence[Word], *, is_negative: bool) -> tuple[list[Word], bool]:
    """Return words without the auxiliaries before a verb, and whether they tell of what was."""
    kept: list[Word] = []
    is_former = False
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else None
        if following is not None and _is_auxiliary(word, following, is_negative=is_negative):
            is_former = is_former or word.text in {"did", "was", "were"}
            continue
        is_verb = (
            bool(kept) and place > 0 and (words[place - 1] is _S or word.text in {"was", "were"})
        )
        if is_verb and not is_former:
            is_former = _is_former(word, following)
        kept.append(word)
    return kept, is_former


def _is_auxiliary(word: Word, following: Word, *, is_negative: bool) -> bool:
    if word.text in _DO and not is_negative and following.canon not in lexicon().verbs:
        return False
    if word.text in _AUXILIARIES:
        # "May 2011" is a month.
        return following.text != "to" and not following.text[:1].isdigit()
    if word.text in {"have", "has"}:
        return _is_participle(following)
    return (
        word.canon == "be"
        and following.text.endswith("ing")
        and following.text not in _NOUNS_IN_ING
        and following.canon in lexicon().verbs
    )


def _is_former(word: Word, following: Word | None) -> bool:
    if word.text in {"was", "were"}:
        return following is None or following.canon not in lexicon().events
    is_past_form = (
        len(word.text) >= _SHORTEST_PAST and word.text.endswith("ed")
    ) or word.text in lexicon().past_forms
    return is_past_form and word.canon not in lexicon().events and word.canon != "be"


def _is_participle(word: Word) -> bool:
    return word.text in lexicon().past_forms | _PAST_LIKE_PRESENT or (
        word.text.endswith("ed") and word.canon in lexicon().verbs
    )
