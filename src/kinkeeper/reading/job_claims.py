"""Reads who says that they, or another, do a job, and in which words the job is named. Pure."""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_CLITICS = ("'ll", "'m", "'s", "'re", "'ve")
_SPEAKERS = frozenset({"i", "we"})
_JOINTS = frozenset({"and", "&"})
_EDGES = " \t\n,;:.!?"
_LEAVING = ("leave", "give")
_OWNED = tuple((verb, *rest) for verb in ("is", "are") for rest in (("mine",), ("on", "me")))
_REFUSALS = tuple(
    (*no, verb, "on")
    for no in (("don't",), ("do", "not"))
    for verb in ("count", "rely", "bank", "depend")
)
_LONGEST_NAME = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JobClaim:
    """What a clause says of a job.

    Attributes:
        who: The words for those who do it.
        what: The words for the job, as written.
        may_be_own: Whether it may as well be something that they have for themselves: "I've got yoga".
        is_refused: Whether they say that they do not do it: "don't count on me for judo".
    """

    who: str
    what: str
    may_be_own: bool = False
    is_refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobName:
    """What a job is called.

    Attributes:
        about: The words for what the job belongs to; empty where only the job, a person or a time is named.
        is_of_sort: Whether these words only say what sort of thing it belongs to: "practice".
        has_job: Whether a word for such a job is among them: "run", "pick-up".
        points: Whether it is named by what was said before: "it", "him".
    """

    about: str
    is_of_sort: bool
    has_job: bool
    points: bool


def job_claim_in(clause: str, people: Collection[str]) -> JobClaim | None:
    """Return what a clause says of who does a job; None where it says nothing of the kind.

    Args:
        clause: A statement, without politeness.
        people: Words for people, in lower case.
    """
    words = [each.strip(_EDGES) for each in clause.replace("’", "'").split()]
    words = [each for each in words if each]
    return _stated(words, people) or _left_to(words, people) or _refused(words, people)


def job_asked_in(question: str) -> str:
    """Return what a question asks somebody to do, from its verb on: "take Leo to judo"; empty where it asks nobody to do a job."""
    words = [each.strip(_EDGES) for each in question.replace("’", "'").split()]
    table = _table()
    at = next((at for at, each in enumerate(words) if _verb_at(each, table)), None)
    return "" if at is None else " ".join(words[at:])


def job_name(words: str) -> JobName:
    """Return what a job is called, without articles, prepositions and the words for such jobs.

    Args:
        words: Without people and times.
    """
    table = _table()
    spoken = _with_pairs([each.strip(_EDGES) for each in words.split()], table["job"])
    said = [each for each in spoken if each and each.lower() not in table["light"]]
    told = [each for each in said if each.lower() not in table["job"]]
    return JobName(
        about=" ".join(told),
        is_of_sort=bool(told) and all(each.lower() in table["sort"] for each in told),
        has_job=len(told) < len(said),
        points=any(each.lower() in table["pointing"] for each in spoken),
    )


def _with_pairs(words: Sequence[str], jobs: Collection[str]) -> list[str]:
    """Return words in which those that make one word for a job are one: "drop off"."""
    joined: list[str] = []
    for each in words:
        pair = f"{joined[-1]}-{each}" if joined else ""
        if pair.lower() in jobs:
            joined[-1] = pair
        else:
            joined.append(each)
    return joined


def _stated(words: Sequence[str], people: Collection[str]) -> JobClaim | None:
    """Read "I'll do the run", "Ada's taking chess" and "let me do it"."""
    table = _table()
    if [each.lower() for each in words[:2]] == ["let", "me"]:
        end, is_joined, who = 2, True, "me"
    else:
        end, is_joined = _subject(words, people)
        who = " ".join(
            _plain(each) if is_joined and at == end - 1 else each
            for at, each in enumerate(words[:end])
        )
    at = end
    while at < len(words) and words[at].lower() in table["auxiliary"]:
        at += 1
    if not end or at >= len(words) - 1:
        return None
    verb, has_auxiliary = words[at].lower(), is_joined or at > end
    is_duty = verb == "on" and has_auxiliary
    is_own = verb in table["having"] or words[at - 1].lower() in table["having"]
    is_doing = verb in table["saying"] or (verb in table["doing"] and has_auxiliary)
    if not (is_duty or is_own or is_doing):
        return None
    return JobClaim(who=who, what=" ".join(words[at + 1 :]), may_be_own=is_own and not is_doing)


def _left_to(words: Sequence[str], people: Collection[str]) -> JobClaim | None:
    """Read "leave chess to me" and "Leo's drop-off is mine"."""
    lower = [each.lower() for each in words]
    if lower[:1] and lower[0] in _LEAVING and "to" in lower:
        at = len(lower) - 1 - lower[::-1].index("to")
        size = _person_at(lower, at + 1, people) or int(lower[at + 1 : at + 2] == ["me"])
        if size:
            who, behind = words[at + 1 : at + 1 + size], words[at + 1 + size :]
            return JobClaim(who=" ".join(who), what=" ".join([*words[1:at], *behind]))
    size = next((len(each) for each in _OWNED if tuple(lower[-len(each) :]) == each), 0)
    if size:
        return JobClaim(who="me", what=" ".join(words[:-size]))
    return None


def _refused(words: Sequence[str], people: Collection[str]) -> JobClaim | None:
    """Read "don't count on me for chess"."""
    lower = [each.lower() for each in words]
    at = next((len(each) for each in _REFUSALS if tuple(lower[: len(each)]) == each), 0)
    size = (_person_at(lower, at, people) or int(lower[at : at + 1] == ["me"])) if at else 0
    rest = words[at + size :]
    if not size or not rest or lower[at + size] not in {"for", "with", "on"}:
        return None
    who = " ".join(words[at : at + size])
    return JobClaim(who=who, what=" ".join(rest[1:]), is_refused=True)


def _subject(words: Sequence[str], people: Collection[str]) -> tuple[int, bool]:
    """Return behind which word those who do something end, and whether an auxiliary is joined to them."""
    at = end = 0
    while size := _person_at([each.lower() for each in words], at, people):
        at = end = at + size
        if _plain(words[end - 1]) != words[end - 1]:
            return end, True
        if words[at : at + 1] and words[at].lower() in _JOINTS:
            at += 1
    return end, False


def _person_at(words: Sequence[str], at: int, people: Collection[str]) -> int:
    """Return how many words stand for a person from a place on."""
    for size in range(_LONGEST_NAME, 0, -1):
        name = _plain(" ".join(words[at : at + size]))
        if len(words) >= at + size and (name in people or name in _SPEAKERS):
            return size
    return 0


def _plain(word: str) -> str:
    """Return a word without an auxiliary that is joined to it."""
    ending = next((each for each in _CLITICS if word.lower().endswith(each)), "")
    return word[: len(word) - len(ending)]


def _verb_at(word: str, table: Mapping[str, frozenset[str]]) -> bool:
    return word.lower() in table["doing"] or word.lower() in table["saying"]


@cache
def _table() -> Mapping[str, frozenset[str]]:
    path = files("kinkeeper.reading.data") / "job_claims.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: frozenset(words.split()) for name, words in data.items()}
