"""Any sequence of presses, corrections and clock jumps keeps the promises of the queue."""

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from kinkeeper.actions.approvals import confirm, reject, resolve
from kinkeeper.actions.authority import PressDetails
from kinkeeper.actions.journal import count_refusals, list_transitions
from kinkeeper.actions.model import DECISIONS, TRANSITIONS, ActionStatus
from kinkeeper.actions.proposals import expire_due, propose, supersede, withdraw
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import find_by_source, list_actions
from kinkeeper.actions.reversal import undo
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from pending_samples import (
    CHILD,
    FAMILY,
    GUARDIAN,
    HELPER,
    NOW,
    PARENT,
    choice,
    event,
    proposal,
    summaries,
)

MEMBERS = st.sampled_from([PARENT, GUARDIAN, HELPER, CHILD])
SETTLED_OTHERWISE = {
    ActionStatus.REJECTED,
    ActionStatus.EXPIRED,
    ActionStatus.SUPERSEDED,
    ActionStatus.WITHDRAWN,
}


class Queue(RuleBasedStateMachine):
    """The queue beside a model of it: which actions a person's press has written, or taken back."""

    actions: Bundle[str] = Bundle("actions")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = Store.open(str(Path(self.folder.name) / "queue.db"))
        self.now = NOW
        self.written: dict[str, str] = {}
        self.refused = 0
        self.settled: dict[str, ActionStatus] = {}

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @rule(
        target=actions,
        source=st.integers(0, 5),
        has_choices=st.booleans(),
        merge_key=st.sampled_from([None, "same"]),
    )
    def propose(self, source: int, *, has_choices: bool, merge_key: str | None) -> str:
        name = f"m{source}"
        ways = (choice("Yes", event(name)), choice("No")) if has_choices else ()
        wanted = proposal(
            name, choices=ways, merge_key=merge_key, **({"effects": ()} if has_choices else {})
        )
        result = self.store.write_now(
            lambda conn: propose(conn, wanted, household=FAMILY, now=self.now)
        )
        found = self.store.read_now(lambda conn: find_by_source(conn, FAMILY.id, "OBSERVER", name))
        assert [each.id for each in found] == [result.action.id]
        return result.action.id

    @rule(action=actions, member=MEMBERS)
    def confirm(self, action: str, member: Member) -> None:
        press = PressDetails(member=member, household=FAMILY, now=self.now)
        self.heed(member, self.store.write_now(lambda conn: confirm(conn, action, **press)))

    @rule(action=actions, member=MEMBERS, label=st.sampled_from(["yes", "NO"]))
    def resolve(self, action: str, member: Member, label: str) -> None:
        stored = self.stored(action)
        if not stored.proposal.choices:
            return
        press = PressDetails(member=member, household=FAMILY, now=self.now)
        receipt = self.store.write_now(lambda conn: resolve(conn, action, label, **press))
        self.heed(member, receipt)

    @rule(action=actions, member=MEMBERS)
    def reject(self, action: str, member: Member) -> None:
        press = PressDetails(member=member, household=FAMILY, now=self.now)
        receipt = self.store.write_now(lambda conn: reject(conn, action, **press))
        assert receipt.outcome is not Outcome.DONE
        self.heed(member, receipt)

    @rule(action=actions, member=MEMBERS)
    def undo(self, action: str, member: Member) -> None:
        press = PressDetails(member=member, household=FAMILY, now=self.now)
        receipt = self.store.write_now(lambda conn: undo(conn, action, **press))
        if receipt.outcome is Outcome.UNDONE:
            assert self.written.pop(action)
            assert member is not CHILD
        counted = {Outcome.DENIED, Outcome.ALREADY_UNDONE}
        self.refused += receipt.outcome in counted

    @rule(action=actions)
    def withdraw(self, action: str) -> None:
        self.store.write_now(
            lambda conn: withdraw(
                conn, action, household=FAMILY.id, now=self.now, by_source="later"
            )
        )

    @rule(old=consumes(actions), new=actions)
    def supersede(self, old: str, new: str) -> None:
        if old != new:
            self.store.write_now(
                lambda conn: supersede(
                    conn, old, household=FAMILY.id, by_action_id=new, now=self.now
                )
            )

    @rule(hours=st.sampled_from([-60, -1, 1, 25, 49]))
    def move_clock(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule()
    def sweep(self) -> None:
        for action in self.store.write_now(lambda conn: expire_due(conn, FAMILY.id, self.now)):
            assert action.expires_at <= self.now

    def stored(self, action: str) -> object:
        found = self.store.read_now(
            lambda conn: list_actions(
                conn, Viewer.whole(FAMILY.id), statuses=tuple(ActionStatus), now=NOW
            )
        )
        return next(each for each in found if each.id == action)

    def heed(self, member: Member, receipt: Receipt) -> None:
        action = receipt.action
        assert (member is CHILD) is (receipt.outcome is Outcome.DENIED)
        if receipt.outcome is Outcome.DONE:
            assert action.id not in self.settled, "decided twice"
            assert action.expires_at > self.now
            if action.receipt and action.receipt["written"]:
                self.written[action.id] = event(action.proposal.source_id).summary
        self.refused += not receipt.is_change and receipt.outcome is not Outcome.CHOOSE

    @invariant()
    def the_graph_holds_exactly_what_people_said_yes_to(self) -> None:
        assert self.store.read_now(summaries) == sorted(self.written.values())

    @invariant()
    def every_refused_press_is_counted(self) -> None:
        counted = self.store.read_now(lambda conn: count_refusals(conn, FAMILY.id))
        assert sum(counted.values()) == self.refused

    @invariant()
    def what_is_settled_stays_and_the_journal_walks_the_table(self) -> None:
        for action in self.store.read_now(
            lambda conn: list_actions(
                conn,
                Viewer.whole(FAMILY.id),
                statuses=tuple(ActionStatus),
                now=NOW - timedelta(days=999),
            )
        ):
            before = self.settled.get(action.id)
            assert before in {None, action.status}
            if action.status is not ActionStatus.PENDING:
                self.settled[action.id] = action.status
            steps = self.store.read_now(
                lambda conn, action_id=action.id: list_transitions(conn, FAMILY.id, action_id)
            )
            at = None
            for each in steps:
                assert each.from_status is at
                at = TRANSITIONS[at, each.cause]
                assert each.to_status is at
                assert (each.by is not None) is (each.cause in DECISIONS)
            assert at is action.status
            assert (action.id in self.written) <= (action.status is ActionStatus.DONE)
            assert (
                action.status in SETTLED_OTHERWISE
                or action.decided_by
                or at is (ActionStatus.PENDING)
            )


Queue.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.nightly
class TestQueueDeeply(Queue.TestCase):
    settings = settings(Queue.TestCase.settings, max_examples=150, stateful_step_count=40)


TestQueue = Queue.TestCase
