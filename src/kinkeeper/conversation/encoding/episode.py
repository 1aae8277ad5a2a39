"""A talk that is over, as one episode: what it was about, who took part, and how much it matters. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.context.topics import gloss_of
from kinkeeper.memory.finding.terms import stems, words

_NOVELTY, _EMOTION, _COMMITMENT, _OPEN = 0.4, 0.4, 0.2, 1.25
_MUCH_FEELING, _MUCH_PROMISED = 3, 2
_TITLE_WORDS = 4
_RECURRING = 2
_EXCLAIMED = re.compile(r"!+|[A-Z]{4,}|[\U0001F600-\U0001F64F\u2764\U0001F494\U0001F389]")
_PROMISED = re.compile(
    r"\b(?:i|we)(?:'ll|’ll| will| promise| must| have to| need to|'m going to|’m going to| am going to| are going to)\b"
    r"|\b(?:don't|don’t|do not) forget\b|\bremind me\b|\bby (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|noon)\b|\bdeadline\b",
    re.IGNORECASE,
)
_OPEN_RESULTS = frozenset({
    ResultStatus.AWAITING, ResultStatus.UNDER_WAY, ResultStatus.FAILED, ResultStatus.UNCLEAR,
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One exchange of a talk.

    Attributes:
        text: What the person said.
        at: When, aware.
        results: What was done.
        was_asked_back: Whether the assistant asked something that nobody answered yet.
    """

    text: str
    at: datetime
    results: Sequence[ActionResult] = ()
    was_asked_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a talk comes to.

    Attributes:
        title: One line.
        narrative: A sentence or two; no words of a person but the names of what they spoke of.
        topic: Its words, "" where none recurs.
        salience: In [0, 1].
    """

    title: str
    narrative: str
    topic: str
    salience: float


def told(
    talk: Sequence[Said], *, name: str, names: Collection[str], before: Collection[str]
) -> Told | None:
    """Return a talk as an episode; None where nothing was said in it.

    Statements stand in memory by themselves, where they can be corrected and forgotten: here is only what the
    talk was about, in words that recur or that name the family's people and things.

    Args:
        talk: Its exchanges, oldest first, at least one.
        name: Of the person.
        names: Words for the household's people, places and activities.
        before: Stems of what this person said before the talk.
    """
    if not any(gloss_of(said.text).words for said in talk):
        return None
    about = _about(talk, names)
    topic = ", ".join(about)
    count = len(talk)
    done = sum(each.status is ResultStatus.DONE for said in talk for each in said.results)
    narrative = f"{name} talked with the assistant{' about ' + topic if topic else ''}: {count} "
    narrative += "message." if count == 1 else "messages."
    if done:
        narrative += f" {done} {'request was' if done == 1 else 'requests were'} carried out."
    if is_open(talk):
        narrative += " Something was left unresolved."
    return Told(
        title=f"Conversation about {topic}" if topic else "A short talk", narrative=narrative,
        topic=topic, salience=salience(talk, before=before),
    )  # fmt: skip


def salience(talk: Sequence[Said], *, before: Collection[str]) -> float:
    """Return how much a talk matters, in [0, 1].

    Args:
        talk: Its exchanges.
        before: Stems of what was said before it.
    """
    text = "\n".join(said.text for said in talk)
    said = {*stems(text)}
    novelty = len(said - {*before}) / len(said) if said else 0.0
    felt = sum(stem in _feelings() for stem in stems(text)) + len(_EXCLAIMED.findall(text))
    promised = len(_PROMISED.findall(text))
    score = (
        _NOVELTY * novelty
        + _EMOTION * min(felt / _MUCH_FEELING, 1.0)
        + _COMMITMENT * min(promised / _MUCH_PROMISED, 1.0)
    )
    return round(min(score * (_OPEN if is_open(talk) else 1.0), 1.0), 4)


def is_open(talk: Sequence[Said]) -> bool:
    """Whether a talk left something open: a question of the assistant, or what is not done at its end.

    Args:
        talk: Its exchanges, oldest first.
    """
    last = talk[-1]
    return last.was_asked_back or any(each.status in _OPEN_RESULTS for each in last.results)


def _about(talk: Sequence[Said], names: Collection[str]) -> list[str]:
    """Return the words that a talk is about, in the order of their first use."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for said in talk:
        for word in dict.fromkeys(words(said.text)):
            for stem in stems(word):
                counts[stem] += 1
                first.setdefault(stem, word)
    wanted = {*(stem for name in names for stem in stems(name))}
    chosen = [stem for stem, count in counts.items() if count >= _RECURRING or stem in wanted]
    best = sorted(chosen, key=lambda stem: -counts[stem])[:_TITLE_WORDS]
    return [first[stem] for stem in first if stem in best]


@cache
def _feelings() -> frozenset[str]:
    text = (files(__package__) / "feelings.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return frozenset(stems(" ".join(lines)))
