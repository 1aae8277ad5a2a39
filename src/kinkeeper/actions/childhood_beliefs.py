"""What children of the household believe in is kept from them, whatever anybody says about it, until an adult says that they know."""

from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import Connection

from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, surprise_scope, viewer_for
from kinkeeper.memory.episodes import latest_episodes
from kinkeeper.reading.childhood_figures import figures_given_away, knowing_in

_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_MOST = 50_000
"""Of the last things told that are looked through for who knows: seldom, as hardly any text gives a figure away."""


def believers_scope(
    conn: Connection, household: Household, teller: Member | None, text: str, *, now: datetime
) -> str:
    """Return who may see what a text gives away of a figure that children believe in: all but the children who still do.

    Args:
        teller: Whose words they are: only what they may see counts; None where they are no member's.
        text: The whole message, or what is written.
    """
    children = {each.id for each in household.children}
    words, is_childs = _words_for(household, children), teller is not None and teller.id in children
    figures = figures_given_away(text, words, is_childs=is_childs) if children else ()
    if not figures:
        return HOUSEHOLD_SCOPE
    known = _known_by(household, _told_by_adults(conn, household, teller, text, now=now))
    kept_from = {
        child
        for child in children
        if any((child, figure) not in known for figure in figures)
        if teller is None or child != teller.id
    }
    return surprise_scope(kept_from) if kept_from else HOUSEHOLD_SCOPE


def tells_who_knows(text: str, household: Household) -> bool:
    """Return whether a message tells which children of the household know about a figure, or still believe in it."""
    children = {each.id for each in household.children}
    return bool(knowing_in(text, _words_for(household, children)))


def _words_for(household: Household, members: set[str]) -> frozenset[str]:
    return frozenset(
        word for word, meant in household.members_by_word.items() if meant and meant <= members
    )


def _told_by_adults(
    conn: Connection, household: Household, teller: Member | None, text: str, *, now: datetime
) -> Iterable[str]:
    """Yield what adults told, the oldest first and what is said now last."""
    if teller is None:
        return
    viewer = viewer_for(household, teller, now=now)
    adults = {each.id for each in household.members if each.is_adult}
    told = latest_episodes(conn, viewer, since=_EVER, within=_MOST)
    yield from (
        each.text for each in reversed(told) if not each.is_assistant and each.member in adults
    )
    if teller.is_adult:
        yield text


def _known_by(household: Household, told: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Return which children know about which figures, by what was said of it last."""
    children = {each.id for each in household.children}
    words, known = _words_for(household, children), set[tuple[str, str]]()
    for text in told:
        for each in knowing_in(text, words):
            named = {
                who for word in each.words for who in household.members_by_word.get(word, children)
            }
            pairs = {(who, figure) for who in named & children for figure in each.figures}
            known = known | pairs if each.is_known else known - pairs
    return frozenset(known)
