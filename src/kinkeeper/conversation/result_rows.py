"""Results and plans as JSON, as they are stored with their turn. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from kinkeeper.actions.payload import plain
from kinkeeper.actions.requests.model import ActionResult, Card, ResultStatus
from kinkeeper.conversation.model import Plan, PlannedAction, Source


def card_record(card: Card) -> dict[str, Any]:
    """Return a card as JSON."""
    return {"kind": card.kind, "title": card.title, "items": plain(card.items)}


def result_record(result: ActionResult) -> dict[str, Any]:
    """Return a result as JSON."""
    return {
        "domain": result.domain, "action": result.action, "status": result.status.value,
        "params": plain(result.params), "result": plain(result.result), "summary": result.summary,
        "error": result.error, "options": list(result.options), "action_id": result.action_id,
        "card": None if result.card is None else card_record(result.card),
        "may_retry": result.may_retry,
    }  # fmt: skip


def read_results(records: Iterable[Mapping[str, Any]] | None) -> tuple[ActionResult, ...]:
    """Return results out of their JSON."""
    return tuple(_result(record) for record in records or ())


def plan_record(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON."""
    return {
        "actions": [
            {
                "domain": each.domain, "action": each.action, "params": plain(each.params),
                "reasoning": each.reasoning, "is_offer": each.is_offer,
            }
            for each in plan.actions
        ],
        "clarification": plan.clarification, "source": plan.source.value, "is_said": plan.is_said,
        "partial": None if plan.partial is None else plain(plan.partial),
    }  # fmt: skip


def read_plan(record: Mapping[str, Any]) -> Plan:
    """Return a plan out of its JSON."""
    return Plan(
        actions=tuple(PlannedAction(**each) for each in record["actions"]),
        clarification=record["clarification"], source=Source(record["source"]),
        partial=record["partial"], is_said=record["is_said"],
    )  # fmt: skip


def _result(record: Mapping[str, Any]) -> ActionResult:
    card = record["card"]
    return ActionResult(
        domain=record["domain"], action=record["action"], status=ResultStatus(record["status"]),
        params=record["params"], result=record["result"], summary=record["summary"],
        error=record["error"], options=tuple(record["options"]), action_id=record["action_id"],
        card=None if card is None else Card(**{**card, "items": tuple(card["items"])}),
        may_retry=record["may_retry"],
    )  # fmt: skip
