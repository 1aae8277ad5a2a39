"""What is asked of the web for a goal: its own words, without people and numbers that are nobody else's business. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from kinkeeper.household.model import Contact, Household, Member
from kinkeeper.language.text import Token, TokenKind, tokenise

_LONGEST_QUERY: Final = 150
_LONGEST_NUMBER: Final = 3
"""Digits of a number that is no year and no price: a longer one may be a code or a telephone number."""

_HOME_NAMES: Final = frozenset({"home", "internal", "lan", "local", "localdomain", "localhost"})
_SIGNS: Final = frozenset("£€$")
_CLOSING: Final = ".,;:!?)]}>\"'”’"


def addresses_in(text: str) -> Sequence[str]:
    """Return the addresses of pages that a text names, each once."""
    links = (text[each.start : each.end] for each in tokenise(text) if each.kind is TokenKind.LINK)
    named = (_closed(each) for each in links if "@" not in each.partition("/")[0])
    return [*dict.fromkeys(each if "://" in each else f"https://{each}" for each in named)]


def without_addresses(text: str) -> str:
    """Return a text without the addresses that it names; as it is where it says nothing else."""
    rest = text
    for each in addresses_in(text):
        rest = rest.replace(each, "").replace(each.removeprefix("https://"), "")
    return " ".join(rest.split()) or text


def shown_host(address: str) -> str:
    """Return the host of an address as it is asked for, with its port if it has one of its own.

    Letters of other scripts are told in the form that computers use ("xn--…"): they may look like others.
    """
    url = urlsplit(address)
    host = (url.hostname or "").encode("idna").decode("ascii") if url.hostname else address
    return f"{host}:{url.port}" if url.port else host


def is_public_name(address: str) -> bool:
    """Whether an address names its host as pages of the web do: neither a number nor a name of the home network."""
    try:
        host = shown_host(address)
    except ValueError:
        return False
    name, _, last = host.partition(":")[0].rstrip(".").rpartition(".")
    return bool(name) and not last.isdigit() and last not in _HOME_NAMES


def public_words(text: str, household: Household, *, now: datetime) -> str:
    """Return the words of a goal that may be shown to a search engine.

    Left out are the names of people of the household and those it writes to, addresses, mail addresses and long
    numbers.
    """
    tokens = tokenise(text)
    names = _names(household)
    kept = [
        each
        for at, each in enumerate(tokens)
        if each.kind is not TokenKind.LINK
        and not _is_name(each, names)
        and not _is_private_number(tokens, at, now.year)
    ]
    words = "".join(_piece(text, kept, at) for at in range(len(kept)))
    return " ".join(words.split())[:_LONGEST_QUERY].strip(" ,;:–-")


def words_of_goal(wanted: str, public: str) -> str:
    """Return which of a goal's words somebody else wants to search for: all of them where they name none.

    Args:
        wanted: In their words, of which none that the goal lacks is taken.
        public: The goal's, as `public_words` gives them.
    """
    tokens, named = tokenise(public), {each.text for each in tokenise(wanted)}
    kept = [
        each for each in tokens if each.text in named and each.kind is not TokenKind.PUNCTUATION
    ]
    words = "".join(_piece(public, kept, at) for at in range(len(kept)))
    return " ".join(words.split()) or public


def _closed(link: str) -> str:
    link = link.rstrip(_CLOSING)
    # "(see https://a.example/b_(c))": a bracket that the address itself opens belongs to it.
    return f"{link})" if link.count("(") > link.count(")") else link


def _names(household: Household) -> frozenset[str]:
    people: list[Member | Contact] = [*household.members, *household.contacts]
    said = [word for each in people for word in (each.name, *each.aliases)]
    return frozenset(
        token.text for each in said for token in tokenise(each) if token.kind is TokenKind.WORD
    )


def _is_name(token: Token, names: frozenset[str]) -> bool:
    bare = token.text.replace("’", "'").removesuffix("'s")
    return bare in names or any(part in names for part in bare.split("-"))


def _is_private_number(tokens: Sequence[Token], at: int, year: int) -> bool:
    digits = "".join(each for each in tokens[at].text if each.isdigit())
    if len(digits) <= _LONGEST_NUMBER:
        # "0131 496 0000": what stands beside another number is part of it.
        beside = [tokens[other] for other in (at - 1, at + 1) if 0 <= other < len(tokens)]
        return bool(digits) and any(each.kind is TokenKind.NUMBER for each in beside)
    is_price = at > 0 and tokens[at - 1].text in _SIGNS
    return not is_price and not (digits == tokens[at].text and abs(int(digits) - year) <= 1)


def _piece(text: str, kept: Sequence[Token], at: int) -> str:
    """Return a token as it was written, with a space before it where there was one."""
    token = kept[at]
    is_apart = at > 0 and (kept[at - 1].end < token.start)
    return (" " if is_apart else "") + text[token.start : token.end]
