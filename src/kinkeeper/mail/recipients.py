"""Whom a mail is for: from what people call each other to addresses, by the household file. Pure.

A name that fits nobody stays a name; nothing is ever guessed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kinkeeper.household.model import Household, Member
from kinkeeper.household.name_folding import fold, in_words
from kinkeeper.mail.model import Address, one_line, parse_address

_BETWEEN = re.compile(r"[,;\n]")
_AND = re.compile(r"\s+(?:and|&|plus)\s+", re.IGNORECASE)
_LEADING_AND = re.compile(r"^(?:and|&|plus)\s+", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|my|our)\s+", re.IGNORECASE)
_ONESELF = frozenset({"me", "myself"})
_EVERYBODY = frozenset(
    {"everyone", "everybody", "all", "all of us", "us", "family", "whole family", "household"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one name came to.

    Attributes:
        name: As it was said.
        addresses: Whose address is known.
        missing: Names of those who are meant and whose address is not known.
        options: Who could be meant, where it is not clear.
    """

    name: str
    addresses: tuple[Address, ...] = ()
    missing: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether it is clear who is meant, if not where they get mail."""
        return bool(self.addresses or self.missing)


def find_recipients(
    household: Household, asker: Member, to: str | Sequence[str]
) -> tuple[Found, ...]:
    """Return what each name of a list came to, in its order.

    Args:
        household: Its members, groups and contacts are known.
        asker: Who is meant by "me", and is left out of "everyone".
        to: Addresses and names: a list, or one text with commas and "and" between them.

    Raises:
        InputError: Something with an @ in it is no address.
    """
    parts = [to] if isinstance(to, str) else to
    pieces = [piece for part in parts for piece in _pieces(part)]
    return tuple(found for piece in pieces for found in _find_all(household, asker, piece))


def contact_named(household: Household, asker: Member, name: str) -> Found:
    """Return what one name came to.

    Raises:
        InputError: It has an @ in it and is no address.
    """
    return _find(household, asker, one_line(name))


def _pieces(text: str) -> Iterator[str]:
    # A comma may stand within the quotes of a name: "Ruiz, Ana" <ana@school.example>.
    shielded = re.sub(r'"[^"]*"', lambda quoted: quoted[0].replace(",", "\0"), text)
    for piece in _BETWEEN.split(shielded):
        if words := _LEADING_AND.sub("", one_line(piece.replace("\0", ","))):
            yield words


def _find_all(household: Household, asker: Member, piece: str) -> Iterator[Found]:
    """Yield what a piece came to; "and" may stand within a name ("Mom and Dad") or between two."""
    whole = _find(household, asker, piece)
    parts = [part for part in _AND.split(piece) if part]
    if whole.is_known or whole.options or len(parts) == 1:
        yield whole
        return
    for part in parts:
        yield _find(household, asker, part)


def _find(household: Household, asker: Member, name: str) -> Found:
    if ("@" in name and " " not in name.strip()) or "<" in name:
        return Found(name=name, addresses=(parse_address(name),))
    word = fold(name)
    plain = _ARTICLE.sub("", word, count=1) if _ARTICLE.match(word) else word
    if word in _ONESELF:
        return _of_members(name, [asker])
    named = list(_named(household, {word, plain}))
    if len(named) == 1:
        return Found(name=name, addresses=named[0].addresses, missing=named[0].missing)
    if named:
        return Found(name=name, options=tuple(each.name for each in named))
    if plain in _EVERYBODY:
        others = [each for each in household.members if each.id != asker.id]
        known = _of_members(name, others)
        return Found(
            name=name, addresses=known.addresses, missing=() if known.addresses else (name,)
        )
    return _by_part_of_name(household, name, plain)


def _named(household: Household, words: set[str]) -> Iterator[Found]:
    """Yield everybody who is called exactly so."""
    for member in household.members:
        if words & _folded((member.id, member.name, *member.aliases)):
            yield _of_members(member.name, [member])
    for contact in household.contacts:
        if words & _folded((contact.id, contact.name, *contact.aliases)):
            yield Found(name=contact.name, addresses=_addresses(contact.name, contact.emails))
    for group in household.groups:
        if words & _folded((group.id, in_words(group.id), *group.aliases)):
            members = [each for each in household.members if each.id in group.members]
            yield _of_members(in_words(group.id), members)


def _by_part_of_name(household: Household, name: str, plain: str) -> Found:
    """Return the one whose name has all the words, such as a first name."""
    wanted = set(plain.split())
    found = [
        Found(name=contact.name, addresses=_addresses(contact.name, contact.emails))
        for contact in household.contacts
        if wanted
        and any(wanted <= set(each.split()) for each in _folded((contact.name, *contact.aliases)))
    ]
    if len(found) == 1:
        return Found(name=name, addresses=found[0].addresses)
    return Found(name=name, options=tuple(each.name for each in found))


def _of_members(name: str, members: Iterable[Member]) -> Found:
    people = list(members)
    return Found(
        name=name,
        addresses=tuple(
            Address(address=each.email, name=each.name) for each in people if each.email
        ),
        missing=tuple(each.name for each in people if not each.email),
    )


def _addresses(name: str, emails: Sequence[str]) -> tuple[Address, ...]:
    is_one = len(emails) == 1
    return tuple(Address(address=email, name=name if is_one else "") for email in emails)


def _folded(words: Iterable[str]) -> set[str]:
    return {fold(word) for word in words}
