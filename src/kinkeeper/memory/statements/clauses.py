"""A statement taken apart into clauses: what each says, told plainly, and what only frames the others."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files

from kinkeeper.memory.statements.canonical_words import canon_of, lexicon, opened, words_of
from kinkeeper.memory.statements.names import names_in, person_canons

# How a statement is framed: made up, past, over, news, or said before; and what is said inside the
# frame.

_LIST = re.compile(r"@(\w+)")
_MOST_FRAMES = 4
_LEAD = r"^(?:(?:and|but|so|well|oh|ok|okay|hey|hi)[ ,]+|(?:no|yes|yeah), *)*"


class Framing(StrEnum):
    """How something is told."""

    HYPOTHETICAL = "hypothetical"
    PAST = "past"
    RETRACTION = "retraction"
    CHANGE = "change"
    RESTATED = "restated"


@dataclass(frozen=True, slots=True, kw_only=True)
class FramingPatterns:
    """Patterns of the data file, compiled.

    Attributes:
        prefix: At the beginning of a statement, by frame.
        beside: In a part set off from it, by frame.
        inside: In a clause: "ended", "modal", "now", "past", "again", "able", "added".
    """

    prefix: Sequence[tuple[Framing, re.Pattern[str]]]
    beside: Sequence[tuple[Framing, re.Pattern[str]]]
    inside: Mapping[str, re.Pattern[str]]


@cache
def framings() -> FramingPatterns:
    """Return the patterns of the data file, read once."""
    raw = tomllib.loads(
        files(__package__).joinpath("data/framing.toml").read_text(encoding="utf-8")
    )
    lists: Mapping[str, str] = raw["lists"]

    def joined(patterns: Sequence[str]) -> str:
        return _LIST.sub(lambda found: lists[found[1]], "|".join(patterns))

    return FramingPatterns(
        prefix=[
            (
                Framing(name),
                re.compile(rf"{_LEAD}(?:{joined(patterns)})(?![\w'])[ ]*[,:;.!?-]*[ ]*"),
            )
            for name, patterns in raw["prefix"].items()
        ],
        beside=[
            (Framing(name), re.compile(rf"(?<!\w)(?:{joined(patterns)})(?!\w)"))
            for name, patterns in raw["beside"].items()
        ],
        inside={
            name: re.compile(rf"(?<!\w)(?:{joined(patterns)})(?!\w)")
            for name, patterns in raw["inside"].items()
        },
    )


def unframed(text: str) -> tuple[str, frozenset[Framing]]:
    """Take what frames a statement off its beginning.

    Args:
        text: In lower case, contractions opened.

    Returns:
        What is left, and the frames that were taken off. A text that is all frame is left as it is.
    """
    frames: set[Framing] = set()
    rest = text.strip()
    for _ in range(_MOST_FRAMES):
        matches = [
            (match.end(), frame)
            for frame, pattern in framings().prefix
            if (match := pattern.match(rest)) and len(rest[match.end() :].split()) > 1
        ]
        if not matches:
            break
        end, frame = max(matches, key=lambda found: (found[0], found[1] is Framing.CHANGE))
        frames.add(frame)
        rest = rest[end:].strip()
    return rest, frozenset(frames)


def framed_beside(part: str) -> frozenset[Framing]:
    """Return the frames that a part of a sentence gives to what stands beside it.

    Args:
        part: In lower case, contractions opened, without its marks.
    """
    return frozenset(frame for frame, pattern in framings().beside if pattern.search(part))


# Turns of phrase, told in the plain form in which sentences are compared. Pure.
#
# All texts are in lower case, with contractions opened.

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
    """Return a text with spoken hours as digits: "quarter past three" and "at 3.15" as "3:15"."""
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


# What a clause says that it is told instead of, or that is over: "swapped the trumpet for the
# drums". Pure.

_REPLACED = re.compile(
    r"(?:instead of|rather than|in place of|replacing|and not|, not|(?:switch|chang|mov|swapp|upgrad)\w* (?:over )?from) (.+)"
)
_FEW_WORDS = r"((?:(?!(?:for|and|in|but|because|so|at|on|to|by|is|are|was|were|with|instead|now)\b)[^\s,;]++ ?){1,4})"
# "swapped the trumpet for the drums", "is off dry food", "has finished the antibiotics": what is over.
_GIVEN_UP = re.compile(
    rf"\b(?:(?:swapp|trad|exchang|ditch|dropp|finish|cancell?)ed|quit|outgrew|outgrown|(?<!is )(?<!are )(?<!was )(?<!were )left(?! (?:wing|hand|foot|side|back|arm|leg|ear|eye|out|over)\b)|"
    rf"(?:gave|given|give) up|(?:called|call|gone|went|is|am|are|has come|have come) off|(?:decided|voted) against|done with|"
    rf"(?:good)?bye(?: to)?|stepped down from|(?:grew|grown) out of|got rid of|sold|moved out of|not use|not going to|not doing|"
    rf"not with|no more) (?:off |in |going to )?(?:the |my |our |his |her |their |a |an )?{_FEW_WORDS}"
)
# "I said 450, it is 480": the number that was wrong.
_MISSAID = re.compile(
    r"\b(?:sorry,? )?(?:i|we) (?:said|wrote|told you|put) (\S*\d[^\s,]*),? (?:but )?((?:it|that|they) (?:is|are|was|should be) \S*\d\S*)"
)
_NOT_NUMBER = re.compile(r"\d\S* not (\S*\d\S*)")
# "Ms Kaur is on leave, the new one is Mr Boateng": whose place is taken.
_SUCCEEDED = re.compile(
    r"^(?:(?:the|our|my) )?((?:(?!(?:is|are|was|has|and)\b)[\w.]+ ){1,3}).*?\b(?:(?:the|our|my) (?:new|next|other|temporary) one|(?:the|our|my|his|her|their) "
    r"(?:replacement|successor|stand-in|cover)) (?:is|will be) (?:called )?\w"
)
_FELL_THROUGH = re.compile(rf"{_FEW_WORDS}(?:fell through|died|broke down|closed down)\b")


def set_right(text: str) -> str:
    """Return a text with a number that is set right told beside the right one: "it is 480 not 450".

    Args:
        text: In lower case, contractions opened.
    """
    return _MISSAID.sub(r"\2 not \1", text)


def succeeded(text: str) -> frozenset[str]:
    """Return the canonical words of whose place a statement says is taken by somebody else.

    Args:
        text: In lower case, contractions opened.
    """
    found = _SUCCEEDED.match(text)
    return frozenset() if found is None else _telling(found[1])


def given_up(clause: str) -> frozenset[str]:
    """Return the canonical words of what a clause is told instead of, or says that it is over.

    Args:
        clause: In lower case, contractions opened.
    """
    found = (
        _NOT_NUMBER.search(clause)
        or _REPLACED.search(clause)
        or _GIVEN_UP.search(clause)
        or _FELL_THROUGH.match(clause)
    )
    if found is None:
        return frozenset()
    return _telling(found[1])


def _telling(words: str) -> frozenset[str]:
    return frozenset(word.canon for word in words_of(words) if word.text not in lexicon().light)


_ENDS = re.compile(
    r"\s*(?:(?<!\bdr)(?<!\bmr)(?<!\bmrs)(?<!\bms)(?<!\bst)(?<!\bprof)[.](?=\s|$)|[;:!?](?=\s|$)|[()\[\]\"…]+)\s*|\s+-+\s+|\s*\n\s*"
)
_JOINTS = re.compile(
    r"\s*,?\s+(?:and that is|because|although|though|whereas|while|but|and so|so)\s+(?=(?:i|we|he|she|they|it|my|our|his|her|that|there|now)\b)|"
    r"\s*,\s*(?:and |but |so |or )?(?=(?:i|we|he|she|they|it|(?:my|our|his|her) (?:\w+ ){1,3}(?:is|are|was|has|have)|that|there|not|no|which|who)\b)|"
    r"\s+and\s+(?=(?:i|we)\s+(?!are\b|have been\b|split\b|broke\b|got\b|live\b|get\b|both\b|'s\b)\w)|"
    r"\s+and\s+(?=(?:he|she|they|it|that|there)\s+(?:is|are|was|were|has|have|does|do|did|can|will|\w+ed|\w+s)\b)|"
    r"\s+and\s+(?=(?:my|our)\s+(?:\w+\s+){1,3}(?:is|are|was|has)\b)"
)
_PHRASES = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|any longer|(?<!get )(?<!getting )used to(?! \w+ing)|these days|at the moment|right now|as of (?:now|today|this \w+|last \w+|\w+day)|"
    r"from now on|from this \w+|at present|a while ago|some time ago|a long time ago|(?:\w+ )?(?:years?|months?|weeks?|days?) ago|"
    r"for (?:the time being|now|good|ages|years|many years|\w+ years|\w+ months)|last (?:year|month|week|summer|winter|spring|autumn|night)|"
    r"this (?:year|month|week|term|season)|in fact|of course|at last|by now|so far|"
    r"since (?:last \w+|\w+day|this \w+|january|february|march|april|may|june|july|august|september|october|november|december|then|(?:19|20)\d\d)|as before|as ever|as always|as usual|"
    r"back then|in those days|at the time|one day|some day|someday|on the whole|most of the time|all the time|a lot|a bit|very much|so much|at all|in general|"
    r"(?:have |has )?(?:stopped|quit|gave up|given up)(?= \w+ing)|have to say|when i was \w+|as a (?:kid|child|teenager|student|toddler|boy|girl)|of choice|every (?:week|day|month|year)|so i|too$|after all|(?:have |has )?(?:come|grown|learned|learnt|begun|got|came|grew) to(?= (?:like|love|enjoy|hate|prefer|dislike|appreciate)))(?!\w)"
)
_OBLIGED = re.compile(
    r"\b(?:must|should|ought to|needs? to(?= \w)|has to|got to|have got to|(?:am|is|are) (?:required|supposed|obliged) to)\b"
)
_WISHED = re.compile(r"\bwould (?:like|love) to\b")
_LEADING = re.compile(
    r"^((?:in|on|at|every|each|since|for|during|after|before|from|until|by|with|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?) "
    r"(?:(?!i\b|we\b|my\b|our\b|the\b|he\b|she\b|his\b|her\b|they\b|is\b|are\b)[\w'-]+ ?){0,4}?(?:(?<=for )(?:the|my|our) \w+ |(?<=since )(?:the|my|our) (?:\w+ ){1,2}|(?<=in )(?:the|my|our) (?:\w+ ){1,2}|(?<=at )(?:the|my|our) (?:\w+ ){1,2})?)"
    r",? ?(?=(?:i|we|he|she|they|it|my|our|the|his|her)\b (?!'s))"
)
# "we sold the Volvo and bought a Kia": the subject counts for both.
_SECOND_VERB = re.compile(
    r",? (?:and|but)(?: now| then| instead)? (?=(?:bought|got|have|has|moved|joined|started|switched|took up|adopted|hired|am|is|are|drive|drives|use|uses|work|works|live|lives|went) )"
)
# "Joy has left, Gran's carer is Pat now": a comma between two that each say something.
_FINITE = re.compile(
    r", (?=(?:(?:the|my|our|his|her|their) )?[\w-]+ (?:'s (?:[\w-]+ ){1,3})?(?:is|are|has|have|can|does|will|says?) )"
)
_SUBJECT = re.compile(r"(?:(?:my|our|his|her|their|the) [\w-]+|[\w-]+)(?= )")
_SAYS_NOTHING = re.compile(
    r"\b(?:different|changed|true|the case|over|joking|kidding|said|told|mentioned|hope|think|know|guess|dreamt|dreamed|imagin\w+|mind)\b"
)
_HAS_SUBJECT = re.compile(
    r"^(?:i|we|my|our|he|she|they|his|her|their|the|\w+ 's)\b (?:\S+ ){1,}\S+"
)
# "a new number: 66 77": what stands after the colon is the value of what stands before it.
_LABEL = re.compile(
    r"^((?:(?:my|our|the|his|her|their|new|\w+) ){1,8}\w+): ((?:(?!(?:i|we|my|our|is|are|was|has|have|the|no|not)\b)[\w'@.-]+ ?){1,5})$"
)
_AUXILIARIES = frozenset(("can", "will", "could", "would"))
_MOST_FOR_ASIDE = 3
_LONGEST_ASIDE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause of a statement.

    Attributes:
        text: In lower case, contractions opened, without what only tells how or when it is said.
        names: Canonical words of the statement that are names.
        is_ended: Whether it says that something is so no more.
        is_modal: Whether it is only thought of, wished or likely.
        is_new: Whether it says that something is so from now on.
        is_past: Whether its words tell of former times.
        is_added: Whether it says that something comes on top ("too", "another").
        is_again: Whether it says that something is so again.
        is_able: Whether it says that something is possible or allowed now.
        replaced: Canonical words of what it is told instead of.
        framings: How it is framed by what stands before and beside it.
        succeeded: Canonical names of whose place the statement says is taken by somebody else.
    """

    text: str
    names: frozenset[str]
    is_ended: bool
    is_modal: bool
    is_new: bool
    is_past: bool
    is_added: bool
    is_again: bool
    is_able: bool
    replaced: frozenset[str]
    framings: frozenset[Framing]
    succeeded: frozenset[str] = frozenset()


def clauses_of(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a statement in their order; those that only frame others are left out."""
    plain = set_right(opened(text))
    gone = succeeded(plain)
    rest, before = unframed(_LABEL.sub(r"\1 \2", plain_times(plain)))
    told = [part for part in _parts(rest) if any(sign.isalnum() for sign in part)]
    parts = [unframed(part) for part in referred(told, person_canons())]
    names = names_in(text)
    frames = set(before)
    said: list[str] = []
    for core, framed in parts:
        frames |= framed
        beside = (
            framed_beside(core) if len(parts) > 1 and not _says_something(core) else frozenset()
        )
        frames |= beside
        # Whom a frame names is who "she" is in what follows.
        if not beside or canon_of(core.split()[0]) in names:
            said.append(core)
    clauses = (_clause(part, names, frozenset(frames)) for part in said)
    return tuple(replace(each, succeeded=gone & names) for each in clauses)


def _parts(text: str) -> Iterator[str]:
    for sentence in _ENDS.split(text):
        finite = [each for part in _JOINTS.split(sentence) for each in _finite(part)]
        for part in _with_their_subjects(finite):
            first, *more = _SECOND_VERB.split(part)
            yield from (each.strip(" ,'-") for each in _without_aside(first))
            subject = _SUBJECT.match(first)
            for rest in more:
                yield f"{subject[0] if subject else ''} {rest}".strip(" ,'-")


def _finite(part: str) -> list[str]:
    """Return a part, cut at the commas before which a clause stands that is whole."""
    found = [part]
    while (cut := _FINITE.search(found[-1])) and _tells(found[-1][: cut.start()]):
        found[-1:] = [found[-1][: cut.start()], found[-1][cut.end() :]]
    return found


def _tells(part: str) -> bool:
    """Whether a part has a verb behind something else, so that it is a clause by itself."""
    words = part.split()[1:]
    return any(word in _AUXILIARIES or canon_of(word) in lexicon().verbs for word in words)


def _with_their_subjects(parts: list[str]) -> Iterator[str]:
    """Yield parts; a mere name before "and I" belongs to what follows ("Anna and I work together")."""
    held = ""
    for place, part in enumerate(parts):
        is_name = (
            len(part.split()) == 1 and place + 1 < len(parts) and parts[place + 1].startswith("i ")
        )
        if is_name and not held:
            held = f"{part.strip()} and "
            continue
        yield held + part
        held = ""


def _without_aside(part: str) -> tuple[str, ...]:
    """Return a part and, apart, what only frames it behind its last comma (", in my dreams")."""
    said, _, aside = part.rpartition(", ")
    is_aside = len(aside.split()) <= _LONGEST_ASIDE and not _HAS_SUBJECT.match(aside)
    return (said, aside) if said and is_aside and framed_beside(aside) else (part,)


def _says_something(part: str) -> bool:
    """Whether a part says something of its own, beside what it says of another."""
    if _SAYS_NOTHING.search(part):
        return False
    return _HAS_SUBJECT.match(part) is not None or len(part.split()) > _MOST_FOR_ASIDE + 3


def _clause(part: str, names: frozenset[str], frames: frozenset[Framing]) -> Clause:
    inside = {name for name, pattern in framings().inside.items() if pattern.search(part)}
    core = _OBLIGED.sub("have to", _WISHED.sub("want to", _PHRASES.sub(" ", part)))
    core = " ".join(core.split()).strip(" ,")
    if leading := _LEADING.match(core):
        aside = "" if leading[1].startswith("since") else leading[1].strip(" ,")
        core = f"{core[leading.end() :]} {aside}".strip()
    text, is_set = plain_turn(core)
    return Clause(
        text=text,
        names=names,
        replaced=frozenset() if is_set else given_up(core),
        is_ended="ended" in inside and not is_set,
        is_modal="modal" in inside,
        is_new="now" in inside or is_set,
        is_past="past" in inside,
        is_added="added" in inside,
        is_again="again" in inside,
        is_able="able" in inside,
        framings=frames,
    )
