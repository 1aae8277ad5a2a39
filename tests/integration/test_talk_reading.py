"""A model reads group talk in the running program: cards for a yes, whatever it answers, however late, and nothing else."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from batch_items import NEW_EVENT
from hostile_messages import TEXTS
from kinkeeper.actions import approvals
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import list_actions
from kinkeeper.bootstrap import System
from kinkeeper.calendar.tables import events
from kinkeeper.core.messages import MessageKind
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Pace
from kinkeeper.messaging.tables import outbox
from kinkeeper.models.model import ChatReply, ChatRequest, Finish, ModelError, Outcome, Usage
from kinkeeper.observer import repository
from kinkeeper.observer.accounts.metrics import load_metrics
from kinkeeper.observer.accounts.public_json import trace_record
from kinkeeper.observer.accounts.traces import load_trace
from kinkeeper.observer.settling.group_talk import TalkEffects, TalkReadingJob
from kinkeeper.observer.settling.job import UnderstandingJob
from kinkeeper.observer.tables import observer_messages, talk_stretches
from live_household import MONDAY, live_system, said

MISSED = "the fitters have rung at last, they reckon thursday 4"
FITTERS = {"title": "fitters", "day": "thursday", "at": "2026-03-05"}
PICKUP = "I'll pick up Leo from soccer on Thursday"
ASKED = "Who's picking up Leo Thursday after soccer?"
TAKEN = "grandma's car is free and so am i"
CLAIM = {
    "act": "offer",
    "kind": "pickup",
    "title": "soccer",
    "day": "Thursday",
    "at": "2026-03-05",
    "who": ["Leo"],
    "by": ["John"],
}
ANSWER = CLAIM | {"message": "m2", "does": "answer", "ref": "m1", "by": ["Sarah"]}


class NoQueue:
    """Keeps nothing: the test does the work itself."""

    def enqueue(self, *_: Any, **__: Any) -> None:
        return


@dataclass
class Model:
    """Answers as told, after `before` was done; fails where it is told an outcome."""

    items: list[dict[str, Any]] = field(default_factory=list)
    outcome: Outcome = Outcome.OK
    before: Callable[[], None] = lambda: None
    requests: list[ChatRequest] = field(default_factory=list)
    fallbacks: list[tuple[str, Outcome]] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        await asyncio.to_thread(self.before)
        if self.outcome is not Outcome.OK:
            raise ModelError("no", outcome=self.outcome)
        text = json.dumps({"items": [{**NEW_EVENT, **each} for each in self.items]})
        usage = Usage(input_tokens=1, output_tokens=1)
        return ChatReply(text=text, model="scripted", finish=Finish.STOP, usage=usage)

    def stream(self, request: ChatRequest) -> Any:
        raise NotImplementedError

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        del household
        self.fallbacks.append((stage, outcome))


class Talk:
    """A chat whose messages are understood at once and read by a model when it falls silent."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.clock = VirtualClock(MONDAY)
        self.model = Model()
        self._intake = system.intake(NoQueue(), refuses_chats=False)
        self._number = 0

    def say(self, sender: str, text: str, *, after: float = 20, **more: Any) -> str:
        self.clock.advance_to(self.clock.now() + timedelta(seconds=after))
        self._number += 1
        minutes = (self.clock.now() - MONDAY) / timedelta(minutes=1)
        message = said(self._number, sender, text, minute=minutes, **more)
        received = self.system.store.write_now(
            lambda conn: self._intake.receive(conn, message, now=self.clock.now())
        )
        if received.is_queued:
            self._understand(received.row_id)
        return received.row_id

    def _understand(self, row_id: str) -> None:
        key, now = (self.system.household.id, row_id), self.clock.now()
        job = UnderstandingJob(
            self.system.store,
            self.system.household.id,
            understanding=self.system.understanding(self.clock),
            settlement=self.system.settlement(),
        )
        epoch = self.system.store.write_now(
            lambda conn: leases.claim(
                conn, observer_messages, key, now=now, lease=timedelta(minutes=5)
            )
        )
        assert epoch is not None
        asyncio.run(job.handle(key, epoch))

    def pause(self, seconds: float = 60) -> int:
        """Let time pass, and return how many stretches were read."""
        self.clock.advance_to(self.clock.now() + timedelta(seconds=seconds))
        return asyncio.run(self.system.talk_reading(self.clock, self.model, Pace()).run_once())

    def cards(self, *statuses: ActionStatus) -> list[PendingAction]:
        return self.system.store.read_now(
            lambda conn: list_actions(
                conn,
                Viewer.whole(self.system.household.id),
                statuses=statuses or (ActionStatus.PENDING,),
                now=self.clock.now(),
            )
        )

    def rows(self, table: Any) -> list[Mapping[str, Any]]:
        return self.system.store.read_now(
            lambda conn: [dict(each._mapping) for each in conn.execute(select(table))]
        )

    def effects(self) -> list[str]:
        return [
            each["effect"] for row in self.rows(talk_stretches) for each in row["effects"] or ()
        ]

    def confirm(self, card: PendingAction) -> None:
        household = self.system.household
        john = household.member("john")
        assert john is not None
        self.system.store.write_now(
            lambda conn: approvals.confirm(
                conn, card.id, member=john, household=household, now=self.clock.now()
            )
        )

    def why(self, row_id: str) -> list[str]:
        trace = self.system.store.read_now(
            lambda conn: load_trace(conn, self.system.household, row_id)
        )
        return [each["text"] for each in trace_record(trace)["steps"] if each["stage"] == "model"]


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    with live_system(
        tmp_path / "family.db", model_url="http://127.0.0.1:1", model_name="m"
    ) as system:
        yield Talk(system)


def test_a_stretch_is_read_once_after_a_minute_of_silence_or_when_nine_messages_wait(
    talk: Talk,
) -> None:
    talk.say("john", "morning")
    assert talk.pause(59) == 0
    talk.say("sarah", "morning!", after=0)
    assert talk.pause(59) == 0
    assert talk.pause(1) == 1
    assert talk.pause() == 0
    for number in range(9):
        talk.say("john", f"so it goes {number}", after=1)
    talk.say("sarah", "indeed", after=1)
    assert talk.pause(0) == 1
    assert talk.pause() == 1
    assert [row["messages"] for row in talk.rows(talk_stretches)] == [2, 9, 1]
    assert len(talk.model.requests) == 3
    assert all(each.is_ambient for each in talk.model.requests)


def test_what_only_the_model_saw_is_a_card_that_waits_and_nothing_is_said(talk: Talk) -> None:
    before = talk.rows(events)
    row = talk.say("john", MISSED)
    assert talk.cards() == []
    talk.model.items = [FITTERS]
    talk.pause()
    [card] = talk.cards()
    assert "fitters" in card.proposal.summary.casefold()
    assert (talk.rows(events), talk.rows(outbox)) == (before, [])
    assert talk.effects() == ["opened"]
    assert talk.why(row) == [
        f"Read as part of the conversation by model:scripted, which saw a plan, saved for approval ({card.id[:8]})."
    ]
    day, zone = MONDAY.date(), talk.system.household.zone
    metrics = talk.system.store.read_now(
        lambda conn: load_metrics(
            conn, talk.system.household.id, zone, first=day, last=day, now=talk.clock.now()
        )
    )
    assert metrics.talk == {"ok": 1, "opened": 1}


def test_where_it_agrees_with_a_card_that_card_stays_and_counts_as_surer(talk: Talk) -> None:
    talk.say("john", PICKUP)
    [before] = talk.cards()
    talk.model.items = [CLAIM]
    talk.pause()
    [after] = talk.cards()
    assert (after.id, after.payload_hash) == (before.id, before.payload_hash)
    assert after.proposal.extraction_confidence >= before.proposal.extraction_confidence
    assert talk.effects() == ["agreed"]


def test_an_answer_that_only_the_model_understood_gives_the_waiting_card_its_owner(
    talk: Talk,
) -> None:
    talk.say("john", ASKED)
    talk.say("sarah", TAKEN)
    [asking] = talk.cards()
    assert asking.proposal.extraction["assigned_to"] == ["unspecified"]
    talk.model.items = [ANSWER]
    talk.pause()
    [card] = talk.cards()
    assert card.proposal.extraction["assigned_to"] == ["sarah"]
    assert [each.id for each in talk.cards(ActionStatus.SUPERSEDED)] == [asking.id]
    assert (talk.effects(), talk.rows(outbox)) == (["corrected"], [])


def test_where_the_rules_were_sure_and_the_model_reads_it_otherwise_a_person_chooses(
    talk: Talk,
) -> None:
    talk.say("john", PICKUP)
    [before] = talk.cards()
    talk.say("sarah", "friday that is")
    talk.model.items = [
        CLAIM
        | {
            "message": "m2",
            "does": "change",
            "act": "state",
            "ref": "m1",
            "day": "friday",
            "at": "2026-03-06",
            "title": None,
        }
    ]
    talk.pause()
    [card] = talk.cards()
    assert card.proposal.effects == ()
    assert [each.label for each in card.proposal.choices] == [
        before.proposal.summary,
        card.proposal.summary,
    ]
    assert talk.effects() == ["offered"]


def test_a_replay_has_the_model_read_at_the_same_times_and_with_the_same_effects(
    talk: Talk,
) -> None:
    model = Model(items=[FITTERS])
    replay = talk.system.replay(MONDAY, gateway=model)

    async def fed() -> list[dict[str, Any]]:
        lines = [
            line
            for number, minute in enumerate((0, 0.5, 5))
            async for line in replay.feed(said(number, "john", MISSED, minute=minute))
        ]
        return lines + [each async for each in replay.run_until(MONDAY + timedelta(minutes=6))]

    lines = asyncio.run(fed())
    assert [row["messages"] for row in talk.rows(talk_stretches)] == [2, 1]
    assert len(model.requests) == 2
    [card] = talk.cards()
    read = [each for each in lines if each.get("event") == "read"]
    assert [(each["effect"], each["action"]["id"]) for each in read][:1] == [("opened", card.id)]
    assert talk.rows(outbox) == []


def test_a_replay_asks_no_model_unless_told(talk: Talk) -> None:
    async def fed() -> list[dict[str, Any]]:
        return [
            each
            async for each in talk.system.replay(MONDAY).feed(said(1, "john", MISSED, minute=0))
        ]

    asyncio.run(fed())
    assert talk.rows(talk_stretches) == []


@pytest.mark.parametrize("seconds", [0.5, 2, 10, 60])
@pytest.mark.parametrize("is_decided", [False, True])
def test_a_late_answer_corrects_a_card_and_never_what_a_person_decided(
    talk: Talk, seconds: float, is_decided: bool
) -> None:
    talk.say("john", PICKUP)
    talk.say("sarah", "friday that is")
    talk.model.items = [
        CLAIM
        | {
            "message": "m2",
            "does": "change",
            "act": "state",
            "ref": "a1",
            "day": "friday",
            "at": "2026-03-06",
            "title": None,
        }
    ]
    [card] = talk.cards()

    def meanwhile() -> None:
        talk.clock.advance_to(talk.clock.now() + timedelta(seconds=seconds))
        if is_decided:
            talk.confirm(card)

    talk.model.before = meanwhile
    talk.pause()
    planned = [each for each in talk.rows(events) if each["source_type"] == "OBSERVER"]
    if is_decided:
        assert (len(planned), talk.cards(), talk.effects()) == (1, [], ["left"])
    else:
        assert (planned, len(talk.cards()), talk.effects()) == ([], 1, ["offered"])


@pytest.mark.parametrize(
    "change",
    [
        {"certain": False},
        {"secret": True},
        {"act": "report_done"},
        {"does": "nothing"},
        {"kind": "absence"},
    ],
)
def test_what_is_not_meant_as_it_stands_or_is_hidden_makes_no_card(
    talk: Talk, change: dict[str, Any]
) -> None:
    talk.say("john", MISSED)
    talk.model.items = [FITTERS | change]
    talk.pause()
    assert talk.cards() == []
    assert {*talk.effects()} <= {"left"}


def test_a_card_that_somebody_refused_does_not_come_back(talk: Talk) -> None:
    talk.say("john", PICKUP)
    [card] = talk.cards()
    household = talk.system.household
    sarah = household.member("sarah")
    assert sarah is not None
    talk.system.store.write_now(
        lambda conn: approvals.reject(
            conn, card.id, member=sarah, household=household, now=talk.clock.now()
        )
    )
    talk.model.items = [CLAIM]
    talk.pause()
    assert (talk.cards(), talk.effects()) == ([], ["left"])


CALLED_OFF = {"message": "m2", "does": "cancel", "act": "state", "ref": "a1", "day": "a1"}


@pytest.mark.parametrize(
    ("sender", "ref", "is_gone"),
    [("sarah", "a1", True), ("sarah", None, False), ("nosy", "a1", False)],
    ids=["member", "no reference", "stranger"],
)
def test_what_a_member_surely_calls_off_takes_back_the_card_that_waits(
    talk: Talk, sender: str, ref: str | None, is_gone: bool
) -> None:
    talk.say("john", PICKUP)
    [card] = talk.cards()
    talk.say(sender, "soccer is rained out")
    waiting = {each.id for each in talk.cards()}
    assert waiting
    assert sender != "nosy" or card.id in waiting, "a stranger's news takes no card away"
    talk.model.items = [CALLED_OFF | {"ref": ref, "title": "soccer"}]
    talk.pause()
    assert {each.id for each in talk.cards()} == (set() if is_gone else waiting)
    assert talk.effects() == (["withdrawn"] if is_gone else ["left"])
    assert talk.rows(outbox) == []


def test_a_confirmed_plan_stays_whatever_is_called_off(talk: Talk) -> None:
    talk.say("john", PICKUP)
    [card] = talk.cards()
    talk.confirm(card)
    graph = talk.rows(events)
    talk.say("sarah", "soccer is rained out")
    talk.model.items = [CALLED_OFF | {"title": "soccer", "ref": "m1"}]
    talk.pause()
    assert talk.rows(events) == graph
    assert [each.id for each in talk.cards(*ActionStatus) if each.is_confirmed] == [card.id]


def test_a_replay_tells_which_card_an_answer_replaced(talk: Talk) -> None:
    model = Model(items=[ANSWER])
    replay = talk.system.replay(MONDAY, gateway=model)

    async def fed() -> list[dict[str, Any]]:
        lines = [line async for line in replay.feed(said(1, "john", ASKED, minute=0))]
        lines += [line async for line in replay.feed(said(2, "sarah", TAKEN, minute=0.5))]
        return lines + [each async for each in replay.run_until(MONDAY + timedelta(minutes=6))]

    lines = asyncio.run(fed())
    [asking] = talk.cards(ActionStatus.SUPERSEDED)
    [card] = talk.cards()
    read = [each for each in lines if each.get("event") == "read"]
    gone = [each for each in lines if each.get("event") == "withdrawn"]
    assert [each["action"]["id"] for each in read] == [card.id]
    assert [each["withdrawn_action"] for each in gone] == [asking.id]


@pytest.mark.parametrize("order", TEXTS)
def test_a_model_that_obeys_the_chat_changes_nothing_of_what_others_said(
    talk: Talk, order: str
) -> None:
    talk.say("john", PICKUP)
    before, graph = talk.cards(), talk.rows(events)
    talk.say("sarah", order.encode("utf-8", "replace").decode())
    talk.model.items = [
        NEW_EVENT | {"message": message, "does": "cancel", "act": "withdraw", "ref": ref}
        for message in ("m1", "m2")
        for ref in ("a1", "e1", before[0].id, "m1")
    ]
    own = {each.id for each in talk.cards()}
    talk.pause()
    assert {each.id for each in talk.cards()} == own
    assert (talk.rows(events), talk.rows(outbox)) == (graph, [])
    assert {*talk.effects()} <= {"left"}


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome.TIMEOUT,
        Outcome.UNREACHABLE,
        Outcome.OVER_BUDGET,
        Outcome.CIRCUIT_OPEN,
        Outcome.PUBLIC_HOST,
        Outcome.INVALID_OUTPUT,
    ],
)
def test_without_an_answer_all_stays_as_it_was_and_that_is_counted_and_told(
    talk: Talk, outcome: Outcome
) -> None:
    row = talk.say("john", PICKUP)
    before = talk.cards()
    talk.model.outcome = outcome
    talk.pause()
    assert talk.cards() == before
    assert talk.model.fallbacks == [("observer.group_reading", outcome)]
    assert "nothing was changed" in talk.why(row)[0]
    assert [each["state"] for each in talk.rows(talk_stretches)] == ["done"]


class Killed(BaseException):
    """The end of the process, as far as the database sees it."""


@pytest.mark.parametrize(
    "step", ["before the call", "after the call", "while it writes", "before it ends"]
)
def test_killed_at_any_step_a_stretch_has_its_effects_once(
    talk: Talk, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any, **__: Any) -> None:
        raise Killed

    talk.say("john", MISSED)
    talk.model.items = [FITTERS]
    places = {
        "before the call": (TalkReadingJob, "_load"),
        "after the call": (TalkReadingJob, "_thing"),
        "while it writes": (TalkEffects, "apply"),
        "before it ends": (repository, "record_stretch"),
    }
    with monkeypatch.context() as patch:
        patch.setattr(*places[step], die)
        with pytest.raises(Killed):
            talk.pause()
    assert talk.cards() == []
    talk.system.store.write_now(
        lambda conn: leases.end_leases(conn, talk_stretches, now=talk.clock.now())
    )
    talk.pause(600)
    talk.pause(600)
    assert len(talk.cards()) == 1
    assert talk.effects() == ["opened"]


def test_with_the_built_in_reader_alone_no_stretch_is_kept(tmp_path: Path) -> None:
    named = {"model_url": "http://127.0.0.1:1", "model_name": "m", "reader": "embedded"}
    with live_system(tmp_path / "family.db", **named) as system:
        talk = Talk(system)
        talk.say("john", MISSED)
        assert talk.rows(talk_stretches) == []


def test_an_edit_before_it_is_read_is_what_is_read(talk: Talk) -> None:
    talk.say("john", "so then thursday. 4. fitters")
    talk.say("john", "so then nobody", kind=MessageKind.EDIT, target="m1")
    talk.model.items = [FITTERS]
    talk.pause()
    assert talk.cards() == []
    shown = talk.model.requests[0].messages[-1].text
    assert "so then nobody" in shown
    assert "fitters" not in shown
