"""A turn as it is stored, and its results as JSON and, for channels without cards, as plain text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from kinkeeper.actions.consent import Origin
from kinkeeper.actions.payload import plain, shown_lines
from kinkeeper.actions.requests.model import ActionResult, Card, Decider, ResultStatus
from kinkeeper.conversation.model import Exchange, Mode, Plan, PlannedAction, Source
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.jobs.leases import Key, WorkState

# Results and plans as JSON, as they are stored with their turn. Pure.


def card_record(card: Card) -> dict[str, Any]:
    """Return a card as JSON."""
    return {"kind": card.kind, "title": card.title, "items": plain(card.items)}


def result_record(result: ActionResult) -> dict[str, Any]:
    """Return a result as JSON."""
    return {
        "domain": result.domain,
        "action": result.action,
        "status": result.status.value,
        "params": plain(result.params),
        "result": plain(result.result),
        "summary": result.summary,
        "error": result.error,
        "options": list(result.options),
        "action_id": result.action_id,
        "card": None if result.card is None else card_record(result.card),
        "may_retry": result.may_retry,
        "decider": result.decider,
    }


def read_results(records: Iterable[Mapping[str, Any]] | None) -> tuple[ActionResult, ...]:
    """Return results out of their JSON."""
    return tuple(_result(record) for record in records or ())


def plan_record(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON."""
    return {
        "actions": [
            {
                "domain": each.domain,
                "action": each.action,
                "params": plain(each.params),
                "reasoning": each.reasoning,
                "is_offer": each.is_offer,
                "is_unsaid": each.is_unsaid,
                "is_further": each.is_further,
                "confidence": each.confidence,
            }
            for each in plan.actions
        ],
        "clarification": plan.clarification,
        "source": plan.source.value,
        "is_said": plan.is_said,
        "partial": None if plan.partial is None else plain(plan.partial),
        "unread": [*plan.unread],
        "held": plan.held,
    }


def read_plan(record: Mapping[str, Any]) -> Plan:
    """Return a plan out of its JSON."""
    return Plan(
        actions=tuple(PlannedAction(**each) for each in record["actions"]),
        clarification=record["clarification"],
        source=Source(record["source"]),
        partial=record["partial"],
        is_said=record["is_said"],
        unread=tuple(record.get("unread", ())),
        held=record.get("held"),
    )


def _decider(value: str | None) -> Decider | None:
    """Return whose yes a result awaited; turns stored by earlier versions do not say."""
    return None if value is None else Decider(value)


def _result(record: Mapping[str, Any]) -> ActionResult:
    card = record["card"]
    return ActionResult(
        domain=record["domain"],
        action=record["action"],
        status=ResultStatus(record["status"]),
        params=record["params"],
        result=record["result"],
        summary=record["summary"],
        error=record["error"],
        options=tuple(record["options"]),
        action_id=record["action_id"],
        card=None if card is None else Card(**{**card, "items": tuple(card["items"])}),
        may_retry=record["may_retry"],
        decider=_decider(record.get("decider")),
    )


PROGRAMS = "openai"
"""The channel of programs that pass on what a person says to them; what is said there unasked, nobody reads."""


class TurnOutcome(StrEnum):
    """What a turn came to."""

    ANSWERED = "answered"
    CANCELLED = "cancelled"  # the person said stop
    FAILED = "failed"  # it broke down; saying the same again takes it up again
    POSTED = "posted"  # said by the assistant unasked: a reminder


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn as it is stored.

    Attributes:
        member: Who spoke.
        login: The role to which their login limited them; None where it did not.
        text: What they said, verbatim; empty once purged, or where the assistant spoke unasked.
        state: Where the work on it stands.
        epoch: How often somebody took it up.
        begun: How often somebody took it up and did not hand it back.
        outcome: What it came to; None while it is under way.
        mode: How it was answered.
        clarification: What was asked back.
        plans: What was planned, step by step.
        asked_about: Actions that the person was asked to choose among, and what for.
        used: What the answer rests on.
        stages: How long each stage took, ms.
        finished_at: When it ended, aware.
        client_message_id: The channel's id of the message.
        chat_id: The chat on the channel, where it has several.
        is_shared: Whether others read along.
        is_aside: Whether it waits for slow tools behind the talk.
        stops: Whether it told others to stop.
        is_stopped: Whether it was told to stop.
    """

    household: str
    id: str
    thread_id: str
    member: str
    channel: str
    text: str
    received_at: datetime
    state: WorkState
    epoch: int
    login: Role | None = None
    begun: int = 1
    outcome: TurnOutcome | None = None
    mode: Mode | None = None
    answer: str | None = None
    results: tuple[ActionResult, ...] = ()
    clarification: str | None = None
    partial: Mapping[str, Any] | None = None
    plans: Sequence[Mapping[str, Any]] = ()
    asked_about: Mapping[str, Any] | None = None
    used: Sequence[Mapping[str, Any]] = ()
    stages: Mapping[str, float] = field(default_factory=dict)
    finished_at: datetime | None = None
    client_message_id: str = ""
    chat_id: str | None = None
    is_shared: bool = False
    is_aside: bool = False
    stops: bool = False
    is_stopped: bool = False

    @property
    def origin(self) -> Origin:
        """How what the person says comes here: a program may also say what nobody said, so it is asked about first."""
        return Origin.OPENAI if self.channel == PROGRAMS else Origin.SAID

    def speaker(self, household: Household) -> Member | None:
        """Return who spoke, with the rights of their login; None where the household's file has them no longer."""
        member = household.member(self.member)
        return None if member is None else member.limited_to(self.login)

    @property
    def key(self) -> Key:
        """Of its row."""
        return (self.household, self.id)

    @property
    def exchange(self) -> Exchange:
        """The turn as what was said before."""
        return Exchange(
            text=self.text,
            answer=self.answer or "",
            at=self.received_at,
            mode=self.mode or Mode.RESPOND,
            results=self.results,
            partial=self.partial,
            clarification=self.clarification,
            used=self.used,
        )


def turn_of(row: Mapping[str, Any]) -> Turn:
    """Return a turn as a row has it."""
    return Turn(
        household=row["household"],
        id=row["id"],
        thread_id=row["thread"],
        member=row["member"],
        channel=row["channel"],
        text=row["text"],
        received_at=row["received_at"],
        state=WorkState(row["state"]),
        epoch=row["epoch"],
        begun=row["begun"],
        outcome=TurnOutcome(row["outcome"]) if row["outcome"] else None,
        mode=Mode(row["mode"]) if row["mode"] else None,
        answer=row["answer"],
        results=read_results(row["results"]),
        clarification=row["clarification"],
        partial=row["partial"],
        plans=row["plans"] or (),
        asked_about=row["asked_about"],
        used=row["used"] or (),
        stages=row["stages"] or {},
        finished_at=row["finished_at"],
        client_message_id=row["client_message_id"],
        chat_id=row["chat_id"],
        is_shared=bool(row["is_shared"]),
        is_aside=bool(row["aside"]),
        stops=bool(row["stops"]),
        is_stopped=bool(row["stop_requested"]),
        login=Role(row["login"]) if row["login"] else None,
    )


# Results and questions as plain text, for channels that have neither cards nor buttons of ours.
# Pure.

_COLUMNS = ("when", "text", "detail")


def card_in_words(title: str, items: Iterable[Mapping[str, Any]]) -> str:
    """Return a card as lines.

    Args:
        title: Its first line.
    """
    lines = ("  ".join(str(item[name]) for name in _COLUMNS if item.get(name)) for item in items)
    return "\n".join([title, *(f"• {line}" for line in lines)])


def question_in_words(summary: str, shown: Mapping[str, Any] | None, *more: str) -> str:
    """Return all that a person must see before a yes, as lines.

    Args:
        shown: As frozen with the request.
        more: Further lines.
    """
    lines = [f"{name}: {value}" for name, value in shown_lines(shown or {})]
    return "\n".join([summary, *lines, *more])


def paragraphs(parts: Iterable[str]) -> str:
    """Return texts one below the other, those that are empty left out."""
    return "\n\n".join(part for part in parts if part)
