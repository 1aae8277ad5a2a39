"""From whom a message asks to keep what it tells: from everybody, from some people, or from nobody.

The whole message is read, because the wish often stands in another sentence than the secret. A person's wish is
never widened: where it is unclear from whom something is to be kept, only the teller may see it.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from kinkeeper.core.errors import InvariantError
from kinkeeper.household.model import Household, Role
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, narrowest, person_scope, surprise_scope
from kinkeeper.language.text import Folded, mask_stops
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.memory.statements.care import people_in, tells_of_care, without_care
from kinkeeper.memory.statements.discretion import (
    concerns_others,
    holds_sensitive,
    is_grave,
    is_health_of_outsider,
    leaves_out_teller,
    seems_private,
    speaks_of_self,
    tells_of_speaker,
)
from kinkeeper.memory.statements.names import person_canons
from kinkeeper.memory.statements.sentences import LONGEST_MESSAGE, begins_with_person, parts_of
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.memory.statements.subjects import ME
from kinkeeper.reading.asked import bars
from kinkeeper.reading.modality import Modality, modality_of
from kinkeeper.reading.phrases import Speller, expanded

CARRIED_ON = timedelta(minutes=15)
MOST_CARRIED_ON = 4
"""For how long, and for how many messages of a thread, a wish for secrecy holds for what is said after it."""

_PERSON = "(?P<whom>@whom)"
"""Beginning of a pattern, as it is written, that begins with words for people."""
_PIECE = re.compile(r"[^.!?\n]{1,400}[.!?\n]*")
_LONGEST_WISH = 200
_ENDS = ".!?\n"
_FEW = 2
_MOST_NAMING = 4
"""Words that name a thing, and tell nothing of it ("our weekend in Oslo")."""
_MAY_ASK = re.compile(
    r"secre|priva|confid|discus|rais|disclo|divulg|announc|allud|refer|t[eo]l[ld]|say|said|menti|repeat|breath|speak|talk|kn[eo]w|hear|find|found|learn|see|saw|notic|suspect|aware|surpris|quiet|ke[ep]|hid|betw|hush|shh|ssh|spoil|ruin|wreck|"
    r"blow|ears|eyes|only|for me|myself|word|peep|hint|wraps|hat|record|s(?:c)?ht?um|dark|loop|wiser|clue|idea|inkling|guess|sight|discreet|further|farther|mum|mom|business|show|shar|leak|reveal|let|"
    r"blab|slip|pass|bring|stay|remain|leav|hold|mark|make|treat|handle|lips|zip|qt|low|rosa|nous|twig|wind|front|around|back|spread|reach|public|break|private|not for|the one|get|come|in on",
    re.IGNORECASE,
)
"""What every wish for secrecy holds a piece of: most sentences hold none, and need no closer look."""

_GOES_ON = re.compile(r"\W*(?:oh|and|also|btw|by the way|ps|p\.s\.|please)\b", re.IGNORECASE)
_ATTITUDES = (
    "mean|meant|beg|begged|ask|asked|asks|trust|want|wanted|wants|like|love|hate|hope|hopes|think|thinks|guess|know|knew|knows|say|said|says|tell|told|"
    "prefer|prefers|rather|swear|swore|promise|promised|wish|agree|agrees|agreed|insist|insists|insisted|mind|minds|"
    "afraid|scared|nervous|worried|embarrassed|ashamed|excited|serious|begging|asking|counting|hoping|sure|sorry|ready|glad|grateful"
)
_TELLS = re.compile(
    r"\b(?:i|we)(?:'(?:m|re|ve|d|ll))?\s+(?:(?:am|are|was|were|have|had|just|also|really|so|very|actually|already|finally|only)\s+)*"
    r"(?!(?:am|are|was|were|have|had|will|would|can|could|should|must|may|might|need|do|don't|did|didn't|just|also|really|so|very|actually|already|finally|only|not|never|"
    rf"{_ATTITUDES})\b)[a-z]\w*(?P<more>[^.!?\n]*)",
    re.IGNORECASE,
)
"""News of the speaker's own ("I'm pregnant"), and not how they feel about a secret, or a plea for it."""

_REFERS_BACK = re.compile(r"\b(?:it|this|that|them|these|those)\b", re.IGNORECASE)

_MEANS_THING = ("it's ", "it is ", "its ", "that's ", "that is ", "this is ")
"""Beginnings of a clause about what was said or done before ("it's for her birthday")."""

_NAMED_THING = re.compile(r"(?:the|my|our|his|her|their)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.!?,;:\n]+|\s[–-]\s|\b(?:and|but|so|because)\b", re.IGNORECASE)

_MOST_NAMED = 12
_NEAR = 60
"""How many characters before a wish may introduce it."""

_DAYS = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|November|December|Christmas|Easter"
_CAPITALISED = rf"(?-i:(?!(?:{_DAYS})\b)[A-Z][\w'-]+)"
_FILLERS = re.compile(
    r"\b(?:please|pls|thanks|thank you|ok|okay|oh|ah|and|but|so|by the way|btw|for now|for the moment|yet|though|obviously|of course|also|just|"
    r"until (?:then|i say so|further notice|the day|\w+day)|till (?:then|\w+day)|all right|alright|will you|would you|can you|could you|can|you|i beg you|i|it|that|this|to|at home|"
    r"until|till|then|now|still|again|anyway|seriously|really|actually|right|one|thing|meant|as|a|an|the|of|with|about|if|or|is|be|that's|it's|mind|must|let's|me|we|want)\b|[\W_]+"
)

_BEFORE = re.compile(
    r"(?:(?:^|[\s,;:(–-]+)(?:and|but|so|please|oh|then|though|because|cos|i'd|i'll|we'd|it's|that's|ok|okay|by the way|just|also)\b)*[\s,;:(–-]*(?:(?<=[,;:(–-] )(?:i|we))?\s*\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:\s+(?:it|this|that|them|these|those)(?=\W*(?:$|[^\w\s])|\s+(?:yet|please|pls|for now|though|ok|okay|until)\b))?"
    r"(?:[\s,]+(?:yet|please|pls|for now|for the moment|though|ok|okay|until then|all right|thanks)\b)*[)\s]*",
    re.IGNORECASE,
)

_ENDS_CLAUSE = re.compile(
    r"(?:^|[^\w\s'])\s*\Z|(?:^|[\s,;:(–-])(?:and|but|so|please|oh|then|though|because|cos|i'd|i'll|we'd|it's|that's|ok|okay|by the way|just|also|i|we)\s*\Z",
    re.IGNORECASE,
)
_BEGINS_CLAUSE = re.compile(
    r"\s*(?:$|[^\w\s]|(?:and|but|so|that|because|i|i'm|i've|i'll|we|we're|we've|my|our|the|he|she|they|it)\b)",
    re.IGNORECASE,
)
"""What a wish stands between: elsewhere it is part of what is told, and is not cut out."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A wish that something be kept secret.

    Attributes:
        scope: Who may still see it.
        rest: The message without the wish, but with what that names as secret; empty where it says nothing else.
        is_named: Whether the wish names what is secret.
        whom: Ids of the members from whom it asks to keep it, though nobody but the teller may see it; none where it names nobody.
    """

    scope: str
    rest: str
    is_named: bool = False
    whom: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Pattern:
    form: re.Pattern[str]
    is_wish: bool
    is_surprise: bool
    is_of_children: bool
    is_led_by_person: bool

    def found_in(self, piece: str, people_at: Sequence[int]) -> Iterator[re.Match[str]]:
        """Yield what `finditer` would, but look only where words for people begin if the pattern begins with them.

        Args:
            people_at: Where words for people begin, in order.
        """
        if not self.is_led_by_person:
            yield from self.form.finditer(piece)
            return
        end = 0
        for start in people_at:
            if start >= end and (match := self.form.match(piece, start)) is not None:
                end = match.end()
                yield match


@dataclass(frozen=True, slots=True)
class _People:
    """Who can be named: member ids by word, and the patterns with these words."""

    members: Mapping[str, frozenset[str]]
    named: re.Pattern[str]
    owner: re.Pattern[str]
    helper: re.Pattern[str]


def secrecy_of(
    text: str, household: Household, teller: str | None, *, is_group: bool = False
) -> Wish | None:
    """Return what a message asks to keep secret; None where it asks nothing of the kind.

    Args:
        text: The whole message, verbatim.
        household: Whose members it may name.
        teller: Member id of who says it; None where they are no member.
        is_group: Whether it is said in a chat of several people: they all know it.
    """
    people = _people(household)
    read = _spelled(text, people.members)
    plain = read.text
    reader = _Reader(household, people, plain, teller)
    cuts: list[tuple[int, int]] = []
    named: list[_Named] = []
    for start, piece in _pieces(plain):
        found = _matches(piece, frozenset(people.members))
        about = [match.span() for _, match in found if _names_topic(match.re)]
        for pattern, match in found:
            if _names_topic(match.re):
                named.append(_Named.of(read, start, match))
            elif any(begin <= match.start() < end for begin, end in about):
                continue  # a part of that wish, which says from whom
            elif pattern.is_wish:
                cuts.extend(_cuts(start, match))
            reader.note(match, pattern)
    if not (reader.is_found or is_group) and (hints := _hints(plain)):
        reader.is_found = reader.is_unclear = True
        cuts.extend(hints)
    scope = reader.scope(is_group=is_group)
    if scope is None:
        return None
    whom = frozenset(reader.kept_from)
    if named:
        told = named[0].told_in(read.original)
        rest = secrecy_of(told, household, teller, is_group=is_group)
        return Wish(scope, told if rest is None else rest.rest, is_named=True, whom=whom)
    return Wish(scope, _without(read.original, [read.span(*each) for each in cuts]), whom=whom)


def wished_scope(
    text: str, household: Household, teller: str | None, *, is_group: bool = False
) -> str:
    """Return who may see what a message tells, as far as it asks for secrecy; the household where it does not."""
    wish = secrecy_of(text, household, teller, is_group=is_group)
    return HOUSEHOLD_SCOPE if wish is None else wish.scope


def audience_of(
    text: str,
    household: Household,
    teller: str | None,
    *,
    is_group: bool = False,
    is_title: bool = False,
    is_theirs: bool = False,
) -> str:
    """Return the scope of a whole message: who may see what it tells.

    What it asks to keep secret is kept so; what tells of the teller's own health, feelings, money, keys, love or plans is
    theirs alone, but for care given to children and pets; so is the health of others who are neither family nor named in the household, and so is what is too long to
    be read to its end, where it may ask for secrecy, and so is what a child or a guest tells of themselves but plans and what concerns
    others; a grave or intimate affair of somebody else is for the adults of the family and whose it is; all else is the household's.
    Where no rule hears a wish or an affair of their own, fitted heads are asked. Blocks for some milliseconds.

    Args:
        text: The whole message, verbatim.
        household: Whose members it may name.
        teller: Member id of who says it; None where they are no member.
        is_group: Whether it is said in a chat of several people: they all know it.
        is_title: Whether it is the name of something, and no message: the rules alone read it.
        is_theirs: Whether it is about something that is for nobody but the teller: "biopsy" is then theirs.
    """
    wish = secrecy_of(text, household, teller, is_group=is_group)
    scopes = set() if wish is None else {wish.scope}
    if teller is not None and not is_group:
        is_own = _is_own(
            text,
            household,
            teller,
            is_wish=wish is not None,
            is_title=is_title,
            is_theirs=is_theirs,
        )
        scopes |= {person_scope(teller)} if is_own else set()
        if not (is_own or is_title) and (hidden := _not_of_age(text, household, teller)):
            scopes.add(surprise_scope(hidden))
    return narrowest(scopes) or person_scope(str(teller))


def _is_own(
    text: str, household: Household, teller: str, *, is_wish: bool, is_title: bool, is_theirs: bool
) -> bool:
    """Whether a text tells an affair of its teller's own, or what somebody trusted them with."""
    if len(text) > LONGEST_MESSAGE:
        return True
    told = without_care(text, household)
    member = household.member(teller)
    is_minors = member is not None and not member.is_adult
    if is_minors and concerns_others(told):
        # Of what they must not have, an adult decides who is to know.
        told = " ".join(each.text for each in parts_of(told) if not concerns_others(each.text))
        if not speaks_of_self(told):
            return False
    read = (told, f"my own {told}") if is_theirs else (told,)
    if any(holds_sensitive(each, with_gifts=not is_wish) for each in read):
        return True
    if is_title:
        return False
    if is_minors and tells_of_speaker(told):
        return True
    names_nobody = _people(household).named.search(_plain(text)) is None
    if names_nobody and is_health_of_outsider(text):
        return True
    return not is_wish and (
        seems_private(told, is_minors=is_minors) or (names_nobody and leaves_out_teller(told))
    )


def _not_of_age(text: str, household: Household, teller: str) -> frozenset[str]:
    """Return the ids of those who are not told of a grave affair of somebody else: all but whose it is, and the adults of the family."""
    member = household.member(teller)
    if member is None or not member.is_adult:
        return frozenset()
    about = people_in(text, household) - {teller}
    is_of_kin = not person_canons().isdisjoint(map(canon_of, _plain(text).lower().split()))
    if not (about or is_of_kin) or not any(is_grave(each.text) for each in parts_of(text)):
        return frozenset()
    family = {each.id for each in household.members if each.role in {Role.PARENT, Role.GUARDIAN}}
    return frozenset(each.id for each in household.members) - family - about - {teller}


def is_only_wish(text: str, people: Collection[str]) -> bool:
    """Return whether a sentence only asks to keep something secret, whoever it names.

    Args:
        text: A sentence or more, verbatim.
        people: Words for people who are known, in small letters: they are names however they were typed.
    """
    rest = _beside_wish(text, people)
    return rest is not None and _count_words(rest) == 0


def points_back(text: str, people: Collection[str]) -> bool:
    """Return whether a message asks for secrecy and tells hardly anything itself: it means what was said before.

    A message with news of its own ("I'm pregnant, nobody should know") means that news alone, however short it is.

    Args:
        text: The whole message, verbatim.
        people: Words for people who are known, in small letters: they are names however they were typed.
    """
    if labels_told(text, people):
        return True
    rest = _beside_wish(text, people)
    if rest is None or has_own_news(text, people):
        return False
    named = _named_in(text, people)
    is_back = None if named is None else named.points_back(text)
    if is_back is not None:
        return is_back
    said = [
        each
        for part in rest
        for each in _clauses(part)
        if not (_is_attitude(each) or each.lower().startswith(_MEANS_THING))
    ]
    return _count_words(said) <= _FEW or _GOES_ON.match(text) is not None


def labels_told(text: str, people: Collection[str]) -> bool:
    """Return whether a message only says of what was told or done before it that somebody gets it: "it's Leo's present".

    Args:
        text: The whole message, verbatim.
        people: Words for people who are known, in small letters: they are names however they were typed.
    """
    plain = _plain(text, people) if len(text) <= _LONGEST_WISH else ""
    starts, known = _references()["label"], frozenset(people)
    is_label = False
    for clause in _clauses(plain):
        if starts.match(clause) and not all(each.is_wish for each, _ in _matches(clause, known)):
            is_label = True
        elif _count_words([clause]) and not (_wishes(clause, people) or _is_attitude(clause)):
            return False
    return is_label


def has_own_news(text: str, people: Collection[str]) -> bool:
    """Return whether a short message with a wish for secrecy tells news, which the wish is then about.

    How somebody feels about a secret, or that they ask for it ("Grandma wants it kept quiet"), is no news.

    Args:
        text: The whole message, verbatim.
        people: Words for people who are known, in small letters: they are names however they were typed.
    """
    rest = _beside_wish(text, people)
    if rest is None:
        return False
    apart = [*(part for part in rest[:-1] if not _leads_into_wish(part)), rest[-1]]
    return any(map(_tells, apart)) or any(
        _tells_news(each, people) for each in _clauses(_plain(text, people))
    )


def points_at_told(text: str) -> tuple[bool, bool]:
    """Return whether a request points at what was said right before it ("for it"), and at something by its kind ("for the trip").

    Args:
        text: Verbatim.
    """
    plain, forms = _plain(text), _references()
    return forms["pronoun"].search(plain) is not None, forms["kind"].search(plain) is not None


def without_frame(text: str) -> str:
    """Return a message without the words by which it asks for something: "remind me on Friday to", "on the shopping list"."""
    return _references()["frame"].sub(" ", _plain(text))


def is_handling(word: str) -> bool:
    """Return whether a word is for what is done with a thing, and no thing of its own: "delivery", "receipt"."""
    return _references()["handling"].fullmatch(word) is not None


def topics_of(text: str) -> tuple[str, str]:
    """Return what a secret is about before it says for whom, where or when, and all of it: without gifts and feasts.

    Args:
        text: Without its wish.
    """
    forms = _references()
    plain = forms["common"].sub(" ", forms["deed"].sub(" ", _plain(text)))
    return next(filter(str.strip, forms["aside"].split(plain)), ""), plain


def tells_news(text: str, people: Collection[str]) -> bool:
    """Return whether a message tells something that needs no other to be understood: it is about nothing told before.

    Args:
        text: The whole message, verbatim.
        people: Words for people who are known, in small letters: they are names however they were typed.
    """
    forms = _references()
    main = forms["hanging"].sub("", _plain(text, people))
    first, *_ = _clauses(main) or [""]
    return forms["resumed"].match(first) is None and (
        _tells(main) or any(_tells_news(each, people) for each in _clauses(main))
    )


def is_about_next(text: str) -> bool:
    """Return whether a wish for secrecy says itself that it is about what is told next ("any of this")."""
    return _references()["ahead"].search(_plain(text)) is not None


def is_for_all(text: str, household: Household) -> bool:
    """Return whether what is told is for everybody at home to know, whatever was kept from them before.

    So is what says so, and what tells of the health or the care of a child or a pet, or of an allergy.
    """
    is_said = _references()["openly"].search(_plain(text)) is not None
    return is_said or tells_of_care(text, household)


def asked_to(text: str, household: Household) -> frozenset[str]:
    """Return the ids of members whom a text asks, or tells, to see to something: it is not about them."""
    reader = _Reader(household, _people(household), _plain(text, household.members_by_word), None)
    return reader.helpers


def told_span(text: str, people: Collection[str]) -> tuple[int, int]:
    """Return the start and end of a sentence without a wish for secrecy before or behind what it tells.

    Args:
        text: A sentence, verbatim.
        people: Words for people who are known, in small letters: they are names however they were typed.
    """
    begin, end = 0, len(text)
    read = _spelled(text, people)
    for start, stop in (read.span(*each) for each in _wishes(read.text, people)):
        lead, tail = (
            _BEFORE.search(text, max(begin, start - _NEAR), start),
            _AFTER.match(text, stop),
        )
        first, past = lead.start() if lead else start, tail.end() if tail else stop
        if not text[past:].strip(" .,;:!?-–") and first > begin:
            end = first
        elif first <= begin and _BEGINS_CLAUSE.match(text, past):
            begin = past + len(text[past:]) - len(text[past:].lstrip(" ,;:–-"))
    return (begin, end) if begin < end else (0, len(text))


def _hints(plain: str) -> list[tuple[int, int]]:
    """Return the spans of clauses that may be wishes, by the kinds of words in them, whatever their order."""
    if _MAY_ASK.search(plain) is None:
        return []
    *needed, asks = _compiled("hints", _CAPITALISED)
    ends = [0, *(each.end() for each in _CLAUSE_END.finditer(plain)), len(plain)]
    return [
        (start, end)
        for start, end in pairwise(ends)
        if all(each.search(plain, start, end) for each in needed)
        and not asks.search(plain[start:end])
        and not bars(plain[start:end], plain)
    ]


def _wishes(plain: str, people: Collection[str]) -> list[tuple[int, int]]:
    """Return the spans of wishes in a text without slips of the pen."""
    if _MAY_ASK.search(plain) is None:
        return []
    known = frozenset(people)
    return _joined(
        [
            cut
            for start, piece in _pieces(plain)
            for pattern, match in _matches(piece, known)
            if pattern.is_wish
            for cut in _cuts(start, match)
        ]
    )


def _named_in(text: str, people: Collection[str]) -> "_Named | None":
    """Return the first wish of a message that names what is secret."""
    read, known = _spelled(text, people), frozenset(people)
    found = (
        _Named.of(read, start, match)
        for start, piece in _pieces(read.text)
        for _, match in _matches(piece, known)
        if _names_topic(match.re)
    )
    return next(found, None)


def _beside_wish(text: str, people: Collection[str]) -> list[str] | None:
    """Return the parts of a short message beside its wishes for secrecy; None where it holds none."""
    plain = _plain(text, people) if len(text) <= _LONGEST_WISH else ""
    cuts = _wishes(plain, people)
    if not cuts:
        return None
    ends = [0, *(each for cut in cuts for each in cut), len(plain)]
    return [plain[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]


def _count_words(parts: Iterable[str]) -> int:
    """Return how many words of parts of a message say something."""
    return len(_FILLERS.sub(" ", " ".join(parts).casefold()).split())


def _tells(part: str) -> bool:
    """Return whether a part of a message tells news that does not refer to what was said before."""
    return any(_REFERS_BACK.search(found["more"]) is None for found in _TELLS.finditer(part))


def _clauses(text: str) -> list[str]:
    return [*filter(None, map(str.strip, _CLAUSE_END.split(text)))]


def _tells_news(clause: str, people: Collection[str]) -> bool:
    """Return whether a clause without a wish tells of others or something named, or what came about, whoever did it ("got engaged")."""
    if _REFERS_BACK.search(clause) is not None or _wishes(clause, people):
        return False
    is_named = begins_with_person(clause) or _NAMED_THING.match(clause) is not None
    is_told = is_named or modality_of(clause) in {Modality.PAST, Modality.TOLD}
    return any(
        (each.subject != ME and bool(each.slot)) or (is_told and bool(each.value))
        for each in read_statement(clause)
        if _attitudes().isdisjoint({*each.slot.split(), *each.value})
    )


def _is_attitude(clause: str) -> bool:
    """Return whether a clause only says who asks for secrecy, or how they feel about it."""
    said = {
        word
        for each in read_statement(clause)
        for word in (*({*each.slot.split()} - each.names), *each.value)
    } - {"be", "feeling"}
    return bool(said) and said <= _attitudes()


@cache
def _attitudes() -> frozenset[str]:
    """Return the verbs and feelings that are about a secret, and no news, as readings have them."""
    return frozenset(
        word
        for each in _ATTITUDES.split("|")
        for reading in (*read_statement(f"he {each}"), *read_statement(f"he {each} it"))
        for word in (each, *reading.slot.split(), *reading.value)
        if word not in {"he", "be", "it"}
    )


def _leads_into_wish(part: str) -> bool:
    """Return whether a part before a wish belongs to its clause ("I'd be" of "I'd be mortified if Ben knew")."""
    return _ENDS_CLAUSE.search(part[-_NEAR:]) is None


def _plain(text: str, people: Collection[str] = ()) -> str:
    return _spelled(text, people).text


def _spelled(text: str, names: Collection[str] = ()) -> Folded:
    """Return what is read of a text, without slips of the pen.

    Args:
        names: Words for people, in small letters.
    """
    return _speller().spelled(text[:LONGEST_MESSAGE], names)


@cache
def _speller() -> Speller:
    """Return what knows the words that wishes are made of."""
    spelling = _data()["spelling"]
    return Speller(spelling["words"].split(), spelling["contractions"].split())


def _pieces(plain: str) -> Iterator[tuple[int, str]]:
    """Yield sentences with their places; long ones in pieces, so that no pattern reads far."""
    for piece in _PIECE.finditer(mask_stops(plain)):
        yield piece.start(), plain[slice(*piece.span())]


def _clause_at(piece: str, at: int) -> str:
    """Return the clause of a sentence in which a place is."""
    ends = [*_CLAUSE_END.finditer(piece)]
    begin = max((each.end() for each in ends if each.end() <= at), default=0)
    return piece[begin : min((each.start() for each in ends if each.start() > at), default=None)]


def _cuts(start: int, match: re.Match[str]) -> list[tuple[int, int]]:
    """Return the spans of a wish, without what it looks at before it, and without what it names."""
    begin, end = match.span("cut" if "cut" in match.re.groupindex else 0)
    inner = match.span("topic") if _names_topic(match.re) else (end, end)
    return [
        (start + one, start + other)
        for one, other in ((begin, inner[0]), (inner[1], end))
        if one < other
    ]


def _names_topic(form: re.Pattern[str]) -> bool:
    return "topic" in form.groupindex


@lru_cache(maxsize=512)
def _matches(piece: str, people: frozenset[str]) -> tuple[tuple[_Pattern, re.Match[str]], ...]:
    """Return what asks for secrecy in a sentence, or tells of a surprise; one message is asked about many times.

    Args:
        piece: Without slips of the pen.
        people: Words for people who are known, in small letters.
    """
    _, patterns, _, starts = _forms_of(people)
    people_at = [each.start() for each in starts.finditer(piece)]
    is_none = any(each.search(piece) for each in _compiled("not_surprises", _CAPITALISED))
    return tuple(
        (pattern, match)
        for pattern in patterns
        if not (pattern.is_surprise and is_none)
        for match in pattern.found_in(piece, people_at)
        # What somebody is not to get, those around have to know.
        if not bars(_clause_at(piece, match.start()), piece)
    )


@dataclass(frozen=True, slots=True)
class _Named:
    """The places of a wish for secrecy in a message, and of what it names as secret."""

    wish: tuple[int, int]
    topic: tuple[int, int]

    @classmethod
    def of(cls, read: Folded, start: int, match: re.Match[str]) -> "_Named":
        spans = (match.span(), match.span("topic"))
        wish, topic = (read.span(start + begin, start + end) for begin, end in spans)
        return cls(wish, topic)

    def told_in(self, text: str) -> str:
        """Return the message with what it names in the place of the wish, and of a pronoun right after it.

        Where nothing is told of that, what stands before the wish is all that is told.
        """
        before, topic, follows, more = self._parts_of(text)
        if before and not more:
            return before
        joint = "." if text[self.wish[1] :].lstrip(" ")[:1] in _ENDS else ","
        if follows["pronoun"]:
            verbs = (each for each in ("will", "is", "are") if follows[each])
            joint = "".join(f" {each}" for each in verbs)
        lead = f"{before}{'' if before[-1:] in _ENDS else '.'} " if before else ""
        return f"{lead}{topic}{joint if more else ''} {more}".strip()

    def points_back(self, text: str) -> bool | None:
        """Return whether a message means by what it names something said before; None where only what stands before the wish can tell."""
        before, topic, _, more = self._parts_of(text)
        if _count_words([more]):
            return False
        is_name = _count_words([topic]) <= _MOST_NAMING and not any(map(str.isdigit, topic))
        return True if is_name and not _count_words([before]) else None

    def _parts_of(self, text: str) -> tuple[str, str, re.Match[str], str]:
        """Return what stands before the wish, what it names, what joins that with what is told of it, and that."""
        (begin, end), topic = self.wish, text[slice(*self.topic)].strip()
        rest = text[end:].replace("’", "'")
        follows = _references()["follows"].match(rest.lower())
        if follows is None:
            raise InvariantError("what may be empty is found everywhere")
        lead = _BEFORE.search(text, max(0, begin - _NEAR), begin)
        before = text[: lead.start() if lead else begin].strip(" ,;:–-")
        return before, topic, follows, rest[follows.end() :].strip()


@dataclass(slots=True)
class _Reader:
    """Collects what the patterns find in one message."""

    household: Household
    people: _People
    plain: str
    teller: str | None
    kept_from: set[str] = field(default_factory=set)
    is_found: bool = False
    is_unclear: bool = False
    is_surprise: bool = False

    def note(self, match: re.Match[str], pattern: _Pattern) -> None:
        """Add what one match says of whom something is kept from."""
        if among := _whom(match, "among"):
            self._note_among(among)
            return
        words = _whom(match)
        meant = [self._meant(each) for each in words]
        known = frozenset[str]().union(*(each for each in meant if each is not None))
        if not pattern.is_wish:  # a gift is kept from whom it is for, and says nothing more
            known = (self._given_to(words) if words else self._children) - {self.teller}
            known &= self._children if pattern.is_of_children else known
            if not known:
                return
        elif None in meant or not (words or pattern.is_surprise):
            self.is_unclear = True
        elif not words and not self.kept_from:
            known = self._meant("them") or frozenset()
        self.is_found = True
        self.is_surprise |= pattern.is_surprise
        self.kept_from |= known - {self.teller}

    def _note_among(self, words: Sequence[str]) -> None:
        """Add that nobody but the teller and some others may know; where these see no secrets of others', only the teller may."""
        meant = [self._meant(each) or frozenset() for each in words]
        those = frozenset[str]().union(*meant)
        members = self.household.members
        guests = {each.id for each in members if each.role is Role.OTHER}
        self.is_found = self.is_surprise = True
        self.is_unclear |= not all(meant) or not guests.isdisjoint(those)
        self.kept_from |= {each.id for each in members} - those - {self.teller}

    def scope(self, *, is_group: bool) -> str | None:
        """Return who may see the message; None where nothing in it is kept from anybody of the household."""
        if not self.is_found:
            return None
        if is_group:
            kept = self.kept_from or (self._children - {self.teller} if self.is_unclear else set())
            return surprise_scope(kept) if kept else None
        others = {each.id for each in self.household.members} - {self.teller}
        # Nobody of the household is left to keep a stranger's secret but those whom it is not kept from.
        is_for_some = self.is_surprise or self.teller is None or self.kept_from <= self._children
        if self.kept_from and not self.is_unclear and is_for_some and self.kept_from < others:
            return surprise_scope(self.kept_from)
        return HOUSEHOLD_SCOPE if self.teller is None else person_scope(self.teller)

    @property
    def helpers(self) -> frozenset[str]:
        """Those who are to see to it, and so have to know."""
        return self._found(self.people.helper)

    @property
    def _children(self) -> frozenset[str]:
        return frozenset(each.id for each in self.household.children)

    def _meant(self, words: str) -> frozenset[str] | None:
        """Return the members that words stand for; None where they stand for others, or nobody can tell."""
        if named := self._named(words):
            return named
        folded, kinds = words.casefold(), _kinds_of_people()
        if any(kinds[name].fullmatch(folded) for name in ("children", "no_children")):
            return self._children or None
        if kinds["partner"].fullmatch(folded):
            parents = (Role.PARENT, Role.GUARDIAN)
            found = {each.id for each in self.household.members if each.role in parents}
        elif _is_pronoun(folded):
            found = {*self._named(self.plain)}
        else:
            return None
        others = frozenset(each for each in found if each != self.teller)
        return others if len(others) == 1 else None

    def _given_to(self, words: Sequence[str]) -> frozenset[str]:
        """Return whom a gift is for; "her present" is theirs whose things are named, or who else is, or all but who sees to it."""
        known = frozenset(who for each in words for who in self._meant(each) or ())
        if known or not any(map(_is_pronoun, words)):
            return known
        owners, helpers = self._found(self.people.owner), self.helpers
        is_given = any(map(_kinds_of_people()["possessive"].fullmatch, map(str.casefold, words)))
        everybody = frozenset(each.id for each in self.household.members if is_given)
        kept = (
            {*each} - helpers - {self.teller}
            for each in (owners, self._named(self.plain), everybody)
        )
        return frozenset(next(filter(None, kept), ()))

    def _found(self, form: re.Pattern[str]) -> frozenset[str]:
        return frozenset(
            who
            for match in form.finditer(self.plain)
            for each in _whom(match)
            for who in self._named(each)
        )

    def _named(self, text: str) -> frozenset[str]:
        return frozenset(
            member
            for each in self.people.named.findall(text)
            for member in self.people.members[each.casefold()]
        )


def _without(text: str, cuts: list[tuple[int, int]]) -> str:
    """Return a text without what was cut out; empty where nothing else is said."""
    parts, at = [], 0
    for start, end in _joined(cuts):
        lead = _BEFORE.search(text, max(at, start - _NEAR), start)
        tail = _AFTER.match(text, end)
        begin, stop = lead.start() if lead else start, tail.end() if tail else end
        if _ENDS_CLAUSE.search(text[max(0, start - _NEAR) : start]) and _BEGINS_CLAUSE.match(
            text, stop
        ):
            parts.append(text[at:begin])
            at = stop
    rest = "".join([*parts, text[at:]])
    if not _FILLERS.sub("", rest.casefold()):
        return ""
    kept = " ".join(rest.split())
    kept = re.sub(r"\s+([,.;:!?])", r"\1", kept)
    kept = re.sub(
        r"([,;:])(?=[.!?]|$)|(?:[,;:]? (?:and|but|so|please|oh))+(?=[.!?]|$)",
        "",
        kept,
        flags=re.IGNORECASE,
    )
    return re.sub(r"^[\W_]+|[\s,;:–-]+$", "", kept)


def _joined(cuts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(cuts):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _whom(match: re.Match[str], kind: str = "whom") -> list[str]:
    """Return the words for people that a pattern found."""
    return [each for key, each in match.groupdict().items() if key.startswith(kind) and each]


def _is_pronoun(words: str) -> bool:
    kinds, folded = _kinds_of_people(), words.casefold()
    return any(kinds[name].fullmatch(folded) for name in ("pronoun", "possessive"))


@cache
def _data() -> dict[str, dict[str, str]]:
    path = files("kinkeeper.reading") / "data" / "secrecy.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def _references() -> Mapping[str, re.Pattern[str]]:
    forms = _compiled("references", _CAPITALISED)
    return dict(zip(_data()["references"], forms, strict=True))


@cache
def _kinds_of_people() -> dict[str, re.Pattern[str]]:
    classes = _data()["classes"]
    forms = {**_data()["people"], "possessive": classes["possessive"]}
    return {name: re.compile(expanded(form, classes)) for name, form in forms.items()}


@cache
def _compiled(section: str, names: str, bare: str = r"(?!)") -> tuple[re.Pattern[str], ...]:
    data = _data()
    people = "|".join(data["people"].values())
    whom = (
        f"(?:\\b(?>(?:{people}|@none|@any|{names})\\b)"
        f"(?:(?:,(?! (?:he|she|they)\\b)| and|,? or|'s? and) (?>(?:{people}|{names})\\b)){{0,{_MOST_NAMED}}}+)"
    )
    words = data["classes"] | {"whom": whom, "bare": f"(?:{bare})"}
    return tuple(
        re.compile(expanded(form, words), re.IGNORECASE) for form in data[section].values()
    )


@cache
def _patterns_for(names: str, bare: str = r"(?!)") -> tuple[_Pattern, ...]:
    return tuple(
        _Pattern(
            form,
            is_wish=section in {"wishes", "surprises"},
            is_surprise=section != "wishes",
            is_of_children=section == "beliefs",
            is_led_by_person=source.startswith(_PERSON) and not _has_branches(source),
        )
        for section in ("wishes", "surprises", "gifts", "beliefs")
        for form, source in zip(
            _compiled(section, names, bare), _data()[section].values(), strict=True
        )
    )


def _has_branches(source: str) -> bool:
    """Return whether a pattern, as it is written, has alternatives outside all groups."""
    depth, is_class, is_escaped = 0, False, False
    for sign in source:
        if is_escaped or sign == "\\":
            is_escaped = not is_escaped
        elif is_class or sign == "[":
            is_class = sign != "]"
        else:
            depth += (sign == "(") - (sign == ")")
            if sign == "|" and depth == 0:
                return True
    return False


@lru_cache(maxsize=64)
def _forms_of(
    people: frozenset[str],
) -> tuple[re.Pattern[str], tuple[_Pattern, ...], str, re.Pattern[str]]:
    """Return what finds words for people, the patterns with them or any capitalised name in them, the words themselves, and what finds where such words begin in a pattern."""
    names = "|".join(map(re.escape, sorted(people, key=lambda each: (-len(each), each)))) or r"(?!)"
    known = rf"(?:{names}|{_CAPITALISED})\b"
    (starts,) = _compiled("starts", known, names)
    return (
        re.compile(rf"\b(?:{names})\b", re.IGNORECASE),
        _patterns_for(known, names),
        names,
        starts,
    )


def _people(household: Household) -> _People:
    """Return the words for the household's members, with the patterns that look for whom they help or give to."""
    members = household.members_by_word
    named, _, names, _ = _forms_of(frozenset(members))
    return _People(members, named, *_compiled("beside_gifts", names, names))
