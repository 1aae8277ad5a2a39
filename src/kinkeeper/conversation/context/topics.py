"""What is kept of an exchange for a day: its topic, its essence in one line, what it says that helps. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.context.model import Gloss, Topic, TopicRef, Vector
from kinkeeper.conversation.model import LONGEST_READ
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import to_text
from kinkeeper.language.text import mask_stops, shorten, split_sentences, strip_controls
from kinkeeper.memory.finding.terms import stems, words
from kinkeeper.memory.statements.sentences import parts_of
from kinkeeper.reading.corrections import sets_itself_right
from kinkeeper.reading.forgetting import wish_to_forget

SILENCE = timedelta(seconds=2700)
"""After this long a topic is over, and so is the talk that an episode is made of."""


_SAME = 0.55
_LATEST = 0.15
_FOCUS = 0.10
_ROLLING = 20
_MOST_WORDS = 40
_LABEL_WORDS = 3
_TOGETHER = timedelta(hours=2)
_LATELY = timedelta(minutes=5)
_MOST_RECALLS = 5
_REFERRING = re.compile(
    r"\b(?:it|that|this|these|those|him|her|them|he|she|they|there|then|one|ones|same|instead|again|also|too|another|other)\b",
    re.IGNORECASE,
)

_OF_NOTHING = re.compile(
    r"ok(?:ay)?|a?h+|h+m+|u+[hm]+|ye(?:s|ah|p)|no(?:pe)?|thanks?|thx|please|hi|hello|hey|sure|great|good|nice|fine|right|actually"
    r"|lol|(?:ha)+h?|wow|oh|well|alright|perfect|cool"
)


def gloss_of(text: str, *, vector: Vector | None = None, model: str | None = None) -> Gloss:
    """Return what a message is about.

    Args:
        vector: What it means, where something tells.
        model: Whose vector it is.
    """
    surfaces = [word for word in words(text) if stems(word) and not _OF_NOTHING.fullmatch(word)]
    return Gloss(
        words=Counter(stems(" ".join(surfaces))),
        surfaces=tuple(dict.fromkeys(surfaces)),
        vector=vector,
        model=model,
        refers=_REFERRING.search(text) is not None,
    )


def topic_of(
    gloss: Gloss, topics: Sequence[Topic], *, now: datetime, thread: str, household: str
) -> TopicRef:
    """Return the topic of a message.

    Without words of its own, or where it only refers to what was said, it stays with the latest topic.

    Args:
        topics: Of the thread, in any order.
        thread: Id of the thread.
    """
    going_on = [topic for topic in topics if now - topic.last_at <= SILENCE]
    latest = max(going_on, key=lambda topic: topic.last_at, default=None)
    if latest is not None and not gloss.words:
        return _continued(latest, _SAME, now)
    if not gloss.words:
        return TopicRef()
    scored = [(_score(gloss, topic, latest), topic) for topic in going_on]
    best, topic = max(scored, key=lambda each: each[0], default=(0.0, None))
    if topic is not None and best >= _SAME:
        return _continued(topic, best, now)
    if latest is not None and gloss.refers and len(gloss.words) <= _LABEL_WORDS:
        return _continued(latest, _SAME, now)
    return TopicRef(
        id=stable_id(household, "topic", thread, to_text(now), *gloss.surfaces),
        label=" ".join(gloss.surfaces[:_LABEL_WORDS]),
        is_new=True,
        confidence=1.0 - best,
        streak=1,
    )


def grown(
    ref: TopicRef, gloss: Gloss, *, at: datetime, recalled: int, is_focus: bool | None
) -> Topic:
    """Return a topic with one more exchange.

    Args:
        gloss: What the person said, as it is compared.
        recalled: How many memories came with it that memory is sure of.
        is_focus: Whether its person now wants to stay with it; None where they said nothing of that.
    """
    known = ref.known
    if known is None:
        return Topic(
            id=ref.id,
            label=ref.label,
            words=dict(gloss.words),
            vector=gloss.vector,
            model=gloss.model,
            exchanges=1,
            streak=1,
            recalls=[at] * min(recalled, _MOST_RECALLS),
            is_focus=bool(is_focus),
            last_at=at,
        )
    counts = Counter(known.words)
    counts.update(gloss.words)
    vector, model = _moved(known, gloss)
    recalls = [*known.recalls, *[at] * recalled][-_MOST_RECALLS:]
    return Topic(
        id=known.id,
        label=known.label,
        words=dict(counts.most_common(_MOST_WORDS)),
        vector=vector,
        model=model,
        exchanges=known.exchanges + 1,
        streak=ref.streak,
        recalls=recalls,
        is_focus=known.is_focus if is_focus is None else is_focus,
        last_at=max(at, known.last_at),
    )


def knowing(topic: Topic | None, *, now: datetime) -> int:
    """Return the feeling of knowing a topic, 0 to 5: sure memories of the last minutes, never weak ones.

    Args:
        topic: As stored, if it is.
    """
    recalls = () if topic is None else topic.recalls
    return min(sum(now - at <= _LATELY for at in recalls), _MOST_RECALLS)


def likeness(words: Mapping[str, int], others: Mapping[str, int]) -> float:
    """Return the share of a message's words that a topic has, in [0, 1].

    Args:
        words: Of the message, at least one.
    """
    return sum(count for word, count in words.items() if word in others) / sum(words.values())


def _score(gloss: Gloss, topic: Topic, latest: Topic | None) -> float:
    score = likeness(gloss.words, topic.words)
    if gloss.vector is not None and topic.vector is not None and gloss.model == topic.model:
        score = max(score, float(gloss.vector @ topic.vector))
    if topic is latest:
        score += _LATEST
    return min(score + _FOCUS * topic.is_focus, 1.0)


def _continued(topic: Topic, confidence: float, now: datetime) -> TopicRef:
    streak = topic.streak + 1 if now - topic.last_at <= _TOGETHER else 1
    return TopicRef(
        id=topic.id, label=topic.label, confidence=confidence, streak=streak, known=topic
    )


def _moved(topic: Topic, gloss: Gloss) -> tuple[Vector | None, str | None]:
    """Return the middle of the vectors with one more; of another model it begins anew."""
    if gloss.vector is None:
        return topic.vector, topic.model
    if topic.vector is None or topic.model != gloss.model:
        return gloss.vector, gloss.model
    weight = min(topic.exchanges, _ROLLING)
    middle = topic.vector * weight + gloss.vector
    length = float(np.linalg.norm(middle))
    return (middle / length if length else middle).astype(np.float32), gloss.model


# The essence of an exchange in one line. Pure.

_LONGEST = 120
_OUTCOMES = {
    ResultStatus.DONE: "done",
    ResultStatus.AWAITING: "waiting for approval",
    ResultStatus.UNDER_WAY: "under way",
    ResultStatus.FAILED: "failed",
    ResultStatus.UNCLEAR: "asked back",
    ResultStatus.CANCELLED: "dropped",
}


def gist_of(text: str, results: Sequence[ActionResult]) -> str:
    """Return what an exchange came to; "" where it was about nothing.

    It holds the person's words and what receipts say, never the assistant's own words.
    """
    key = "" if wish_to_forget(text) is not None else key_sentence(text)
    done = [
        f"{each.domain} {each.action.replace('_', ' ')} {_OUTCOMES[each.status]}"
        for each in results
    ]
    return " - ".join(part for part in (f"“{key}”" if key else "", ", ".join(done)) if part)


def key_sentence(text: str) -> str:
    """Return the sentence of a text that says most, clipped; "" where none says anything.

    Args:
        text: Any; beyond `LONGEST_READ` characters it is not read.
    """
    parts = [part.text for part in parts_of(text[:LONGEST_READ])]
    best = max(parts, key=lambda part: len(gloss_of(part).words), default="")
    if not gloss_of(best).words:
        return ""
    return shorten(" ".join(strip_controls(best).split()), _LONGEST)


# What an exchange says that helps for a day: "the code is 1234", and what was just booked. Pure.

MOST = 20
"""Most of them a topic keeps."""

_LONGEST_NAME, _LONGEST_VALUE = 60, 120
_BETWEEN = re.compile(r"(?<=[.!?\n…])\s+")
_IS = re.compile(
    r"(?:^|(?<=[.!;\n…])|(?<=, )|(?<= and )|(?<= but )|(?<= that ))\s*"
    r"(?P<about>(?:(?i:the|my|our|his|her|their|your|this)|[A-Z][\w-]+(?:'s|’s))(?: [\w'’-]+){1,5}?)"
    r" (?:is|are|was|will be|starts at|begins at|costs?|ends at|closes at|opens at) "
    r"(?P<value>[^.!?;\n…]{1,120}?)(?=$|[.!;\n…]|, | and | but )"
)


def facts_of(text: str, results: Sequence[ActionResult]) -> Mapping[str, str]:
    """Return what an exchange says for the moment, by what it is about.

    Args:
        text: What the person said; a question says nothing, nor does a wish to forget, and one that sets itself right nothing sure.
    """
    is_unsure = sets_itself_right(text) or wish_to_forget(text) is not None
    found = {} if is_unsure else dict(_told(text))
    for done in results:
        if done.status is ResultStatus.DONE:
            found |= _of_result(done)
    return dict([*found.items()][:MOST])


def _told(text: str) -> Iterator[tuple[str, str]]:
    for sentence in split_sentences(text, _BETWEEN):
        if sentence.rstrip().endswith("?"):
            continue
        for match in _IS.finditer(mask_stops(sentence)):
            about, value = (
                _line(sentence[slice(*match.span("about"))], _LONGEST_NAME),
                _line(sentence[slice(*match.span("value"))], _LONGEST_VALUE),
            )
            if stems(about) and value:
                yield about, value


def _of_result(done: ActionResult) -> Mapping[str, str]:
    title = done.result.get("title") or done.result.get("summary")
    when = done.result.get("start") or done.result.get("deadline")
    if not (isinstance(title, str) and isinstance(when, str)):
        return {}
    return {_line(title, _LONGEST_NAME): when}


def _line(text: str, limit: int) -> str:
    return shorten(" ".join(strip_controls(text).split()), limit)
