"""Updates and repetitions told in free words, where no slot tells what is spoken of: the words of both are compared.

What both share says what it is about; what is gone and what has come must be of one kind: another
number, another time, another name. Anything else only counts where the new one says that something changed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from kinkeeper.memory.statements.canonical_words import canon_of, lexicon
from kinkeeper.memory.statements.statement_reader import Reading
from kinkeeper.memory.statements.subjects import ME

_THEY = "they"
_PRONOUNS = frozenset(("he", "she", _THEY))
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
        people = [each.subject for each in found if each.subject not in {ME, *_PRONOUNS}]
        is_she = reading.subject in _PRONOUNS and bool(people)
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
        old: Neither past nor over.
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
        old.is_known and new.is_known
        and not old.topic <= {*new.words} and not new.topic <= {*old.words}
    )  # fmt: skip


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
