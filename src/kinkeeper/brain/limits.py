"""What people may not have or do, of all that is remembered: allergies, diets, fears and what is not allowed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from kinkeeper.actions.authority import is_told_by_another
from kinkeeper.actions.effects.memory import remembered_lines, told_by
from kinkeeper.actions.readers import Reader, waiting_for
from kinkeeper.brain.answer_text import statement
from kinkeeper.household.model import Household, members_by_name
from kinkeeper.household.viewers import Viewer
from kinkeeper.language.text import tokenise
from kinkeeper.memory.context.session_facts import name_of
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.finding.visible_results import Hit, HitKind, Key, shown
from kinkeeper.memory.model import EpisodeKind
from kinkeeper.memory.statement_match import subject_of
from kinkeeper.memory.statements.care import people_in
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.reading.asked import LimitAsked, LimitKind, bars, forbids, reacts, same_things
from kinkeeper.reading.corrections import before_setting_right
from kinkeeper.reading.replies import is_question
from kinkeeper.reading.second_thoughts import as_set_right, says_otherwise

_MOST_COMPARED, _MOST_HEARD = 2_000, 200
_MOST_TOLD = 8
_TASTE = "dislike"
_FAMILIES: Final[Mapping[LimitKind, frozenset[str]]] = {
    LimitKind.ALLERGY: frozenset({"allergy"}),
    LimitKind.FEAR: frozenset({"fear"}),
    LimitKind.DIET: frozenset({"allergy", "condition", "diet"}),
    LimitKind.ANY: frozenset({"allergy", "condition", "diet"}),
}
"""Families of what is told, by the limits that they are; what is forbidden is one of any kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is remembered that bears on a question for limits.

    Attributes:
        told: What answers it, newest first.
        besides: What else of the kind is known of those whom it names, where nothing answers it.
        waiting: What would answer it, or would be known besides, and waits for a yes.
        heard: The same that was only said, newest first.
        unsure: What tells that there may be such a limit, or how somebody fared.
        topic: Stems of what it asks about; empty where it asks for all there is.
        is_answered: Whether anything answers it; else only other limits of those whom it names are known.
    """

    told: Sequence[Hit] = ()
    besides: Sequence[Hit] = ()
    waiting: Sequence[str] = ()
    heard: Sequence[Hit] = ()
    unsure: Sequence[Hit] = ()
    topic: frozenset[str]
    is_answered: bool = True


def limits_known(
    conn: Connection, viewer: Viewer, asked: LimitAsked, household: Household, *, now: datetime
) -> Limits:
    """Return what is remembered of what those whom a question names may not have or do, or of everybody."""
    people = members_by_name(household)
    who = people_in(" ".join(asked.words), household)
    if asked.is_own and not who and viewer.member:
        who = frozenset({viewer.member})
    about = " ".join(each for each in asked.words if each not in people)
    topic, things = frozenset(stems(about)), same_things(about)

    def is_theirs(text: str, speaker: str | None) -> bool:
        return not who or bool(who & {*_subjects(text, speaker, people, household)})

    def is_of_it(text: str) -> bool:
        return not topic or bool(topic & {*stems(text)} or things & same_things(text))

    facts = list_facts(conn, viewer, now=now, limit=_MOST_COMPARED)
    limits = [each.narrative for each in facts if _is_limit(each.narrative, asked.kind)]
    open_ = [*_open(conn, viewer, household, now)]
    said = [*_said(conn, viewer, household, asked.kind, now=now)]
    told_of = [*limits, *(text for text, _ in open_), *(text for text, _ in said)]
    keys = [
        Key(HitKind.FACT, each.id)
        for each in facts
        if each.narrative in limits or any(says_otherwise(each.narrative, one) for one in told_of)
    ]
    seen = shown(conn, viewer, keys, now=now)
    hits = [seen[key] for key in keys if key in seen]
    theirs = [each for each in hits if is_theirs(each.text, each.speaker)]
    told = [each for each in theirs if is_of_it(each.text)]
    if not topic:
        told = [each for each in told if not _is_taste(each.text)]
    known = [{*stems(each.text)} for each in theirs]

    def is_new(text: str, speaker: str | None) -> bool:
        is_known = any(each <= {*stems(text)} for each in known)
        if is_new := not is_known and is_theirs(text, speaker):
            known.append({*stems(text)})
        return is_new

    waiting = [
        (text, statement(text, speaker=name_of(speaker, household.names)))
        for text, speaker in open_
        if _is_limit(text, asked.kind) and is_new(text, speaker)
    ]
    spoken = [(text, hit) for text, hit in said if is_new(text, hit.speaker)]
    meant = [each for text, each in waiting if is_of_it(text)]
    of_it = [(text, hit) for text, hit in spoken if is_of_it(text)]
    is_answered = bool(told or meant or of_it) or not who
    heard, unsure = list[Hit](), list[Hit]()
    for text, hit in of_it if is_answered else spoken:
        (heard if _is_limit(text, asked.kind) else unsure).append(hit)
    besides = () if is_answered else [each for each in theirs if not _is_taste(each.text)]
    return Limits(
        told=told[:_MOST_TOLD] if is_answered else (),
        besides=besides[:_MOST_TOLD],
        waiting=meant if is_answered else [each for _, each in waiting],
        heard=heard[:_MOST_TOLD],
        unsure=unsure[:_MOST_TOLD],
        topic=topic,
        is_answered=is_answered,
    )


def _open(
    conn: Connection, viewer: Viewer, household: Household, now: datetime
) -> Iterator[tuple[str, str | None]]:
    """Yield what waits for a yes, with who said it, as far as the viewer may read it."""
    member = household.member(viewer.member or "")
    if member is None:
        return  # others read along
    reader = Reader(member=member, household=household, viewer=viewer)
    for each in waiting_for(conn, reader, now=now):
        if viewer.sees_unconfirmed or not is_told_by_another(each, member.id):
            speaker = told_by(each.proposal.effects) or each.proposal.request.get("asked_by")
            yield from ((text, speaker) for text in remembered_lines(each.proposal.effects))


def _said(
    conn: Connection, viewer: Viewer, household: Household, kind: LimitKind, *, now: datetime
) -> Iterator[tuple[str, Hit]]:
    """Yield what was told of limits, or of what may be some, and need never have become a fact: as it is set right, and as it was said."""
    if household.member(viewer.member or "") is None:
        return  # others read along
    people = household.members_by_word
    told = list_episodes(conn, viewer, kind=EpisodeKind.TURN, limit=_MOST_COMPARED)
    texts = {
        Key(HitKind.EPISODE, each.id): text
        for place, each in enumerate(told)
        if not each.is_assistant
        for text in [as_set_right(each.text, people)]
        if (place < _MOST_HEARD and _is_limit(text, kind)) or _may_be_limit(text, kind)
        if bars(text) or not is_question(tokenise(text), text, people)
    }
    seen = shown(conn, viewer, [*texts], now=now)
    yield from ((text, seen[key]) for key, text in texts.items() if key in seen)


def _is_limit(text: str, kind: LimitKind) -> bool:
    families = _FAMILIES[kind]
    # What "not" says of a value that was given up at once is no denial of the limit.
    for each in read_statement(before_setting_right(text)):
        if each.is_past or each.is_retraction or each.is_hypothetical:
            continue
        family = each.family or each.slot if each.is_known else ""
        is_denied = each.is_negative and family != "diet"
        if (family in families and not is_denied) or (family == _TASTE and kind is LimitKind.DIET):
            return True
    return forbids(text, kind)


def _may_be_limit(text: str, kind: LimitKind) -> bool:
    """Whether a statement tells of a limit without saying that there is one for sure; nor does it deny one."""
    if kind is LimitKind.FEAR:
        return False
    if bars(text):
        return True
    return reacts(text) and not any(
        each.is_negative and each.family in _FAMILIES[kind] for each in read_statement(text)
    )


def _is_taste(text: str) -> bool:
    """Whether a statement tells only what somebody does not like."""
    is_dislike = any(each.side == _TASTE for each in read_statement(text))
    return is_dislike and not forbids(text, LimitKind.ANY)


def _subjects(
    text: str, speaker: str | None, people: Mapping[str, str], household: Household
) -> Iterator[str]:
    """Yield the members whom a statement is about: its subject, and those whom it names."""
    subject, _ = subject_of(text, speaker=speaker, people=people, guardians=household.guardians)
    yield subject
    yield from people_in(text, household)
