"""What became of a change that somebody made on a page of memory, told on the next page."""

from enum import StrEnum
from http import HTTPStatus
from urllib.parse import urlencode

from fastapi.responses import RedirectResponse

from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.web.pages.desk import Desk
from kinkeeper.web.views.notices import Notice


class Told(StrEnum):
    """What became of it."""

    REMEMBERED = "remembered"
    ASKED = "asked"
    EDITED = "edited"
    WRONG = "wrong"
    OVER = "over"
    SETTLED = "settled"
    PRIVATE = "private"
    SHARED = "shared"
    FORGOTTEN = "forgotten"
    UNDONE = "undone"
    APPROVED = "approved"
    LEFT = "left"
    NOTHING = "nothing"


_WORDS = {
    Told.REMEMBERED: "Saved.",
    Told.ASKED: "It needs an adult's approval.",
    Told.EDITED: "Saved.",
    Told.WRONG: "Marked as incorrect.",
    Told.OVER: "Marked as outdated.",
    Told.SETTLED: "Settled.",
    Told.PRIVATE: "Only you can see it now.",
    Told.SHARED: "Everyone in the household can see it now.",
    Told.FORGOTTEN: "Erased.",
    Told.UNDONE: "Undone.",
    Told.APPROVED: "It will be done within a few minutes.",
    Told.NOTHING: "Nothing was changed, because something else changed in the meantime. Please check again.",
    Told.LEFT: "Nothing was changed.",
}


def notice_of(told: Told | None, action: str) -> Notice | None:
    """Return what is said at the top of a page.

    Args:
        told: What became of what; None says nothing.
        action: Id of the action, where it can be taken back.
    """
    if told is None:
        return None
    is_good = told is not Told.NOTHING
    return Notice(text=_WORDS[told], undo_id=action if is_good else "", is_good=is_good)


def setting_right(desk: Desk) -> SettingRight:
    """Return what a person does to memories, for whoever makes the request."""
    return SettingRight(household=desk.person.household, member=desk.person.member, now=desk.now)


def told(path: str, wish: Told, receipt: Receipt) -> RedirectResponse:
    """Send the person to a page that tells what became of their wish.

    Args:
        path: Of the page.
        wish: What is told where it came true.
        receipt: What became of it.
    """
    if receipt.outcome is Outcome.ASKED:
        return back_to(path, Told.ASKED)
    if receipt.outcome is not Outcome.DONE:
        return back_to(path, Told.NOTHING)
    return back_to(path, wish, action=receipt.action if can_be_undone(receipt.action) else None)


def back_to(path: str, told: Told, *, action: PendingAction | None = None) -> RedirectResponse:
    """Send the person to a page that tells something.

    Args:
        path: Of the page.
        told: What to tell.
        action: What can be taken back, if anything.
    """
    query = urlencode({"told": told.value, **({"action": action.id} if action else {})})
    return RedirectResponse(f"{path}?{query}", HTTPStatus.SEE_OTHER)
