"""Reads what is told of what a child is not to do for a while, and questions whether they may. Pure."""

from kinkeeper.conversation.ban_heard import ban_in, is_ban_of_nobody
from kinkeeper.conversation.planning.calendar_questions import span
from kinkeeper.conversation.planning.case import Case, Step, action
from kinkeeper.conversation.planning.people import members_in
from kinkeeper.memory.statements.care import doings_of
from kinkeeper.reading.asked import asked_limit
from kinkeeper.reading.ruled_out import asks_whether_may, ban_told

_ONE = frozenset({"she", "he", "they", "her", "him"})


def tells_ban(clause: str, case: Case) -> bool:
    """Return whether a clause tells a ban, which takes nothing out of the calendar: others may still go.

    What names nobody whom the thread spoke of may as well tell that something does not take place.

    Args:
        clause: With marks, without politeness.
    """
    known = doings_of(case.household)
    if ban_told(case.message.words(clause), known) is None:
        return False
    history, text = case.context.history, case.context.text
    return any(
        each(text, history, case.household, now=case.now) for each in (ban_in, is_ban_of_nobody)
    )


def may_asked(clause: str, case: Case) -> list[Step] | None:
    """Read "can Ada swim on Saturday?" of a child: it asks what rules that out, and not whether she has time.

    Args:
        clause: With marks, without politeness.
    """
    said, household = case.message.words(clause), case.household
    doing = asks_whether_may(said, doings_of(household))
    who, days = members_in(clause, case), span(clause, case)
    children = {each.id for each in household.children}
    is_of_child = bool(who) and children.issuperset(who)
    is_of_one = not who and not _ONE.isdisjoint(said.casefold().split())
    if not doing or not (is_of_child or is_of_one) or (not days and asked_limit(said) is not None):
        return None
    wanted = {"query": " ".join(doing), "who": who, "wanted": "whether"}
    return [action("calendar", "list_events", {**days, **wanted})]
