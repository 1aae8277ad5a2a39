"""Workers that claim, crash, come back late, fail and finish in any order: one effect a row at most."""

from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    func,
    insert,
    select,
)

from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import Key, LeaseLostError, RetryLadder, WorkState

LEASE = timedelta(minutes=5)
LADDER = RetryLadder()
START = datetime(2026, 3, 1, tzinfo=UTC)
TERMINAL = {WorkState.DONE, WorkState.DROPPED, WorkState.MANUAL_REVIEW}

metadata = MetaData()
work = Table(
    "work",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    *leases.work_columns(),
)
effects = Table(
    "effects",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("household", String),
    Column("id", String),
)
KEYS: list[Key] = [("one", "a"), ("one", "b"), ("two", "a")]


# One for all examples: it keeps the compiled statements.
engine = create_engine("sqlite://")
metadata.create_all(engine)


class Leases(RuleBasedStateMachine):
    """Rows, a clock, and workers that each believe to hold a claim."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.believed: list[tuple[Key, int]] = []
        self.epochs = dict.fromkeys(KEYS, 0)
        self.ended: dict[Key, tuple[object, ...]] = {}
        with engine.begin() as conn:
            conn.execute(effects.delete())
            conn.execute(work.delete())
            for household, id_ in KEYS:
                values = {"household": household, "id": id_, "due_at": START}
                conn.execute(insert(work), values)

    def a_claim(self, choice: int) -> tuple[Key, int]:
        return self.believed[choice % len(self.believed)]

    @rule(key=st.sampled_from(KEYS), current=st.booleans())
    def claim(self, key: Key, current: bool) -> None:
        with engine.begin() as conn:
            row = self.row(conn, key)
            epoch = leases.claim(
                conn, work, key, now=self.now, lease=LEASE, attempt=row.attempt if current else None
            )
            held = row.state == "running" and row.lease_until > self.now
            if epoch is None:
                assert held or WorkState(row.state) in TERMINAL
            else:
                assert not held
                assert epoch == self.epochs[key] + 1
                self.epochs[key] = epoch
                self.believed.append((key, epoch))

    @rule(key=st.sampled_from(KEYS), stale=st.integers(1, 3))
    def claim_for_an_old_dispatch(self, key: Key, stale: int) -> None:
        with engine.begin() as conn:
            old = self.row(conn, key).attempt - stale
            assert leases.claim(conn, work, key, now=self.now, lease=LEASE, attempt=old) is None

    @precondition(lambda self: self.believed)
    @rule(choice=st.integers(0, 99), state=st.sampled_from([WorkState.DONE, WorkState.DROPPED]))
    def finish_with_an_effect(self, choice: int, state: WorkState) -> None:
        key, epoch = self.a_claim(choice)
        with engine.connect() as conn:
            conn.execute(insert(effects), {"household": key[0], "id": key[1]})
            stands = leases.holds(conn, work, key, epoch)
            try:
                leases.finish(conn, work, key, epoch, state=state)
            except LeaseLostError:
                conn.rollback()
                assert not stands
            else:
                conn.commit()
                assert stands
                assert epoch == self.epochs[key]

    @precondition(lambda self: self.believed)
    @rule(choice=st.integers(0, 99))
    def fail(self, choice: int) -> None:
        key, epoch = self.a_claim(choice)
        with engine.begin() as conn:
            before = self.row(conn, key)
            stands = leases.holds(conn, work, key, epoch)
            step = leases.fail(
                conn, work, key, epoch, error="ValueError", now=self.now, ladder=LADDER
            )
            assert (step is not None) == stands
            if step is not None:
                after = self.row(conn, key)
                assert after.failures == before.failures + 1
                assert WorkState(after.state) is step.state
                assert after.attempt == step.attempt

    @precondition(lambda self: self.believed)
    @rule(choice=st.integers(0, 99))
    def hand_back(self, choice: int) -> None:
        key, epoch = self.a_claim(choice)
        with engine.begin() as conn:
            before = self.row(conn, key)
            if leases.release(conn, work, key, epoch, until=self.now + LEASE):
                after = self.row(conn, key)
                assert (after.attempt, after.failures) == (before.attempt, before.failures)

    @rule(minutes=st.integers(1, 12))
    def time_passes(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule()
    def restart_of_the_only_runner(self) -> None:
        with engine.begin() as conn:
            leases.end_leases(conn, work, now=self.now)

    @rule()
    def reconcile(self) -> None:
        with engine.begin() as conn:
            for row in leases.stranded(conn, work, now=self.now):
                before = self.row(conn, row.key)
                assert WorkState(before.state) not in TERMINAL
                until = self.now + LEASE
                step = leases.dispatch_again(conn, work, row, until=until, ladder=LADDER)
                assert step is not None
                assert leases.dispatch_again(conn, work, row, until=until, ladder=LADDER) is None
                assert (step.state is WorkState.MANUAL_REVIEW) == (before.begun >= 5)

    def row(self, conn: Connection, key: Key):
        return conn.execute(
            select(work).where(work.c.household == key[0], work.c.id == key[1])
        ).one()

    @invariant()
    def one_effect_a_row_and_none_without_an_end(self) -> None:
        with engine.connect() as conn:
            written = conn.execute(
                select(effects.c.household, effects.c.id, func.count()).group_by(
                    effects.c.household, effects.c.id
                )
            ).all()
            for household, id_, times in written:
                assert times == 1
                assert self.row(conn, (household, id_)).state in {"done", "dropped"}

    @invariant()
    def what_has_ended_never_changes(self) -> None:
        with engine.connect() as conn:
            for key in KEYS:
                row = self.row(conn, key)
                if WorkState(row.state) in TERMINAL:
                    assert self.ended.setdefault(key, tuple(row)) == tuple(row)

    @invariant()
    def whatever_is_open_is_found_once_time_passes(self) -> None:
        later = self.now + timedelta(hours=1)
        with engine.connect() as conn:
            found = {row.key for row in leases.stranded(conn, work, now=later)}
            rows = {key: WorkState(self.row(conn, key).state) for key in KEYS}
        assert found == {key for key, state in rows.items() if state not in TERMINAL}


Leases.TestCase.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
TestLeases = Leases.TestCase
