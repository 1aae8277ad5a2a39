"""Who "she" is and what "it" is, where a sentence goes on with the one before: told by name, it holds alone. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from kinkeeper.language.dictionary import first_names, names_also_words, word_ranks
from kinkeeper.memory.statements.kin import kin
from kinkeeper.memory.statements.sentences import Part, parts_of

_NAME = r"(?-i:[A-ZÀ-ÖØ-Þ])[\w'’-]*[\w]"
_TITLE = (
    r"(?:mr|mrs|ms|miss|dr|doctor|doctora|prof|professor|señora?|don|doña|coach|teacher|aunt|auntie|aunty"
    r"|uncle|nurse|pastor|sister|father|sir|madam)\.?"
)
_OWNED = rf"(?:my|our|{_NAME}['’]s) (?:\w+ ){{0,2}}?\w+"
_BEGIN = re.compile(
    rf"^(?:(?:and|but|so|also|actually|because|then|did you know(?: that)?) )*"
    rf"(?P<who>{_TITLE} {_NAME}|{_OWNED}(?= {_NAME} \w)(?: {_NAME})|{_OWNED}(?= (?:is|was|has|had|\w+s|\w+ed|can|could|will|must|does|did|may|might|got|isn|doesn|can)\b)|{_NAME}(?!['’]))"
    rf"(?P<more>,? (?:and|or) (?:{_NAME}|my|our))?",
    re.IGNORECASE,
)
_CALLED = re.compile(rf"\b(?:called|named) (?P<who>(?:{_TITLE} )?{_NAME})", re.IGNORECASE)
_IS_NAMED = re.compile(
    rf"^(?:the |my |our |his |her )?(?:\w+ ){{0,2}}\w+ (?:is|was) (?P<who>(?:{_TITLE} )?{_NAME})$",
    re.IGNORECASE,
)
_THING = re.compile(
    rf"^(?:(?:and|but|so|also|actually) )*(?P<what>(?:the|my|our|his|her|{_NAME}['’]s) (?:[\w-]+ ){{0,3}}?[\w-]+)"
    r" (?:is|was|has|had|changed|broke|moved|costs?|got|went|came|closes|opens|needs?|takes?)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"^(?P<word>she|he)(?P<is>['’]s)?\b", re.IGNORECASE)
_OF_PERSON = re.compile(r"^(?:her|his)(?= \w)", re.IGNORECASE)
_IT = re.compile(
    r"^it(?:(?P<is>['’]s)|(?= (?:is|was|has|costs?|takes?|starts?|closes|opens)\b))", re.IGNORECASE
)
_HAS = re.compile(
    r"^ (?:been|got|had|gone|lost|left|become|started|stopped|moved)\b", re.IGNORECASE
)
_MOST_SENTENCES = 4
_NOBODY = frozenset(("i", "we", "you", "it", "he", "she", "they", "the", "this", "that", "there"))


def named(parts: Sequence[Part], previous: Sequence[str]) -> list[Part]:
    """Return the parts of a message, each that begins with "she" or "it" told of whom or what it is.

    Args:
        parts: In order.
        previous: Earlier turns of the same conversation, oldest first; only persons are looked for there.
    """
    found: list[Part] = []
    for part in parts:
        earlier = [each.text for each in reversed(found[-_MOST_SENTENCES:])]
        turns = (each.text for turn in reversed(previous) for each in reversed(parts_of(turn)))
        sentences = islice(chain(earlier, turns), _MOST_SENTENCES)
        text = _of_thing(part.text, earlier[:1]) or _of_person(part.text, sentences)
        found.append(part._replace(text=text or part.text))
    return found


def begins_with_person(text: str) -> bool:
    """Whether a sentence begins with somebody who is named: "Mrs Obi next door", "my uncle Femi".

    Args:
        text: A sentence as written.
    """
    begun = _BEGIN.match(text)
    return begun is not None and _is_person(begun["who"])


def _of_thing(text: str, earlier: Sequence[str]) -> str | None:
    it = _IT.match(text)
    what = next((match["what"] for match in map(_THING.match, earlier) if match), None)
    if it is None or what is None or _is_person(what):
        return None
    return _begun(what, it, text)


def _of_person(text: str, earlier: Iterable[str]) -> str | None:
    pronoun = _PERSON.match(text) or _OF_PERSON.match(text)
    who = next(_people(earlier), None) if pronoun else None
    if pronoun is None or not who:
        return None
    if pronoun.re is _OF_PERSON:
        return f"{who}'s{text[pronoun.end() :]}"
    return _begun(who, pronoun, text)


def _begun(who: str, pronoun: re.Match[str], text: str) -> str:
    rest = text[pronoun.end() :]
    if pronoun["is"] is None:
        return who + rest
    return f"{who} {'has' if _HAS.match(rest) else 'is'}{rest}"


def _people(sentences: Iterable[str]) -> Iterator[str]:
    """Yield whom sentences are about, one for each that is about somebody; "" where it may be several."""
    for sentence in sentences:
        if given := _CALLED.search(sentence) or _IS_NAMED.match(sentence):
            yield given["who"]
            continue
        begun = _BEGIN.match(sentence)
        if begun is not None and _is_person(begun["who"]):
            yield "" if begun["more"] else begun["who"]


def _is_person(who: str) -> bool:
    """Whether words are of somebody: with a title, a name that is no ordinary word, or a word of kin."""
    words = who.split()
    if len(words) > 1:
        return re.fullmatch(_TITLE, words[0], re.IGNORECASE) is not None or (
            not kin().isdisjoint(word.lower() for word in words)
        )
    name = who.lower().removesuffix("'s")
    is_word = name in word_ranks() and name not in first_names() | names_also_words()
    return name not in _NOBODY and not is_word
