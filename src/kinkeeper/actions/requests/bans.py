"""What people told that somebody is not to do for a while, as far as whoever asks may know it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.requests.model import Asked
from kinkeeper.core.time import Interval, local_days
from kinkeeper.household.model import Household
from kinkeeper.memory.dated_statements import ban_on
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.model import Episode, EpisodeKind
from kinkeeper.memory.statements.care import childs_ban, doings_of, people_in
from kinkeeper.reading.ruled_out import Ban, activities_in, ban_told, covers

_MOST_HEARD = 500
_INSTANT = timedelta(microseconds=1)
_TOGETHER = timedelta(minutes=30)
"""How soon after somebody was named "she" and "no swimming" are about them."""


@dataclass(frozen=True, slots=True)
class _Told:
    """A ban, with who said it, and whom it is of: of nobody who is known where there are none."""

    ban: Ban
    episode: Episode
    people: frozenset[str]


def heard(conn: Connection, asked: Asked) -> Iterator[Episode]:
    """Yield what people told, as far as whoever asks may know it, the newest first."""
    for each in list_episodes(conn, asked.viewer, kind=EpisodeKind.TURN, limit=_MOST_HEARD):
        if not each.is_assistant:
            yield each


def bans_of(
    said: Sequence[Episode], span: Interval, asked: Asked, *, who: Collection[str], what: str
) -> list[Episode]:
    """Return what rules out on some days that somebody does what is named, the newest first.

    What was said later counts, of those who were named by then and of what it covers.

    Args:
        said: What people told, the newest first.
        who: Ids of those who are to do it; of anybody's where there are none.
        what: What they are to do, in any words.
    """
    household = asked.household
    meant = activities_in(what, doings_of(household))
    if not meant:
        return []
    zone = household.zone
    first, last = (each.astimezone(zone).date() for each in (span.start, span.end - _INSTANT))
    days = local_days(first, last, zone)
    settled, found = set[str](), list[Episode]()
    for each in _told(said, household):
        people = set(each.people & {*who} if who else each.people) - settled
        if not people or not covers(each.ban.activities, meant):
            continue
        is_out = ban_on(
            each.ban, each.episode.text, each.episode.said_at, days, household=household
        )
        if is_out is not None:
            settled |= people
        if is_out:
            found.append(each.episode)
    return found


def banned(
    conn: Connection, span: Interval, asked: Asked, *, who: Collection[str], what: str
) -> list[dict[str, Any]]:
    """Return what rules out a plan of members, each with its words, who said it and when; see `bans_of`."""
    if not who:
        return []
    found = bans_of([*heard(conn, asked)], span, asked, who=who, what=what)
    return [words_of(each, asked) for each in found]


def words_of(episode: Episode, asked: Asked) -> dict[str, Any]:
    """Return what was said, with who said it and when, in the household's zone."""
    said_at = episode.said_at.astimezone(asked.household.zone).isoformat()
    return {"text": episode.text, "said_at": said_at, "by": episode.member or ""}


def _told(said: Sequence[Episode], household: Household) -> Iterator[_Told]:
    """Yield what was told of children, the newest first; what names nobody is about the child named right before it."""
    known = doings_of(household)
    for at, each in enumerate(said):
        if ban_told(each.text, known) is None:
            continue
        named = people_in(each.text, household)
        if named:
            ban = childs_ban(each.text, household)
        else:
            ban = childs_ban(each.text, household, is_known=True)
            named = _named_before(said[at + 1 :], each, household) if ban else named
        if ban is not None and named:
            yield _Told(ban, each, named)


def _named_before(
    earlier: Sequence[Episode], episode: Episode, household: Household
) -> frozenset[str]:
    """Return the one child whom the same person named last in the same talk; none where it names several."""
    children = {each.id for each in household.children}
    for each in earlier:
        if episode.said_at - each.said_at > _TOGETHER:
            break
        if (each.session, each.member) != (episode.session, episode.member):
            continue
        named = people_in(each.text, household) & children
        if named:
            return named if len(named) == 1 else frozenset()
    return frozenset()
