"""Who may recall what a message tells or asks to keep secret, and how the answer says so. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from kinkeeper.actions.childhood_beliefs import tells_who_knows
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.ban_heard import ban_in
from kinkeeper.conversation.model import LONGEST_READ, Exchange
from kinkeeper.household.model import Household, Member, members_by_name
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    kept_from,
    narrowest,
    person_scope,
    surprise_scope,
)
from kinkeeper.language.dictionary import word_ranks
from kinkeeper.language.text import enumerated, texts_within
from kinkeeper.memory.dated_statements import tells_of_day_to_come
from kinkeeper.memory.finding.terms import stems, words
from kinkeeper.memory.model import Observation
from kinkeeper.memory.secret_things import about, same_things
from kinkeeper.memory.statements.care import is_for_home, only_sets_right, people_in
from kinkeeper.memory.statements.discretion import speaks_of_health
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.statements.names import kin
from kinkeeper.memory.statements.secrecy import (
    CARRIED_ON,
    MOST_CARRIED_ON,
    Wish,
    asked_to,
    audience_of,
    is_about_next,
    is_for_all,
    is_only_wish,
    points_at_told,
    points_back,
    secrecy_of,
    tells_news,
    topics_of,
    wished_scope,
)
from kinkeeper.reading.own_lists import OWN_LIST

# What a message tells and asks to keep secret, and how much of it the requests of its turn carry.
# Pure.
#
# Nothing that somebody asks to keep secret is lost: what no event, task, note or card holds is kept
# in memory, for those alone who may see it.

_HOLDS = frozenset({ResultStatus.DONE, ResultStatus.AWAITING, ResultStatus.UNDER_WAY})
MOST_CARRIED = 0.5
"""Share of what is told that requests hold; memory has to tell what they hold less of."""


def secret_of(
    text: str, household: Household, teller: str, *, is_group: bool = False
) -> str | None:
    """Return what a message tells beside its wish for secrecy; None where it tells nothing of its own.

    Args:
        text: The whole message, verbatim.
        household: Whose members it may name.
        teller: Member id of who says it.
        is_group: Whether others read along.
    """
    return _secret_of(text[:LONGEST_READ], household, teller, is_group)


@lru_cache(maxsize=256)
def _wish_of(text: str, household: Household, teller: str) -> Wish | None:
    """Read a message once, although every turn of its thread asks."""
    return secrecy_of(text, household, teller)


@lru_cache(maxsize=64)
def _secret_of(text: str, household: Household, teller: str, is_group: bool) -> str | None:  # noqa: FBT001 - a cache's key
    """Read a message once, although its turn asks several times."""
    wish = secrecy_of(text, household, teller, is_group=is_group)
    if (
        wish is None
        or not _words_of(wish.rest, household)
        or points_back(text, household.members_by_word)
    ):
        return None
    return wish.rest


def share_carried(secret: str, results: Sequence[ActionResult], household: Household) -> float:
    """Return how much of what is to be kept secret stands in what was written or offered for it, from 0 to 1.

    Args:
        secret: From `secret_of`.
        household: Theirs; the names of its members do not count.
    """
    held = [
        [each.params, each.result, each.summary]
        for each in results
        if each.action_id is not None and each.status in _HOLDS
    ]
    return share_within(secret, held, household)


def share_within(told: str, held: object, household: Household) -> float:
    """Return how much of what is told stands in something, from 0 to 1.

    Args:
        held: Texts, or what has some in it.
        household: Theirs; the names of its members do not count.
    """
    wanted = _words_of(told, household)
    found = {stem for text in texts_within(held) for stem in stems(text)}
    return len(wanted & found) / len(wanted) if wanted else 1.0


def is_left_over(secret: str, results: Sequence[ActionResult], household: Household) -> bool:
    """Return whether requests carry so little of a secret that memory has to tell it.

    Args:
        secret: From `secret_of`.
    """
    return share_carried(secret, results, household) < MOST_CARRIED


def _words_of(text: str, household: Household) -> frozenset[str]:
    named = {stem for found in _names(household).values() for stem in found}
    return frozenset(each for each in stems(text) if each.isalpha()) - named


def _names(household: Household) -> Mapping[str, frozenset[str]]:
    return {
        each.id: frozenset(stem for name in (each.name, *each.aliases) for stem in stems(name))
        for each in household.members
    }


# What the requests of a thread have to do with the secrets that were told in it. Pure.

_RARE = 5_000
"""Rank from which one word tells what is meant, whoever is named with it."""
_TITLES = ("title", "summary", "body", "text", "find_by")


@dataclass(frozen=True, slots=True)
class _Kept:
    """A secret of a thread.

    Attributes:
        scope: Who may see it.
    """

    place: int
    text: str
    scope: str


@dataclass(frozen=True, slots=True)
class _About:
    """What a text is about: things, those of them that one word tells, and members."""

    things: frozenset[str]
    rare: frozenset[str]
    people: frozenset[str]


def scope_of_same(
    text: str,
    history: Sequence[Exchange],
    household: Household,
    teller: str,
    *,
    now: datetime,
    about: str | None = None,
) -> str | None:
    """Return who may see what is said about a secret that the thread knows; None where it is about none.

    It is about one whose thing it names, or that it points back at: by a pronoun right afterwards, by a word for its kind
    ("the trip") soon afterwards. What is for all to know is about one only where it names its thing, and is no health.

    Args:
        history: Earlier turns of the thread, oldest first.
        teller: Member id of who speaks.
        about: What is to be done, without the verb of a deed; the whole text where None.
    """
    kept = _kept_in(history, household, teller)
    is_open = is_for_all(text, household)
    if not kept or (is_open and speaks_of_health(text)):
        return None
    said = _about(text if about is None else about, household)
    by_pronoun, by_kind = points_at_told(text)
    by_pronoun = by_pronoun and not tells_news(text, household.members_by_word)
    scopes = set()
    for each in kept:
        secret = _about(each.text, household)
        people = secret.people | kept_from(each.scope)
        is_others = bool(said.people and people) and said.people.isdisjoint(people)
        is_late = (
            now - history[each.place].at > CARRIED_ON or each.place < len(history) - MOST_CARRIED_ON
        )
        is_last = each.place == len(history) - 1
        if said.things & (secret.rare if is_others or is_open else secret.things) or (
            not (is_late or is_others or is_open) and ((by_pronoun and is_last) or by_kind)
        ):
            scopes.add(each.scope)
    return (narrowest(scopes) or person_scope(teller)) if scopes else None


def _about(text: str, household: Household) -> _About:
    """Return what a text is about: what it says first, and whatever in it is rare."""
    first, whole = topics_of(text)
    people = people_in(text, household) - asked_to(text, household)
    ranks = word_ranks()
    rare = {word for word in words(whole) if ranks.get(word, _RARE) >= _RARE}
    no_things = frozenset(stem for word in kin() for stem in stems(word))
    things = _words_of(" ".join([first, *rare]), household) - no_things
    return _About(things, _words_of(" ".join(rare), household) & things, people)


def _kept_in(history: Sequence[Exchange], household: Household, teller: str) -> list[_Kept]:
    """Return what was told in a thread of secrets, or written as such, but for those that were shared since."""
    kept: list[_Kept] = []
    for place, each in enumerate(history):
        wish = _wish_of(each.text[:LONGEST_READ], household, teller)
        if wish is not None:
            is_back = place and points_back(each.text, household.members_by_word)
            before = history[place - 1].text if is_back else ""
            kept.append(_Kept(place, f"{before}. {wish.rest}", wish.scope))
        elif kept:
            said, known = about(each.text, household), kept.copy()
            kept += [
                _Kept(place, each.text, one.scope)
                for one in known
                if same_things(said, about(one.text, household), hidden=kept_from(one.scope))
            ]
        for done in each.results:
            texts = [str(done.params.get(name) or done.result.get(name) or "") for name in _TITLES]
            scope = _scope_of_done(done, teller)
            if scope is not None:
                kept += [_Kept(place, text, scope) for text in texts if text]
            elif done.action == "set_audience":
                shared = _words_of(" ".join(texts), household)
                kept = [each for each in kept if shared.isdisjoint(_words_of(each.text, household))]
    return kept


def _scope_of_done(done: ActionResult, teller: str) -> str | None:
    """Return who may see what was written or is offered, where that is not the household; one's own list is no secret."""
    known = {**done.params, **done.result}
    if done.status not in _HOLDS or known.get("title") == OWN_LIST:
        return None
    if known.get("kept_from"):
        return surprise_scope(known["kept_from"])
    return person_scope(teller) if known.get("private") else None


FOR_ALL = "Saved for everyone at home."
FOR_YOU = "Saved just for you."
SHARE, KEEP = "share it", "just for me"
"""What a person says to change who may see what they told last."""


def carried_scope(
    text: str,
    history: Sequence[Exchange],
    household: Household,
    teller: str,
    *,
    now: datetime,
    is_announced: bool = False,
) -> str | None:
    """Return who may see what goes on with a secret of the same thread; None where it goes on with none.

    What was told as a secret goes on with what tells no news of its own ("it comes on Friday"); what was announced as one
    ("don't tell Ben any of this"), with whatever is told next, but that what is for all to know is kept right afterwards alone.

    Args:
        text: What is said now.
        history: Earlier turns of the thread, oldest first.
        household: Whose members the wish may name.
        teller: Member id of who speaks.
        is_announced: Whether only a message that asks for nothing but secrecy counts.
    """
    people, is_open = household.members_by_word, is_for_all(text, household)
    is_going_on = not (is_announced or is_open or tells_news(text, people))
    said, scopes = people_in(text, household), set[str]()
    first = max(0, len(history) - MOST_CARRIED_ON)
    for place in reversed(range(first, len(history))):
        each = history[place]
        if now - each.at > CARRIED_ON:
            break
        wish = _wish_of(each.text, household, teller)
        if wish is None:
            is_going_on = is_going_on and not tells_news(each.text, people)
            continue
        kept = kept_from(wish.scope) | people_in(each.text, household)
        is_others = bool(said and kept) and said.isdisjoint(kept)
        is_last = place == len(history) - 1
        if (is_going_on and not is_others) or (
            (is_last or not is_open) and _is_announced(history[: place + 1], people)
        ):
            scopes.add(wish.scope)
    return (narrowest(scopes) or person_scope(teller)) if scopes else None


def _is_announced(history: Sequence[Exchange], people: Collection[str]) -> bool:
    """Whether the last message only asks to keep secret what comes next: it says so, or there is nothing before it that it could mean."""
    *before, last = history
    is_after_news = bool(before) and (
        bool(before[-1].results) or tells_news(before[-1].text, people)
    )
    return is_only_wish(last.text, people) and (not is_after_news or is_about_next(last.text))


def scope_of_told(
    text: str,
    household: Household,
    member: Member,
    *,
    now: datetime,
    history: Sequence[Exchange] = (),
    is_shared: bool = False,
    told: str = "",
) -> str:
    """Return who may recall what a member tells the assistant.

    What is told of the home is the household's, of a child or a guest once an adult approves it; a secret belongs to all
    but those it is kept from; small talk, and what is told where others read along, stay with who says it, until somebody
    shares it.

    Args:
        text: The whole message, verbatim.
        history: Earlier turns of the thread, oldest first: a wish for secrecy in them still holds.
        is_shared: Whether others read along.
        told: What of the message it is about, where that is not all of it.
    """
    own = person_scope(member.id)
    if is_shared:
        return own
    is_secret = secret_of(text, household, member.id) is not None
    is_of_belief = member.is_adult and tells_who_knows(told or text, household)
    is_report = member.is_adult and is_for_home(told or text, household)
    # Alone it names nobody, and the thread says that it is about a child.
    is_ban = (
        member.is_adult
        and not is_report
        and ban_in(told or text, history, household, now=now) is not None
    )
    is_of_home = is_of_belief or holds_fact(told or text, household, now=now) or is_report or is_ban
    if not (is_secret or is_of_home):
        return own
    # That it was done after all is for those who know what it is about.
    is_no_news = only_sets_right(text.strip(" ."), told, household)
    audience = wished_scope if is_no_news or is_of_belief or is_ban else audience_of
    scopes = {
        audience(text, household, member.id),
        carried_scope(text, history, household, member.id, now=now),
        scope_of_same(text, history, household, member.id, now=now),
    }
    return narrowest(filter(None, scopes)) or own


def replies_to(answer: str) -> list[str]:
    """Return what a person can say with one tap after an answer: to change who may see what was saved."""
    return [reply for said, reply in ((FOR_ALL, KEEP), (FOR_YOU, SHARE)) if said in answer]


def facts_in(text: str, household: Household, *, now: datetime) -> Sequence[Observation]:
    """Return what of a text is worth keeping.

    Args:
        text: Plain.
    """
    return observe(
        text,
        said_at=now.astimezone(household.zone),
        locale=household.locale,
        people=members_by_name(household),
    )


def holds_fact(text: str, household: Household, *, now: datetime) -> bool:
    """Return whether memory finds something worth keeping in a message: a lasting fact, or what a day to come brings.

    Args:
        text: The whole message, verbatim.
    """
    is_lasting = any(each.stands_alone for each in facts_in(text, household, now=now))
    return is_lasting or tells_of_day_to_come(text, household, now=now)


def saved_for(scope: str, household: Household) -> str:
    """Return the sentence that says who may see what was saved.

    Args:
        household: Whose members it may name.
    """
    if scope == HOUSEHOLD_SCOPE:
        return FOR_ALL
    hidden = [household.names.get(each, each) for each in sorted(kept_from(scope))]
    return f"Saved for everyone at home except {enumerated(hidden)}." if hidden else FOR_YOU


def how_to_change(scope: str) -> str:
    """Return how a person changes who may see what they told last, as a sentence with a space before it."""
    if scope == HOUSEHOLD_SCOPE:
        return f" Say “{KEEP}” to keep it to yourself."
    return "" if kept_from(scope) else f" Say “{SHARE}” to let the others see it."
