"""What is said where nothing was done: small talk, or saying so with the nearest that can be. Pure.

No courtesy ("Thanks for telling me.") answers what was told and not kept: it would sound as if it were.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from kinkeeper.conversation.answering.claims import request_deed
from kinkeeper.conversation.answering.names_and_times import day_words, local, moment_words, plain
from kinkeeper.conversation.model import AnswerContext, Branch, Mode, Nearest, PlanningContext
from kinkeeper.conversation.planning.case import Case, case_of
from kinkeeper.conversation.planning.clauses import bare
from kinkeeper.conversation.planning.rule_planner import is_out_of_scope, is_search, vocabulary_of
from kinkeeper.memory.finding.terms import words
from kinkeeper.reading.modality import OTHERS_WORDS, Modality, modality_of, tells_of_deed_or_wish

# Small talk by a table of patterns and replies: what is answered without a model, and without
# pretending. Pure.

_LEAD = re.compile(
    r"(?:hi|hiya|hey|hello|heya|hallo|yo|oh|so|well|um|uh|please|ok|okay|good (?:morning|afternoon|evening))"
    r"(?: there)? (?=.)"
)
_APOSTROPHES = str.maketrans({"’": " ", "'": " ", "‘": " "})


@dataclass(frozen=True, slots=True)
class _Kind:
    patterns: tuple["re.Pattern[str]", ...]
    replies: tuple[str, ...]


def reply(text: str, *, turn: str, names: Mapping[str, str]) -> str | None:
    """Return what to say to small talk; None where a message is something else.

    Args:
        turn: Id of the turn: chooses between replies, the same one each time.
        names: "me": what the assistant is called; "name": what the person is called, where known.
    """
    plain = _plain(text, names.get("me", ""))
    if not plain:
        return None
    without_lead = _LEAD.sub("", plain, count=1)
    for said in dict.fromkeys((without_lead, plain)):
        kind = next(
            (each for each in _kinds() if any(p.fullmatch(said) for p in each.patterns)), None
        )
        if kind is not None:
            return _chosen(kind.replies, turn=turn, names=names)
    return None


def chosen(among: Sequence[str], turn: str) -> str:
    """Return one of several ways to say the same, by the turn: varied, and the same each time it is asked.

    Args:
        among: At least one.
        turn: Id of the turn.
    """
    return among[int(hashlib.sha256(turn.encode()).hexdigest(), 16) % len(among)]


def _chosen(replies: Sequence[str], *, turn: str, names: Mapping[str, str]) -> str | None:
    known = {name for name, value in names.items() if value}
    fitting = [each for each in replies if {*re.findall(r"\{(\w+)\}", each)} <= known]
    return chosen(fitting, turn).format(**names) if fitting else None


def _plain(text: str, me: str) -> str:
    said = " ".join(words(text.translate(_APOSTROPHES)))
    name = re.escape(" ".join(words(me)))
    return re.sub(rf"^{name} |[ ]{name}$", "", said) if name else said


@cache
def _kinds() -> tuple[_Kind, ...]:
    data = tomllib.loads((files(__package__) / "data" / "talk.toml").read_text(encoding="utf-8"))
    return tuple(
        _Kind(tuple(map(re.compile, kind["patterns"])), tuple(kind["replies"]))
        for kind in data["kind"]
    )


CANNOT: Final = "I can't do that."
_NOT_UNDERSTOOD = (
    "I did not understand what to do, so I have done nothing. Could you say it another way?",
    "I'm not sure what you want me to do, so I've changed nothing. Could you put it differently?",
)
_NOT_KEPT = (
    "I haven't kept that. Say “remember that …” with the whole sentence if you want me to.",
    "I've heard that, but it isn't kept. If it should be, say “remember that …” with the whole sentence.",
)
_LEFT = (
    "I've left the calendar, tasks and lists as they are. To save it, say for example “put … in the calendar” or “remind me to …”.",
    "I haven't put that in the calendar, your tasks or a list. Say “put … in the calendar”, “add … to the list” or “remind me to …” if you want me to.",
)
_NOT_IN_CALENDAR = "It isn't in the calendar. Say “put … in the calendar” if you want it there."
_TELLS = re.compile(
    r"^\W*(?:so |and |but |well |oh |yes |no |fyi |by the way )*(?:i|we|he|she|they|it|the|my|our|his|her|their|this|that|there|some|today|yesterday)\b"
    r"|\b(?:is|are|was|were|has|have|had|will be)\b|['’](?:s|re|ve|d)\b",
    re.IGNORECASE,
)
"""A sentence that tells something: it begins with whom or what it is about, or says what is so."""

_CORRECTS = re.compile(
    r"^\W*(?:(?:oh|um+|uh+|er+|no|nope|nah|sorry|wait|oops|hang on|but)\W+)*(?:actually|i mean(?:t)?|make (?:it|that|the)|not\b|no\b|instead|rather)|\binstead\W*$|\bnot\b.+\bbut\b",
    re.IGNORECASE,
)
"""What begins or ends like this puts right what was just done: to say only that it was heard would be no answer."""

_WORD = re.compile(r"[^\W\d_]")
_SURE, _UNSURE = 1.0, 0.3


def declines(context: AnswerContext) -> bool:
    """Return whether a message wants what this assistant cannot do.

    Args:
        context: The turn, in which nothing was done.
    """
    case = _case(context)
    return is_out_of_scope(case) or is_search(case)


def nothing_done(context: AnswerContext, *, saved: str | None) -> tuple[str, float]:
    """Return what is said of a message that is no question and came to nothing, and how sure that is.

    Args:
        saved: What is said of what memory keeps of the message; None where it keeps nothing as a fact.
    """
    turn, case = context.asked.turn_id, _case(context)
    if declines(context):
        return CANNOT, _SURE
    if (near := context.nearest) is not None:
        # Something saved that merely mentions an event ("new shoes for soccer") leaves no question about that event.
        is_aside = saved is not None and near.kind == "event" and not case.message.spans
        if not is_aside:
            offered = _offered(near, context, is_saved=saved is not None)
            return f"{saved or ''} {offered}".strip(), _SURE
    if _is_request(context, case, is_saved=saved is not None):
        if saved is not None:  # who can see it must be said
            return f"{saved} {chosen(_LEFT, turn)}", _UNSURE
        return chosen(_NOT_UNDERSTOOD, turn), _UNSURE
    if saved is not None:
        return _told_where(saved, case), _SURE
    is_others = modality_of(context.text) in OTHERS_WORDS
    is_heard = not (case.message.spans or is_others or tells_of_deed_or_wish(context.text))
    return chosen(_NOT_KEPT if is_heard and _tells(context.text) else _LEFT, turn), _SURE


def names_open_thing(context: AnswerContext, answer: str) -> bool:
    """Return whether an answer says of the nearest open thing that it was left as it is.

    Args:
        context: The turn, in which nothing was done.
        answer: What is said to it.
    """
    near = context.nearest
    return near is not None and _offered(near, context, is_saved=True) in answer


def closest(context: AnswerContext) -> str:
    """Return which open thing comes closest to a question, with a space before it; empty where none is close.

    Args:
        context: The turn, in which the question was not answered.
    """
    if (near := context.nearest) is None:
        return ""
    asked, title = context.asked, plain(near.title)
    if near.kind == "card":
        return f" This is still waiting for approval: {title}."
    if near.kind == "task":
        return f" There is an open task: “{title}”."
    if near.kind == "line":
        return f" “{title}” is on “{plain(near.where)}”."
    when = moment_words(near.start, now=asked.now, locale=asked.household.locale)
    return f" The closest thing in the calendar is “{title}” {when}."


def secret_kept(context: AnswerContext, saved: str) -> str:
    """Return what is said of a secret that was told and asks for nothing.

    Args:
        context: The turn, with what is told beside the wish for its text.
        saved: Who may see it.
    """
    return _told_where(saved, _case(context))


def _told_where(saved: str, case: Case) -> str:
    is_dated = any(each.has_date and each.until > case.now for each in case.message.spans.values())
    is_dated = is_dated and modality_of(case.message.text) is not Modality.PAST
    return f"{saved} {_NOT_IN_CALENDAR}" if is_dated else saved


def _tells(text: str) -> bool:
    """Whether a message says how something is; a mere name ("cheese sticks for the lunchboxes") is a wish cut short."""
    return modality_of(text) is not Modality.NAMED or _TELLS.search(text) is not None


def _is_request(context: AnswerContext, case: Case, *, is_saved: bool) -> bool:
    """Whether a message asks for something, or puts right what was done before."""
    if not _WORD.search(context.text):
        return True
    said, grammar = bare(case.message.text, case.grammar, case.household.bot_name), case.grammar
    if grammar.starts.match(said) or grammar.said["imperative"].match(said):
        return not _TELLS.search(said)
    is_act = context.triage.branch is Branch.ACT or context.mode in {Mode.ACT, Mode.CLARIFY}
    if request_deed(context.text) or (is_act and not is_saved and not _TELLS.search(context.text)):
        return True
    is_after_deed = bool(context.history) and bool(context.history[-1].results)
    return is_after_deed and _CORRECTS.search(context.text) is not None


def _offered(near: Nearest, context: AnswerContext, *, is_saved: bool) -> str:
    """Return that something was left as it is, and how to change it."""
    asked, title = context.asked, plain(near.title)
    if near.kind == "card":
        waits = f"This is still waiting for approval: {title}."
        return waits if is_saved else f"I haven't changed anything. {waits}"
    if near.kind == "task":
        return f"I've left “{title}” open. Say “mark {title} as done” to tick it off."
    if near.kind == "line":
        return f"“{title}” is still on “{plain(near.where)}”. Say “take {title} off the list” to remove it."
    start = local(near.start, now=asked.now)
    if start is None:
        return f"I've left “{title}” as it is."
    day = day_words(start.date(), today=asked.now.date(), locale=asked.household.locale)
    when = moment_words(near.start, now=asked.now, locale=asked.household.locale)
    return f"I've left “{title}” {when} as it is. If it's off, say “cancel {title} {day}”."


def _case(context: AnswerContext) -> Case:
    planning = PlanningContext(
        asked=context.asked, text=context.text, triage=context.triage, history=context.history
    )
    return case_of(planning, vocabulary_of(context.asked.household))
