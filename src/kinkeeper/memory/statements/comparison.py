"""Two statements beside each other: whether they tell the same, or news of it in free words. Pure."""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from kinkeeper.memory.statements.canonical_words import Word, canon_of, lexicon, opened, words_of
from kinkeeper.memory.statements.names import kin_canons, names_in
from kinkeeper.memory.statements.statement_reader import LONGEST_STATEMENT, Reading, read_statement
from kinkeeper.memory.statements.subjects import ME

# Whether two readings tell of the same thing, and the same of it. Pure.

_WHEN = frozenset(("when", "routine"))


def is_of_same_subject(one: str, other: str) -> bool:
    """Whether two subjects may be one: "mum" and "mum ida", never the speaker and another."""
    if one == other:
        return True
    ours, theirs = one.split("/"), other.split("/")
    if len(ours) != len(theirs) or "me" in {one, other}:
        return False
    return all(
        set(mine.split()) <= set(his.split()) or set(his.split()) <= set(mine.split())
        for mine, his in zip(ours, theirs, strict=True)
    )


def is_about_the_same(old: Reading, new: Reading) -> bool:
    """Whether two readings tell of one slot of one topic, whatever its value."""
    if old.slot != new.slot and not (
        old.family == new.family and old.family in {old.slot, new.slot}
    ):
        return False
    if old.is_exact and old.topic != new.topic:
        return False
    if old.family in _WHEN and not (old.topic <= {*new.words} and new.topic <= {*old.words}):
        return False
    return _same_topic(old.topic, new.topic)


def says_the_same_of_it(old: Reading, new: Reading) -> bool:
    """Whether two readings tell the same of the same, whether or not one denies it."""
    if set(old.words) == set(new.words) and old.words:
        is_of_other_topic = old.is_exact and old.slot == new.slot and old.topic != new.topic
        return not is_of_other_topic and not is_turned_round(old, new)
    if not is_of_same_subject(old.subject, new.subject):
        return False
    if _has_it_by_name(old, new) or _has_it_by_name(new, old):
        return True
    return (
        is_about_the_same(old, new)
        and (old.is_known or old.is_single)
        and (bool(old.value) or not new.value)
        and has_same_value(old, new)
    )


def is_turned_round(old: Reading, new: Reading) -> bool:
    """Whether the same words say who does it to whom the other way round ("Tom likes Ida")."""
    if old.is_known and new.is_known:
        return False
    if old.words[0] == new.words[0] or old.is_passive != new.is_passive:
        return False
    verbs = lexicon().verbs - {"be"}
    verb = next((at for at, word in enumerate(old.words) if at and word in verbs), None)
    other = next((at for at, word in enumerate(new.words) if at and word in verbs), None)
    if verb is None or other is None:
        return False
    return old.words[0] in new.words[other:] and new.words[0] in old.words[verb:]


def has_same_value(old: Reading, new: Reading) -> bool:
    """Whether two values are equal, or one only tells it in more detail."""
    one, other = ({part for word in each.value for part in word.split(":")} for each in (old, new))
    if one == other:
        return True
    if not one or not other or not (one < other or other < one):
        return False
    more = one ^ other
    if more & lexicon().changing_verbs:
        return False
    if old.slot == new.slot and not old.is_single and old.value[-1] != new.value[-1]:
        return False
    return not any(
        word in lexicon().altering or any(sign.isdigit() for sign in word) for word in more
    )


def _same_topic(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _has_it_by_name(one: Reading, other: Reading) -> bool:
    """Whether "I use a Pixel" repeats "my phone is a Pixel"."""
    return (
        one.is_known
        and one.is_single
        and not other.is_known
        and other.slot in lexicon().weak_verbs
        and bool(one.value)
        and set(one.value) == set(other.value)
    )


# Updates and repetitions told in free words, where no slot tells what is spoken of: the words of
# both are compared.
#
# What both share says what it is about; what is gone and what has come must be of one kind: another
# number, another time, another name. Anything else only counts where the new one says that
# something changed.

_THEY = "they"
_SUBJECT_PRONOUNS = frozenset(("he", "she", _THEY))
_PARTS = frozenset(("half", "quarter"))
_FEASTS = frozenset(map(canon_of, ("christmas", "easter")))
_MOST_GONE = 2
_MOST_COME = 3


class _Kind(Enum):
    NUMBER = "number"
    TIME = "time"
    NAME = "name"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class _Difference:
    """What two readings of one subject share, and what only one of them says: nouns by kind."""

    shared: frozenset[str]
    gone: frozenset[str]
    come: frozenset[str]
    names: frozenset[str]

    @property
    def things(self) -> frozenset[str]:
        """What both share and is no number and no time, though it may be a feast."""
        clock = lexicon().times - _FEASTS
        return frozenset(word for word in self.shared if not is_number(word) and word not in clock)

    def of(self, words: frozenset[str], kind: _Kind) -> frozenset[str]:
        return frozenset(word for word in words if _kind_of(word, self.names) is kind)


def carried(readings: Sequence[Reading]) -> list[Reading]:
    """Return the readings of a statement, "she" and the like told as whom the clauses before are about."""
    found: list[Reading] = []
    for reading in readings:
        people = [each.subject for each in found if each.subject not in {ME, *_SUBJECT_PRONOUNS}]
        is_she = reading.subject in _SUBJECT_PRONOUNS and bool(people)
        found.append(_told_of(people[-1], reading) if is_she else reading)
    able = {each.subject for each in found if each.is_able}
    return [replace(each, is_able=each.subject in able) for each in found]


def _told_of(subject: str, reading: Reading) -> Reading:
    named = subject.replace("/", " ").split()
    said = [word for word in reading.words if word != reading.subject]
    return replace(reading, subject=subject, words=(*named, *said))


def is_over_by_name(old: Reading, new: Reading) -> bool:
    """Whether the new one says of the very thing of the old one that it is over or was given for another."""
    gone = new.replaced - lexicon().conditions
    if (
        not gone
        or gone <= old.replaced
        or old.is_retraction
        or old.is_past
        or (old.is_negative and gone == new.replaced)
    ):
        return False
    return gone <= set(old.words) and bool(gone & set(old.value or old.words))


def takes_over(old: Reading, new: Reading) -> bool:
    """Whether the new one says that somebody else does what the old one tells, in its subject's place."""
    who = set(old.subject.replace("/", " ").split())
    done = set(old.words) - who - lexicon().bland
    return old.subject != ME and who <= new.replaced and bool(done) and done <= set(new.words)


def is_succeeded(old: Reading, new: Reading) -> bool:
    """Whether the new one says that somebody has come in the place of whom the old one tells as what they are."""
    is_told_of_them = bool(new.succeeded) and new.succeeded <= set(old.value)
    return is_told_of_them and not old.is_past and not old.is_negative and not old.succeeded


def holds_again(old: Reading, new: Reading) -> bool:
    """Whether what could not be may be again: eaten, worn, used."""
    was_barred = old.is_negative or old.side == "dislike" or old.slot in lexicon().bars
    if not was_barred or new.is_negative or new.is_retraction or new.is_hypothetical:
        return False
    # A reaction comes again, too: of what may harm only a plain permission counts.
    is_news = new.is_able or (
        old.slot not in lexicon().bars and not new.side and (new.is_again or new.is_change)
    )
    barred = (set(old.value) or set(old.words)) | old.topic
    barred -= {*old.subject.replace("/", " ").split(), *old.names}
    if set(new.words) & lexicon().conditions or new.slot in lexicon().bars:
        return False
    return is_news and bool(barred) and barred <= set(new.words) and not _goes_on(barred, new)


def _goes_on(thing: Collection[str], reading: Reading) -> bool:
    """Whether a thing is only the beginning of another's name ("kiwi ice cream")."""
    last = max(place for place, word in enumerate(reading.words) if word in thing)
    following = reading.words[last + 1 : last + 2]
    known = lexicon()
    return bool(following) and following[0] not in known.verbs | known.times | known.permitted


def is_changed(old: Reading, new: Reading) -> bool:
    """Whether the new one tells another number, time or name of what both share, or says where else it is now.

    Args:
        new: Of the same subject, told as news.
    """
    if old.is_negative != new.is_negative or new.is_added or old.is_hypothetical:
        return False
    found = _difference(old, new)
    if not found.gone or not found.come or _is_of_another_thing(old, new):
        return False
    told = set(new.words) - lexicon().bland
    does_the_same = bool(told & set(old.words) & lexicon().verbs)
    is_moved = old.subject != ME and bool(told & lexicon().changing_verbs)
    for kind in (_Kind.NUMBER, _Kind.TIME, _Kind.NAME):
        gone, come = found.of(found.gone, kind), found.of(found.come, kind)
        is_about_it = bool(found.things) or is_moved or (does_the_same and kind is not _Kind.NAME)
        if (
            gone
            and come
            and is_about_it
            and (kind is _Kind.NAME or not found.of(found.shared, kind))
        ):
            return len(found.gone - gone) <= 1
    is_of_other_kind = found.of(found.gone, _Kind.OTHER) != found.gone
    if (
        not found.shared
        or is_of_other_kind
        or len(found.gone) > _MOST_GONE
        or len(found.come) > _MOST_COME
    ):
        return False
    return _moves(old, new)


def _is_of_another_thing(old: Reading, new: Reading) -> bool:
    """Whether each tells of a thing of its own ("the pool opens at 9", "the library opens at 10")."""
    if old.slot == new.slot and old.is_exact and old.subject == new.subject:
        return old.topic != new.topic
    return (
        old.is_known
        and new.is_known
        and not old.topic <= {*new.words}
        and not new.topic <= {*old.words}
    )


def says_the_same(old: Reading, new: Reading) -> bool:
    """Whether two readings say the same but for words that say nothing ("meets at", "is held at")."""
    if old.is_negative != new.is_negative or old.is_hypothetical or new.is_hypothetical:
        return False
    known = lexicon()
    # Who may not have a thing does not have it.
    empty = known.bland | known.permitted if old.is_negative else known.bland
    one, other = (frozenset(each.words) - empty for each in (old, new))
    return len(one) > 1 and one == other


def may_be_about_the_same(old: Reading, new: Reading) -> bool:
    """Whether what others did to somebody is about whom the old one is about ("they put Mum in room 9")."""
    if new.subject != _THEY:
        return False
    of_thing = old.topic or (frozenset() if old.is_known else frozenset(old.slot.split()))
    who = of_thing if old.subject == ME else frozenset(old.subject.split())
    return bool(who) and who <= set(new.words)


def _difference(old: Reading, new: Reading) -> _Difference:
    named = {*old.subject.replace("/", " ").split(), *new.subject.replace("/", " ").split()}
    known = lexicon()
    dropped = named | known.verbs | known.bland | known.changing_verbs | known.activities
    before, after = (frozenset(each.words) - dropped for each in (old, new))
    # "60 a month", "82 kilos": what is counted in tells nothing of what is spoken of.
    shared = (before & after) - known.measures - known.units
    return _Difference(shared, before - after, after - before, old.names | new.names)


def _kind_of(word: str, names: frozenset[str]) -> _Kind:
    if word in _PARTS or is_number(word):
        return _Kind.NUMBER
    if word in lexicon().times:
        return _Kind.TIME
    return _Kind.NAME if word in names else _Kind.OTHER


def is_number(word: str) -> bool:
    """Whether a canonical word is or holds a number."""
    return any(sign.isdigit() for sign in word)


def _moves(old: Reading, new: Reading) -> bool:
    """Whether the new one says that it was moved or changed, or does the same elsewhere."""
    if old.is_known and not old.is_single:
        return False
    known = lexicon()
    told, before = set(new.words), set(old.words)
    return bool(told & known.changing_verbs) or bool(told & before & (known.verbs - known.bland))


# What the words of a statement show at a look: what it is about, who is named, and what in it
# speaks of change.

_KEPT = 8_192
_POSSESSIVE = "'s"
_FIRST_PERSON = frozenset(("i", "we", "my", "our", "me", "us"))
_PRONOUNS = frozenset("he she they his her their him them it its".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A statement's words.

    Attributes:
        plain: In lower case, contractions opened.
        words: All words in order, without marks.
        told: Canonical words that a comparison may rest on, in order.
        names: Canonical words that are names.
        people: Those that name somebody, "mum" and the like too.
        owners: Canonical words of who has something ("Ida's").
        lead: Canonical words of what stands before the first verb, in order.
        cues: Where each kind of cue is first found in `plain`; kinds that are not are left out.
        readings: What each of its clauses says.
        is_ours: Whether it speaks of its speaker.
        is_led_by_us: Whether it begins with its speaker.
        has_pronoun: Whether it speaks of "her" or "it".
    """

    plain: str
    words: Sequence[Word]
    told: Sequence[str]
    names: frozenset[str]
    people: frozenset[str]
    owners: frozenset[str]
    lead: Sequence[str]
    cues: Mapping[str, re.Match[str]]
    readings: Sequence[Reading]
    is_ours: bool
    is_led_by_us: bool
    has_pronoun: bool


@cache
def cue_patterns() -> Mapping[str, re.Pattern[str]]:
    """Return the patterns of the data file by kind, read once."""
    raw = tomllib.loads(files(__package__).joinpath("data/cues.toml").read_text(encoding="utf-8"))
    return {
        kind: re.compile(rf"(?<![\w'])(?:{'|'.join(each)})(?![\w'])") for kind, each in raw.items()
    }


@lru_cache(maxsize=_KEPT)
def wording_of(text: str) -> Wording:
    """Return what a statement's words show.

    Args:
        text: A sentence, or a few; beyond 500 characters it is not read.
    """
    text = text[:LONGEST_STATEMENT]
    plain, known = opened(text), lexicon()
    all_words = words_of(plain)
    words = [word for word in all_words if word.text[0].isalnum()]
    names = names_in(text)
    empty = known.light | known.fillers | known.negations
    owners = (before.canon for before, mark in pairwise(all_words) if mark.text == _POSSESSIVE)
    said = {word.text for word in words}
    return Wording(
        plain=plain,
        words=words,
        names=names,
        owners=frozenset(owners),
        told=[word.canon for word in words if word.text not in empty],
        people=frozenset(
            word.canon for word in words if word.canon in names or word.canon in kin_canons()
        ),
        lead=_lead(words, names),
        readings=carried(read_statement(text)),
        cues={
            kind: found
            for kind, pattern in cue_patterns().items()
            if (found := pattern.search(plain))
        },
        is_ours=not said.isdisjoint(_FIRST_PERSON),
        has_pronoun=not said.isdisjoint(_PRONOUNS),
        is_led_by_us=bool(words) and words[0].text in _FIRST_PERSON,
    )


def _lead(words: Sequence[Word], names: frozenset[str]) -> list[str]:
    known = lexicon()
    end = next(
        (
            at
            for at, word in enumerate(words)
            if word.canon in known.verbs and word.canon not in names
        ),
        len(words),
    )
    return [word.canon for word in words[:end] if word.text not in known.light]
