"""kill -9 of the process that sends mail, at any moment: none is lost in silence, none goes out twice."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.effects.outside import CreateDraft, SendMail
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import list_actions
from kinkeeper.connectors.mail.adapters import message_id
from kinkeeper.core.time import SystemClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.mail.model import Address, Mail
from kinkeeper.store.store import Store
from mailpeers.imap import Postbox, postbox
from mailpeers.smtp import Post, post_office
from outside_samples import rows, sending
from pending_samples import FAMILY, PARENT
from warm_start import Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = str(Path(__file__).with_name("mail_process.py"))
MAILS, DRAFTS = 60, 20
# Lines that a process says before it is killed: four a mail, so every step is met.
KILLS = (1, 2, 3, 5, 8, 11, 14, 17, 22, 27)


def fill(conn: Connection) -> None:
    now = SystemClock().now()
    for number in range(MAILS + DRAFTS):
        to = Address(address=f"p{number}@t.example")
        mail = Mail(to=(to,), subject=f"Mail {number}", body="text")
        effect = SendMail(mail=mail) if number < MAILS else CreateDraft(mail=mail)
        wanted = sending(f"turn-{number}", effects=(effect.frozen(),))
        action = approvals.request(conn, wanted, member=PARENT, household=FAMILY, now=now).action
        approvals.confirm(conn, action.id, member=PARENT, household=FAMILY, now=now)


@contextmanager
def process(database: Path, post: Post, box: Postbox) -> Iterator[Iterator[str]]:
    """Start sending; yield the lines it prints; kill -9 at the end of the block."""
    started = Started([SCRIPT, str(database), post.url, box.url], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    try:
        yield iter(started.stdout.readline, "")
    finally:
        started.kill()
        started.wait()
        started.stdout.close()


def actions_of(store: Store) -> list[PendingAction]:
    now = SystemClock().now()
    return store.read_now(
        lambda conn: list_actions(
            conn, Viewer.whole(FAMILY.id), statuses=frozenset(ActionStatus), now=now
        )
    )


def test_through_repeated_kills_no_mail_is_lost_in_silence_and_none_goes_out_twice(
    tmp_path: Path,
) -> None:
    database = tmp_path / "family.db"
    with Store.open(str(database)) as store:
        store.write_now(fill)
    with post_office() as post, postbox() as box:
        for count in KILLS:
            with process(database, post, box) as lines:
                for number, _ in enumerate(lines, 1):
                    if number == count:
                        break
        with process(database, post, box) as lines:
            assert any(line == "idle\n" for line in lines)
        sent = Counter(str(message["Message-ID"]) for message in post.messages)
        drafted = Counter(box.ids("Entwürfe"))
        copies = Counter(box.ids("Gesendet"))
    with Store.open(str(database)) as store:
        actions, ids = actions_of(store), {row["action_id"]: row["id"] for row in rows(store)}
    assert len(actions) == MAILS + DRAFTS
    unknown = 0
    for action in actions:
        own_id = message_id(ids[action.id], "family@home.test")
        is_draft = action.proposal.effects[0]["effect"] == "email.create_draft"
        arrived = (drafted if is_draft else sent)[own_id]
        if action.status is ActionStatus.DONE:
            assert arrived == 1
        else:
            assert action.status is ActionStatus.FAILED
            assert (action.receipt or {})["outcome"] == "unknown"
            assert not is_draft  # of a draft it can always be found out
            unknown += 1
    assert max((sent | drafted | copies).values()) == 1
    # Each kill can leave in the dark only what was handed over at that moment.
    assert unknown <= 4 * len(KILLS)
    assert sum(sent.values()) >= MAILS - unknown
