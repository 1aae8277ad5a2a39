"""How much a bot may send: one message a second to a chat, twenty a minute to a group."""

import math
from dataclasses import dataclass, field

from botapi.refusals import too_many_requests

A_MINUTE = 60.0
PER_GROUP_MINUTE = 20


@dataclass(eq=False, slots=True)
class FloodControl:
    """Counts what each bot sent to each chat, by the emulator's clock."""

    enforced: bool
    sent: dict[tuple[int, int], list[float]] = field(default_factory=dict)

    def admit(self, bot_id: int, chat_id: int, *, now: float, is_group: bool) -> None:
        """Count one message.

        Args:
            bot_id: Who sends.
            chat_id: Where to.
            now: Seconds since 1970.
            is_group: Whether the minute's limit holds too.

        Raises:
            Refusal: It is too many; it says when to come again, and is not counted.
        """
        if not self.enforced:
            return
        times = [at for at in self.sent.get((bot_id, chat_id), []) if at > now - A_MINUTE]
        wait = 0.0
        if times:
            wait = times[-1] + 1 - now
        if is_group and len(times) >= PER_GROUP_MINUTE:
            wait = max(wait, times[-PER_GROUP_MINUTE] + A_MINUTE - now)
        if wait > 0:
            raise too_many_requests(math.ceil(wait))
        self.sent[bot_id, chat_id] = [*times, now]
