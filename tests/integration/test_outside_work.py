"""Effects outside the database: queued with the yes, carried out once, settled by what is known."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, update

from kinkeeper.actions.button_removal import can_be_undone, result_line
from kinkeeper.actions.effects.outside import CreateDraft, SendMail, outside_work
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.outside import work_claims
from kinkeeper.actions.outside.adapter import NotDoneError, RefusedError
from kinkeeper.actions.outside.work_claims import settled
from kinkeeper.actions.outside.worker import OutsidePace, OutsideWorker
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.reversal import undo
from kinkeeper.actions.tables import pending_actions
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import VirtualClock
from kinkeeper.store.store import Store
from outside_samples import MAIL, as_stored, asked, confirmed, drafting, rows, sending
from pending_samples import FAMILY, NOW, PARENT, adding, event
from scripted_adapter import Outside, ScriptedAdapter

HOUR = timedelta(hours=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


def worker(
    store: Store, adapter: ScriptedAdapter | None, clock: VirtualClock | None = None
) -> OutsideWorker:
    adapters = {} if adapter is None else {"email.send": adapter, "email.create_draft": adapter}
    return OutsideWorker(store, FAMILY.id, adapters, clock=clock or VirtualClock(NOW))


def run(store: Store, adapter: ScriptedAdapter | None, *, waits: Sequence[timedelta] = ()) -> None:
    """Look once, and again after each of the waits."""
    clock = VirtualClock(NOW)

    async def look() -> None:
        await worker(store, adapter, clock).run_once()
        for wait in waits:
            clock.advance_to(clock.now() + wait)
            await worker(store, adapter, clock).run_once()

    asyncio.run(look())


def reasons(action: PendingAction) -> tuple[str, str]:
    receipt = action.receipt or {}
    return receipt["outcome"], receipt["reason"]


def test_a_mail_is_asked_about_and_only_queued_by_the_yes(store: Store) -> None:
    waiting = asked(store, sending())
    assert waiting.outcome is Outcome.ASKED
    assert rows(store) == []
    receipt = confirmed(store)
    assert receipt.outcome is Outcome.UNDER_WAY
    assert as_stored(store, receipt.action).status is ActionStatus.EXECUTING
    assert [(row["verb"], row["state"], row["called_at"]) for row in rows(store)] == [
        ("do", "queued", None)
    ]


def test_a_draft_needs_no_yes(store: Store) -> None:
    assert asked(store, drafting()).outcome is Outcome.UNDER_WAY


def test_it_is_carried_out_once_and_the_receipt_tells_what_was_said(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()
    run(store, ScriptedAdapter(outside), waits=[HOUR, HOUR])
    done = as_stored(store, action)
    assert done.status is ActionStatus.DONE
    assert len(outside.arrived) == 1
    written = (done.receipt or {})["written"]
    assert written == [
        {"effect": "email.send", "change_id": outside.arrived[0], "result": {"server": "accepted"}}
    ]
    assert not can_be_undone(done)


def test_a_second_yes_queues_nothing(store: Store) -> None:
    confirmed(store)
    again = confirmed(store)
    assert again.outcome is Outcome.UNDER_WAY
    assert not again.is_change
    assert len(rows(store)) == 1


def test_what_surely_did_not_happen_is_tried_again(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()
    adapter = ScriptedAdapter(
        outside, before=[NotDoneError("the server is away")] * 2, behind=[NotDoneError("try later")]
    )
    run(store, adapter, waits=[timedelta(seconds=10), timedelta(seconds=30)])
    assert as_stored(store, action).status is ActionStatus.EXECUTING
    assert outside.arrived == []
    assert rows(store)[0]["called_at"] is None
    run(store, adapter, waits=[HOUR])
    assert as_stored(store, action).status is ActionStatus.DONE
    assert len(outside.arrived) == 1


def test_after_the_last_try_it_fails_and_says_why(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()
    adapter = ScriptedAdapter(outside, before=[NotDoneError("the server is away")] * 99)
    run(store, adapter, waits=[*work_claims.LADDER.delays, HOUR])
    failed = as_stored(store, action)
    assert failed.status is ActionStatus.FAILED
    assert reasons(failed) == ("failed", "the server is away")
    assert outside.arrived == []


def test_what_is_refused_fails_at_once(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()
    run(store, ScriptedAdapter(outside, behind=[RefusedError("no such person")]))
    assert reasons(as_stored(store, action)) == ("failed", "no such person")
    assert "nothing was changed" in result_line(as_stored(store, action))


def test_without_an_adapter_it_fails_honestly(store: Store) -> None:
    action = confirmed(store).action
    run(store, None)
    assert as_stored(store, action).status is ActionStatus.FAILED


def test_an_unclear_error_behind_the_mark_is_looked_into(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()
    run(store, ScriptedAdapter(outside, after=[OSError("gone")]), waits=[HOUR])
    assert as_stored(store, action).status is ActionStatus.DONE
    assert len(outside.arrived) == 1


def test_what_surely_did_not_arrive_after_an_unclear_error_goes_out_later(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()
    run(store, ScriptedAdapter(outside, behind=[OSError("gone")]), waits=[HOUR])
    assert as_stored(store, action).status is ActionStatus.DONE
    assert len(outside.arrived) == 1


def test_what_nobody_can_tell_is_never_done_again(store: Store) -> None:
    action, outside = confirmed(store).action, Outside(is_searchable=False)
    run(store, ScriptedAdapter(outside, after=[OSError("gone")]), waits=[HOUR, HOUR])
    failed = as_stored(store, action)
    assert failed.status is ActionStatus.FAILED
    assert reasons(failed)[0] == "unknown"
    assert "may have been done" in result_line(failed).lower()
    assert "nothing was changed" not in result_line(failed)
    assert len(outside.arrived) == 1
    assert rows(store)[0]["state"] == "manual_review"


def test_when_it_cannot_be_looked_into_now_it_is_later(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()
    adapter = ScriptedAdapter(outside, after=[OSError("gone")], looking=[NotDoneError("away")] * 2)
    run(store, adapter, waits=[HOUR, HOUR])
    assert as_stored(store, action).status is ActionStatus.DONE
    assert len(outside.arrived) == 1


def test_in_doubt_to_the_end_it_is_said_so(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()
    adapter = ScriptedAdapter(outside, after=[OSError("gone")], looking=[NotDoneError("away")] * 99)
    run(store, adapter, waits=[HOUR] * (len(work_claims.LADDER.delays) + 1))
    assert reasons(as_stored(store, action))[0] == "unknown"
    assert len(outside.arrived) == 1


@pytest.mark.parametrize("is_searchable", [True, False])
@pytest.mark.parametrize("is_marked", [True, False])
def test_what_a_vanished_process_had_begun(
    store: Store, *, is_marked: bool, is_searchable: bool
) -> None:
    action, outside = confirmed(store).action, Outside(is_searchable=is_searchable)
    key = (FAMILY.id, rows(store)[0]["id"], "do")

    def begin(conn: Connection) -> None:
        taken = work_claims.take(conn, key, now=NOW, lease=HOUR)
        assert taken is not None
        if is_marked:
            work_claims.mark(conn, taken, now=NOW)

    store.write_now(begin)
    run(store, ScriptedAdapter(outside))
    assert outside.arrived == []  # its lease holds
    run(store, ScriptedAdapter(outside), waits=[2 * HOUR])
    status = as_stored(store, action).status
    if is_marked and not is_searchable:
        assert (status, outside.arrived) == (ActionStatus.FAILED, [])
    else:
        assert (status, len(outside.arrived)) == (ActionStatus.DONE, 1)


def test_who_lost_its_lease_may_not_pass_the_mark(store: Store) -> None:
    confirmed(store)
    key = (FAMILY.id, rows(store)[0]["id"], "do")
    late = store.write_now(lambda conn: work_claims.take(conn, key, now=NOW, lease=HOUR))
    assert late is not None
    assert store.write_now(lambda conn: work_claims.take(conn, key, now=NOW + 2 * HOUR, lease=HOUR))
    with pytest.raises(work_claims.LeaseLostError):
        store.write_now(lambda conn: work_claims.mark(conn, late, now=NOW + 2 * HOUR))


def test_a_yes_of_long_ago_is_not_carried_out(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()

    async def look_late() -> None:
        clock = VirtualClock(NOW + work_claims.STALE_AFTER + HOUR)
        await worker(store, ScriptedAdapter(outside), clock).run_once()

    asyncio.run(look_late())
    assert as_stored(store, action).status is ActionStatus.FAILED
    assert outside.arrived == []


def test_what_was_altered_since_the_yes_is_not_carried_out(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()
    other = SendMail(mail=MAIL.model_copy(update={"body": "Send the key."})).frozen()
    store.write_now(lambda conn: conn.execute(update(pending_actions).values(effects=[other])))
    run(store, ScriptedAdapter(outside))
    assert as_stored(store, action).status is ActionStatus.FAILED
    assert outside.arrived == []


def test_a_draft_is_taken_back_outside_too(store: Store) -> None:
    action, outside = asked(store, drafting()).action, Outside()
    run(store, ScriptedAdapter(outside))
    done = as_stored(store, action)
    assert can_be_undone(done)
    receipt = store.write_now(
        lambda conn: undo(conn, action.id, member=PARENT, household=FAMILY, now=NOW)
    )
    assert receipt.outcome is Outcome.UNDONE
    assert receipt.message.startswith("Being undone")
    run(store, ScriptedAdapter(outside))
    assert outside.removed == outside.arrived


def test_what_reaches_outside_needs_an_action_of_its_own(store: Store) -> None:
    both = (CreateDraft(mail=MAIL).frozen(), *adding(event()))
    with pytest.raises(InputError, match="its own action"):
        asked(store, replace(sending(), effects=both))


def test_waiting_ends_when_it_is_settled_and_otherwise_in_time(store: Store) -> None:
    action, outside = confirmed(store).action, Outside()

    async def wait() -> tuple[PendingAction, PendingAction]:
        first = await settled(
            store, FAMILY.id, action.id, clock=VirtualClock(NOW), within=timedelta(milliseconds=20)
        )
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(
                settled(
                    store,
                    FAMILY.id,
                    action.id,
                    clock=VirtualClock(NOW),
                    within=timedelta(seconds=30),
                )
            )
            await worker(store, ScriptedAdapter(outside)).run_once()
        return first, await waiting

    first, last = asyncio.run(wait())
    assert first.status is ActionStatus.EXECUTING
    assert last.status is ActionStatus.DONE


def test_a_running_worker_hears_of_new_work_and_lets_calls_end(store: Store) -> None:
    outside = Outside()
    pace = OutsidePace(poll_every=timedelta(seconds=30), grace=timedelta(seconds=5))

    async def work() -> PendingAction:
        adapters = {"email.send": ScriptedAdapter(outside)}
        running = OutsideWorker(store, FAMILY.id, adapters, clock=VirtualClock(NOW), pace=pace)
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(running.run())
            await asyncio.sleep(0)
            action = (await asyncio.to_thread(confirmed, store)).action
            done = await settled(
                store, FAMILY.id, action.id, clock=VirtualClock(NOW), within=timedelta(seconds=20)
            )
            task.cancel()
        return done

    assert asyncio.run(work()).status is ActionStatus.DONE
    assert len(outside.arrived) == 1


def test_another_household_is_left_alone(store: Store) -> None:
    confirmed(store)
    store.write_now(lambda conn: conn.execute(update(outside_work).values(household="elsewhere")))
    outside = Outside()
    run(store, ScriptedAdapter(outside))
    assert outside.arrived == []
