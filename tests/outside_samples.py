"""Mails that tests ask for, confirm and have carried out."""

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select

from kinkeeper.actions.approvals import confirm, request
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.outside import CreateDraft, SendMail, outside_work
from kinkeeper.actions.model import ActionType, PendingAction, Proposal
from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.repository import load_action
from kinkeeper.mail.model import Address, Mail
from kinkeeper.store.store import Store
from pending_samples import FAMILY, NOW, PARENT, proposal

ANA = Address(address="ana@school.example", name="Ana Ruiz")
MAIL = Mail(to=(ANA,), subject="Late on Friday", body="We come at five.", from_name="Ines")


def sending(source_id: str = "turn-1", **fields: Any) -> Proposal:
    plain = {
        "source_type": "CHAT",
        "type": ActionType.EMAIL,
        "origin": Origin.SAID,
        "effects": (SendMail(mail=MAIL).frozen(),),
        "choices": (),
        "summary": "Send “Late on Friday” to Ana Ruiz <ana@school.example>",
        "extraction": {},
        "suggested_event": None,
        "merge_key": None,
        "conflict_key": None,
        "chat_id": None,
    }
    return proposal(source_id, **{**plain, **fields})


def drafting(source_id: str = "turn-2") -> Proposal:
    return replace(sending(source_id), effects=(CreateDraft(mail=MAIL).frozen(),))


def asked(store: Store, wanted: Proposal) -> Receipt:
    return store.write_now(
        lambda conn: request(conn, wanted, member=PARENT, household=FAMILY, now=NOW)
    )


def confirmed(store: Store, wanted: Proposal | None = None) -> Receipt:
    action = asked(store, wanted or sending()).action

    def say_yes(conn: Connection) -> Receipt:
        return confirm(
            conn,
            action.id,
            member=PARENT,
            household=FAMILY,
            now=NOW,
            expected_hash=action.payload_hash,
        )

    return store.write_now(say_yes)


def as_stored(store: Store, action: PendingAction) -> PendingAction:
    return store.read_now(lambda conn: load_action(conn, FAMILY.id, action.id))


def rows(store: Store) -> list[Any]:
    return store.read_now(lambda conn: list(conn.execute(select(outside_work)).mappings()))
