"""What a question asks for beside days and things: whose words, what somebody may not have, how what waits stands. Pure."""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import zip_longest

from kinkeeper.language.text import tokenise
from kinkeeper.reading.occasions import foods_in, foods_ruled_out
from kinkeeper.reading.phrases import denials, everyday_spellings
from kinkeeper.reading.replies import is_question

_ENDS = " \t\n.?!,…"
_WORD = re.compile(r"[\w'-]+")


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split()).strip(_ENDS)


@cache
def _forms(section: str) -> Mapping[str, re.Pattern[str]]:
    """Return the patterns of a section; those on several lines are one."""
    data = tomllib.loads((files(__package__) / "data/asked.toml").read_text(encoding="utf-8"))
    return {
        name: re.compile(form.replace("\n", "") if name not in _LISTS else "", re.IGNORECASE)
        for name, form in data[section].items()
    }


_LISTS = frozenset({"light", "about_giving", "anybody", "refusing"})


@cache
def _words(section: str, name: str) -> frozenset[str]:
    data = tomllib.loads((files(__package__) / "data/asked.toml").read_text(encoding="utf-8"))
    return frozenset(data[section][name].split())


# That somebody else is told: "let the coach know", "and text gran".

_PASSING_ON = re.compile(
    r"(?:tell|inform|notify|warn|alert|text|message|e-?mail|invite|remind|nudge)\s+(?!(?:me|us)\b)\S.*|let\s+(?!(?:me|us)\b)\S.*\sknow\b.*",
    re.IGNORECASE | re.DOTALL,
)


def asks_to_pass_on(clause: str) -> bool:
    """Whether a clause wants somebody told or reminded who is not the one that speaks.

    Args:
        clause: Without what is only polite.
    """
    return _PASSING_ON.fullmatch(clause) is not None


# Whose words: "what did Ada say about chess?".


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """A question for what somebody said.

    Attributes:
        who: As they are called in it, in small letters; empty where it asks who said it, or for anybody's words.
        about: Of what; empty where all that they said is asked for.
    """

    who: str
    about: str


def asked_saying(text: str, people: Collection[str]) -> Saying | None:
    """Return whose words a question asks for; None where it asks for something else.

    Args:
        people: Words for people who are known, in small letters.
    """
    said, forms = _plain(text), _forms("saying")
    if not is_question(tokenise(text), text, people) and forms["relative"].search(said) is None:
        return None
    if (found := forms["who"].match(said)) is not None:
        about = forms["lead"].sub("", found["about"].strip())
        return Saying(who="", about=about) if about else None
    found = forms["by"].search(said) or forms["relative"].search(said)
    if found is None:
        return None
    who = re.sub(r"^(?:my|our|the) ", "", found["who"])
    about = forms["lead"].sub("", found["about"].strip()).strip()
    return Saying(who="" if who in _words("saying", "anybody") else who, about=about)


# What somebody may not have: "is Ada allergic to anything?", "who can't eat fish?".


class LimitKind(StrEnum):
    """Which limits a question is about."""

    ALLERGY = "allergy"
    FEAR = "fear"
    DIET = "diet"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitAsked:
    """A question for what somebody can, may or must not have or do.

    Attributes:
        words: What it names besides: names, and the thing that is asked about.
        is_own: Whether it asks for the speaker's.
        is_plain: Whether it can be about nothing else; "can Ada use the car?" can.
        is_whether: Whether it asks if somebody may: what forbids it is a no.
    """

    kind: LimitKind
    words: tuple[str, ...]
    is_own: bool
    is_plain: bool
    is_whether: bool


def asked_limit(text: str) -> LimitAsked | None:
    """Return which limits of people a question is about; None where it asks for something else."""
    said, forms = _plain(text), _forms("limits")
    if forms["asks"].match(said) is None:
        return None
    kind = next(
        (
            LimitKind(name)
            for name in ("allergy", "fear", "diet")
            if forms[name].search(said) is not None
        ),
        None,
    )
    is_food = kind is None and forms["food"].search(said) is not None
    is_denied = forms["denied"].search(said) is not None
    if kind is None and not (is_denied or is_food or forms["allowed"].search(said)):
        return None
    light = _words("limits", "light")
    return LimitAsked(
        kind=kind or (LimitKind.DIET if is_food else LimitKind.ANY),
        words=tuple(each.removesuffix("'s") for each in _WORD.findall(said) if each not in light),
        is_own=forms["own"].search(said) is not None,
        is_plain=kind is not None or is_denied,
        is_whether=not is_denied and forms["whether"].match(said) is not None,
    )


def asks_to_give(text: str) -> LimitAsked | None:
    """Return whose limits a question bears on that asks whether, or when, a medicine may be given; None where it asks for something else."""
    said = _plain(text)
    is_medicine = any(name in same_things(text) for name, _ in _medicines()) or not {
        *general_words(text).split()
    }.isdisjoint(medicine_words())
    if not is_medicine or _forms("limits")["giving"].match(said) is None:
        return None
    dull = _words("limits", "light") | _words("limits", "about_giving")
    words = tuple(each.removesuffix("'s") for each in _WORD.findall(said) if each not in dull)
    return LimitAsked(
        kind=LimitKind.ANY, words=words, is_own=False, is_plain=True, is_whether=False
    )


def forbids(text: str, kind: LimitKind) -> bool:
    """Whether a statement says that somebody may not, must not or cannot, or is not to be given.

    Args:
        kind: Which limits are wanted: of food and of what one is allergic to, only what one has, eats or takes.
    """
    said, forms = _spelt_out(text), _forms("limits")
    if kind is not LimitKind.FEAR and bars(text):
        return True
    is_wanted = kind is LimitKind.ANY or (
        kind is not LimitKind.FEAR and forms["consumed"].search(said) is not None
    )
    return is_wanted and forms["forbids"].search(said) is not None


def bars(text: str, beside: str = "") -> bool:
    """Whether a text tells those who mind somebody what that one is not to get or come near: "no nuts for Ada".

    Args:
        beside: What it stands in, which may say why.
    """
    said, forms = _spelt_out(text), _forms("limits")
    if forms["bars"].search(said) is not None:
        return True
    return forms["bars_known"].search(said) is not None and (
        reacts(f"{text} {beside}")
        or bool(foods_in(said) or foods_ruled_out(said) or general_words(said))
    )


def reacts(text: str) -> bool:
    """Whether a statement tells of an allergy that somebody has or may have, or how they fared after something."""
    return _forms("limits")["reacts"].search(_spelt_out(text)) is not None


def same_things(text: str) -> frozenset[str]:
    """Return the families of food and the medicines that a text names, by whatever name; "Calpol" is paracetamol."""
    said = {*_WORD.findall(_plain(text))}
    medicines = (name for name, others in _medicines() if not said.isdisjoint({name, *others}))
    return foods_in(text) | foods_ruled_out(text) | {*medicines}


def _spelt_out(text: str) -> str:
    """Return a text in small letters with its apostrophes: "can't" for "cant"."""
    plain = _plain(text)
    spellings = {**everyday_spellings(), **denials()}
    return _WORD.sub(lambda found: spellings.get(found[0], found[0]), plain)


# What was done or took place: "has Ada had her medicine?", "did anybody feed the dog?".


def asks_what_happened(text: str) -> bool:
    """Whether a question asks if something was done or took place, which a calendar alone cannot deny."""
    return _forms("happened")["asks"].match(_plain(text)) is not None


def asks_for_anything(text: str) -> bool:
    """Whether a question asks if anything at all is planned, which a calendar answers."""
    return _forms("planned")["anything"].search(_plain(text)) is not None


def asks_for_presence(text: str) -> bool:
    """Whether a question asks where somebody is or works, and not for their time."""
    return _forms("planned")["presence"].match(_plain(text)) is not None


def asks_how_they_are(text: str) -> bool:
    """Whether a question asks how somebody is, or whether anything befell them."""
    return _forms("happened")["faring"].match(_plain(text)) is not None


def general_words(text: str) -> str:
    """Return the general words in which one asks for the care that a text tells of: "eat", "food" for "lunch".

    A word right before one of another kind only says which that is: "cough syrup" is no cough.
    """
    words = _WORD.findall(_AMOUNT.sub(" ", _plain(text)))
    kinds = [_care_told_by(word) for word in words]
    found = {
        kind
        for kind, following in zip_longest(kinds, kinds[1:])
        if kind and following in {None, "", kind}
    }
    return " ".join(general for general, _ in _care().values() if general in found)


@lru_cache(maxsize=4096)
def _care_told_by(word: str) -> str:
    """Return the general words for what a word tells of; empty where it tells of no care."""
    return next(
        (
            general
            for general, told in _care().values()
            if word in {*general.split(), *told.split()}
        ),
        "",
    )


@cache
def care_words() -> frozenset[str]:
    """Return the words in which care is told and asked for, names of medicines among them."""
    return frozenset(word for words in _care().values() for part in words for word in part.split())


def medicine_words() -> Sequence[str]:
    """Return the general words in which one asks for any medicine."""
    return _care()["medicine"][0].split()


_AMOUNT = re.compile(r"\d+(?:[.,]\d+)?(?=[a-z]|\b)")


@cache
def _medicines() -> Sequence[tuple[str, Sequence[str]]]:
    data = tomllib.loads((files(__package__) / "data/asked.toml").read_text(encoding="utf-8"))
    return [(name, others.split()) for name, others in data["medicines"].items()]


@cache
def _care() -> Mapping[str, tuple[str, str]]:
    data = tomllib.loads((files(__package__) / "data/asked.toml").read_text(encoding="utf-8"))
    parts = {name: each.partition(" | ") for name, each in data["care"].items()}
    return {name: (general, told) for name, (general, _, told) in parts.items()}


# How the assistant's own questions stand: "is the fair confirmed?", "approve everything".


class StateKind(StrEnum):
    """What is asked about the assistant's own state."""

    APPROVE_ALL = "approve all"
    REJECT_ALL = "reject all"
    COUNT = "count"
    WHETHER = "whether"
    KNOWS = "knows"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateAsked:
    """A question or request about what waits for a yes, or who knows of something.

    Attributes:
        what: Of what; empty where of all.
    """

    kind: StateKind
    what: str = ""


def asked_state(text: str, names: Collection[str] = ()) -> StateAsked | None:
    """Return what a message asks of the assistant's own state; None where it asks something else.

    Args:
        names: What the assistant is called.
    """
    said, forms = _plain(text), _forms("state")
    for name in names:
        said = said.removeprefix(f"{name.casefold()} ").removeprefix(f"{name.casefold()}, ")
    if (found := forms["all"].match(said)) is not None:
        is_no = not _words("state", "refusing").isdisjoint(found["verb"].split())
        return StateAsked(kind=StateKind.REJECT_ALL if is_no else StateKind.APPROVE_ALL)
    if forms["count"].match(said) or forms["counted"].match(said):
        return StateAsked(kind=StateKind.COUNT)
    if (found := forms["whether"].match(said)) is not None:
        return StateAsked(kind=StateKind.WHETHER, what=found["what"])
    if forms["knows"].match(said):
        return StateAsked(kind=StateKind.KNOWS)
    return None


_LONGEST_WISH = 200


def remarks_wanted(text: str) -> bool | None:
    """Return whether somebody wants to be told things unasked: False of "stop sending me these remarks"; None of all else."""
    said, forms = _plain(text), _forms("remarks")
    if len(said) > _LONGEST_WISH:
        return None
    if forms["off"].match(said) is not None:
        return False
    return True if forms["on"].match(said) is not None else None
