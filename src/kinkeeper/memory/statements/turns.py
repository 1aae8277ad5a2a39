"""Turns of phrase, told in the plain form in which sentences are compared. Pure.

All texts are in lower case, with contractions opened.
"""

import re
from collections.abc import Sequence

from kinkeeper.memory.statements.canonical_words import canon_of, lexicon

_HOURS = dict(
    zip(
        "one two three four five six seven eight nine ten eleven twelve".split(),  # noqa: SIM905
        range(1, 13),
        strict=True,
    )
)
_MINUTES = {"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "twenty-five": 25, "half": 30}
_HOUR = rf"(?P<hour>{'|'.join(_HOURS)}|1[0-2]|[1-9])\b(?! (?:hours?|minutes?|days?|weeks?|months?|years?|times?|of)\b)(?![.,:/]\d)"
_SPOKEN = re.compile(
    rf"\b(?:an? )?(?P<minutes>{'|'.join(_MINUTES)})(?: (?P<side>past|to)(?= )|(?<=half)) {_HOUR}"
)
_WRITTEN = re.compile(
    r"(?<=\b(?:at|by) )(\d{1,2})\.([0-5]\d)\b|(?<=\b(?:till|from) )(\d{1,2})\.([0-5]\d)\b|(?<=\b(?:until|about) )(\d{1,2})\.([0-5]\d)\b"
)
_EVERY_OTHER = re.compile(
    r"\bevery (?:other|second) (?=(?:week|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b)"
)

_WISHES = "want|like|love|prefer|need|hate|like best|eat|drink|use|play|drive"
# "it's a pirate party he wants"
_CLEFT = re.compile(
    rf"it is (?P<what>(?:(?:a|an|the|my|our|his|her|their) )?[\w' -]+?) (?:that |which )?(?P<who>i|we|he|she|they|[a-z]+) (?P<does>(?:{_WISHES})s?)(?P<rest>(?: now| best| these days)*)"
)
_TIME = (
    r"(?:the )?(?:\d|every |fortnightly|(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan|feb|mar|apr|may\b|jun|jul|aug|sep|oct|nov|dec"
    r"|noon|midday|midnight|one\b|two\b|three|four|five|six|seven|eight|nine|ten\b|eleven|twelve)"
)
_THING = r"(?P<thing>(?:(?:the|my|our|his|her|their) |[\w-]+ 's )?[\w' -]+?)"
_TO = r"(?:(?:up|down|back|on|forward) )?(?:to|until|till|from [\w.:]+ to)"
# "the doctor has put Ida's drops up to five", "I've swapped Pilates to Saturdays": whoever did it, it is so now.
_SET_BY_OTHERS = re.compile(
    r"(?P<who>(?:the|my|our|his|her|their) [\w-]+|they|we|i|[a-z]+) (?:have |has |are |is )?(?:just |had to )?"
    r"(?:put|bumped|raised|lowered|upped|increased|reduced|cut|changed|set|brought|dropped|pushed|turned|reset|move|moved|swapped|switched|shifted|postponed|rescheduled|delayed) "
    rf"{_THING} {_TO} (?P<value>[$£€]?\d.*|{_TIME}.*)"
)
_SET = re.compile(
    rf"{_THING} (?:has been|have been|is|are|was|were|got|has got) (?:put|moved|swapped|switched|shifted|pushed|postponed|rescheduled|delayed|changed|brought) {_TO} (?P<value>{_TIME}.*)"
)
# "the plumber's gone up to 75 an hour"
_CHARGED = re.compile(
    r"(?P<who>.+?) (?:charges?|(?:has |have )?(?:gone|went|going|come|came) (?:up|down) to) (?P<value>[$£€]?\d[\w.,]*(?: \w+)? (?:an?|per|each) (?:hour|session|lesson|visit|night|class|go|time|person|head)\b.*)"
)
# "is off dairy": does not have it.
_OFF = re.compile(
    r"\b(?P<be>am|is|are|has been|have been|been) off (?P<what>(?!to\b|on\b|in\b|at\b|the (?:hook|list|market)\b|work|school|nursery|college|duty|limits|sick|today|tomorrow|this|next|for|again|until|from|with|and|his|her|my|our|their|mon|tue|wed|thu|fri|sat|sun|now\b)\w)"
)
_BACK_ON = re.compile(
    r"\b(?:am|is|are|has been|have been|went|gone|goes) back (?:on to|onto|on) (?=(?!(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d|the (?:\d|first|last)|track|form|duty|site|line|top|board|time|my feet|his feet|her feet)\w)"
)

_IT = re.compile(r"(?:it|that|they)(?= (?:is|are|was|has|have|will|costs?|starts?|lives?|goes) )")
_DETERMINERS = frozenset(("the", "my", "our", "his", "her", "their"))
_OWN = frozenset(("his", "her", "their"))
_ANYBODY = frozenset(("they", "we", "i"))
_NO_PART_OF_NAMES = frozenset(
    """
    back up down out off on in at to from for with of by now again too over away instead and or as than is are was has have had
    last this next indoors outdoors inside outside home upstairs downstairs abroad together
    """.split()  # noqa: SIM905
)
_LONGEST_THING = 4


def plain_times(text: str) -> str:
    """Return a text with spoken hours as digits: "quarter past three" and "at 3.15" as "3:15".

    Args:
        text: Any.
    """
    text = _EVERY_OTHER.sub("fortnightly ", text)
    text = _WRITTEN.sub(lambda found: ":".join(filter(None, found.groups())), text)
    return _SPOKEN.sub(_clock, text)


def plain_turn(clause: str) -> tuple[str, bool]:
    """Return a clause in a plainer form, where it has a turn that is known, and whether it tells a new value.

    Args:
        clause: Without what frames it.
    """
    if cleft := _CLEFT.fullmatch(clause):
        return f"{cleft['who']} {cleft['does']} {cleft['what']}{cleft['rest']}", False
    if found := _CHARGED.fullmatch(clause):
        return f"{found['who']} costs {found['value']}", False
    if found := _SET.fullmatch(clause):
        return f"{found['thing']} is {found['value']}", True
    if found := _SET_BY_OTHERS.fullmatch(clause):
        return f"{_owned_by(found['who'], found['thing'])} is {found['value']}", True
    clause = _OFF.sub(r"does not have \g<what>", clause)
    return _BACK_ON.sub("has ", clause), False


def referred(parts: Sequence[str], people: frozenset[str]) -> list[str]:
    """Return the parts of a statement with what "it" is in its place: "changed the code, it is 4".

    Args:
        parts: In order.
        people: Words for somebody; "it" is none of them.
    """
    found: list[str] = []
    for part in parts:
        is_it = bool(found) and _IT.match(part) and not _CLEFT.fullmatch(part)
        thing = _thing_of(found[-1], people) if is_it else ""
        found.append(_IT.sub(thing, part, count=1) if thing else part)
    return found


def _owned_by(who: str, thing: str) -> str:
    """Return a thing as theirs who are said to have changed it: "the gym put the price up"."""
    article, _, noun = thing.partition(" ")
    is_theirs = article in _OWN or (article == "the" and who not in _ANYBODY)
    return f"{who} 's {noun}" if is_theirs else thing


def _clock(found: re.Match[str]) -> str:
    hour = _HOURS.get(found["hour"]) or int(found["hour"])
    minutes = _MINUTES[found["minutes"]]
    if found["side"] is None and found["minutes"] != "half":
        return found[0]
    if found["side"] == "to":
        hour, minutes = (hour - 2) % 12 + 1, 60 - minutes
    return f"{hour}:{minutes:02}"


def _thing_of(part: str, people: frozenset[str]) -> str:
    """Return the last thing that a part names, told as somebody's where it only says "her"."""
    words = part.split()
    things = [
        (at, end)
        for at in range(len(words))
        if (end := _end_of_thing(words, at))
        and not people.intersection(map(canon_of, words[at:end]))
    ]
    if not things:
        return ""
    start, end = things[-1]
    owner = _end_of_thing(words, 0) if words[start] in _OWN and start else 0
    if not owner:
        return " ".join(words[start:end])
    return " ".join([*words[:owner], "'s", *words[start + 1 : end]])


def _end_of_thing(words: Sequence[str], start: int) -> int:
    """Return where a thing with an article or an owner ends; 0 where none starts."""
    is_owned = words[start + 1 : start + 2] == ["'s"]
    if words[start] not in _DETERMINERS and not is_owned:
        return 0
    first = start + 1 + is_owned
    end = first
    while end < min(len(words), first + _LONGEST_THING) and _belongs(
        words[end], is_first=end == first
    ):
        end += 1
    return end if end > first else 0


def _belongs(word: str, *, is_first: bool) -> bool:
    if word in _NO_PART_OF_NAMES or not word[0].isalnum():
        return False
    return is_first or not (canon_of(word) in lexicon().verbs and word.endswith(("s", "ed")))
