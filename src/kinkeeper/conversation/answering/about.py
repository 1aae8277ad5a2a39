"""Answers about the assistant itself: what it is set up with, and why the last answer was what it was. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.requests.model import ActionResult, Catalogue, ResultStatus
from kinkeeper.conversation.answering.names_and_times import Setting, plain
from kinkeeper.conversation.answering.nothing_done import CANNOT, declines
from kinkeeper.conversation.answering.request_text import to_do
from kinkeeper.conversation.model import AnswerContext, Exchange
from kinkeeper.conversation.planning.grammar import load_grammar
from kinkeeper.conversation.routing.intent import asks_about, asks_why
from kinkeeper.household.model import Household
from kinkeeper.language.text import enumerated

_OWN: Final[Mapping[str, str]] = {
    "calendar": "keep the calendar and see who is free",
    "task": "keep tasks and remind you",
    "notes": "keep lists and notes",
    "email": "write emails",
    "memory": "remember what you tell me",
}
_ASKED_FOR = re.compile(
    r"^\W*(?:(?:hey|hi|hello|ok|okay|so|and|please)\W+)*(?:can|could|will|would) (?:you|u)(?: (?:please|also|maybe|just|quickly))* (?=[a-z])",
    re.IGNORECASE,
)
_NOT_UNDERSTOOD: Final = "I did not understand that, or I can't do it, so I've done nothing."
_ONLY_YOU: Final = "Only you can see it here, and I have told nobody."
_NO_DEED = re.compile(
    r"(?:tell|say|see|remember|recall|know|find|look|check|show|explain|help|guess|hear|read|think|believe|imagine|be|do|"
    r"understand|confirm|describe|list|give|answer|repeat|stop)\b",
    re.IGNORECASE,
)
"""What "can you" also stands before where something is asked, or said to the assistant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How this assistant is set up.

    Attributes:
        catalogue: All that can be asked of it, as of now.
        is_local: Whether all of its data lies on the machine it runs on.
        hosts: Names of other machines that it speaks to.
        has_model: Whether a language model helps it.
        retention_days: After how long words of chats are deleted, days > 0.
    """

    catalogue: Callable[[], Catalogue]
    is_local: bool
    hosts: Sequence[str]
    has_model: bool
    retention_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    standing: Standing
    household: Household

    def asks_first(self, *keys: str) -> bool:
        """Whether any of some requests needs a yes, whoever asks."""
        return any(
            kind.stakes is Stakes.HIGH for kind in self.standing.catalogue() if kind.key in keys
        )


def told_about(context: AnswerContext, standing: Standing) -> str | None:
    """Return what a person wants to know about the assistant; None where they want something else.

    Args:
        standing: How the assistant is set up.
    """
    setting = _Setting(standing=standing, household=context.asked.household)
    topic = asks_about(context.text)
    last = context.history[-1].results if context.history else ()
    if topic == "knows" and last and all(each.result.get("private") for each in last):
        return _ONLY_YOU
    return _TOPICS[topic](setting) if topic is not None else None


def not_able(context: AnswerContext, standing: Standing) -> str | None:
    """Return that something cannot be done, or was not understood, where a message asks the assistant for a deed.

    Args:
        context: The turn, in which nothing was understood.
        standing: How the assistant is set up.
    """
    setting = _Setting(standing=standing, household=context.asked.household)
    if declines(context):
        return f"{CANNOT} I can {_abilities(setting)}."
    deed, asked = _ASKED_FOR.subn("", context.text.replace("’", "'"), count=1)
    if not asked or _NO_DEED.match(deed):
        return None
    is_own = load_grammar().starts.match(deed) is not None
    lead = _NOT_UNDERSTOOD if is_own else CANNOT
    return f"{lead} I can {_abilities(setting)}."


def _abilities(setting: _Setting) -> str:
    catalogue = setting.standing.catalogue()
    own = [words for domain, words in _OWN.items() if domain in catalogue.domains]
    foreign = [plain(each) for each in catalogue.domains if each not in _OWN]
    return enumerated([*own, *([f"use {enumerated(foreign)}"] if foreign else [])])


def _able(setting: _Setting) -> str:
    return (
        f"I can {_abilities(setting)}. I ask before I send anything or move or cancel an event; "
        "what I do right away can be undone. "
        "Try “what's on tomorrow?”, “add milk to the shopping list” or “remind me to water the plants at 6”."
    )


def _hears(setting: _Setting) -> str:
    days = setting.standing.retention_days
    kept = f"Messages are deleted after {days} days; what I understood from them is kept until somebody deletes it."
    if not setting.household.chats:
        return f"I only read what is written to me; no group chat is set up. I don't listen to conversations or record calls. {kept}"
    return (
        "I read messages in the group chats listed in your household file, to spot plans, and messages "
        f"sent to me. I don't listen to conversations or record calls. {kept}"
    )


def _data(setting: _Setting) -> str:
    standing = setting.standing
    where = (
        "on the machine I run on" if standing.is_local else "in the database that was set up for me"
    )
    if not standing.hosts:
        return f"All your data is {where}; none of it leaves, and I use no internet services."
    hosts = enumerated([plain(each) for each in standing.hosts])
    return f"All your data is {where}. It only leaves in requests to {hosts}, which were set up for me."


def _model(setting: _Setting) -> str:
    if not setting.standing.has_model:
        return "No, no language model is set up: what I do and say comes from rules and from what I looked up."
    return "A language model is set up and helps where my rules leave something open; it doesn't decide anything by itself."


def _sees(_setting: _Setting) -> str:
    return "Events, tasks and lists are there for the whole family, and so is what you ask me to remember, unless it is about your own health, money, keys or love life, or you say “just for me”. I don't repeat what you say here to anyone else."


def _knows(setting: _Setting) -> str:
    return f"I can't tell who knows about it, only who can see it here. {_sees(setting)}"


def _others_words(_setting: _Setting) -> str:
    return (
        "I don't pass on what somebody tells me in their own conversation. "
        "You can ask me for anything that was saved for the family."
    )


def _confirms(setting: _Setting) -> str:
    names = enumerated([each.name for each in setting.household.adults], last="or")
    return (
        f"Any adult in the household: {names}. Only the adult who asked for an email can send it."
    )


def _members(setting: _Setting) -> str:
    members = setting.household.members
    adults = [each.name for each in members if each.is_adult]
    children = [each.name for each in setting.household.children]
    others = [each.name for each in members if each.name not in {*adults, *children}]
    kinds = {"adults": adults, "children": children, "others": others}
    told = [f"{kind}: {enumerated(names)}" for kind, names in kinds.items() if names]
    return f"There are {len(members)} people in the household: {'; '.join(told)}."


def _language(_setting: _Setting) -> str:
    return "I only understand and write English."


def _cancel(setting: _Setting) -> str:
    first = setting.asks_first("calendar.delete_event", "task.delete")
    return f"Say what to cancel, and the day: “cancel the dentist on Friday”, “delete the reminder about the gate”.{_first(first)}"


def _undo(_setting: _Setting) -> str:
    return "Say “undo that” right after it; anything approved earlier has an Undo button on its page. A sent email can't be taken back."


def _change(setting: _Setting) -> str:
    first = setting.asks_first("calendar.update_event")
    return (
        "Say what to move, and to when: “move the dentist to Thursday at 4”, “change the reminder about the bins to 8”."
        f"{_first(first, 'Before an event is changed ')}"
    )


def _add(setting: _Setting) -> str:
    del setting
    return (
        "Say it in a sentence: “dentist on Friday at 3”, “remind me to call Gran at 6”, “add milk to the shopping list”, "
        "“note: the bins go out on Mondays”."
    )


def _forget(setting: _Setting) -> str:
    first = setting.asks_first("memory.forget")
    return (
        f"Say “forget that …” with a few words of it, or delete it on the Memory page.{_first(first)} "
        "Anything forgotten is erased for good."
    )


def _household(_setting: _Setting) -> str:
    return "People are listed in the household file, household.toml: whoever looks after that file adds a [[members]] entry and restarts me. I can't change it myself."


def _first(asks: bool, lead: str = "") -> str:  # noqa: FBT001 - as the request says
    if not asks:
        return ""
    return f" {lead}I ask first." if lead else " I ask first."


_TOPICS: Final[Mapping[str, Callable[[_Setting], str]]] = {
    "able": _able,
    "hears": _hears,
    "data": _data,
    "model": _model,
    "sees": _sees,
    "knows": _knows,
    "others_words": _others_words,
    "confirms": _confirms,
    "members": _members,
    "language": _language,
    "cancel": _cancel,
    "undo": _undo,
    "change": _change,
    "add": _add,
    "forget": _forget,
    "household": _household,
}


# Why the last answer was what it was, told from what was done and read for it, and from nothing
# else. Pure.

_MOST: Final = 3
_ASKS_FIRST: Final = "I ask first before anything is sent, moved, cancelled or deleted, and before I save something you only mentioned"
_SET: Final = "“{text}” got a standard reply: I didn't look anything up or change anything."
_NOT_READ: Final = (
    "I couldn't tell what “{text}” was asking for, so I asked you and changed nothing."
)


def explained(context: AnswerContext) -> str | None:
    """Return why the last answer was given; None where the message does not ask that.

    Args:
        context: The turn; its history tells what was done then.
    """
    asked = context.asked
    last = next((each for each in reversed(context.history) if not asks_why(each.text)), None)
    if last is None or context.results or not asks_why(context.text):
        return None
    setting = Setting(household=asked.household, member=asked.member.id, now=asked.now)
    said = plain(last.text)
    parts = [_of(done, setting) for done in last.results[:_MOST]]
    if not parts and not last.used:
        return (_NOT_READ if last.clarification else _SET).format(text=said)
    used = dict.fromkeys(f"“{plain(str(each['text']))}”" for each in last.used)
    rests = enumerated([*used][:_MOST])
    if not parts:
        return f"You said “{said}”, and I answered from {rests}."
    told = f"You said “{said}”. {' '.join(parts)}"
    return f"{told} I based that on {rests}." if rests and _has_read(last) else told


def _has_read(exchange: Exchange) -> bool:
    return any(not done.action_id for done in exchange.results)


def _of(done: ActionResult, setting: Setting) -> str:
    """Return why one request went as it did, as a sentence."""
    todo = to_do(done, setting)
    match done.status:
        case ResultStatus.AWAITING:
            return f"I understood that you wanted me to {todo}. {_ASKS_FIRST}."
        case ResultStatus.DONE if done.action_id:
            return f"I understood that you wanted me to {todo}, so I did."
        case ResultStatus.DONE:
            return f"To answer, I had to {todo}."
        case ResultStatus.FAILED | ResultStatus.UNCLEAR:
            why = plain(done.error or "").rstrip(".")
            return f"I tried to {todo}, but it didn't work{': ' + why if why else ''}."
        case _:
            return f"I understood that you wanted me to {todo}."
