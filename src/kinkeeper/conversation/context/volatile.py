"""What an exchange says that helps for a day: "the code is 1234", and what was just booked. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.language.sentences import mask_stops, split_sentences
from kinkeeper.language.text import shorten, strip_controls
from kinkeeper.memory.finding.terms import stems

MOST = 20
"""Most of them a topic keeps."""

_LONGEST_NAME, _LONGEST_VALUE = 60, 120
_BETWEEN = re.compile(r"(?<=[.!?\n…])\s+")
_IS = re.compile(
    r"(?:^|(?<=[.!;\n…])|(?<=, )|(?<= and )|(?<= but )|(?<= that ))\s*"
    r"(?P<about>(?:(?i:the|my|our|his|her|their|your|this)|[A-Z][\w-]+(?:'s|’s))(?: [\w'’-]+){1,5}?)"
    r" (?:is|are|was|will be|starts at|begins at|costs?|ends at|closes at|opens at) "
    r"(?P<value>[^.!?;\n…]{1,120}?)(?=$|[.!;\n…]|, | and | but )",
)


def facts_of(text: str, results: Sequence[ActionResult]) -> Mapping[str, str]:
    """Return what an exchange says for the moment, by what it is about.

    Args:
        text: What the person said; a question says nothing.
        results: What was done.
    """
    found = dict(_told(text))
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
