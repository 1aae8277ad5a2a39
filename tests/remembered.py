"""Things that members of the sample household have had remembered, for tests of what shows and changes them."""

from datetime import timedelta

from kinkeeper.actions import approvals
from kinkeeper.actions.memory_proposals import asked_to_remember
from kinkeeper.actions.receipts import Receipt
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.model import Fact
from web_server import Served


def remember(serving: Served, who: str, text: str, *, is_private: bool = False) -> Receipt:
    """Let a member have something remembered, an hour after what was before."""
    household = serving.system.household
    member = household.member(who)
    assert member is not None
    now = serving.clock.now() + timedelta(hours=1)
    serving.clock.advance_to(now)
    scope = person_scope(who) if is_private else HOUSEHOLD_SCOPE
    proposal = asked_to_remember(household, member, text, channel="test", now=now, scope=scope)
    return serving.context.store.write_now(
        lambda conn: approvals.request(conn, proposal, member=member, household=household, now=now)
    )


def known_to(serving: Served, who: str | None = "sarah") -> list[Fact]:
    """Return what a member may recall now; None sees what everybody sees."""
    viewer = Viewer.of(serving.system.household.id, who)
    return serving.context.store.read_now(
        lambda conn: list_facts(conn, viewer, now=serving.clock.now())
    )


def fact_about(serving: Served, word: str, who: str | None = "sarah") -> Fact:
    """Return the one thing that a member may recall with a word in it."""
    (found,) = [fact for fact in known_to(serving, who) if word in fact.narrative]
    return found
