"""State machines of the gateway: a server's breaker, a household's day."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import Connection, StaticPool, create_engine

from kinkeeper.models import repository
from kinkeeper.models.endpoints import DailyLimits
from kinkeeper.models.limits import FAILURES, Admission, Breaker, pause_before_retry
from kinkeeper.models.model import ModelError, Outcome
from kinkeeper.models.repository import Amount, load_spent, model_budgets

ENGINE = create_engine("sqlite://", poolclass=StaticPool)
DAY = datetime(2026, 3, 3, tzinfo=UTC).date()


class BreakerMachine(RuleBasedStateMachine):
    """Calls begin and end in any order while time goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.breaker = Breaker()
        self.now = 0.0
        self.under_way: list[Admission] = []
        self.failed_in_a_row = 0

    @rule(seconds=st.floats(0, 100))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def begin(self) -> None:
        was_open = self.breaker.open_until
        admission = self.breaker.admit(self.now)
        if was_open is None:
            assert admission is Admission.CALL
        elif self.now < was_open:
            assert admission is None
        if admission is not None:
            self.under_way.append(admission)

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), how=st.sampled_from(["succeeded", "failed", "abandoned"]))
    def end(self, data: st.DataObject, how: str) -> None:
        number = data.draw(st.integers(0, len(self.under_way) - 1))
        admission = self.under_way.pop(number)
        if how == "succeeded":
            self.breaker.succeeded()
            self.failed_in_a_row = 0
            assert self.breaker.open_until is None
        elif how == "failed":
            self.breaker.failed(admission, self.now)
            self.failed_in_a_row += 1
            if admission is Admission.PROBE or self.failed_in_a_row >= FAILURES:
                assert self.breaker.open_until is not None
        else:
            self.breaker.abandoned(admission)

    @invariant()
    def it_never_rests_for_ever(self) -> None:
        if self.breaker.open_until is not None:
            assert self.breaker.open_until - self.now <= 240

    @invariant()
    def it_opens_only_after_enough_failures(self) -> None:
        if self.failed_in_a_row == 0:
            assert self.breaker.open_until is None


TestBreaker = BreakerMachine.TestCase
TestBreaker.settings = settings(max_examples=60)


def test_only_one_probe_at_a_time() -> None:
    breaker = Breaker()
    for _ in range(FAILURES):
        breaker.failed(Admission.CALL, 0)
    assert breaker.admit(14.9) is None
    assert breaker.admit(15) is Admission.PROBE
    assert breaker.admit(1000) is None
    breaker.abandoned(Admission.PROBE)
    assert breaker.admit(1000) is Admission.PROBE
    breaker.failed(Admission.PROBE, 1000)
    assert breaker.admit(1029) is None
    assert breaker.admit(1030) is Admission.PROBE
    breaker.succeeded()
    assert breaker.admit(1030) is Admission.CALL


amounts = st.builds(
    Amount, calls=st.just(1), tokens=st.integers(0, 50), cost_micros=st.integers(0, 50)
)
limits = st.builds(
    DailyLimits,
    calls=st.none() | st.integers(1, 5),
    tokens=st.none() | st.integers(1, 100),
    cost_micros=st.none() | st.integers(1, 100),
)


def used(conn: Connection, household: str) -> Amount:
    return load_spent(conn, household, DAY) or Amount()


class BudgetMachine(RuleBasedStateMachine):
    """Calls reserve, end with less, or never end."""

    def __init__(self) -> None:
        super().__init__()
        self.connection = ENGINE.connect()
        model_budgets.create(self.connection, checkfirst=True)
        self.limits = DailyLimits(calls=5, tokens=100, cost_micros=100)
        self.reserved: list[Amount] = []
        self.settled = Amount()

    def teardown(self) -> None:
        model_budgets.drop(self.connection)
        self.connection.close()

    @rule(wanted=amounts)
    def begin(self, wanted: Amount) -> None:
        before = used(self.connection, "house")
        refused = repository.reserve(
            self.connection, "house", DAY, wanted=wanted, limits=self.limits
        )
        assert refused == repository.exceeded(before + wanted, self.limits)
        if refused is None:
            self.reserved.append(wanted)
        else:
            assert used(self.connection, "house") == before

    @precondition(lambda self: self.reserved)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        most = self.reserved.pop()
        taken = Amount(
            calls=data.draw(st.integers(0, 1)),
            tokens=data.draw(st.integers(0, most.tokens)),
            cost_micros=data.draw(st.integers(0, most.cost_micros)),
        )
        repository.add_spent(self.connection, "house", DAY, taken - most)
        self.settled += taken

    @invariant()
    def what_is_kept_is_what_was_used_and_reserved(self) -> None:
        total = sum(self.reserved, self.settled)
        assert used(self.connection, "house") == total
        assert repository.exceeded(total, self.limits) is None

    @invariant()
    def others_are_not_touched(self) -> None:
        assert used(self.connection, "other") == Amount()


TestBudget = BudgetMachine.TestCase
TestBudget.settings = settings(max_examples=30, stateful_step_count=20)


@given(limits=limits, amount=amounts)
def test_a_limit_that_is_not_set_is_none(limits: DailyLimits, amount: Amount) -> None:
    assert repository.exceeded(amount, DailyLimits()) is None
    name = repository.exceeded(amount, limits)
    assert name is None or name.startswith("MODEL_")


@given(
    tried=st.integers(1, 10),
    left=st.floats(0, 100),
    chance=st.floats(0, 1, exclude_max=True),
    asked=st.none() | st.floats(0, 200),
    may_retry=st.booleans(),
)
def test_a_pause_never_outlasts_the_time_that_is_left(
    tried: int, left: float, chance: float, asked: float | None, *, may_retry: bool
) -> None:
    after = None if asked is None else timedelta(seconds=asked)
    error = ModelError("x", outcome=Outcome.OVERLOADED, may_retry=may_retry, retry_after=after)
    pause = pause_before_retry(error, tried=tried, seconds_left=left, chance=chance)
    if pause is None:
        return
    assert may_retry
    assert tried < 3
    assert 0 < pause < left
    assert after is None or pause >= after.total_seconds()
