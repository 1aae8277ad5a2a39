"""People that a clause names, and for whom something is to be remembered or noted. Pure."""

import re

from kinkeeper.conversation.planning.case import Case
from kinkeeper.household.model import Role
from kinkeeper.household.vocabulary import Vocabulary, WordKind
from kinkeeper.memory.statements.names import is_forebear
from kinkeeper.reading.corrections import is_given_up

_SELF = frozenset({"i", "me", "myself", "my"})
PRONOUNS = frozenset({"him", "her", "them", "both of them"})
"""Words for people who were spoken of before."""

_ALL_OF_US = frozenset(
    {"we", "us", "our", "ourselves", "both of us", "all of us", "everyone", "everybody"}
)
_SEVERAL = re.compile(r"\s*(?:,|&|\band\b|\bboth\b|\ball\b)\s*", re.IGNORECASE)
_PEOPLE = (WordKind.CHILD, WordKind.ADULT, WordKind.GROUP)


def members_in(text: str, case: Case, *, as_owners: bool = False) -> list[str]:
    """Return the ids of the members that a text names, groups as their members, in order; of "not Ben, Claire" not the old one.

    Args:
        as_owners: Whether "Bens" names Ben, too: in words for what is somebody's it is no plural.
    """
    ends = ("", "s") if as_owners else ("",)
    folded = f" {_plain(text)} "
    # "Us both" and "Ben and I both" are no two children.
    folded = case.grammar.said["two_of_us"].sub(lambda us: us[0].replace("both", "    "), folded)
    found: list[tuple[int, int, str]] = []
    for word in case.vocabulary.words:
        if word.kind not in _PEOPLE:
            continue
        forms = [f" {spelt}{end} " for spelt in word.words for end in ends]
        places = [(folded.find(form), len(form) - 1) for form in forms]
        place, length = min((each for each in places if each[0] >= 0), default=(-1, 0))
        if place >= 0 and not _is_of_another(text, folded[: place + 1].count(" ") - 1, case):
            over = place + length
            found += [
                (place, over, each) for each in case.vocabulary.members_of(word.kind, word.id)
            ]
    named = {over for _, over, _ in found}
    new = [
        each
        for each in found
        if not is_given_up(folded, each[0] + 1)
        and not (each[0] in named and folded.startswith(" both ", each[0]))
    ]
    return list(dict.fromkeys(member for *_, member in sorted(new)))


def _is_of_another(text: str, place: int, case: Case) -> bool:
    """Whether a word is the parent of somebody who is no child here: "my mum", said by a father, or "Lily's mum".

    Args:
        text: As it was said.
        place: Number of the word.
    """
    words = _spelt(text).split()
    if not 0 < place < len(words) or not is_forebear(words[place].removesuffix("'s")):
        return False
    owner, is_owned = words[place - 1].removesuffix("'s"), words[place - 1].endswith("'s")
    if owner == "my":
        return case.context.asked.member.role is not Role.CHILD
    owners = {
        each
        for word in case.vocabulary.meanings(owner)
        for each in case.vocabulary.members_of(word.kind, word.id)
    }
    children = {each.id for each in case.household.members if each.role is Role.CHILD}
    return is_owned and owners.isdisjoint(children)


def by_owner(text: str, case: Case) -> str:
    """Return a text in which a grown-up's "my mum" is called theirs, since others have another."""
    first, _, rest = text.partition(" ")
    if first.lower() != "my" or not _is_of_another(text, 1, case):
        return text
    return f"{case.context.asked.member.name}'s {rest}"


def words_for_people(vocabulary: Vocabulary) -> set[str]:
    """Return the words for members and groups of the household, in small letters."""
    return {each for word in vocabulary.words if word.kind in _PEOPLE for each in word.words}


def without_people(text: str, case: Case) -> str:
    """Return a text without the words for members and groups of the household."""
    spelt = words_for_people(case.vocabulary)
    for each in sorted(spelt, key=len, reverse=True):
        if each in text.lower():
            text = re.sub(rf"\b{re.escape(each)}(?:'s?)?(?!\w)", " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def who_of(text: str, case: Case) -> list[str]:
    """Return the members that a text means, the speaker among them where it says "I" or "me", but not in "my dad"."""
    words = _plain(text)
    named = members_in(words, case)
    speaks = bool({*words.split()} & (_SELF - {"my"})) or words == "my"
    me = case.context.asked.member.id
    return list(dict.fromkeys([*([me] if speaks else []), *named]))


def everybody(case: Case) -> list[str]:
    """Return the ids of those whom "all of us" means: parents, guardians and children."""
    return [
        member.id
        for member in case.household.members
        if member.role in {Role.PARENT, Role.GUARDIAN, Role.CHILD}
    ]


def means_everybody(words: str, case: Case) -> bool:
    """Whether words mean the whole family ("all of us", "everyone")."""
    return case.grammar.describing["everybody"].search(words) is not None


def together(text: str, case: Case) -> list[str]:
    """Return whom a text names as doing something together: "everyone", "Sam and I both"; nobody where it does not.

    Two who are not named are the speaker and the other parent, or the other grown-up, where there is just one.
    """
    if means_everybody(text, case):
        return everybody(case)
    if not means_two_of_us(text, case):
        return []
    me = case.context.asked.member
    named = [each for each in members_in(text, case) if each != me.id]
    if named:
        return [me.id, *named]
    others = [each for each in case.household.adults if each.id != me.id and me.is_adult]
    parents = [each for each in others if each.role is me.role is Role.PARENT]
    pair = [each.id for each in parents or others]
    return (
        [each.id for each in case.household.adults if each.id in {me.id, *pair}]
        if len(pair) == 1
        else []
    )


def doers(words: str, case: Case) -> tuple[str, ...]:
    """Return the members whom words name as doing something, if they name nobody else: "we" are the speaker and the other parent."""
    if words.lower() in {"we", "us"}:
        words = "both of us"
    return tuple(together(words, case)) or people_in(words, case)


def means_two_of_us(words: str, case: Case) -> bool:
    """Whether words mean the speaker and one more ("us both", "the two of us", "Sam and I both")."""
    return case.grammar.said["two_of_us"].search(words) is not None


def is_unknown_pair(case: Case) -> bool:
    """Whether a message speaks of "both of us" where several may be the other one."""
    us = case.grammar.said["two_of_us"].search(case.message.text)
    is_bare = us is not None and not {"us", "we"}.isdisjoint(us[0].lower().split())
    return us is not None and is_bare and not together(us[0], case)


def people_in(words: str, case: Case) -> tuple[str, ...]:
    """Return the members that words name, if they name nobody else."""
    parts = [each for each in _SEVERAL.split(words.strip()) if each]
    if not all(is_person(each, case) or is_speaker(each) for each in parts):
        return ()
    return tuple(who_of(words, case))


def one_of(text: str, case: Case) -> str:
    """Return the id of the only member that a text stands for, or the text itself."""
    meant = {
        member
        for word in case.vocabulary.meanings(_plain(text))
        for member in case.vocabulary.members_of(word.kind, word.id)
    }
    return meant.pop() if len(meant) == 1 else text


def is_speaker(text: str) -> bool:
    """Whether a text stands for whoever speaks, or for everybody."""
    plain = _plain(text)
    return not plain or plain in _SELF or plain in _ALL_OF_US or plain in {"you", "they"}


def is_person(text: str, case: Case) -> bool:
    """Whether a text stands for a member or a group of the household."""
    return any(word.kind in _PEOPLE for word in case.vocabulary.meanings(_plain(text)))


def _plain(text: str) -> str:
    return " ".join(re.sub(r"'s\b|'(?=\s|$)", "", _spelt(text)).split())


def _spelt(text: str) -> str:
    return re.sub(r"[^\w\s'-]", " ", text.lower().replace("’", "'"))


# For whom something is to be remembered or noted, where that is said with it: "just for me". Pure.

_POLITE = re.compile(r"[\s,.!]*(?:please|pls|thanks|thank you|ok|okay)?[\s,.!]*$", re.IGNORECASE)
_LEFT_OVER = re.compile(r"[\s,;:-]+(?:(?:but|and|so)\s+)?(?:just|only)$", re.IGNORECASE)


def audience_of(text: str, case: Case) -> tuple[str, bool | None]:
    """Return what is to be kept without words on who may see it, and whether that is its person alone.

    Those words may have been taken for politeness before ("..., for me"), so the whole message is looked at, too.

    Args:
        text: Of one request, with marks.

    Returns:
        The rest of the text, and True, False, or None where nothing is said about it.
    """
    for name, is_private in (("said_private", True), ("said_shared", False)):
        pattern = case.grammar.pointing[name]
        found = _at_an_edge(pattern, text)
        if found is not None:
            return (text[: found.start()] + text[found.end() :]).strip(), is_private
        if _at_an_edge(pattern, _POLITE.sub("", case.message.text)) is not None:
            return _LEFT_OVER.sub("", text).strip(), is_private
    return text, None


def _at_an_edge(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = [
        each for each in pattern.finditer(text) if each.start() == 0 or each.end() == len(text)
    ]
    return found[-1] if found else None
