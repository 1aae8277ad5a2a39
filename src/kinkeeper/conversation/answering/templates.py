"""The honest answer: every sentence about what was done is made of a receipt or a reading. Pure; it always has one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinkeeper.actions.consent import Author, Origin
from kinkeeper.actions.requests.model import ActionResult, Decider, ResultStatus
from kinkeeper.actions.session_words import is_kept_at_once
from kinkeeper.conversation.answering.calendar_text import quoted
from kinkeeper.conversation.answering.event_text import capital
from kinkeeper.conversation.answering.names_and_times import Setting, listed, plain
from kinkeeper.conversation.answering.nothing_done import (
    chosen,
    closest,
    declines,
    nothing_done,
    reply,
    secret_kept,
)
from kinkeeper.conversation.answering.request_text import nearest_told, to_do, was_done, was_found
from kinkeeper.conversation.ban_heard import ban_in, is_ban_of_nobody
from kinkeeper.conversation.model import Answer, AnswerContext, Confirmation, Mode, Social, Source
from kinkeeper.conversation.planning.plan_grounding import is_copied
from kinkeeper.conversation.told_audience import (
    holds_fact,
    how_to_change,
    is_left_over,
    saved_for,
    scope_of_told,
    secret_of,
)
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, kept_to, person_scope
from kinkeeper.language.text import enumerated
from kinkeeper.memory.statements.care import (
    frees_others,
    is_for_home,
    is_report,
    is_told_of_self,
    only_denies,
    tells_limit,
)
from kinkeeper.memory.statements.secrecy import is_only_wish, points_back, secrecy_of, tells_news
from kinkeeper.reading.phrases import everyday_spellings

_OPENINGS = ("", "Okay. ", "Sure. ", "Got it. ", "All right. ")
_UNKNOWN = (
    "I don't know that.",
    "I have nothing about that.",
    "That's not something I know anything about.",
)
_PROPOSED = "I’ll remember that once you approve it in the inbox."
_LEFT_TO_ADULTS = (
    "I’ve saved it just for you; everyone at home can know it once an adult approves it."
)
_LEFT_TO_MINOR = (
    "Saved just for you; say “remember that …” to ask an adult to let everyone at home know it."
)
_KEPT = "Okay, I'll keep that secret."
_KEPT_NEXT = "I can't tell what that is about. What you tell me next, I'll keep that way."
_KEPT_NAMED = "What you tell me here about {named}, I'll keep that way."
_NOTHING_OPEN = ("Okay, never mind.", "All right, I'll leave it.", "Okay, dropped.")
_TAKEN_BACK = ("Okay, I won't {todo}.", "All right, I will not {todo}.")
_QUESTION = re.compile(
    r"\?\s*$|^\W*(?:(?:so|and|but|hey|hi|ok|okay|oh|well)\W+)*(?:who|what|when|where|which|why|how)\b|^\W*(?:is|are|was|were|do|does|did|has|have|will|tell (?:me|us)|explain|describe)\b"
    r"|^\W*(?:am|may|might|must|should|shall|would|could|can) (?:i|he|she|it|they)\b",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"^\W*(?:please |no,? |and |but |ok(?:ay)?,? )*(?:don['’]?t|do not|never|no need to|you (?:need not|don['’]?t (?:need|have) to))\s+"
    r"(?!forget|worry|know|think|care|like|want|have\b|remember|mind|feel|get me|ask me|understand|believe|see|be\b)\w+",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(?<=[.!?])\s+|[,;:]\s+")
_STOPPED, _LEFT = "Okay, stopped.", "You said stop, so I've done nothing."
_WILL_NOT = ("All right, I won't.", "Okay, I won't.")
_WHOSE_BAN = "Who is that for? Say it again with their name, and everyone at home can see it."
_SURE, _UNSURE = 1.0, 0.3
_MOST_USED = 8


def told(context: AnswerContext) -> Answer:
    """Return what is said about a turn without a model."""
    text, confidence = _text(context)
    return Answer(
        text=text,
        mode=context.mode,
        confidence=confidence,
        source=Source.RULES,
        used=used_of(context.results),
    )


def is_question(text: str) -> bool:
    """Whether a message asks something, by its mark or its first word, however that is spelt."""
    spelt = (everyday_spellings().get(each.lower(), each) for each in text.split())
    return _QUESTION.search(" ".join(spelt)) is not None


def used_of(results: Sequence[ActionResult]) -> tuple[Mapping[str, Any], ...]:
    """Return what results rest on, each {"kind", "id", "text"}."""
    used: list[Mapping[str, Any]] = []
    for done in results:
        lists = [value for value in done.result.values() if isinstance(value, list | tuple)]
        items = [item for found in lists for item in found if isinstance(item, Mapping)]
        for item in items or [done.result]:
            name = item.get("id") or item.get("event_id") or done.action_id
            text = item.get("title") or item.get("summary") or item.get("text") or done.summary
            if name and text:
                used.append({"kind": done.domain, "id": str(name), "text": plain(str(text))})
    return tuple(used[:_MOST_USED])


def _text(context: AnswerContext) -> tuple[str, float]:
    if context.mode is Mode.IGNORE or context.triage.social is Social.IGNORE:
        return "", _SURE
    turn = context.asked.turn_id
    if context.results:
        return f"{_about_results(context)} {said_besides(context)}".strip(), _SURE
    if context.is_stopped:
        return (_STOPPED if context.triage.social is Social.CANCEL else _LEFT), _SURE
    if context.clarification:
        question = plain(context.clarification, 600)
        return f"{question} {said_besides(context)}".strip(), _SURE
    cancels = Mode.CANCEL is context.mode or context.triage.social is Social.CANCEL
    if cancels or context.triage.confirmation is Confirmation.NO:
        return chosen(_NOTHING_OPEN, turn), _SURE
    small = reply(context.text, turn=turn, names=_names(context))
    if small is not None:
        return small, _SURE
    if (besides := said_besides(context)) and _secret(context) is None:
        said, confidence = _without_results(replace(context, told=""))
        return f"{said} {besides}", confidence
    return _without_results(context)


def _without_results(context: AnswerContext) -> tuple[str, float]:
    """Return what is said where nothing was done and nothing is known."""
    turn = context.asked.turn_id
    if context.triage.social is Social.ACKNOWLEDGE:
        return "Okay.", _SURE
    if (secret := _secret(context)) is not None and (saved := _saved(context)) is not None:
        return secret_kept(replace(context, text=secret), saved), _SURE
    people = context.asked.household.members_by_word
    is_wish = is_only_wish(context.text, people) or points_back(context.text, people)
    if is_wish and context.asked.origin is Origin.SAID:
        return _KEPT if context.history else _kept_next(context), _SURE
    household, saved = context.asked.household, _saved(context)
    is_news = any(
        each(context.text, household) for each in (only_denies, frees_others, tells_limit)
    )
    thread, now = context.history, context.asked.now
    is_news = is_news or ban_in(context.text, thread, household, now=now) is not None
    if is_news and saved:
        return saved, _SURE
    if is_ban_of_nobody(context.text, thread, household, now=now):
        return _WHOSE_BAN, _SURE
    if _FORBIDS.search(context.text) and not is_question(context.text):
        _, *more = _PARTS.split(context.text)
        if saved is None and not any(tells_news(each, people) for each in more):
            return chosen(_WILL_NOT, turn), _SURE
    elif is_question(context.text) and not declines(context):
        return f"{chosen(_UNKNOWN, turn)}{closest(context)}", _UNSURE
    return nothing_done(context, saved=saved)


def _kept_next(context: AnswerContext) -> str:
    """Return what is said to a wish for secrecy that nothing was told before."""
    asked = context.asked
    wish = secrecy_of(context.text, asked.household, asked.member.id, is_group=asked.is_shared)
    named = wish.rest if wish is not None and wish.is_named else ""
    return _KEPT_NAMED.format(named=plain(named)) if named else _KEPT_NEXT


def _saved(context: AnswerContext) -> str | None:
    """Return who may see what the message tells; None where nothing of it is remembered."""
    asked = context.asked
    is_secret = _secret(context) is not None
    if is_copied(context.text) or not (context.told or is_secret):
        return None
    told = context.set_right or context.told
    said = told or context.text
    is_fact = holds_fact(said, asked.household, now=asked.now)
    author = Author(is_adult=asked.member.is_adult, origin=asked.origin)
    is_of_home = (
        is_for_home(said, asked.household)
        or ban_in(said, context.history, asked.household, now=asked.now) is not None
    )
    is_heard = is_told_of_self(said, asked.household) or (
        is_of_home and is_kept_at_once(author, HOUSEHOLD_SCOPE, asked.member)
    )
    if not (is_fact or is_secret or is_heard):
        return None
    scope = scope_of_told(
        context.text.removeprefix(context.set_right),
        asked.household,
        asked.member,
        now=asked.now,
        history=context.history,
        is_shared=asked.is_shared,
        told=told,
    )
    scope = kept_to(scope, asked.scope)
    if is_fact and not is_kept_at_once(author, scope, asked.member):
        return _PROPOSED if author.is_adult else _LEFT_TO_ADULTS
    if not author.is_adult and scope == person_scope(asked.member.id):
        return _LEFT_TO_MINOR
    return saved_for(scope, asked.household) + how_to_change(scope)


def _secret(context: AnswerContext) -> str | None:
    """Return what a message tells and asks to keep secret; None where that is nothing, or a question."""
    asked = context.asked
    secret = secret_of(context.text, asked.household, asked.member.id, is_group=asked.is_shared)
    parts = [each for each in _PARTS.split(secret or "") if each]
    return None if secret is None or all(map(is_question, parts)) else secret


def said_besides(context: AnswerContext) -> str:
    """Return who may see what the message tells and nothing done holds, and which requests of it were not understood."""
    secret, saved = _secret(context), ""
    if secret is None and context.told not in {"", context.text}:
        saved = f"{_quoted(context.told.splitlines())}: {_saved(context)}"
    elif (
        context.told
        and (context.results or context.clarification)
        and (
            is_report(context.told, context.asked.household)
            or (context.results and secret is None and all(map(_finds_nothing, context.results)))
        )
    ) or (secret is not None and is_left_over(secret, context.results, context.asked.household)):
        saved = _saved(context) or ""
    unread = f"I haven't done anything about {_quoted(context.unread)}." if context.unread else ""
    return f"{saved} {unread}".strip()


def _finds_nothing(result: ActionResult) -> bool:
    is_look = result.action == "list_events" and result.status is ResultStatus.DONE
    return is_look or (result.domain == "calendar" and result.status is ResultStatus.FAILED)


def _quoted(clauses: Sequence[str]) -> str:
    return enumerated([f"“{plain(each)}”" for each in clauses])


def not_known(context: AnswerContext) -> str:
    """Return the answer to a question that what was found in memory does not answer.

    Args:
        context: The turn; its last request has found facts, or none.
    """
    return (
        near
        if (near := closest(context).strip())
        else nearest_told(context.results[-1], _setting(context))
    )


def _setting(context: AnswerContext) -> Setting:
    asked = context.asked
    return Setting(
        household=asked.household, member=asked.member.id, now=asked.now, text=context.text
    )


def _names(context: AnswerContext) -> Mapping[str, str]:
    asked = context.asked
    return {"me": asked.household.bot_name, "name": context.called or asked.member.name}


def _about_results(context: AnswerContext) -> str:
    asked, setting = context.asked, _setting(context)
    said = [
        _sentence(each, context, setting)
        for each in context.results
        if not _is_only_for(each, context.results)
    ]
    is_all_done = all(each.status is ResultStatus.DONE for each in context.results)
    writes = [each for each in context.results if each.action_id]
    opening = chosen(_OPENINGS, asked.turn_id) if is_all_done and writes else ""
    if retry := _retry(context.results, setting):
        said.append(retry)
    if context.clarification:
        said.append(plain(context.clarification, 600))
    near = closest(context)
    if near and len(said) == 1:
        return near.strip()
    return opening + " ".join(dict.fromkeys(said)) + near


def _is_only_for(done: ActionResult, results: Sequence[ActionResult]) -> bool:
    """Whether something was only looked up for what is done with it in the same turn, or need not be there and is not."""
    if done.params.get("may_lack") and not done.result.get("notes", True):
        return True
    found = {each.get("id") for each in done.result.get("events", ()) if isinstance(each, Mapping)}
    return not done.action_id and any(
        each.action_id and each.result.get("id") in found for each in results
    )


def _sentence(done: ActionResult, context: AnswerContext, setting: Setting) -> str:
    todo = to_do(done, setting)
    match done.status:
        case ResultStatus.DONE:
            return was_done(done, setting) if done.action_id else was_found(done, setting)
        case ResultStatus.AWAITING:
            return _request(done, todo, setting, decider=_decider(done, context))
        case ResultStatus.UNDER_WAY:
            return f"I'm still trying to {todo}."
        case ResultStatus.FAILED:
            why = plain(done.error or "", 300).rstrip(".")
            return f"I couldn't {todo}{': ' + why if why else ''}."
        case ResultStatus.UNCLEAR:
            return _question(done)
        case ResultStatus.CANCELLED:
            if done.error:
                return f"{plain(done.error, 300).rstrip('.')}."
            return chosen(_TAKEN_BACK, context.asked.turn_id).format(todo=todo)


def _decider(done: ActionResult, context: AnswerContext) -> Decider:
    """Return whose yes something awaits; what earlier versions stored does not say."""
    by_role = Decider.ASKER if context.asked.member.is_adult else Decider.ADULT
    return done.decider or by_role


def _request(done: ActionResult, todo: str, setting: Setting, *, decider: Decider) -> str:
    if decider is Decider.ADULT:
        return f"An adult has to agree before I {todo}."
    if decider is Decider.NOBODY:
        return f"I can't {todo}: an adult has to agree to that, and no adult can see it."
    shown = ""
    if body := done.params.get("body"):
        subject = done.params.get("subject")
        about = f"“{plain(str(subject))}”: " if subject else ""
        shown = f" {about}“{plain(str(body), 400)}”"
    audience = {
        **done.params,
        **done.result,
    }  # its words may make it more private than it was asked to be
    hidden = enumerated([setting.name(str(each)) for each in listed(audience.get("kept_from"))])
    unseen = f" {hidden} won't see it." if hidden else ""
    if audience.get("private"):
        unseen = " Only you will see it."
    return f"{_told_against(done, setting)}Shall I {todo}?{shown}{unseen}"


def _told_against(done: ActionResult, setting: Setting) -> str:
    """Return what people said that rules it out, as a sentence with a space after it."""
    told = [each for each in listed(done.result.get("told_against")) if isinstance(each, Mapping)]
    return f"{capital(enumerated([quoted(each, setting) for each in told]))}. " if told else ""


def _question(done: ActionResult) -> str:
    question = plain(done.error or "Which one do you mean?", 300)
    missing = [plain(each) for each in done.options if each not in question]
    if not missing:
        return question
    return f"{question.rstrip('?.: ')}: {enumerated(missing, last='or')}?"


def _retry(results: Sequence[ActionResult], setting: Setting) -> str:
    again = [each for each in results if each.status is ResultStatus.FAILED and each.may_retry]
    if not again:
        return ""
    if len(results) == 1:
        return "Shall I try again?"
    return f"Shall I try again to {enumerated([to_do(each, setting) for each in again])}?"
