"""Half the words of any family, to make conversations of: who does what for whom, and when; answers, changes, chatter."""

import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

PHRASES = (
    "I'll {task} {child} {day}",
    "I can {task} {child} {day} at {clock}",
    "Who's picking up {child} {day}?",
    "Can you {task} {child} {day} at {clock}?",
    "{child} has the dentist {day} at {clock}",
    "{activity} {day} is cancelled",
    "{activity} {day} moved to {clock}",
    "I'll {task} {child} {day} instead",
    "I got {child}",
    "me",
    "I'll do it",
    "sure",
    "👍",
    "kk",
    "n/m",
    "never mind",
    "can't make it after all",
    "thx!",
    "lol",
    "what a day",
    "{activity} pickup {day}?",
    "both kids {day}",
    "I'll {task} the kids {day}",
    "omw",
    "{clock} works for me",
    "so tired",
)
TASKS = ("pick up", "get", "drop off", "take")
DAYS = ("tomorrow", "Thursday", "today", "Wednesday", "next Monday")
CLOCKS = ("5pm", "4:30", "8am", "17:15")
MINUTES = (0, 1, 2, 7, 14, 16, 61, 300)
EMOJI = ("👍", "🙋", "❤️", "👎")
WORDS = {
    "miller": {
        "people": ["john", "sarah", "leo", "bob"],
        "child": ["Leo", "Mia"],
        "activity": ["soccer", "ballet", "swimming"],
    },
    "okafor-bennett": {
        "people": ["ngozi", "tom", "priya", "May"],
        "child": ["Will", "May", "Rosie", "the boys"],
        "activity": ["netball", "AFL", "violin"],
    },
}


def chat_lines(
    name: str, count: int, *, seed: int, start: str, chat_id: str = "family", short: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield a made-up chat as a file has it, the same for the same seed.

    Args:
        name: Household.
        count: Messages.
        seed: Tells chats apart.
        start: ISO instant of the first.
        chat_id: Which chat.
        short: Whether minutes, not hours, pass between the messages.
    """
    dice = random.Random(seed)  # noqa: S311 - repeatable
    at, words = datetime.fromisoformat(start), WORDS[name]
    for number in range(1, count + 1):
        at += timedelta(minutes=dice.choice(MINUTES[:6] if short else MINUTES))
        line: dict[str, Any] = {
            "chat_id": chat_id,
            "message_id": f"{chat_id}-{number}",
            "sender": dice.choice(words["people"]),
            "sent_at": at.isoformat(),
            "text": dice.choice(PHRASES).format(
                task=dice.choice(TASKS),
                child=dice.choice(words["child"]),
                day=dice.choice(DAYS),
                activity=dice.choice(words["activity"]),
                clock=dice.choice(CLOCKS),
            ),
        }
        target = f"{chat_id}-{max(1, number - dice.randint(1, 6))}"
        match dice.choice(["text"] * 9 + ["reply", "edit", "reaction"]):
            case "reply":
                line["reply_to"] = target
            case "edit":
                line |= {"kind": "edit", "target": target}
            case "reaction":
                line |= {"kind": "reaction", "target": target, "text": dice.choice(EMOJI)}
        yield line


def write_chat(path: Path, lines: Iterator[dict[str, Any]]) -> Path:
    """Write a chat file, one message a line."""
    path.write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
    )
    return path
