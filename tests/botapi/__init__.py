"""The Telegram Bot API over real HTTP, with the people who use it: a peer for tests.

`BotApi` starts it; `Person` and `Group` are what a test acts through.
"""

from botapi.chats import Message
from botapi.emulator import BotApi
from botapi.groups import Group
from botapi.people import Person, Press

__all__ = ["BotApi", "Group", "Message", "Person", "Press"]
