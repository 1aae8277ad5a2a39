"""Whether two readings tell of the same thing, and the same of it. Pure."""

from kinkeeper.memory.statements.canonical_words import lexicon
from kinkeeper.memory.statements.statement_reader import Reading

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
        one.is_known and one.is_single and not other.is_known and other.slot in lexicon().weak_verbs
        and bool(one.value) and set(one.value) == set(other.value)
    )  # fmt: skip
