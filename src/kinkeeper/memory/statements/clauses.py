"""A statement taken apart into clauses: what each says, and what only frames the others."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kinkeeper.memory.statements.canonical_words import canon_of, lexicon, opened
from kinkeeper.memory.statements.giving_up import given_up, set_right, succeeded
from kinkeeper.memory.statements.kin import person_canons
from kinkeeper.memory.statements.names import names_in
from kinkeeper.memory.statements.statement_frames import Framing, framed_beside, framings, unframed
from kinkeeper.memory.statements.turns import plain_times, plain_turn, referred

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
    """Return the clauses of a statement in their order; those that only frame others are left out.

    Args:
        text: Any.
    """
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
        text=text, names=names, replaced=frozenset() if is_set else given_up(core), is_ended="ended" in inside and not is_set, is_modal="modal" in inside,
        is_new="now" in inside or is_set, is_past="past" in inside,
        is_added="added" in inside, is_again="again" in inside, is_able="able" in inside, framings=frames,
    )  # fmt: skip
