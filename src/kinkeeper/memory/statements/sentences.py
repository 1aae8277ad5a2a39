"""A message taken apart into sentences, each told with the names it means, so that it holds alone. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from kinkeeper.language.dictionary import first_names, names_also_words, word_ranks
from kinkeeper.language.text import mask_stops
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.memory.statements.names import is_being, kin, names_in
from kinkeeper.reading.coreference import beings_in

LONGEST_MESSAGE = 20_000
"""Characters of a message that are read."""

_END = re.compile(
    r"(?:[.!?…]+[\"')\]]*(?=\s|$))|[\n\r]+|\s[-–—]+\s|[;](?=\s)|"
    r"[\U0001F300-\U0001FAFF\u2600-\u27BF\u2764\ufe0f]+",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r"(?:,|(?<!\s))\s+(?:btw|by the way|also)\b,?\s+(?=\w)|"
    r",\s+(?:(?:and|but|so|plus|also|then)\s+)?(?=(?:i|i'm|im|i've|i'll|we|we're|we've|my|our|he|she|he's|she's|they|they're|the|it|it's)\b)|"
    r"(?<!\s)\s+(?:and|but|so)\s+(?=(?:i|i'm|im|i've|we|we're|we've)\b\s(?!are a\b|are both\b|are engaged|are married|are a couple))|"
    r"(?<!\s)\s+(?:and|but|so)\s+(?=(?:my|our)\s+(?:[\w-]+\s+){1,3}(?:is|are|was|has|lives?|works?|loves?|likes?|hates?|plays?|goes|wants?|started|moved|turned)\b)|"
    r"(?<!\s)\s+(?:and|but)\s+(?=(?:he|she)\s(?!and\b)[\w']+s\b)|"
    r"(?<!\s)\s+(?:and|but)\s+(?=(?-i:[A-Z])[\w-]+ (?:is|was|has|started|moved|lives|works|loves|likes|hates|plays|goes|wants|turned|got|cannot|can't|doesn't)\b)",
    re.IGNORECASE,
)
_TRIMMED = " \t,;:-–—*•\"'()[]"


_ONE, _LONGEST_ONE = frozenset({"one", "ones"}), 3
"""Words for what was named before, and within how many words of a clause they are what it is about."""
_BEGINNING = 100  # characters of a clause that hold those words; copying all to the end would cost its square


class Part(NamedTuple):
    """A sentence, or a part of one that stands by itself.

    Attributes:
        text: As written, without what stands around it.
        start: Index of its first character in the message.
        end: Index after its last.
        mark: The mark it ends with ("?", "!", "."), or nothing.
    """

    text: str
    start: int
    end: int
    mark: str


def parts_of(message: str) -> tuple[Part, ...]:
    """Return the sentences of a message in order; long ones apart where a new subject begins.

    Args:
        message: Any; beyond 20,000 characters it is not read.
    """
    return tuple(_parts(message[:LONGEST_MESSAGE]))


def _parts(message: str) -> Iterator[Part]:
    start = 0
    for end in _END.finditer(mask_stops(message)):
        yield from _split(message, start, end.start(), end[0].strip()[:1])
        start = end.end()
    yield from _split(message, start, len(message), "")


def _split(message: str, start: int, end: int, mark: str) -> Iterator[Part]:
    begin = start
    for joint in _JOINT.finditer(message, start, end):
        is_tail = _goes_on(message[joint.end() : min(end, joint.end() + _BEGINNING)])
        if is_tail or _is_other_half(message[begin : joint.start()], joint[0]):
            continue
        yield from _trimmed(message, begin, joint.start(), ",")
        begin = joint.end()
    yield from _trimmed(message, begin, end, mark)


def _goes_on(said: str) -> bool:
    """Whether a clause is about one of what stands before it ("the old one is dead"), and means nothing alone."""
    return not _ONE.isdisjoint(said.lower().split()[1:_LONGEST_ONE])


def _is_other_half(said: str, joint: str) -> bool:
    """Whether what stands before "and I" is only who the rest is told of, too ("Ada and I split up")."""
    name = said.strip(_TRIMMED)
    is_name = name.istitle() and (name.lower() in first_names() or name.lower() not in word_ranks())
    return joint.strip().lower() == "and" and is_name and name.isalpha()


def _trimmed(message: str, start: int, end: int, mark: str) -> Iterator[Part]:
    while start < end and message[start] in _TRIMMED:
        start += 1
    while end > start and message[end - 1] in _TRIMMED:
        end -= 1
    if start < end:
        yield Part(message[start:end], start, end, mark)


# Who "she" is and what "it" is, where a sentence goes on with the one before: told by name, it
# holds alone. Pure.

_NAME = r"(?-i:[A-ZÀ-ÖØ-Þ])[\w'’-]*[\w]"
_TITLE = (
    r"(?:mr|mrs|ms|miss|dr|doctor|doctora|prof|professor|señora?|don|doña|coach|teacher|aunt|auntie|aunty"
    r"|uncle|nurse|pastor|sister|father|sir|madam)\.?"
)
_OWNED = rf"(?:my|our|{_NAME}['’]s) (?:\w+ ){{0,2}}?\w+"
_BEGIN = re.compile(
    rf"^(?:(?:and|but|so|also|actually|because|then|did you know(?: that)?) )*"
    rf"(?P<who>{_TITLE} {_NAME}|{_OWNED}(?= {_NAME} \w)(?: {_NAME})|{_OWNED}(?= (?:is|was|has|had|\w+s|\w+ed|can|could|will|must|does|did|may|might|got|isn|doesn|can)\b)|{_NAME}(?<!['’]s)(?![\w'’]))"
    rf"(?P<more>,? (?:and|or) (?:{_NAME}|my|our))?",
    re.IGNORECASE,
)
_CALLED = re.compile(
    rf"\b(?:called|named|name(?:['’]s| is| was)) (?P<who>(?:{_TITLE} )?{_NAME}(?: {_NAME})*)",
    re.IGNORECASE,
)
_IS_NAMED = re.compile(
    rf"^(?:the |my |our |his |her )?(?:[\w'’-]+ ){{0,3}}?(?P<what>\w+) (?:is|was) (?P<who>(?:{_TITLE} )?{_NAME})$",
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
_LONGEST_TOGETHER = 400
"""Characters of a sentence in which persons are looked for, and of one that is told with what refers to them."""
_NOBODY = frozenset(("i", "we", "you", "it", "he", "she", "they", "the", "this", "that", "there"))


def named(
    parts: Sequence[Part], previous: Sequence[str], people: Collection[str] = ()
) -> list[Part]:
    """Return the parts of a message, each that begins with "she" or "it" told of whom or what it is.

    The last sentence that speaks of a person or an animal decides who that is; where it is not sure which of several, it is
    told together with what refers to them, both as they were said.

    Args:
        parts: In order.
        previous: Earlier turns of the same conversation, oldest first; only persons are looked for there.
        people: Words for people who are known, in small letters.
    """
    found: list[Part] = []
    for part in parts:
        earlier = [each.text for each in reversed(found[-_MOST_SENTENCES:])]
        turns = (each.text for turn in reversed(previous) for each in reversed(parts_of(turn)))
        sentences = islice(chain(earlier, turns), _MOST_SENTENCES)
        text = _of_thing(part.text, earlier[:1]) or _of_person(part.text, sentences, people)
        if text and earlier and text.startswith(earlier[0]) and text.endswith(part.text):
            found[-1] = Part(text, found[-1].start, part.end, part.mark)
        else:
            found.append(part._replace(text=text or part.text))
    return found


def begins_with_person(text: str) -> bool:
    """Whether a sentence begins with somebody who is named: "Mrs Obi next door", "my uncle Femi"."""
    begun = _BEGIN.match(text)
    return begun is not None and _is_person(begun["who"])


def _of_thing(text: str, earlier: Sequence[str]) -> str | None:
    it = _IT.match(text)
    what = next((match["what"] for match in map(_THING.match, earlier) if match), None)
    if it is None or what is None or _is_person(what):
        return None
    return _begun(what, it, text)


def _of_person(text: str, earlier: Iterable[str], people: Collection[str]) -> str | None:
    pronoun = _PERSON.match(text) or _OF_PERSON.match(text)
    spoken_of = next(_people(earlier, people), None) if pronoun else None
    if pronoun is None or spoken_of is None:
        return None
    sentence, who = spoken_of
    if not who:
        is_short = len(sentence) + len(text) <= _LONGEST_TOGETHER
        return f"{sentence}. {text}" if is_short else None
    if pronoun.re is _OF_PERSON:
        return f"{who}'s{text[pronoun.end() :]}"
    return _begun(who, pronoun, text)


def _begun(who: str, pronoun: re.Match[str], text: str) -> str:
    rest = text[pronoun.end() :]
    if pronoun["is"] is None:
        return who + rest
    return f"{who} {'has' if _HAS.match(rest) else 'is'}{rest}"


def _people(sentences: Iterable[str], people: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the sentences that speak of somebody, each with whom; with "" where it may be another."""

    def is_name(word: str) -> bool:
        return word in people or canon_of(word) in names

    for said in sentences:
        sentence = said[:_LONGEST_TOGETHER]
        if given := _CALLED.search(sentence) or _named_at_end(sentence):
            yield sentence, given["who"]
            continue
        names = names_in(sentence)
        found = beings_in(sentence, is_noun=is_being, is_name=is_name)
        begun = _BEGIN.match(sentence)
        if begun is not None and _is_person(begun["who"]):
            is_alone = not begun["more"] and not any(each.is_new for each in found)
            yield sentence, begun["who"] if is_alone else ""
        elif found:
            who = found[0]
            is_somebody = any(
                is_being(each) or each in people or each in first_names()
                for each in who.words.lower().split()
            )
            is_alone = len(found) == 1 and who.is_sure and is_somebody
            yield sentence, who.words if is_alone else ""


def _named_at_end(sentence: str) -> re.Match[str] | None:
    """Return who a sentence says that somebody is: "the vet is Dr Roe", but not "Bo's favourite is Elmo"."""
    found = _IS_NAMED.match(sentence)
    if found is None or is_being(found["what"].lower()):
        return found
    return None if "'s " in sentence[: found.start("what")].replace("’", "'") else found


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
