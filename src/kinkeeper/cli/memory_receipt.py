"""Tells what came of remembering or erasing something by hand."""

from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.cli.terminal import answer, answer_json


def tell_receipt(receipt: Receipt, done: str, *, as_json: bool) -> None:
    """Tell what came of it, and how to undo it.

    Args:
        receipt: Of the request.
        done: What to say where it is done.
        as_json: Answer with one JSON object.
    """
    if as_json:
        answer_json(
            {
                "outcome": receipt.outcome.value,
                "message": receipt.message,
                "changed": receipt.is_change,
                "action": action_record(receipt.action),
            }
        )
    elif receipt.outcome is Outcome.DONE:
        way_back = f" Undo it with: kinkeeper undo {receipt.action.id}"
        answer(f"{done}{way_back}" if can_be_undone(receipt.action) else done)
    else:
        answer(receipt.message)
