"""Who does what in one message: task phrases, the subject each belongs to, and the sender's stance.

The rule behind it: the nearest subject before a task phrase, within the clause, does the task; a modal verb
before that subject, or an asking word, turns the statement into a request.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kinkeeper.language.lexicon import Mention
from kinkeeper.observer.model import Stance, Task
from kinkeeper.observer.wording.grammar import grammar
from kinkeeper.observer.wording.message_view import Reading

_REACH = 300  # characters around a task that tell whose it is, where nothing separates them
_CLAUSE_BREAKS = re.compile(
    r"(?:[.!?;\n]|, (?=(?:i|we|you|can|could|will|who|but|so|then|and|<adult>|<child>|done|finished|free|off)(?: |$))"
    r"| (?:but|and then|so|and) (?=(?:i|we|you|he|she|they|who|can|could|would|will|<adult>)(?: |$))"
    r"| (?:then|because|as|since) (?=(?:i|we) (?:am|have|will be|need|finish)(?: |$))"
    r"|, (?=(?:we )?(?:need|needs) (?:somebody|any ?body|cover|help)(?: |$))"
    r"| and (?=<childs?> (?:(?:to|at|from|on|for|has|is|in|the|his|her) )*<(?:act|generic|date|time|datetime)>)"
    r"|(?:,| and) (?=(?:the )?<act> (?:(?:on|at|is|pick ?up|run|drop ?off) )*<(?:date|datetime)>)"
    r"|(?<=>) (?=(?:can|could|will|would) you ))"
)
_LISTED = re.compile(r"<childs?> and $")
_OWN_DETAIL = re.compile(r"<(?:act|generic|place|date|time|datetime|range)>")
_NEXT_LISTED = re.compile(r"<childs?> (?!(?:has|is) )")
_DOUBTED = re.compile(
    r"(?<!\w)(?:(?:not|never) (?:think|reckon|believe|feel|sure|certain|see)(?: that| like| how)?|doubt(?: that)?)$"
)
_PLAINLY = re.compile(
    r"(?:(?:are|will|have|got|just|then|also|still|to|on|doing|the|go|and|both|can) ?)*"
)
_SUBJECT = re.compile(
    r"(?<![\w<])(?:i|we|let me|(?<!help )(?<!helping )(?<!for )(?<!with )me|(?<!take )(?<!get )(?<!drop )(?<!fetch )(?<!collect )(?<!bring )(?<!drive )(?<!pick )(?<!for )(?<!with )(?<!to )(?<!see )you|who|whoever|somebody|any ?body|nobody|no ?one|either|one of (?:us|you)|he|she|they|<adult>(?! ?,))(?![\w>])"
)
_SENDER_WORDS = frozenset({"i", "we", "me", "let me"})
_OPEN_WORDS = re.compile(r"who|whoever|somebody|any ?body|nobody|no ?one|either|one of")
_MODAL_BEFORE = re.compile(
    r"(?:can|could|would|will|are|is|do|does|did|may|might|shall|should|has|have|please|if|hope|hoping|(?<!no )need|want|ask|asking)$"
)
_DESTINATION = re.compile(
    r"(?<!\w)(?:him|her|them|me|us|<child>|<kids>|over|off|down|back|go|goes|going|get|lift|ride|drive|run) to (?:(?:the|his|her|their|<child>|<childs>) )*(?P<activity><act>|<generic>)"
)
CUES = (("decline", Stance.DECLINES), ("ask", Stance.ASKS), ("claim", Stance.CLAIMS))
"""Names of the cues that tell what the sender does, each with that."""

_ASKING_AND_CLAIMING = frozenset({Stance.ASKS, Stance.CLAIMS})
_NEGATION = re.compile(r"(?<!\w)(?:not|never|no longer|unable)(?!\w)(?! only)")
_UNCERTAIN = re.compile(
    r"(?<!\w)(?:might(?! as well)|maybe|perhaps|not sure|possibly|if i|thinking of|was going to|were going to|supposed to|wanted to|would have|should have|used to)(?!\w)"
)
_NEEDS = re.compile(
    r"(?:will |do |might |may |just |also )*(?:need|want)(?: (?:a|an|some|my|picking|to be))*$"
)
_CARRIED = re.compile(
    r"(?:(?:will|does|might|may|just|also|still) )*(?:(?:needs?|wants?) (?:\w+ing|picked|collected|fetched|dropped|taken|driven|brought)"
    r"|(?:(?:needs?|wants?|has|have) to|must) be (?:picked|collected|fetched|dropped|taken|driven|brought))(?!\w)"
)
_BASE_FORM = re.compile(
    r"(?:pick|get|collect|fetch|grab|drop|take|drive|bring|cover|watch|mind|look|babysit|go|do)(?: |$)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPhrase:
    """One thing to be done, as the message says it.

    Attributes:
        task: What.
        start: Offset in the skeleton.
        end: Offset past it in the skeleton.
        stance: What the sender does with it.
        adult: Mention of the adult that is its subject or is asked, if named.
        is_sender: Whether the sender is the subject.
        is_uncertain: Whether it is said as a mere possibility.
        is_of_activity: Whether its clause names an activity.
        is_handed: Whether the person spoken to is told to do it ("you take Ann"), not asked.
    """

    task: Task
    start: int
    end: int
    stance: Stance
    adult: Mention | None = None
    is_sender: bool = False
    is_uncertain: bool = False
    is_of_activity: bool = False
    is_handed: bool = False


def task_phrases(reading: Reading) -> tuple[TaskPhrase, ...]:
    """Return the task phrases of a message, in text order, without overlaps."""
    found: list[tuple[int, int, Task]] = []
    is_taken = bytearray(len(reading.skeleton))
    for task, pattern in grammar().tasks.items():
        for match in pattern.finditer(reading.skeleton):
            start, end = match.span()
            if not any(is_taken[start:end]):
                found.append((start, end, task))
                is_taken[start:end] = bytes([1]) * (end - start)
    return tuple(_phrase(reading, *item) for item in sorted(found))


def stance_of(reading: Reading) -> tuple[Stance, bool]:
    """Return what the sender does where no task is named, and whether it is a mere possibility."""
    stances, skeleton = grammar().stances, reading.skeleton
    is_uncertain = bool(_UNCERTAIN.search(skeleton))
    cues = [
        (match.start(), order, stance)
        for order, (name, stance) in enumerate(CUES)
        if (match := stances[name].search(skeleton))
    ]
    if len({stance for _, _, stance in cues} & _ASKING_AND_CLAIMING) > 1:
        claimed = clause_around(reading, min(at for at, _, each in cues if each is Stance.CLAIMS))
        if not reading.within(*claimed).of_kind("child", "group", "activity"):
            # "I've got book club, can anyone …?" takes nothing on.
            cues = [each for each in cues if each[2] is not Stance.CLAIMS]
    if cues:
        return min(cues)[2], is_uncertain
    if stances["assign"].search(skeleton) and not reading.is_question:
        return Stance.ASSIGNS, is_uncertain
    return (Stance.ASKS if reading.asks_for_owner else Stance.STATES), is_uncertain


def destination(reading: Reading) -> Mention | None:
    """Return the activity somebody is brought to ("take her over to choir"), if one is named so."""
    match = _DESTINATION.search(reading.skeleton)
    return reading.mention_at(match.start("activity")) if match else None


def cue(reading: Reading, name: str) -> re.Match[str] | None:
    """Return where the grammar's stance cue `name` stands in the skeleton, if it does."""
    return grammar().stances[name].search(reading.skeleton)


def has_cue(reading: Reading, name: str) -> bool:
    """Whether the grammar's stance cue `name` stands in the message."""
    return cue(reading, name) is not None


def clause_around(reading: Reading, offset: int) -> tuple[int, int]:
    """Return (start, end) of the clause around a skeleton offset."""
    start, end = 0, len(reading.skeleton)
    for break_start, break_end in clause_breaks(reading.skeleton):
        if break_end <= offset:
            start = break_end
        elif break_start > offset:
            end = break_start
            break
    return start, end


@lru_cache(maxsize=16)
def clause_breaks(skeleton: str) -> tuple[tuple[int, int], ...]:
    """Return (start, end) of what separates the clauses of a skeleton.

    An "and" between two children parts nothing where the first has no detail of its own: both share what
    follows ("take Ann and Ben to judo", unlike "take Ann to choir and Ben to judo").
    """
    return tuple(_clause_breaks(skeleton))


def _clause_breaks(skeleton: str) -> Iterator[tuple[int, int]]:
    last = 0
    for match in _CLAUSE_BREAKS.finditer(skeleton):
        before = skeleton[last : match.end()]
        is_list = (
            _LISTED.search(before) is not None
            and _OWN_DETAIL.search(before) is None
            and _NEXT_LISTED.match(skeleton, match.end()) is not None
        )
        if not is_list:
            yield match.span()
            last = match.end()


def _phrase(reading: Reading, start: int, end: int, task: Task) -> TaskPhrase:
    clause_start, clause_end = clause_around(reading, start)
    clause_start, clause_end = max(clause_start, start - _REACH), min(clause_end, end + _REACH)
    before = reading.skeleton[clause_start:start]
    subjects = list(_SUBJECT.finditer(before))
    clause = reading.skeleton[clause_start:clause_end].strip()
    uncertain = bool(_UNCERTAIN.search(before))
    is_of_activity = "<act>" in clause or "<generic>" in clause
    if not subjects:
        return TaskPhrase(
            task=task, start=start, end=end, stance=_subjectless(reading, clause, task),
            is_uncertain=uncertain, is_of_activity=is_of_activity,
        )  # fmt: skip
    subject = subjects[-1]
    lead, between = before[: subject.start()].rstrip(), before[subject.end() :]
    is_asked = bool(_MODAL_BEFORE.search(lead)) or _ends_in_question(reading, clause_end)
    is_negated = bool(_NEGATION.search(between) or _DOUBTED.search(lead))
    word = subject.group()
    is_carried = _CARRIED.match(f"{between.strip()} {reading.skeleton[start:end]}") is not None
    if is_carried or (word in {"i", "we"} and _NEEDS.match(between.strip())):
        # "I need a lift home" and "gran needs dropping at the station" take nothing on.
        return TaskPhrase(
            task=task, start=start, end=end, stance=Stance.ASKS, is_of_activity=is_of_activity
        )
    adult = reading.mention_at(clause_start + subject.start()) if word == "<adult>" else None
    vocative = _adult_in(reading, clause_start, clause_start + subject.start())
    stance, is_sender = _stance(
        word, is_asked=is_asked, is_negated=is_negated, is_adult=adult is not None,
        is_bare=between.strip() in {"", "please"} and bool(_BASE_FORM.match(reading.skeleton[start:end])),
    )  # fmt: skip
    if stance is Stance.ASKS and not is_sender and adult is None:
        adult = vocative
    is_told = (
        word == "you"
        and stance is Stance.ASKS
        and not (is_asked or reading.is_question)
        and _PLAINLY.fullmatch(between.strip()) is not None
    )
    return TaskPhrase(
        task=task, start=start, end=end, stance=stance, adult=adult, is_sender=is_sender,
        is_uncertain=uncertain, is_of_activity=is_of_activity, is_handed=is_told and not uncertain,
    )  # fmt: skip


def _stance(
    word: str, *, is_asked: bool, is_negated: bool, is_adult: bool, is_bare: bool
) -> tuple[Stance, bool]:
    if _OPEN_WORDS.match(word):
        return Stance.ASKS, False
    if word in _SENDER_WORDS:
        if is_negated:
            return Stance.DECLINES, True
        return (Stance.ASKS if is_asked else Stance.CLAIMS), True
    if is_negated:
        return Stance.DECLINES, False
    if word == "you" or is_asked or (is_adult and is_bare):
        return Stance.ASKS, False
    return (Stance.ASSIGNS if is_adult else Stance.STATES), False


def _subjectless(reading: Reading, clause: str, task: Task) -> Stance:
    stances = grammar().stances
    if task in {Task.CANCEL, Task.MOVE}:
        return Stance.STATES
    if stances["decline"].search(clause):
        return Stance.DECLINES
    if stances["ask"].search(clause):
        return Stance.ASKS
    if stances["claim"].search(clause):
        return Stance.CLAIMS
    if reading.asks_for_owner or "please" in clause or reading.is_question:
        return Stance.ASKS
    return Stance.STATES


def _ends_in_question(reading: Reading, clause_end: int) -> bool:
    return reading.skeleton[clause_end:].lstrip().startswith("?")


def _adult_in(reading: Reading, start: int, end: int) -> Mention | None:
    for symbol in reading.symbols:
        if (
            start <= symbol.at < end
            and symbol.text == "<adult>"
            and isinstance(symbol.item, Mention)
        ):
            return symbol.item
    return None
