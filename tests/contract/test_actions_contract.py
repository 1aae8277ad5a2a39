"""What the queue promises on either database when many press at once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kinkeeper.actions.approvals import confirm, reject
from kinkeeper.actions.calendar_import import Import
from kinkeeper.actions.event_files import read_events
from kinkeeper.actions.journal import count_refusals
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import find_action, list_actions
from kinkeeper.actions.reversal import undo
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from pending_samples import FAMILY, GUARDIAN, HELPER, NOW, PARENT, event, proposal, summaries

PRESSERS = 8
ACTIONS = 6
ADULTS = (PARENT, GUARDIAN, HELPER)


def test_of_many_presses_in_many_processes_places_one_counts(store: Store, address: str) -> None:
    actions = [
        store.write_now(
            lambda conn, n=n: propose(conn, proposal(f"m{n}"), household=FAMILY, now=NOW)
        ).action
        for n in range(ACTIONS)
    ]

    def press_all(presser: int) -> list[Receipt]:
        # A connection of its own each, as another process would have.
        with Store.open(address, readers=1) as own:
            return [press(own, action.id, presser) for action in actions]

    def press(own: Store, action_id: str, presser: int) -> Receipt:
        who = {"member": ADULTS[presser % 3], "household": FAMILY, "now": NOW}
        decide = reject if presser == PRESSERS - 1 else confirm
        for _ in range(20):
            try:
                return own.write_now(lambda conn: decide(conn, action_id, **who))
            except UnavailableError:
                continue
        raise AssertionError("the database stayed busy")

    with ThreadPoolExecutor(PRESSERS) as pool:
        receipts = [each for row in pool.map(press_all, range(PRESSERS)) for each in row]

    won = [receipt for receipt in receipts if receipt.is_change]
    assert Counter(receipt.action.id for receipt in won) == {each.id: 1 for each in actions}
    done = {each.action.proposal.source_id for each in won if each.outcome is Outcome.DONE}
    assert store.read_now(summaries) == sorted(event(name).summary for name in done)
    refused = store.read_now(lambda conn: count_refusals(conn, FAMILY.id))
    assert sum(refused.values()) == ACTIONS * (PRESSERS - 1)


def test_a_decision_is_stored_and_taken_back_alike(store: Store) -> None:
    action = store.write_now(
        lambda conn: propose(conn, proposal(), household=FAMILY, now=NOW)
    ).action
    who = {"member": PARENT, "household": FAMILY, "now": NOW}
    done = store.write_now(lambda conn: confirm(conn, action.id, **who))
    assert (
        store.read_now(lambda conn: find_action(conn, Viewer.whole(FAMILY.id), action.id[:8]))
        == done.action
    )
    assert done.action.proposal == proposal()
    undone = store.write_now(lambda conn: undo(conn, action.id, **who))
    listed = store.read_now(
        lambda conn: list_actions(
            conn, Viewer.whole(FAMILY.id), statuses=[ActionStatus.DONE], now=NOW
        )
    )
    assert listed == [undone.action]
    assert store.read_now(summaries) == []


def test_a_file_is_imported_in_steps_and_found_again(store: Store) -> None:
    file = (
        b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:club@x\r\nSUMMARY:Club\r\nDTSTART:20260506T160000Z\r\n"
        b"RRULE:FREQ=WEEKLY\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:club@x\r\nSUMMARY:Club\r\n"
        b"RECURRENCE-ID:20260513T160000Z\r\nDTSTART:20260513T180000Z\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\n"
        b"UID:own@x\r\nSUMMARY:Own\r\nCLASS:PRIVATE\r\nDTSTART:20260507T160000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )

    def imported() -> list[str]:
        found = read_events(file.splitlines(keepends=True), FAMILY, ImportLimit(NOW))
        work = Import(
            id=f"import {len(told)}",
            household=FAMILY,
            member=PARENT,
            now=NOW,
            name="a file",
            found=found,
        )
        for step in work.steps():
            found.report(store.write_now(partial(work.write, step=step)).lines)
        return [line["status"] for line in found.lines]

    told: list[list[str]] = []
    told.append(imported())
    told.append(imported())
    assert told == [["added", "added"], ["unchanged", "unchanged"]]
