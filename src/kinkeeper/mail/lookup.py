"""What people's words about mail mean: whom a mail is for, and what somebody looks for. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kinkeeper.household.model import Household, Member
from kinkeeper.household.name_folding import fold, in_words
from kinkeeper.mail.model import Address, MailQuery, one_line, parse_address
from kinkeeper.reading.times import read
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan, without_spans

# Whom a mail is for: from what people call each other to addresses, by the household file. Pure.
#
# A name that fits nobody stays a name; nothing is ever guessed.

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


# What somebody looks for in the mail, out of a few words: from whom, since when, about what. Pure.

_FROM = re.compile(r"\b(?:from|by)[:\s]\s*(\S+(?:\s+\S+){0,4})", re.IGNORECASE)
_ENDS_NAME = re.compile(
    r"\s+(?:about|regarding|re|concerning|on|with|that|which|since|before|in|and|saying|mentioning)\b.*",
    re.IGNORECASE,
)
_UNREAD = re.compile(r"\b(?:unread|new)\b", re.IGNORECASE)
_TERM = re.compile(r'"([^"]+)"|(\S+)')
_EMPTY_WORDS = """
a about an and any anything did do does email emails find for from get got have i in inbox is latest last look
mail mails me message messages my new of on our recent regarding say search show since that the there to today
unread was we what which with write wrote
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_WEEK = timedelta(days=7)
_DAYS = frozenset({Grain.DAY, Grain.WEEK, Grain.MONTH, Grain.YEAR})


def read_query(text: str, now: datetime, *, locale: str) -> MailQuery:
    """Return what a few words look for.

    Args:
        text: "from Sarah about the invoice", "unread since Monday", or plain words.
        now: Aware, in the zone in which days count.
        locale: Of the household; decides how numeric dates are read.
    """
    rest = one_line(text)
    since = before = None
    for span in read(rest, now, locale=locale):
        back = _days_back(span, now)
        if back is not None:
            since = (span.begin - back).date()
            before = None if span.bound else (span.until - back).date()
            rest = without_spans(rest, [span])
            break
    sender = ""
    if found := _FROM.search(rest):
        sender = _ENDS_NAME.sub("", found[1]).strip(" ,.;:\"'?!")
        rest = rest[: found.start()] + " " + rest[found.start(1) + len(sender) :]
    return MailQuery(
        sender=sender,
        words=tuple(_terms(rest)),
        is_unread=_UNREAD.search(rest) is not None,
        since=since,
        before=before,
    )


def _days_back(span: TimeSpan, now: datetime) -> timedelta | None:
    """Return how far before its reading a span of days lies, for mail has come already; None if it is none."""
    is_days = span.kind in {SpanKind.DATE, SpanKind.RANGE} and span.grain in _DAYS
    if not is_days or span.has_time:
        return None
    if span.begin <= now:
        return timedelta()
    # "Monday" is read as the coming one.
    return _WEEK if span.begin - _WEEK <= now else None


def _terms(text: str) -> Iterator[str]:
    for found in _TERM.finditer(text):
        word = (found[1] or found[2]).strip(" ,.;:!?'\"()")
        if word and (found[1] or word.casefold() not in _EMPTY):
            yield word
