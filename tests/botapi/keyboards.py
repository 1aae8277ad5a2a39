"""Keyboards under messages: which are read, which are refused."""

from typing import Any

from botapi.chats import Keyboard
from botapi.parameters import Arguments
from botapi.refusals import bad_request

MOST_DATA = 64
_ACTIONS = (
    "url",
    "callback_data",
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "copy_text",
    "pay",
)
_STYLES = {"danger", "success", "primary"}


def read_markup(arguments: Arguments) -> tuple[Keyboard | None, bool]:
    """Return the inline keyboard given, and whether another kind of markup was.

    Raises:
        Refusal: It cannot be read, or a button does nothing.
    """
    markup = arguments.parsed("reply_markup", "reply keyboard markup")
    if not markup:
        return None, False
    if not isinstance(markup, dict):
        raise bad_request("object expected as reply markup")
    if "inline_keyboard" not in markup:
        return None, True
    rows = markup["inline_keyboard"]
    if not isinstance(rows, list):
        raise bad_request('field "inline_keyboard" of the InlineKeyboardMarkup must be an Array')
    if not all(isinstance(row, list) for row in rows):
        raise bad_request(
            'field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays'
        )
    keyboard = [[_button(button) for button in row] for row in rows if row]
    return keyboard or None, False


def _button(given: Any) -> dict[str, Any]:
    reason = "can't parse InlineKeyboardButton: "
    if not isinstance(given, dict):
        raise bad_request(f"{reason}must be an Object")
    if not isinstance(given.get("text"), str):
        raise bad_request(f'{reason}Can\'t find field "text"')
    if not given["text"].strip():
        raise bad_request("BUTTON_INVALID")
    action = next((name for name in _ACTIONS if given.get(name)), None)
    if action is None:
        raise bad_request(f"{reason}Text buttons are not allowed in the inline keyboard")
    kept = {"text": given["text"], action: given[action]}
    if given.get("style") in _STYLES:
        kept["style"] = given["style"]
    return kept


def check_data(keyboard: Keyboard | None) -> None:
    """Refuse buttons that carry more than a button can; it counts bytes.

    Raises:
        Refusal: One does.
    """
    for row in keyboard or []:
        for button in row:
            data = button.get("callback_data", "")
            if len(str(data).encode()) > MOST_DATA:
                raise bad_request("BUTTON_DATA_INVALID")
