"""Who does what in one message, for whom, about what, and whether somebody is wanted for it. Pure.

The rule behind it: the nearest subject before a task phrase, within the clause, does the task; a modal verb
before that subject, or an asking word, turns the statement into a request.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kinkeeper.household.model import Member, Role
from kinkeeper.language.lexicon import Mention
from kinkeeper.observer.model import Stance, Task
from kinkeeper.observer.wording.message_view import Reading, grammar
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.reading.times.model import SpanKind, TimeSpan

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
            task=task,
            start=start,
            end=end,
            stance=_subjectless(reading, clause, task),
            is_uncertain=uncertain,
            is_of_activity=is_of_activity,
        )
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
        word,
        is_asked=is_asked,
        is_negated=is_negated,
        is_adult=adult is not None,
        is_bare=between.strip() in {"", "please"}
        and bool(_BASE_FORM.match(reading.skeleton[start:end])),
    )
    if stance is Stance.ASKS and not is_sender and adult is None:
        adult = vocative
    is_told = (
        word == "you"
        and stance is Stance.ASKS
        and not (is_asked or reading.is_question)
        and _PLAINLY.fullmatch(between.strip()) is not None
    )
    return TaskPhrase(
        task=task,
        start=start,
        end=end,
        stance=stance,
        adult=adult,
        is_sender=is_sender,
        is_uncertain=uncertain,
        is_of_activity=is_of_activity,
        is_handed=is_told and not uncertain,
    )


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


# Whether a message wants somebody for a job, and which handovers it names. Pure.

ERRANDS = frozenset({Task.PICKUP, Task.DROPOFF, Task.COVER})
"""What somebody has to do for a child at a given time."""

_NAMED_TASKS = (Task.PICKUP, Task.DROPOFF)


def seeks_owner_of(
    reading: Reading, phrase: TaskPhrase | None, *, stance: Stance, participants: Participants
) -> bool:
    """Return whether somebody is wanted: asked for in so many words, or plainly needed by a child.

    Args:
        reading: The message, or a part of it.
        phrase: What is to be done, if named.
        stance: What the sender does with it.
    """
    if stance is Stance.ASKS:
        return has_cue(reading, "wanted") or (is_bidden(reading) and _is_of_family(reading, phrase))
    if stance is not Stance.STATES or not reading.of_kind("child", "group"):
        return False
    if has_cue(reading, "needed") and reading.spans:
        return True
    if phrase is not None and phrase.task in ERRANDS:
        return any(has_cue(reading, name) for name in _NAMED_TASKS)
    is_outside = any(participants.is_appointment(m.id) for m in reading.of_kind("generic"))
    return is_outside and bool(reading.spans)


def _is_of_family(reading: Reading, phrase: TaskPhrase | None) -> bool:
    """Whether what one of the others is asked to do is an errand or activity of the household."""
    if reading.of_kind("activity") or any(has_cue(reading, name) for name in _NAMED_TASKS):
        return True
    is_job = phrase is not None or bool(reading.of_kind("generic"))
    is_errand = phrase is not None and phrase.task in ERRANDS
    return (is_job and bool(reading.of_kind("child", "group"))) or (
        is_errand and bool(reading.spans)
    )


def is_bidden(reading: Reading) -> bool:
    """Return whether one of the others is asked to do something, whatever that is."""
    return reading.asks_for_owner or has_cue(reading, "bidden")


def named_tasks(reading: Reading) -> Iterator[tuple[int, int, Task]]:
    """Yield (start, end, task) in the text where a handover is named as a thing ("the pickup", "school run")."""
    for name in _NAMED_TASKS:
        match = cue(reading, name)
        if match is not None:
            first = reading.symbol_at(match.start())
            last = reading.symbol_at(match.end() - 1)
            yield first.start, last.end, Task(name)


# Whom and what a message is about: the children, the activity, and whether it is one of the
# family's. Pure.

_WITH = re.compile(
    r"(?<!\w)(?:stuck|busy|tied up|out|away|here|still|waiting|sitting) (?:(?!<act>)[^.,;]){0,40}?with (?P<who><childs?>|<kids>)"
)
_AFTER_THAT = re.compile(
    r"(?<!\w)(?:after|once|when|before|while|as soon as) (?:i|we) (?:(?:have|am|are|was|were) )?\w+ (?:off |up )?(?P<who>(?:the )?(?:<childs?>|<kids>))"
)
_ASIDES = (_WITH, _AFTER_THAT)
_ASKED_CHILD = re.compile(
    r"(?:^|[.,!?;] )(?P<who><child>) ?,? (?:please )?(?:can|could|will|would|do|are) you (?!(?:be|have|want|feel|hungry|ready|ok|get (?:ready|dressed|up|in|out|your|some|a))(?!\w)).*(?<!\w)(?:him|her|them|<childs?>|<kids>|the \w+)(?!\w)"
)
_OF_ANOTHER = re.compile(
    r"(?<!\w)(?:him|them|her(?= (?:to|from|at|on|home|up|off|back|there|then|now|today|tomorrow|<(?:date|time|place|act))| ?[.!?,]| ?$))(?!\w)"
)
_BY_PRONOUN = re.compile(r" (?:him|her|them)(?!\w)")
_OBJECT = re.compile(r" (?:after |with |up )*(?P<who><adult>)(?= |$)")
_INSIDE = re.compile(r"<adult>")
_FOR_ME = re.compile(r" (?:me|us)(?!\w)")
_OWN_ENGAGEMENT = re.compile(
    r"(?<!\w)(?:(?:i|we) (?:have|got|have got|am having|am at|am in|am on)(?: got)?(?: \w+){0,3}|my) $"
)
_LESS_TELLING = frozenset({"appointment", "meeting", "shift"})
_TIED_CHARACTERS = 12


def children_of(
    reading: Reading, phrase: TaskPhrase | None, sender: Member | None, participants: Participants
) -> tuple[str, ...]:
    """Return whom a message is about: the children it names, else the child who writes.

    Args:
        reading: The message, or a part of it.
        phrase: What is to be done, if named; children the sender only happens to be with are left out.
        sender: Who sent it, if known.
    """
    aside = _asides(reading, phrase)
    children = participants.children_of(
        [m for m in reading.mentions if not any(start <= m.start < end for start, end in aside)]
    )
    is_own = sender is not None and not _OF_ANOTHER.search(reading.skeleton)
    if not children and sender and is_own and sender.role is Role.CHILD:
        return (sender.id,)
    return (
        children or _seen_to(reading, phrase) or _dependant(reading, phrase, sender, participants)
    )


def _dependant(
    reading: Reading, phrase: TaskPhrase | None, sender: Member | None, participants: Participants
) -> tuple[str, ...]:
    """The member in whose hands no job is put, a grandmother say, where an appointment is theirs."""
    is_appointment = phrase is not None and phrase.task is Task.APPOINTMENT
    if not is_appointment and not any(
        participants.is_appointment(mention.id) for mention in reading.of_kind("generic")
    ):
        return ()
    if phrase is not None and not is_appointment:
        return ()
    named = {mention.id for mention in reading.of_kind("adult")} - (
        {sender.id} if sender else set()
    )
    others = [
        m.id for m in participants.household.members if m.role is Role.OTHER and m.id in named
    ]
    return tuple(others) if len(others) == 1 else ()


def _seen_to(reading: Reading, phrase: TaskPhrase | None) -> tuple[str, ...]:
    """The grown-up for whom something is to be done: brought somewhere, sat with, looked after."""
    match = _OBJECT.match(reading.skeleton, phrase.end) if phrase else None
    if phrase is None or phrase.task not in ERRANDS:
        return ()
    inside = _INSIDE.search(reading.skeleton, phrase.start, phrase.end)
    at = match.start("who") if match else inside.start() if inside else None
    person = reading.mention_at(at) if at is not None else None
    if person is None or (phrase.adult is not None and phrase.adult.id == person.id):
        return ()
    return (person.id,)


def _asides(reading: Reading, phrase: TaskPhrase | None) -> list[tuple[int, int]]:
    """Stretches of the text that tell with whom the sender is just now, not who is to be fetched or brought."""
    if phrase is None:
        return []
    asked = asked_child(reading)
    if asked is not None:
        return [asked]
    found = [match for pattern in _ASIDES for match in pattern.finditer(reading.skeleton)]
    if not _BY_PRONOUN.match(reading.skeleton, phrase.end):
        found = [match for match in found if match.re is not _AFTER_THAT]
    return [
        (_text_offset(reading, match.start("who")), _text_offset(reading, match.end()))
        for match in found
        if not match.start() <= phrase.start < match.end()
    ]


def asked_child(reading: Reading) -> tuple[int, int] | None:
    """Return where a child stands who is asked to see to another ("Ben can you walk her there?"), if one is.

    Args:
        reading: The message, or a part of it.
    """
    match = _ASKED_CHILD.search(reading.skeleton)
    if match is None:
        return None
    return _text_offset(reading, match.start("who")), _text_offset(reading, match.end("who"))


def child_asked(reading: Reading) -> str | None:
    """Return the id of the child who is asked to see to another, if one is.

    Args:
        reading: The message, or a part of it.
    """
    place = asked_child(reading)
    mentions = reading.of_kind("child") if place else []
    return next((m.id for m in mentions if place and place[0] <= m.start < place[1]), None)


def _text_offset(reading: Reading, offset: int) -> int:
    symbol = reading.symbol_at(offset)
    return symbol.start if symbol.at >= offset else symbol.end


def _is_senders_own(reading: Reading, mention: Mention, phrase: TaskPhrase | None) -> bool:
    """Whether an appointment is what keeps the sender from the job ("i have an exam, can you get Ann?")."""
    if phrase is None:
        return False
    at = next((symbol.at for symbol in reading.symbols if symbol.item is mention), 0)
    start, end = clause_around(reading, at)
    is_elsewhere = not start <= phrase.start < end
    if _FOR_ME.match(reading.skeleton, phrase.end):
        return False
    return is_elsewhere and _OWN_ENGAGEMENT.search(reading.skeleton[start:at]) is not None


def activity_of(reading: Reading, phrase: TaskPhrase | None) -> Mention | None:
    """Return the activity talked about; an appointment's own word wins over a series it merely touches.

    Args:
        reading: The message, or a part of it.
        phrase: What is to be done, if named; what keeps the sender from it is not meant.
    """
    generic, named = reading.of_kind("generic"), reading.of_kind("activity")
    if has_cue(reading, "thing"):
        is_called_off = phrase is not None and phrase.task is Task.CANCEL and bool(generic)
        return named[0] if is_called_off and named else None
    generic = [m for m in generic if not _is_senders_own(reading, m, phrase)]
    generic = [mention for mention in generic if mention.id not in _LESS_TELLING] or generic
    bound = destination(reading)
    if bound is not None:
        return bound
    for mention in generic:
        if any(_is_tied(mention, span) for span in reading.spans if span.has_time) and not any(
            _is_tied(other, span) for other in named for span in reading.spans if span.has_time
        ):
            return mention
    return next(iter(named or generic), None)


def _is_tied(mention: Mention, span: TimeSpan) -> bool:
    return abs(span.start_char - mention.end) <= _TIED_CHARACTERS or (
        abs(mention.start - span.end_char) <= _TIED_CHARACTERS
    )


def is_special(
    reading: Reading, activity: Mention | None, sender: Member | None, participants: Participants
) -> bool:
    """Return whether it is no series of the household: an occasion, somebody else's lesson, a game for fun.

    Args:
        reading: The message, or a part of it.
        activity: What it is about, if anything.
        sender: Who sent it, if known.
    """
    occasions = grammar().stances["special"]
    if has_cue(reading, "special") or any(
        # The mark of a word that is in the vocabulary as well hides it from the grammar.
        participants.is_occasion(mention.id) or occasions.search(mention.surface.casefold())
        for mention in reading.of_kind("generic")
    ):
        return True
    if activity is None:
        return False
    if reading.of_kind("child", "group"):
        is_timed_out = any(span.kind is SpanKind.RANGE for span in reading.spans)
        return (
            is_timed_out
            and participants.is_session(activity.id)
            and has_cue(reading, "other_session")
        )
    if activity.kind == "activity":
        return has_cue(reading, "pastime")
    is_grown_up = sender is None or sender.role is not Role.CHILD
    return participants.is_session(activity.id) and (
        has_cue(reading, "other_session") or (is_grown_up and has_cue(reading, "own_session"))
    )
