"""A question about days as its parts, however it is put: what is wanted, about what, of whom, and when. Pure."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from kinkeeper.conversation.planning.case import Case, Thing, results_of
from kinkeeper.conversation.planning.message import MARK, TIME_MARK
from kinkeeper.conversation.planning.people import members_in, who_of, without_people
from kinkeeper.conversation.planning.plan_times import Window, window_of, window_with
from kinkeeper.core.time import midnight
from kinkeeper.language.name_match import meant_by

# Ways of asking that are no plain question: a statement with a tag, "I wonder if", "karate what
# time?". Pure.

_TAG = re.compile(
    r"[\s,]+(?:(?:is|are|was|were|do|does|did|have|has|had|will|can|could|would|should)n['’]?t (?:it|we|he|she|they|i|you|there)"
    r"|(?:right|correct|yeah|yes|no|innit|eh|huh|am i right|or (?:what|not|no))"
    r"|(?<=,) ?(?:is|are|was|were|do|does|did|have|has|will|can) (?:it|we|he|she|they|i|you|there))\s*$",
    re.IGNORECASE,
)
_ASKS_WHETHER = re.compile(
    r"^(?:(?:please )?(?:i (?:wonder|wondered|was wondering|am wondering|would like to know|want to know|need to know)|i'm wondering"
    r"|(?:(?:do|would|might|can|could) you )?(?:happen to )?know|(?:have you )?any idea|no idea|not sure|(?:just )?checking|double[- ]checking|tell me|let me know|check|find(?: out)?|see|remind me|(?:please )?confirm|make sure)"
    r"[\s,:]+(?:(?:about )?(?P<whether>if|whether|that)\s+(?=\S)|(?=(?:who|whose|when|where|what|which|how)(?:'s)?\b)))",
    re.IGNORECASE,
)
_ALL_OF = re.compile(
    r"^(?:please )?(?:list|show(?: me)?|tell me|give me|read(?: me)?(?: out)?|name)\s+(?:everything|all(?: the (?:things|events))?|anything|what)(?: that)?\s+(?!you\b)(?=\S)",
    re.IGNORECASE,
)
_OF_A_TIME = re.compile(
    rf"^(?:tell me(?: more)? about|talk me through|run me through|take me through|brief me on)\s+(?:the\s+)?(?={TIME_MARK}$)",
    re.IGNORECASE,
)
_ASKS_LAST = re.compile(
    r"^(?P<what>(?!(?:until|till|since|from|at|by|on|in|for)\s)\S+(?:\s+\S+){0,4}?)[\s,:-]+(?P<wh>what time|when|where|how long|until when|till when|which day|what day|who with|who)$",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:who|whose|what|which|when|where|how|is|are|do|does|did|can|could|will)\b", re.IGNORECASE
)
_SHORTENED = (
    (re.compile(r"^(\w+)'re\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"^(i)'m\b", re.IGNORECASE), r"\1 am"),
    (re.compile(r"^(\w+)'ve\b", re.IGNORECASE), r"\1 have"),
    (re.compile(r"^(\w+)'ll\b", re.IGNORECASE), r"\1 will"),
    (
        re.compile(
            r"^((?:it|he|she|there|that|everyone|everybody|\w+))'s(?= (?:not|still|on|off|at|in|free|busy|away|home|here|going|coming|playing|doing|\w+ing)\b)",
            re.IGNORECASE,
        ),
        r"\1 is",
    ),
)
_AUXILIARY = re.compile(
    r"^(?P<who>(?!(?:to|and|that|which|who)\b)\S+(?: (?!(?:to|and|that|which|who)\b)\S+){0,3}?) (?P<verb>is|are|am|was|were|will|can|could|has|have|had|does|do|did|must|should|would)\b(?P<rest>.*)$",
    re.IGNORECASE,
)


def plainly_asked(clause: str) -> tuple[str, bool]:
    """Return a clause as a plain question, and whether it was put as one in another way.

    Args:
        clause: With marks, without politeness.
    """
    plain, asks = _ASKS_WHETHER.subn("", clause)
    is_indirect = asks > 0 and _ASKS.match(plain) is None
    plain, listed = _ALL_OF.subn("what ", _OF_A_TIME.sub("what's on ", plain))
    untagged = _TAG.sub("", plain)
    is_tagged = untagged != plain and len(untagged.split()) > 1 and _ASKS.match(untagged) is None
    if is_tagged or is_indirect:
        return _inverted(untagged if is_tagged else plain), True
    last = _ASKS_LAST.match(plain)
    if last is not None and _ASKS.match(plain) is None:
        return f"{last['wh']} {last['what']}", True
    return plain, listed > 0 or asks > 0


def _inverted(statement: str) -> str:
    """Return a statement with its verb before whom it is about: "we're free on Sunday" as "are we free on Sunday"."""
    for pattern, long in _SHORTENED:
        statement = pattern.sub(long, statement, count=1)
    found = _AUXILIARY.match(statement)
    if found is None:
        return f"does {statement}"
    return f"{found['verb']} {found['who']}{found['rest']}"


_MOST_WORDS = 16
_MOST_SUBJECT = 4
_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*'?")
_ME = re.compile(r"\b(?:i|me|my|mine|myself|i'm|i've|i'll|i'd)\b", re.IGNORECASE)
_SPEAKS = re.compile(r"\b(?:i|me|i'm|i've|i'll)\b", re.IGNORECASE)
_ASKED_OF = re.compile(
    r"^(?:can|could|would|will|is|are|am|was|do|does|has|have|isn't|aren't) (?P<who>(?:the )?[^\W\d_]+(?:(?:,| and|, and) (?:the )?[^\W\d_]+)*)",
    re.IGNORECASE,
)
_OF_TIME = re.compile(
    rf"^(?:is|are|does|do|will|isn't) (?:the )?{TIME_MARK}(?: (?:still|all|completely))*(?: be)? (?:free|available|open|clear|empty|busy|booked|work|works|ok|okay|fine|good|alright|possible)\b",
    re.IGNORECASE,
)
_AWARE = re.compile(
    r"\b(?:i|we) (?:should|must|need to|ought to|have to) (?:know|be aware)\b", re.IGNORECASE
)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_POINTS = re.compile(
    r"\b(?:it|that|them|this|there|him|her|he|she|they)\b(?! (?:a|an|any|anything|something)\b)"
    r"|^(?:where|when|what time|how long|how many (?:days|sleeps|nights|weeks)|who(?:'s| is)? (?:coming|going|taking part|in charge|driving)|until when|which day|what day|(?:at |in |on )?(?:which|what) [a-z]+)$",
    re.IGNORECASE,
)
_THAT_TIME = re.compile(
    rf"\b(?:that|the same) (?P<unit>{TIME_MARK}|(?:day|week|weekend|month)\b)", re.IGNORECASE
)
_FIRST_OF_DAY = re.compile(r"\bfirst thing\b", re.IGNORECASE)
_DOING = re.compile(r"^\w+ing (?=\w)")
"""What somebody is to do with what is asked about: "letting the cleaner in"."""

_THEN = re.compile(r"\b(?:then|at that time)\b", re.IGNORECASE)
_LATELY = 2
_ALTERNATIVE = re.compile(
    r"\s+or (?:is|are|was|were|has|have|did|does|do|will|not|what)\b.*$", re.IGNORECASE
)
"""The other half of a question whose first half is answered: "... or is it cancelled?"."""

_ANYBODY = frozenset({"anyone", "anybody", "someone", "somebody"})
_ONE = frozenset({"he", "she"})
_ALL = frozenset({"we", "they", "everyone", "everybody"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about days.

    Attributes:
        wanted: What it wants to know, by the name in the grammar: "next", "in_charge", "list", ...
        subject: Words that say what it is about; None where it is about everything.
        is_known: Whether the subject is something of the calendar.
        is_only_known: Whether it asks whether that takes place, with no other word.
        who: Ids of the members it is about, the asker among them where they speak of themselves.
        asked_of: Ids of the members whose time is asked about.
        is_of_anybody: Whether anybody's time is: "is anyone around".
        is_of_time: Whether a time itself is: "is Friday free".
        window: When, if it says so.
        is_past: Whether it is about what has been.
        is_of_days: Whether it speaks of days at all, beside its times.
        is_absent: Whether it speaks of somebody's being away, or back.
    """

    wanted: str
    subject: str | None
    is_known: bool
    is_only_known: bool
    who: tuple[str, ...]
    asked_of: tuple[str, ...]
    is_of_anybody: bool
    is_of_time: bool
    window: Window | None
    is_past: bool
    is_of_days: bool
    is_absent: bool


def read_question(clause: str, case: Case) -> Question | None:
    """Return a clause as a question about days, or None where it is none.

    Args:
        clause: With marks, without politeness.
    """
    asking = case.grammar.asking
    clause, is_asked = plainly_asked(clause)
    clause = _ALTERNATIVE.sub("", clause)
    is_asked = is_asked or case.context.text.rstrip().endswith("?")
    if not (asking["opens"].match(clause) or (is_asked and case.message.times(clause))):
        return None
    if len(clause.split()) > _MOST_WORDS or asking["elsewhere"].search(clause):
        return None
    wanted = next((name for name, each in case.grammar.wanted.items() if each.search(clause)), None)
    if wanted is None and _FIRST_OF_DAY.search(case.context.text):
        wanted = "next"
    if wanted is None:
        return None
    is_choice = wanted == "whether" and _OR.search(clause) is not None
    if is_choice:
        wanted = "next"
    is_past = asking["past"].search(clause) is not None
    # What something is compared with does not say what it is about.
    about = case.grammar.wanted["clash"].split(clause)[0] if wanted == "clash" else clause
    subject, named = subject_of(about, case), members_in(clause, case)
    if wanted == "in_charge" and subject is not None:
        subject = _DOING.sub("", subject)
    window = None if is_choice else window_of(clause, case, is_past=is_past)
    if (beside := _beside_what_was_said(clause, case)) is not None:
        subject, window = None, beside
    elif subject is None and not named and _POINTS.search(clause):
        thing = _spoken_of(case)
        if thing is None and window is None and case.context.history:
            return None  # what "it" is must not be guessed
        subject = None if thing is None else thing.title
        window = window or (None if thing is None else _its_day(thing, case))
    me = case.context.asked.member.id
    speaks = _AWARE.sub(" ", clause)
    is_mine = _SPEAKS.search(speaks) is not None or (
        subject is None and _ME.search(speaks) is not None
    )
    subject_member = _ASKED_OF.match(clause)
    of = subject_member["who"] if subject_member is not None else ""
    return Question(
        wanted=wanted,
        subject=subject,
        is_known=subject is not None and is_of_calendar(subject, case),
        is_only_known=wanted == "whether"
        and not is_past
        and subject is not None
        and all(is_of_calendar(word, case) for word in subject.split()),
        who=tuple(named) or ((me,) if is_mine and subject is None else ()),
        asked_of=_asked_of(of.lower(), case) or _one_spoken_of(of.lower(), case),
        is_of_anybody=of.lower() in _ANYBODY,
        is_of_time=_OF_TIME.match(clause) is not None,
        window=window,
        is_past=is_past,
        is_of_days=asking["days"].search(case.message.title(clause)) is not None,
        is_absent=asking["absent"].search(clause) is not None,
    )


def _spoken_of(case: Case) -> Thing | None:
    """Return the event that the last turns were about, if it is one."""
    for exchange in reversed(case.context.history[-_LATELY:]):
        things = [each for each in results_of(exchange.results) if each.kind == "event"]
        if things:
            return things[0] if len({each.title for each in things}) == 1 else None
    return None


def _beside_what_was_said(clause: str, case: Case) -> Window | None:
    """Return "that weekend", "that day" by the event that the last turns were about."""
    said = _THAT_TIME.search(clause)
    if said is None and _THEN.search(case.context.text) and not case.message.times(clause):
        return None if _POINTS.search(clause) else _looked_at(case)
    thing = _spoken_of(case) if said is not None else None
    if said is None or thing is None or not thing.start:
        return None
    day = datetime.fromisoformat(thing.start).date()
    return window_with(day, case.message.words(said["unit"]), case)


def _looked_at(case: Case) -> Window | None:
    """Return the days that the last turn looked at."""
    results = case.context.history[-1].results if case.context.history else ()
    params = results[-1].params if results else {}
    if not isinstance(params.get("from"), str):
        return None
    first, zone = date.fromisoformat(params["from"][:10]), case.household.zone
    until = first + timedelta(days=max(int(params.get("days_ahead") or 1), 1))
    return Window(begin=midnight(first, zone), until=midnight(until, zone), is_days=True)


def _its_day(thing: Thing, case: Case) -> Window | None:
    start = datetime.fromisoformat(thing.start).date() if thing.start else None
    if start is None or start < case.now.date():
        return None
    begin = midnight(start, case.household.zone)
    return Window(
        begin=begin, until=midnight(start + timedelta(days=1), case.household.zone), is_days=True
    )


def _one_spoken_of(word: str, case: Case) -> tuple[str, ...]:
    """Return whom "she" or "he" stands for: who alone takes part in what was told last."""
    thing = _spoken_of(case) if word in _ONE else None
    return thing.who if thing is not None and len(thing.who) == 1 else ()


def _asked_of(word: str, case: Case) -> tuple[str, ...]:
    if word in _ALL:
        return tuple(each.id for each in case.household.members)
    return tuple(who_of(word, case))


def subject_of(part: str, case: Case) -> str | None:
    """Return the words that say what a question is about, without people, times and words that ask.

    Args:
        part: With marks.
    """
    words = MARK.sub(" ", case.message.title(part))
    words = without_people(words, case)
    kept = [
        word
        for word in _WORD.findall(words)
        if word.lower().removesuffix("'s").removesuffix("'") not in case.grammar.empty
        and word.lower() not in case.grammar.empty
    ]
    return " ".join(kept).removesuffix("'s") or None if len(kept) <= _MOST_SUBJECT else part


def is_of_calendar(words: str, case: Case) -> bool:
    """Whether words name an activity, an appointment, or something that takes place soon."""
    if case.grammar.said["appointment"].search(words):
        return True
    said = words.lower().split()
    titles = [*dict.fromkeys(each.title for each in case.things if each.kind == "event")]
    return any(meant_by(word, titles) for word in said) or any(
        word.kind in {"activity", "generic_activity"}
        for start in range(len(said))
        for end in range(start + 1, len(said) + 1)
        for word in case.vocabulary.meanings(" ".join(said[start:end]))
    )
